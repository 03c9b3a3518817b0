"""psql_script.py: a script of psql's: its statements, and what each printed (psql -a -q)."""
import re

SENDS = re.compile(r'\\(g|gx|gset|gexec|gdesc|crosstabview|watch)\b')
COPIES = re.compile(r'\bcopy\b.*\bfrom\s+(stdin|stdout|pstdin)\b', re.I | re.S)
WORD = re.compile(r'[A-Za-z_0-9\x80-\U0010ffff][\w$\x80-\U0010ffff]*')
DOLLAR = re.compile(r'\$([A-Za-z_\x80-\U0010ffff][\w\x80-\U0010ffff]*)?\$')
QUITS = re.compile(r'\s*\\q(uit)?\b')
NO_NEWLINE = re.compile(r'\\(q?echo|warn) -n\b')
ECHO_OFF = re.compile(r'\\set ECHO (none|errors)')
ECHO_ON = re.compile(r'\\set ECHO all')


class Statement:
    """text: as written.  top: its words outside parentheses, quotes and comments."""

    def __init__(self, text, top):
        self.text = text
        self.top = top

    def order(self):
        """The columns of its ORDER BY, by name or number; None without one, [] if not to tell."""
        match = re.search(r'\border by (.*)', ' '.join(self.top))
        if not match:
            return None
        columns = []
        for item in re.split(r' \b(?:limit|offset|fetch|for)\b', match.group(1))[0].split(','):
            column = re.match(r'(?:\w+ \. )?(\w+)( asc| desc)?( nulls (first|last))?$', item.strip())
            if not column:
                return []
            columns.append(column.group(1))
        return columns


class Lexer:
    """Goes through lines as psql does, and says which statements end on each."""

    def __init__(self):
        self.text = []
        self.top = []
        self.parens = 0
        self.blocks = 0     # BEGIN ATOMIC and CASE within it
        self.within = None  # what ends the quote or comment that we are in
        self.escapes = False
        self.comments = 0

    def end(self, found):
        text = ''.join(self.text).strip()
        if text:
            found.append(Statement(text, self.top))
        self.text, self.top, self.parens, self.blocks = [], [], 0, 0

    def word(self, word):
        word = word.lower()
        if self.parens == 0:
            self.top.append(word)
        if self.top[:1] == ['create'] and re.match(
                r'create (or replace )?(function|procedure)\b', ' '.join(self.top[:4])):
            if word == 'begin' or (word == 'case' and self.blocks > 0):
                self.blocks += 1
            elif word == 'end' and self.blocks > 0:
                self.blocks -= 1

    def quoted(self, line, i):
        """In a quote or comment: the place after its end, or that of the line."""
        while i < len(line):
            if self.within == '*/':
                if line.startswith('/*', i):
                    self.comments += 1
                    i += 2
                elif line.startswith('*/', i):
                    self.comments -= 1
                    i += 2
                    if self.comments == 0:
                        self.within = None
                        return i
                else:
                    i += 1
            elif self.escapes and line[i] == '\\':
                i += 2
            elif line.startswith(self.within, i):
                i += len(self.within)
                self.within = None
                return i
            else:
                i += 1
        return i

    def line(self, line):
        found = []
        i = 0
        while i < len(line):
            begin = i
            if self.within:
                i = self.quoted(line, i)
            elif line.startswith('--', i):
                break
            elif line.startswith('/*', i):
                self.within, self.comments = '*/', 1
                i += 2
            elif line[i] in '\'"':
                self.within = line[i]
                self.escapes = line[i] == "'" and line[i - 1:i] in ('e', 'E') and \
                    not re.match(r'\w', line[i - 2:i - 1])
                i += 1
            elif DOLLAR.match(line, i) and not re.match(r'\w', line[i - 1:i]):
                self.within, self.escapes = DOLLAR.match(line, i).group(0), False
                i += len(self.within)
            elif line[i] == '\\':
                if line.startswith('\\;', i):
                    i += 2
                elif SENDS.match(line, i):
                    self.text.append(line[i:])
                    self.end(found)
                    break
                else:
                    break
            elif line[i] == ';' and self.parens == 0 and self.blocks == 0:
                self.text.append(';')
                self.end(found)
                i += 1
                continue
            elif WORD.match(line, i):
                self.word(WORD.match(line, i).group(0))
                i = WORD.match(line, i).end()
            else:
                if not line[i].isspace():
                    self.word(line[i])
                self.parens += {'(': 1, ')': -1}.get(line[i], 0)
                self.parens = max(self.parens, 0)
                i += 1
            self.text.append(line[begin:i])
        if self.text:
            self.text.append('\n')
        return found


class Block:
    """A line of the script that was echoed: what was printed then, the statements that it ended."""

    def __init__(self, number, line):
        self.number = number
        self.line = line
        self.output = []
        self.statements = []


def read(path):
    with open(path, encoding='utf-8', errors='surrogateescape') as file:
        return file.read().split('\n')


def blocks(script, output):
    """The script's lines with what they printed.  Fails where the output is not this script's."""
    lines = read(script)
    lexer = Lexer()
    block = Block(0, '')
    found = [block]
    after = 0           # the line after the last that was echoed
    after_data = None   # the line after the data of COPY, if any

    def skip_empty(i):
        # psql echoes empty lines only within quotes and comments
        while i < len(lines) and lines[i] == '' and not lexer.within:
            i += 1
        return i

    for printed in read(output)[:-1]:
        place = skip_empty(after)
        if (place == len(lines) or printed != lines[place]) and after_data is not None:
            place = skip_empty(after_data)
        if NO_NEWLINE.match(block.line) and not block.output and place < len(lines) and \
                printed.endswith(lines[place]):
            block.output.append(printed[:-len(lines[place])])
            printed = lines[place]
        if place == len(lines) or printed != lines[place]:
            block.output.append(printed)
            continue
        after = place + 1
        block = Block(after, printed)
        block.statements = lexer.line(printed)
        found.append(block)
        after_data = None
        if COPIES.search(block.statements[-1].text if block.statements else printed):
            after_data = lines.index('\\.', after) + 1 if '\\.' in lines[after:] else None
        if ECHO_OFF.match(printed):
            while after < len(lines) and not ECHO_ON.match(lines[after]):
                after += 1
            after += 1
    rest = skip_empty(after)
    if rest < len(lines) and after_data is None and not QUITS.match(block.line):
        raise ValueError('%s: line %d was not echoed: %s' % (output, rest + 1, lines[rest]))
    return found

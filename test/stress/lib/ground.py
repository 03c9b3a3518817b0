"""ground.py: the tables that everybody works on, and what fills them."""

SCHEMA = 'stress'
COLUMNS = 'id, k, a, b, n, f, p, d, v, filler'


class Table:
    """A table; pages: how large it shall be; width: bytes of each row's filler."""

    def __init__(self, number, pages, width):
        self.name = '%s.t%d' % (SCHEMA, number)
        self.number = number
        self.pages = pages
        self.width = width
        # what a page holds at a fill factor of 85
        self.rows_of_page = max(1, 6900 // (width + 120))
        # columns that were added; they may be gone, or not committed yet
        self.added = 'x'

    def some_rows(self, count):
        """A query of new rows."""
        return "SELECT %s FROM %s.new_rows('%s_id', %d, %d)" % (COLUMNS, SCHEMA, self.name, count, self.width)


# A chunk has 256 pages: sizes are about its borders, and one at which `auto` counts uses.
SHAPES = ((520, 1500), (600, 1500), (270, 400), (257, 3000), (1060, 3300), (40, 700))
TABLES = []

SETUP = """
DROP SCHEMA IF EXISTS stress CASCADE;
CREATE EXTENSION IF NOT EXISTS gpuagg;
CREATE SCHEMA stress;
CREATE FUNCTION stress.new_rows(ids regclass, rows integer, width integer)
	RETURNS TABLE (id bigint, k integer, a integer, b bigint, n numeric, f float8, p boolean, d date, v text, filler text)
	LANGUAGE sql VOLATILE AS $$
	SELECT nextval(ids), nullif((random() * 12)::int, 12), nullif((random() * 2000)::int - 1000, 0),
		CASE WHEN random() < 0.001 THEN 1000000000000 * (random() * 100)::int ELSE (random() * 60000)::int END,
		nullif(round((random() * 100000)::numeric, 2), round(random()::numeric, 2)),
		CASE WHEN random() > 0.02 THEN floor(random() * 1000000000) END,
		CASE WHEN random() > 0.02 THEN random() < 0.5 END,
		date '2020-01-01' + (i / 10)::int, CASE WHEN random() > 0.02 THEN 'v' || (random() * 20)::int END,
		repeat('x', width)
	FROM generate_series(1, rows) i $$;
"""

CREATE = """
CREATE TABLE {name} (id bigint, k integer, a integer, b bigint, n numeric(15,2), f float8, p boolean, d date,
	v varchar(20), filler text) WITH (fillfactor = 85);
"""
FILL = """
CREATE SEQUENCE {name}_id CACHE 100;
INSERT INTO {name} {rows};
COPY (SELECT {columns} FROM {name}) TO '{file}';
"""
COPY = """
COPY {name} ({columns}) FROM '{file}' (FREEZE);
"""
INDEXES = """
ALTER TABLE {name} ADD CONSTRAINT t{number}_pkey PRIMARY KEY (id);
CREATE INDEX ON {name} (k);
CREATE TABLE {name}_child (parent bigint REFERENCES {name} ON DELETE CASCADE, i integer);
CREATE INDEX ON {name}_child (parent);
"""


def scale(number, factor):
    """So many tables, of their usual sizes times a factor."""
    for n in range(number):
        pages, width = SHAPES[n % len(SHAPES)]
        TABLES.append(Table(n, max(1, int(pages * factor)), width))


def make(session, folder):
    """Makes the tables; says what went wrong, or None.  folder: where the server writes copies of them."""
    statements = [s for s in SETUP.split(';\n') if s.strip()]
    for table in TABLES:
        statements += listed(CREATE + FILL + INDEXES + 'VACUUM (ANALYZE) {name}', table, folder)
    for statement in statements:
        outcome = session.ask(statement)
        if not outcome.done:
            return '%s: %s' % (outcome.message, statement)
    return None


def listed(script, table, folder):
    """The statements of a script, for one table."""
    text = script.format(name=table.name, number=table.number, columns=COLUMNS, file='%s/stress_t%d.copy' % (folder, table.number),
                         rows=table.some_rows(table.pages * table.rows_of_page))
    return [s.strip() for s in text.split(';\n') if s.strip()]


def features(session):
    """What the server has, as a dictionary."""
    outcome = session.ask("""LOAD 'gpuagg'; SELECT concat_ws('|',
		current_setting('max_prepared_transactions'), current_setting('data_directory'),
		current_setting('server_version_num'))""")
    prepared, folder, version = outcome.rows[-1].split('|')
    return {'prepared': prepared != '0', 'folder': folder, 'version': int(version) // 10000}

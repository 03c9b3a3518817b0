"""bench.py: what the benchmarks of queries share: psql, timing, who takes part, tables, DuckDB."""
import math
import os
import platform
import re
import subprocess
import sys
import time

TOLERANCE = 1e-9
FLOATS = ('real', 'double precision')

# A value that looks random but is the same in every run: bits of a hash of the row's number.
BITS = '(hashint8(i + {}) & {})'
# columns and types of TPC-H's lineitem, with its ranges of values; the flags follow the dates
LINEITEM = f'''
    CREATE TABLE {{t}} (l_orderkey bigint, l_partkey bigint, l_suppkey bigint,
        l_linenumber integer, l_quantity numeric(15,2), l_extendedprice numeric(15,2),
        l_discount numeric(15,2), l_tax numeric(15,2), l_returnflag char(1),
        l_linestatus char(1), l_shipdate date, l_commitdate date, l_receiptdate date,
        l_shipinstruct char(25), l_shipmode char(10), l_comment varchar(44));
    INSERT INTO {{t}} SELECT i / 4, {BITS.format(1, 1073741823)} % 200000,
        {BITS.format(2, 1073741823)} % 10000, i % 7, 1 + {BITS.format(3, 1073741823)} % 50,
        900 + random() * 104000, {BITS.format(4, 1073741823)} % 11 / 100.0,
        {BITS.format(5, 1073741823)} % 9 / 100.0,
        CASE WHEN ship + 1 + {BITS.format(10, 15)} > 1262 THEN 'N'
             ELSE (array['A', 'R'])[1 + {BITS.format(6, 1)}] END,
        CASE WHEN ship > 1262 THEN 'O' ELSE 'F' END,
        date '1992-01-02' + ship, date '1992-01-31' + {BITS.format(9, 1073741823)} % 2466,
        date '1992-01-03' + ship + {BITS.format(10, 15)},
        (array['DELIVER IN PERSON', 'COLLECT COD', 'NONE', 'TAKE BACK RETURN'])
            [1 + {BITS.format(11, 3)}],
        (array['REG AIR', 'AIR', 'RAIL', 'SHIP', 'TRUCK', 'MAIL', 'FOB', 'FOB'])
            [1 + {BITS.format(12, 7)}],
        repeat('furious', 6)::varchar(44)
    FROM (SELECT i, {BITS.format(8, 1073741823)} % 2526 AS ship
          FROM generate_series(1::bigint, {{n}}) i) s'''

Q1 = '''SELECT l_returnflag, l_linestatus, {p}sum(l_quantity), {p}sum(l_extendedprice),
    {p}sum(l_extendedprice * (1 - l_discount)),
    {p}sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)), {p}avg(l_quantity),
    {p}avg(l_extendedprice), {p}avg(l_discount), {p}count(*)
    FROM {t} WHERE l_shipdate <= date '1998-12-01' - interval '90 days'
    GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus'''
Q6 = '''SELECT {p}sum(l_extendedprice * l_discount) FROM {t} WHERE l_shipdate >= date '1994-01-01'
    AND l_shipdate < date '1994-01-01' + interval '1 year' AND l_discount BETWEEN 0.05 AND 0.07
    AND l_quantity < 24'''

PARALLEL = ('SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; '
            'SET max_parallel_workers_per_gather = {};')


def psql(script):
    done = subprocess.run(['psql', '-X', '-q', '-At', '-v', 'ON_ERROR_STOP=1'], input=script,
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return done.stdout


def processor():
    try:
        with open('/proc/cpuinfo', encoding='ascii', errors='replace') as f:
            for line in f:
                if line.startswith('model name'):
                    return line.split(':', 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


def usable(engines):
    """Those of the engines that are there, and a note on the device."""
    if 'gpu' not in engines:
        return engines, 'not asked for'
    try:
        psql('SET gpuagg.device = gpu; SELECT gpu_sum(i) FROM generate_series(1, 10) AS i')
        return engines, psql("SELECT string_agg(name, ', ') FROM gpuagg_devices() WHERE usable").strip()
    except RuntimeError as error:
        why = str(error).splitlines()[0].split('ERROR:')[-1].strip()
        return [e for e in engines if e != 'gpu'], 'none (' + why + ')'


def jit_there():
    return psql('SELECT pg_jit_available()').strip() == 't'


def title():
    return psql('SELECT version()').split(' on ')[0] + ', ' + processor() + f', {os.cpu_count()} cores'


def timed(contenders, runs, settings='', after="SELECT ''"):
    """Runs queries in one session, each several times in a row.  contenders: name -> (settings, query).

    Returns, by name, the least seconds without the first run, the set of lines printed, and
    the line that the query `after` printed after the last run.  What else the machine does only
    adds to the times.  Runs of a query follow each other, as systems that give memory back which was not
    used for some seconds (kdamond) make what comes after another one's long run slower.
    """
    script = [settings]
    for name, (own, query) in contenders.items():
        for _ in range(runs + 1):
            script.append(f'{own}\n\\echo case {name}\n\\timing on\n{query};\n\\timing off\n'
                          f'\\echo after\n{after};')
    times, results, told = {}, {}, {}
    name, telling = None, False
    for line in psql('\n'.join(script)).splitlines():
        if line.startswith('case '):
            name, telling = line[5:], False
        elif line == 'after':
            telling = True
        elif line.startswith('Time: '):
            times.setdefault(name, []).append(float(line.split()[1]) / 1000)
        elif telling:
            told[name] = line
        elif name:
            results.setdefault(name, set()).add(line)
    return {n: min(t[1:]) for n, t in times.items()}, results, told


def grouped(key, values, above=''):
    """A grouped query whose groups are all computed and none printed but the greatest; above: before those aggregates' names."""
    columns = ', '.join(f'{value} AS s{i}' for i, value in enumerate(values))
    outer = ', '.join(f'{above}max(s{i})' for i in range(len(values)))
    return f'SELECT {above}count(*), {outer} FROM (SELECT {columns} FROM {{t}} GROUP BY {key}) q'


def leaves(name):
    """A subquery with the table, or its partitions, in column relid."""
    return (f"(SELECT relid::oid FROM pg_partition_tree('{name}') WHERE isleaf UNION "
            f"SELECT oid FROM pg_class WHERE oid = '{name}'::regclass AND relkind = 'r') leaves")


def make_all_visible(name):
    psql('CHECKPOINT')  # rows whose commit is not on disk are not all-visible
    for _ in range(60):
        psql(f'VACUUM (FREEZE, ANALYZE) {name}')
        hidden = psql(f'SELECT sum(relpages - relallvisible) FROM pg_class WHERE oid IN (SELECT relid FROM {leaves(name)})')
        if hidden.strip() == '0':
            return
        time.sleep(1)  # a worker of autovacuum may have a snapshot from before
    sys.exit(f'{name}: {hidden.strip()} pages are not all-visible')


def read_into_buffers(name):
    """Reads the table into shared buffers; returns its bytes."""
    psql(f'CREATE EXTENSION IF NOT EXISTS pg_prewarm; SELECT pg_prewarm(relid) FROM {leaves(name)}')
    return int(psql(f'SELECT sum(pg_relation_size(relid)) FROM {leaves(name)}'))


def check_room(bytes_):
    """Ends the program if tables of so many bytes do not fit into shared buffers."""
    if bytes_ > 0.95 * int(psql("SELECT pg_size_bytes(current_setting('shared_buffers'))")):
        sys.exit(f'{bytes_ >> 20} MB of tables need larger shared_buffers (BUFFERS=...)')


def resident_there():
    """Whether this gpuagg keeps columns in memory."""
    return psql("LOAD 'gpuagg'; SELECT count(*) FROM pg_settings WHERE name = 'gpuagg.resident'").strip() == '1'


def close(ours, core, kinds):
    """Whether results are equal but for rounding of floats, which differs among core's runs."""
    def alike(one, other):
        return all(x == y or (kind in FLOATS and '' not in (x, y) and
                              math.isclose(float(x), float(y), rel_tol=TOLERANCE))
                   for x, y, kind in zip(one.split('|'), other.split('|'), kinds))
    return (all(any(alike(one, other) for other in core) for one in ours) and
            all(any(alike(one, other) for other in ours) for one in core))


def types_of(query):
    """The types of its columns."""
    return [line.rpartition('|')[2] for line in psql(query + ' \\gdesc').splitlines()]


def check_plan(query, settings):
    """What is wrong with the plan of ours; '' if nothing."""
    plan = psql(f"LOAD 'gpuagg'; {settings} EXPLAIN (VERBOSE, COSTS OFF) {query}")
    if 'GpuAgg' not in plan:
        return 'NOT BY GpuAgg'
    return 'ROW BY ROW' if 'Row by Row' in plan else ''


def duck_connect():
    """DuckDB in memory; None, with a line printed, where Python has no such module."""
    try:
        import duckdb  # pylint: disable=import-outside-toplevel
        return duckdb.connect()
    except ImportError:
        print(f'DuckDB is not measured: {sys.executable} has no module duckdb '
              '(pip install --target DIR duckdb; PYTHONPATH=DIR)')
        return None


def duck_table(duck, name, columns=None):
    """The same table in DuckDB, or the columns listed, through a file of CSV."""
    path = f'/tmp/{name}.{os.getpid()}.csv'
    listed = ', '.join(columns or [])
    psql(f"\\copy {name}{f' ({listed})' if columns else ''} TO '{path}' (FORMAT csv, HEADER)")
    wanted = f"attname = ANY ('{{{listed}}}')" if columns else 'true'
    order = f"array_position('{{{listed}}}', attname)" if columns else 'attnum'
    kinds = psql(f"""SELECT string_agg('''' || attname || ''': ''' || upper(split_part(
        format_type(atttypid, atttypmod), ' without', 1)) || '''', ', ' ORDER BY {order})
        FROM pg_attribute WHERE attrelid = '{name}'::regclass AND attnum > 0
        AND NOT attisdropped AND {wanted}""").strip().replace('CHARACTER VARYING', 'VARCHAR').replace('NUMERIC', 'DECIMAL')
    kinds = re.sub(r'CHARACTER\(\d+\)', 'VARCHAR', kinds)
    duck.execute(f"CREATE TABLE {name} AS SELECT * FROM read_csv('{path}', columns = {{{kinds}}})")
    os.unlink(path)


def duck_time(duck, query, runs, threads):
    duck.execute(f'SET threads = {threads}')
    best = math.inf
    for _ in range(runs + 1):
        begin = time.monotonic()
        duck.execute(query).fetchall()
        best = min(best, time.monotonic() - begin)
    return best


class Session:
    """One psql that is asked again and again."""

    END = 'end of the answer'

    def __init__(self, settings=''):
        self.process = subprocess.Popen(['psql', '-X', '-q', '-At', '-v', 'ON_ERROR_STOP=1'], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.ask(settings)

    def ask(self, script):
        """Runs a script; returns the lines that it prints.  Errors of the server go to stderr."""
        self.process.stdin.write(f'{script}\n\\echo {self.END}\n')
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if line.rstrip('\n') == self.END:
                return lines
            lines.append(line.rstrip('\n'))
        raise RuntimeError('psql ended')

    def close(self):
        self.process.stdin.close()
        self.process.wait()

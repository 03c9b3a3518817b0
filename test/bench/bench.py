"""bench.py: what the benchmarks of queries share: psql, timing, who takes part."""
import os
import platform
import subprocess


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
    """Runs queries in turn in one session.  contenders: name -> (settings, query).

    Returns, by name, the least seconds without the first run, the set of lines printed, and
    the line that the query `after` printed after the last run.  What else the machine does only
    adds to the times.
    """
    script = [settings]
    for _ in range(runs + 1):
        for name, (own, query) in contenders.items():
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

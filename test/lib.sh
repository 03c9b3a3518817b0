# lib.sh: what test/check and test/gpu/run share.  Sourced.
#
# Callers set: logs, stage.  What the parts showed is collected in $logs/results,
# so that parts may also run beside each other.

# Counts of a log: 'passed failed'.
count()
{
	case $1 in
		counts) # a program's own last line
			sed -nE 's/^([0-9]+) passed, ([0-9]+) failed.*$/\1 \2/p' "$2" | tail -1
			;;
		regress) # pg_regress: '... ok' lines, or TAP from 16 on
			awk '/^(test|    ) .*\.\.\. ok/ || /^ok [0-9]+/ { p++ }
				/^(test|    ) .*\.\.\. .*(FAILED|failed)/ || /^not ok [0-9]+/ { f++ }
				END { print p + 0, f + 0 }' "$2"
			;;
		tap) # prove --verbose; what was skipped counts as neither
			awk '/^ok [0-9]+/ && !/# *[Ss][Kk][Ii][Pp]/ { p++ }
				(/^not ok [0-9]+/ && !/# *TODO/) || /No plan found in TAP output/ { f++ }
				END { print p + 0, f + 0 }' "$2"
			;;
		none) # counts as one test
			;;
	esac
}

# What a log says of what failed: that it did, then what may tell why.
objections()
{
	grep -E '^not ok|FAILED|^FAIL|^\(exit status' "$1"
	grep -E 'error:|^# +(Failed|got|expected):?' "$1"
}

# part NAME FORMAT COMMAND...: runs a part, counts, and adds a line to the results.
part()
{
	local name=$1 format=$2 log begin=$SECONDS status p f
	shift 2
	log=$logs/$(echo "$name" | tr -c 'a-zA-Z0-9\n' '_' | tr -s _).log

	# In the background, so that a signal to us is not held up by it.
	timeout -k 10 "${part_timeout:-1800}" bash -c '"$@"' bash "$@" >"$log" 2>&1 </dev/null &
	: >"$logs/.running.$!"
	wait $!
	status=$?
	rm -f "$logs/.running.$!"
	if [ "$format" = none ]; then
		p=$((status == 0)) f=$((status != 0))
	else
		read -r p f <<<"$(count "$format" "$log") "
		p=${p:-0} f=${f:-0}
		# What ran nothing, or ended badly in some other way, has failed too.
		if [ "$f" -eq 0 ] && { [ "$status" -ne 0 ] || [ "$p" -eq 0 ]; }; then
			f=1
			echo "(exit status $status)" >>"$log"
		fi
	fi
	printf '%s\t%d\t%d\t%d\n' "$name" "$p" "$f" $((SECONDS - begin)) >>"$logs/results"
	# At once, as others may be writing too.
	echo "$(
		printf '%-28s %8d passed %5d failed %5d s\n' "$name" "$p" "$f" $((SECONDS - begin))
		if [ "$f" -gt 0 ]; then
			echo "---- the end of $log"
			objections "$log" | head -20
			objections "$log" | head -4 | sed "s/^/$name: /" >>"$logs/objections"
			echo "----"
			tail -30 "$log"
			echo "----"
		fi
	)"
}

# Ends the parts that still run; for callers that must end early.
stop_parts()
{
	local f
	for f in "$logs"/.running.*; do
		[ ! -e "$f" ] || kill "${f##*.}" 2>/dev/null
		rm -f "$f"
	done
}

# The table of all parts, those that failed last, with what they say, and the totals as the last line:
# who sees the end of it alone sees these.  Fails if a test did.
summary()
{
	echo
	sort -t "$(printf '\t')" -k3,3n -s "$logs/results" | awk -F '\t' -v objections="$logs/objections" '
		BEGIN { printf "%-28s %8s %8s %9s\n", "part", "passed", "failed", "seconds" }
		{ printf "%-28s %8d %8d %9d\n", $1, $2, $3, $4; p += $2; f += $3 }
		END {
			for (n = 0; n < 12 && (getline line <objections) > 0; n++)
				print (n ? "" : "\n") substr(line, 1, 120)
			printf "\n%d passed, %d failed\n", p, f
			exit f > 0 || p == 0
		}'
}

# What is ours must compile without warnings; the arguments are logs of the build.
no_warnings()
{
	[ $# -gt 0 ] && [ -f "$1" ] || return
	! grep -iE 'warning *(#[^:]*)?:' "$@" | grep -vE '^([^:]*:)?g?make(\[[0-9]+\])?: '
}
export -f no_warnings

in_cluster()
{
	test/cluster run "$stage" "$@"
}

# sql_suite NAME: all SQL tests in a cluster of its own; settings on stdin.  Without
# JIT, whose compiling would be most of the time, but for the tests that ask for it.
sql_suite()
{
	local name=$1 t base regress
	local names=()

	if ! {
		echo "shared_buffers = 256MB"
		echo "max_connections = 150"
		echo "jit = off"
		echo "autovacuum = off"
		echo "max_prepared_transactions = 4"
		cat
	} | test/cluster start "$stage" "$name" >"$logs/start_$name.log" 2>&1; then
		part "$name: start" none cat "$logs/start_$name.log" /nonexistent
		return
	fi

	regress=$stage/run/regress-$name
	if [ -f test/regress/schedule ]; then
		names=(--schedule="$stage/test/regress/schedule")
	else
		for t in test/regress/sql/*.sql; do
			names+=("$(basename "$t" .sql)")
		done
	fi
	in_cluster "$name" mkdir -p "$regress" "$regress/iso"
	part "$name: pg_regress" regress in_cluster "$name" sh -c \
		'cd "$1" && shift && exec "$PG_REGRESS" "$@"' sh "$regress" \
		--bindir="$(dirname "$(in_cluster "$name" sh -c 'command -v psql')")" \
		--host="$stage/run" --inputdir="$stage/test/regress" --outputdir="$regress" \
		--dbname=gpuagg_regress "${names[@]}"
	[ ! -f "$regress/regression.diffs" ] ||
		cp "$regress/regression.diffs" "$logs/${name}_regression.diffs"

	in_cluster "$name" createdb gpuagg_test
	in_cluster "$name" psql -X -q -d gpuagg_test -c 'CREATE EXTENSION gpuagg' \
		-c 'CREATE EXTENSION pgtap' >"$logs/extensions_$name.log" 2>&1
	if in_cluster "$name" sh -c 'test -f "$(pg_config --sharedir)/extension/pgtap.control"'; then
		part "$name: pgTAP" tap in_cluster "$name" sh -c \
			'cd "$1" && exec pg_prove --verbose --ext .sql -d gpuagg_test test/pgtap' sh "$stage"
	else
		echo "$name: the server has no pgTAP, so its tests do not run"
	fi

	for t in test/property/*.py; do
		base=$(basename "$t" .py)
		part "$name: $base" counts in_cluster "$name" env PGDATABASE=gpuagg_test \
			PYTHONDONTWRITEBYTECODE=1 python3 "$stage/$t"
	done

	if compgen -G 'test/isolation/specs/*.spec' >/dev/null; then
		names=()
		for t in test/isolation/specs/*.spec; do
			names+=("$(basename "$t" .spec)")
		done
		part "$name: isolation" regress in_cluster "$name" sh -c \
			'cd "$1" && shift && exec "$PG_ISOLATION_REGRESS" "$@"' sh "$regress/iso" \
			--bindir="$(dirname "$(in_cluster "$name" sh -c 'command -v psql')")" \
			--host="$stage/run" --inputdir="$stage/test/isolation" --outputdir="$regress/iso" \
			--dbname=gpuagg_isolation "${names[@]}"
	fi

	part "$name: engine used" counts in_cluster "$name" psql -X -q -At -d gpuagg_test \
		-v name="$name" -f "$stage/test/engine_used.sql"
	[ "$name" != cpu ] || part "$name: manual" counts test/doc/run "$stage" "$name"
	[ "$name" != cpu ] || part "$name: scripts" counts test/scripts/run "$stage" "$name"
	test/cluster stop "$stage" "$name"
	cp "$stage/log/$name.server" "$logs/server_$name.log" 2>/dev/null
	part "$name: server log" none no_crash "$logs/server_$name.log"
}

# No server process may have died of a signal, nor gpuaggd.
no_crash()
{
	! grep -E 'was terminated by signal|PANIC|TRAP:|lost its device' "$1"
}
export -f no_crash in_cluster
export stage

# fuzz NAME SECONDS SEED: the differential tester in a cluster of its own; settings on stdin.
fuzz()
{
	local name=fuzz_$1 folder=$stage/run/fuzz_$1
	local part_timeout=$(($2 + 300))

	if ! {
		echo "shared_buffers = 256MB"
		cat
	} | test/cluster start "$stage" "$name" >"$logs/start_$name.log" 2>&1; then
		part "$1: start" none cat "$logs/start_$name.log" /nonexistent
		return
	fi
	in_cluster "$name" mkdir -p "$folder"
	part "$1: fuzz" counts in_cluster "$name" env PYTHONDONTWRITEBYTECODE=1 \
		python3 "$stage/test/fuzz/fuzz.py" --seconds "$2" --seed "$3" --folder "$folder"
	cat "$logs/$(tr : _ <<<"$1")_fuzz.log"
	# what reads tables as columns has no device
	[ "$1" != cpu ] || part "$1: tables" counts in_cluster "$name" env PYTHONDONTWRITEBYTECODE=1 \
		python3 "$stage/test/property/tables.py" --seconds "$2" --seed "$3"
	cp "$folder"/*.sql "$logs/" 2>/dev/null
	test/cluster stop "$stage" "$name"
	cp "$stage/log/$name.server" "$logs/server_$name.log" 2>/dev/null
	part "$1: server log" none no_crash "$logs/server_$name.log"
}

# stress_part OPTION...: changing tables, by columns in memory and on the simulated device, and by
# core, in a cluster of its own.
stress_part()
{
	if ! {
		cat test/stress/postgresql.conf
		echo "gpuagg.device_program = '$stage/bin/gpuaggd-sim'"
	} | test/cluster start "$stage" stress >"$logs/start_stress.log" 2>&1; then
		part "stress: start" none cat "$logs/start_stress.log" /nonexistent
		return
	fi
	part stress counts in_cluster stress env PYTHONDONTWRITEBYTECODE=1 \
		python3 "$stage/test/stress/resident.py" "$@"
	test/cluster stop "$stage" stress
	cp "$stage/log/stress.server" "$logs/server_stress.log" 2>/dev/null
}

# The longest files first, so that none is left alone at the end.  Most of their
# time is waiting, so there are more streams than cores.
tap_suite()
{
	local part_timeout=2400 jobs

	jobs=$(($(nproc) + 1))
	part "server-level (TAP)" tap in_cluster tap sh -c '
		mkdir -p "$1/run/tap" && cd "$1/run/tap" &&
		export TESTDIR="$PWD" TESTDATADIR="$PWD/data" TESTLOGDIR="$PWD/log" TMPDIR="$1/run" &&
		export PG_TEST_TIMEOUT_DEFAULT=1200 && # of a session too, from its start to its end
		mkdir -p data log said && unset PGHOST PGPORT PGUSER PGDATABASE &&
		export INITDB_TEMPLATE="$PWD/template" &&
		env -u LC_ALL LC_MESSAGES=C initdb -D "$INITDB_TEMPLATE" -A trust -N >log/initdb 2>&1 || exit
		ls -S "$1"/test/tap/*.pl |
			xargs -P "$2" -I{} sh -c "timeout -k 10 1500 prove --verbose --comments {} >said/\$(basename {}) 2>&1"
		status=$?
		cat said/*
		exit $status' sh "$stage" "$((jobs < 4 ? jobs : 4))"
	mkdir -p "$logs/tap"
	cp -r "$stage"/run/tap/tmp_check/log/. "$stage"/run/tap/log/. "$stage"/run/tap/said/. "$logs/tap/" 2>/dev/null
}

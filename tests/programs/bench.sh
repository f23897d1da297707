#!/bin/sh
# bench.sh: trisolve-bench on small matrices: what it runs, refuses and writes, and its exit status.
bindir=${TRS_BINDIR:-./bin}
case $bindir in /*) ;; *) bindir=$PWD/$bindir ;; esac
bench=$bindir/trisolve-bench
if ! command -v python3 >/dev/null; then echo '1..0 # SKIP no python3, which --html and --plot need'; exit 0; fi
commit=$([ -e "${TRS_SRCDIR:-.}/.git" ] && git -C "${TRS_SRCDIR:-.}" rev-parse HEAD 2>/dev/null)
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' 0
cd "$dir" || exit 99
count=0
status=0

# run ARGUMENT...: short, no GPU; leaves $status, out, err
run() {
    "$bench" --cpu --cell-seconds=0.01 "$@" >out 2>err
    status=$?
}

# check CONDITION-STATUS TEXT
check() {
    count=$((count + 1))
    if [ "$1" = 0 ]; then
        echo "ok $count - $2"
    else
        echo "not ok $count - $2"
        sed 's/^/# /' out err
    fi
}

skip() {
    count=$((count + 1))
    echo "ok $count - $1 # SKIP $2"
}

gives() { # STATUS TEXT
    [ "$status" = "$1" ]
    check $? "$2: exit status $1 (was $status)"
}

# has FIGURE TEXT: DIR/NAME.svg or a page says it
has() { [ -s "$1" ] && grep -qF -- "$2" "$1"; }

# column FILE NAME: that column of a CSV file, a line a row; no commas in quotes before it
column() {
    tr -d '\r' <"$1" | awk -F, -v name="$2" '
        NR == 1 { for (k = 1; k <= NF; k++) if ($k == name) c = k; next }
        { print $c }'
}

# ---- matrices -----------------------------------------------------------------------------------
header='%%MatrixMarket matrix coordinate real general'
mkdir folder
printf '%s\n4 4 6\n1 1 2\n2 1 -1\n2 2 3\n3 3 4\n4 2 1\n4 4 5\n' "$header" >folder/lower.mtx
printf '%s\n3 3 5\n1 1 2\n1 2 -1\n1 3 1\n2 2 3\n3 3 4\n' "$header" >folder/upper.mtx
printf '%s\n3 3 7\n1 1 4\n1 2 1\n2 1 1\n2 2 5\n2 3 1\n3 1 -2\n3 3 3\n' "$header" >general.mtx
printf '%s\n3 3 4\n1 1 2\n2 1 1\n3 2 1\n3 3 1\n' "$header" >missing.mtx
printf '%s\n2 2 3\n1 1 1\n2 1 1e39\n2 2 1\n' "$header" >huge.mtx
printf '%s\n3 2 1\n1 1 1\n' "$header" >tall.mtx
printf '%s\n3 3 2\n1 1 1\n' "$header" >short.mtx
printf '%%%%MatrixMarket matrix array real general\n2 2\n2\n1\n0\n3\n' >full.mtx

# ---- what it runs ---------------------------------------------------------------------------------
run --cell-seconds=5 --csv=c.csv --html=levels.html folder/lower.mtx
gives 0 "a lower triangle"
[ "$(column c.csv solver | grep -cE '^cpu-(dense|serial|level)$')" = 3 ]
check $? "every CPU solver has a line"
grep -q 'cpu-serial' out && grep -q '2 levels' out || grep -q '3 levels' out
check $? "the table shows solvers and levels"
column c.csv omega | awk '{ if ($1 == "" || $1 > 1e-15) bad = 1; print "# omega " $1 } END { exit bad }'
check $? "backward errors are small"
[ "$(column c.csv levels_by | sort | uniq -c | awk '{ printf "%s ", $2 == "one" ? "several" : $1; printf "%s; ", $2 }')" = \
    "several one; 1 topological; " ] &&
    [ "$(column c.csv solver | sed -n "$(column c.csv levels_by | grep -n '^topological' | cut -d: -f1)p")" = cpu-level ]
check $? "cpu-level has its levels from the topological sort, the others from the sweep"
[ "$(column c.csv levels_by_rows | grep -c '[0-9]')" -ge 4 ] && [ "$(column c.csv levels_by_columns | grep -c '[0-9]')" -ge 4 ] &&
    grep -q '^levels by rows (R) .* ms, by columns (C) .* ms$' out
check $? "both times are there"
grep -q '; levels by rows (R) .* ms, by columns (C) .* ms</p>' levels.html && grep -q '<td>[0-9.e-]* C</td>' levels.html
check $? "and on the page"
tr -d '\r' <c.csv | awk -F, '
    NR == 1 { for (k = 1; k <= NF; k++) c[$k] = k; next }
    { d = $c["total"] - $c["analysis"] - $c["solve"]; if (d < 0) d = -d
      if (d > 1e-6 * $c["total"] || $c["solve_min"] > $c["solve"] || $c["solve"] > $c["solve_max"] ||
          $c["solves"] < 20) bad = 1 } END { exit bad || NR < 4 }'
check $? "total is analysis + solve; min, median and max in order; 20 solves"
tr -d '\r' <c.csv | awk -F, '
    NR == 1 { for (k = 1; k <= NF; k++) c[$k] = k; next }
    { s = $c["solve_spread"] * $c["solve"]; if (s < 0 || s > $c["solve_max"] - $c["solve_min"] || !$c["solve_first"] ||
          $c["plans"] < 1 || $c["updates"] < 1 || $c["analysis_spread"] == "" || $c["setup_spread"] == "" ||
          $c["update_spread"] == "" || $c["passes"] < 1 || $c["passes"] > 2 || ($c["passes"] < 2 && !$c["steady"])) bad = 1 }
    END { exit bad }'
check $? "each median has its spread and number; what is unsteady was measured twice"
column c.csv passes >pas; column c.csv steady >st
[ "$(grep -c "  UNSTEADY$" out)" = "$(paste -d, pas st | grep -c 2,0)" ]
check $? "unsteady in the table is unsteady in the CSV file"
[ "$(grep -c '  measured again$' out)" = "$(paste -d, pas st | grep -c 2,1)" ]
check $? "so is what was measured again"
printf '%s\n1 1 1\n1 1 4\n' "$header" >one.mtx
run --solvers=cpu-serial --threads=1 one.mtx
grep -q ' 1 level, widest 1,' out && grep -q ', 1 right-hand side$' out && grep -q ', 1 thread$' out
check $? "one level, right-hand side and thread"
[ "$(column c.csv auto_host | grep -c 1)" = 1 ]
check $? "one solver is the automatic choice"
column c.csv solver | grep -n "^cpu-serial$" | cut -d: -f1 >line
[ "$(column c.csv solve_over_serial | sed -n "$(cat line)p")" = 1 ]
check $? "cpu-serial takes as long as cpu-serial"

# facts: the last columns; a fact with a comma is in quotes
python3 - "$bench" >out 2>err <<'END'
import csv, os, sys
for row in csv.DictReader(open("c.csv", newline="")):
    words = row["command"].split()
    assert os.path.basename(words[0]) == "trisolve-bench", words
    assert words[1:] == "--cpu --cell-seconds=0.01 --cell-seconds=5 --csv=c.csv --html=levels.html folder/lower.mtx".split()
    assert os.uname().release[:30] in row["os"] and os.uname().machine in row["os"], row["os"]
    assert ") " in row["compiler"] + " " and "MHz" in row["clock"] and row["date"] and row["seed"] == "20261121"
    assert float(row["load_before"]) >= 0 and float(row["load_after"]) >= 0
    page = open("levels.html").read()
    for fact in "version commit date os cpu clock compiler blas costs seed".split():
        assert not row[fact] or f'<td>{fact}</td><td class="why">{row[fact]}</td>' in page, fact
END
check $? "facts of the run are in every row and on the page"
if [ -n "$commit" ]; then
    [ "$(grep -c ",$commit" c.csv)" = "$(column c.csv solver | wc -l)" ]
    check $? "the commit that this was built from"
else
    skip "the commit" "no git repository"
fi

# ---- bytes, levels and what they cost ------------------------------------------------------------
# an entry: its value and 4 bytes of index; a row: 4 bytes, and a value of B and X for each right-hand side
printf '%s\n' '# trisolve-sparse machine 2' 'cpu_byte 7e-9' 'cpu_cached 2e-9' 'cpu_latency 3e-6' >costs
floors() { # BYTES-OF-AN-ENTRY BYTES-OF-A-ROW COST-OF-A-BYTE OPTION...
    entry=$1 row=$2 byte=$3
    shift 3
    TRISOLVE_MACHINE=costs "$bench" --cpu --cell-seconds=0.01 --solvers=cpu-serial --csv=c.csv "$@" >out 2>err
    tr -d '\r' <c.csv | awk -F, -v entry="$entry" -v row="$row" -v byte="$byte" '
        function near(a, b) { return a > b * 0.999999 && a < b * 1.000001 }
        NR == 1 { for (k = 1; k <= NF; k++) c[$k] = k; next }
        { bytes = entry * $c["nnz"] + row * $c["n"]; memory = byte * bytes; levels = 3e-6 * $c["levels"]
          longer = memory > levels ? memory : levels; rows++
          if (!near($c["rate"] * $c["solve"], bytes) || !near($c["floor_memory"], memory) ||
              !near($c["floor_levels"], levels) || !near($c["solve_over_floor"] * longer, $c["solve"])) bad = 1 }
        END { exit bad || rows != 1 }'
    check $? "bytes and floors: $*"
}
floors 12 20 2e-9 grid5:30
floors 8 12 2e-9 --precision=f32 grid5:30
floors 20 100 2e-9 --precision=c64 --nrhs=3 grid5:30
floors 12 8 2e-9 --unit --lower grid5:30 # of a unit triangle the diagonal is not read
echo 'cpu_cache 100' >>costs
floors 12 20 7e-9 grid5:30 # from memory

# ---- a plan that grows ---------------------------------------------------------------------------
run --csv=c.csv --solvers=cpu-serial grid5:30 bidiag:9
[ "$(column c.csv plan_grows_at | tr '\n' ' ')" = "200 0 " ]
check $? "the plan of the larger one grows in the solve of doc/growing.md"
for time in plan_prepare plan_first plan_grown; do
    [ "$(column c.csv $time | grep -c '[1-9]')" = 2 ]
    check $? "$time is known"
done
[ "$(column c.csv plan_growth | grep -c '[1-9]')" = 1 ] && [ "$(column c.csv plan_first | tail -n 1)" = "$(column c.csv plan_grown | tail -n 1)" ]
check $? "what does not grow has one solver"

run --csv=c.csv folder
gives 0 "a folder"
[ "$(column c.csv matrix | sort -u | tr '\n' ' ')" = "lower.mtx upper.mtx " ]
check $? "both files of the folder were run"
[ "$(column c.csv triangle | sort -u | tr '\n' ' ')" = "lower upper " ]
check $? "one is lower, one is upper"

for type in f32 f64 c32 c64; do
    run --precision=$type --trans --nrhs=3 --csv=c.csv folder
    gives 0 "$type, transposed, 3 right-hand sides"
    [ "$(column c.csv type | sort -u)" = $type ] && [ "$(column c.csv nrhs | sort -u)" = 3 ]
    check $? "$type is in the CSV file"
done
run --lower general.mtx
gives 0 "the lower triangle of a general matrix"
run --upper --unit --solvers=cpu-serial --csv=c.csv missing.mtx
gives 0 "a unit upper triangle with a missing diagonal"
[ "$(column c.csv triangle),$(column c.csv nnz)" = "unit upper,3" ]
check $? "one solver, a unit triangle of 3 entries"
run full.mtx
gives 0 "a triangle in array format"
run --solvers=cpu-serial,cpu-level grid5:20 bidiag:50
gives 0 "made on the spot"
grep -q 'grid5:20: lower, n 400' out
check $? "grid5:20 has 400 rows"

run --factor --csv=c.csv general.mtx
if grep -q 'built without SuiteSparse' out; then
    skip "factors" "built without SuiteSparse"
else
    gives 0 "factors"
    [ "$(column c.csv matrix | sort -u | tr '\n' ' ')" = "general.mtx L general.mtx U " ]
    check $? "L and U were run"
fi
run --json=j.json folder/lower.mtx
if grep -q 'built without jansson' err; then
    skip "JSON" "built without jansson"
else
    gives 0 "JSON"
    [ "$(grep -c '"solver": "cpu-serial"' j.json)" = 1 ]
    check $? "the JSON file has the solver"
    run --json=j.json --csv=c.csv folder grid5:30 missing.mtx
    python3 - >out 2>err <<'END'
import csv, json
rows, objects = list(csv.DictReader(open("c.csv", newline=""))), json.load(open("j.json"))["cells"]
other = {"nnz": "entries", "longest": "longest_row", "omega": "backward_error", "normwise": "normwise_error"}
assert len(rows) == len(objects) > 3
for row, one in zip(rows, objects):
    row = {other.get(name, name): value for name, value in row.items()}
    assert list(row) == list(one)
    for name, value in one.items():
        if isinstance(value, (int, float)):
            assert abs(float(row[name]) - value) <= 1e-8 * abs(value), name
        else:
            assert row[name] == (value or ""), name
END
    check $? "CSV and JSON agree in every value"
fi
run --quiet folder/lower.mtx
[ "$status" = 0 ] && [ ! -s out ] && [ ! -s err ]
check $? "--quiet prints nothing"

# ---- folders in folders, and --filter ----------------------------------------------------------------
mkdir -p tree/a/b tree/empty
cp folder/lower.mtx tree/a/b/deep.mtx
cp folder/upper.mtx tree/up.mtx
cp short.mtx tree/a/broken.mtx
ln -s .. tree/a/b/back
echo "no matrix" >tree/notes.txt
run --csv=c.csv tree
gives 1 "a tree of folders with one bad file"
[ "$(column c.csv matrix | uniq | tr '\n' ' ')" = "deep.mtx broken.mtx up.mtx " ]
check $? "all three have rows, the bad one as well"
grep -q 'broken.mtx' err && [ "$(column c.csv outcome | sort -u | tr '\n' ' ')" = "good refused " ]
check $? "the failure is a row and a sentence, not an end"
run --filter='d*,u*' --csv=c.csv tree
gives 0 "a filter by name"
[ "$(column c.csv matrix | uniq | tr '\n' ' ')" = "deep.mtx up.mtx " ] && grep -q 'excluded 1 of 3' err
check $? "two of three were run"
run --filter='*/b/*' --csv=c.csv tree
[ "$(column c.csv matrix | uniq | tr '\n' ' ')" = "deep.mtx " ]
check $? "a name is its path as well"
for ranges in 'n<4 up.mtx' 'n>=4,nnz<7 deep.mtx' 'nnz=5 up.mtx' 'n>3,n<=4,?e* deep.mtx' 'nnz>5 deep.mtx'; do
    run --filter="${ranges% *}" --csv=c.csv tree/up.mtx tree/a/b/deep.mtx
    [ "$status" = 0 ] && [ "$(column c.csv matrix | uniq | tr '\n' ' ')" = "${ranges#* } " ]
    check $? "--filter ${ranges% *} takes ${ranges#* }"
done
printf '%s\n9 9 4\n1 1 wrong\n' "$header" >huge9.mtx
run --filter='n<9' huge9.mtx tree/up.mtx
gives 0 "a file that is left out is not read"
run --filter='n<=400' --csv=c.csv grid5:20 grid5:21
[ "$(column c.csv matrix | uniq)" = grid5:20 ]
check $? "what is made is filtered by size as well"
{ head -n 1 tree/up.mtx; echo '% kind: power network problem'; tail -n +2 tree/up.mtx; } >tree/power.mtx
for kind in 'kind=*power* power.mtx' 'kind=general,p* power.mtx' 'kind=a,kind=*net*,n<9 power.mtx'; do
    run --filter="${kind% *}" --csv=c.csv tree
    [ "$(column c.csv matrix | uniq | tr '\n' ' ')" = "${kind#* } " ] &&
        [ "$(column c.csv kind | uniq)" = 'power network problem' ]
    check $? "--filter ${kind% *} takes ${kind#* }"
done
rm tree/power.mtx
run --filter='kind=complex' tree/up.mtx
gives 1 "nothing is of that kind"
run --filter='n>99' tree/up.mtx
gives 1 "nothing passes the filter"
for wrong in '' 'n<' 'n<<5' 'm<5' 'n=<5' 'n<5x' 'a,,b' 'nnz=>5' 'kind='; do
    run --filter="$wrong" tree
    [ "$status" = 1 ] && grep -q -- '--filter' err
    check $? "wrong filter '$wrong'"
done

# ---- a process a matrix, --resume ------------------------------------------------------------------------
mkdir -p ssmc/HB/unpacked ssmc/Z
cp folder/lower.mtx ssmc/HB/first.mtx
cp folder/upper.mtx ssmc/HB/unpacked/unpacked.mtx
mkfifo ssmc/Z/hangs.mtx # nobody ever writes to it
run --matrix-seconds=1 --csv=c.csv ssmc
gives 1 "a matrix that hangs"
[ "$(column c.csv matrix | uniq | tr '\n' ' ')" = "first.mtx unpacked.mtx hangs.mtx " ] &&
    grep -q 'hangs.mtx: stopped after 1 s' err && grep -q 'stopped after 1 s' c.csv
check $? "it is stopped, and a row says so"
[ "$(column c.csv group | uniq | tr '\n' ' ')" = "HB Z " ] && head -n 1 c.csv | grep -q ',driver,.*,seed,'
check $? "columns for the group, the driver and the seed"
[ ! -e c.csv.resume ]
check $? "nothing is left to resume"
run --matrix-memory=1e-4 --cell-seconds=1 --solvers=cpu-serial grid5:300
[ "$status" = 1 ] && grep -q 'stopped at .* GiB' err
check $? "too much memory"
set -- --cpu --cell-seconds=0.01 --solvers=cpu-serial --csv=r.csv --matrix-seconds=20 ssmc
"$bench" "$@" >out 2>err &
pid=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ "$(cat r.csv.part-* 2>/dev/null | wc -l)" = 3 ] && break
    sleep 0.5
done
kill -9 $pid
wait $pid 2>/dev/null
cat r.csv.part-* >part.csv && column part.csv solve >before && rm -f r.csv.part-*
[ ! -e r.csv ] && [ -s r.csv.resume ] && [ "$(wc -l <before)" = 2 ]
check $? "a run is broken off"
printf 'half a record' >>r.csv.resume
rm ssmc/Z/hangs.mtx
cp folder/lower.mtx ssmc/Z/hangs.mtx
"$bench" --resume --trans "$@" >out 2>err
[ $? = 1 ] && grep -q 'other options' err
check $? "it cannot be resumed with other options"
"$bench" --resume "$@" >out 2>err
status=$?
gives 0 "--resume"
[ "$(column r.csv solve | head -n 2)" = "$(cat before)" ] && [ "$(column r.csv matrix | tail -n 1)" = hangs.mtx ]
check $? "what was there is kept, the rest is run"
[ "$(grep -c '^[* ]. *cpu-serial' out)" = 3 ] && [ ! -e r.csv.resume ]
check $? "the table has all of it, and nothing is left to resume"
run --resume --csv=c.csv folder
gives 0 "--resume with nothing to resume"
run --resume folder
gives 1 "--resume without a file"
run --resume --dense --csv=c.csv 5
gives 1 "--resume with what is no collection"

# ---- the choice ----------------------------------------------------------------------------------------
run --quiet --choice --csv=c.csv folder grid5:30
gives 0 "--choice"
[ "$(grep -c '^choice: ' out)" = 3 ] && grep -q ', 3 problems: .* within 1.1, .* within 1.3,' out
check $? "a line a problem, and the shares"
tr -d '\r' <c.csv | awk -F, '
    NR == 1 { for (k = 1; k <= NF; k++) c[$k] = k; next }
    { m = $c["matrix"]; t = $c["solve_first"]; if (!(m in first) || t < first[m]) { first[m] = t; best[m] = $c["solve"] }
      if ($c["auto_host"]) taken[m] = $c["solve"] }
    END { for (m in best) printf "%s %.3f\n", m, taken[m] / best[m] }' | sort >expected
sed -n 's/^choice: \([^ ]*\): .* ms: \([0-9.]*\)$/\1 \2/p' out | sort >said
awk 'NR == FNR { e[$1] = $2; next } { d = $2 - e[$1]; if (d < -0.0011 || d > 0.0011) bad = 1 } END { exit bad || NR < 6 }' \
    expected said
check $? "each ratio is that of the figures in the CSV file"
run --quiet --choice --measure grid5:30
[ "$status" = 0 ] && grep -q 'by measuring' out
check $? "--measure"
run --quiet --choice --solvers=dense-serial grid5:30
[ "$status" = 0 ] && grep -q 'was not run' out && grep -q '1 without a figure' out
check $? "a choice that was not run has no ratio"
run --quiet --choice --solvers=cpu-serial,cpu-level --without=cpu-blocked,cpu-ell,cpu-stencil,cpu-supernodal,cpu-serial chain:3000
[ "$status" = 0 ] && grep -q '^choice: chain:3000: cpu-level ' out
check $? "--without: the next solver is chosen"
run --quiet --matrix-seconds=20 --choice --without=cpu-serial,cpu-level --csv=c.csv chain:300
[ "$status" = 0 ] && [ "$(column c.csv auto_host | grep -c 1)" = 1 ] && ! grep -qE ',cpu-(serial|level),1,' c.csv
check $? "--without in a process of its own; what is left out is measured all the same"
run --without=nosuch folder
gives 1 "--without an unknown solver"
run --without=cpu-level --dense 8
gives 1 "--without where nothing is chosen"
run --host --solvers=cpu-serial folder
gives 0 "--host"

# ---- full matrices ---------------------------------------------------------------------------------------
run --dense --cell-seconds=0.1 --csv=c.csv --plot=plots --html=page.html 5 32 100
gives 0 "--dense"
grep -q '^Triangles  *5  *32  *100' out && grep -q '^LU and Gauss  *5  *32  *100' out && grep -q 'No GPU' out
check $? "a table a family, a column a size; the missing GPU is said"
[ "$(column c.csv solver | sort | uniq -c | awk '/dense-serial|lu-serial/ { n += $1 } END { print n }')" = 6 ]
check $? "the CPU's solvers ran at each size"
column c.csv omega | awk '{ if ($1 != "" && $1 > 1e-14) bad = 1 } END { exit bad }'
check $? "errors are small"
tr -d '\r' <c.csv | awk -F, '
    NR == 1 { for (k = 1; k <= NF; k++) c[$k] = k; next }
    $c["solver"] == "lu-serial" { n++; if (!($c["factor"] > 0 && $c["factor"] <= $c["update"])) bad = 1 }
    $c["solver"] == "dense-serial" && $c["factor"] != "" { bad = 1 }
    $c["alloc"] != "" { bad = 1 } END { exit bad || n != 3 }'
check $? "the factorisation is a part of the update; nothing was allocated on a device"
# a curve says its numbers, in ms: "lu-serial: 5 0.0012, 32 0.02, 100 0.3"
tr -d '\r' <c.csv | awk -F, '
    NR == 1 { for (k = 1; k <= NF; k++) c[$k] = k; next }
    $c["solver"] == "lu-serial" { printf "%s%s %.9g", n++ ? ", " : "lu-serial: ", $c["n"], 1e3 * $c["factor"] }' >expected
has plots/lu-figure7.svg "<title>$(cat expected)</title>"
check $? "figure 7 has the times to factor that are in the CSV file"
for figure in dense-kernels all-triangles all-general; do
    grep -q '<title>.*: 5 .*, 32 .*, 100 .*</title>' plots/$figure.svg
    check $? "plots/$figure.svg has the sizes"
done
grep -q '</html>' page.html && grep -q 'lu-serial' page.html && [ "$(grep -c '</svg>' page.html)" -ge 4 ]
check $? "the page is whole, with its figures"
! grep -q '<?xml\|src=\|href="http' page.html
check $? "the page needs nothing else"
mkdir no-python
for tool in sed ls rm cat dirname basename mkdir mv cp grep; do # of libtool's script around the program
    command -v $tool >/dev/null && ln -s "$(command -v $tool)" no-python/$tool
done
for figures in --html=none.html --plot=none; do
    (PATH=$dir/no-python; "$bench" --cpu --dense --csv=none.csv $figures 8192) >out 2>err
    status=$?
    gives 1 "$figures without python3"
    grep -q -- "${figures%=*}: python3 is not installed" err && [ ! -e none.html ] && [ ! -e none.csv ] && ! grep -q '8192' out
    check $? "that is reported, and nothing is measured"
done
(TRISOLVE_REPORT=absent "$bench" --cpu --dense --html=none.html 8) >out 2>err
status=$?
gives 1 "a script that is not there"
grep -q 'html: absent: No such file' err
check $? "it is named"
run --dense --cell-seconds=1e-6 --csv=c.csv --solvers=lu-serial 64 512
grep -q 'lu-serial, n 512: skipped: a run would take about' out && grep -q 'skipped' c.csv
check $? "what takes too long is skipped with a word"
run --dense --precision=f32 --trans --nrhs=2 --quiet --csv=c.csv 40
gives 0 "--dense in single precision, transposed, two right-hand sides"
[ "$(column c.csv type | sort -u)" = f32 ]
check $? "f32 is in the CSV file"

run --quiet --plot=plots2 --html='p&q.html' folder/lower.mtx grid5:20
gives 0 "figures of triangles"
has plots2/solve.svg 'Solve time over that of cpu-serial' && has plots2/solve.svg '>grid5:20, cpu-level: '
check $? "bars over cpu-serial where there is no cusparse"
has plots2/profile.svg '<title>cpu-serial: fastest on ' && has plots2/levels.svg '<title>cpu-level</title>'
check $? "a performance profile, and the ratios over the levels"
grep -q '<h3>grid5:20</h3>' 'p&q.html' && grep -q 'choice for the host' 'p&q.html'
check $? "a table a matrix in the page"

run --quiet --csv=sizes.csv --plot=plots3 grid5:8,16,12 bidiag:5
gives 0 "several sizes of a kind"
[ "$(column sizes.csv matrix | uniq | tr '\n' ' ')" = "grid5:8 grid5:16 grid5:12 bidiag:5 " ]
check $? "each of them is a matrix"
grep -q '<title>automatic choice: 176 [^ ]*, 408 [^ ]*, 736 [^ ]*</title>' plots3/growth-grid5.svg && [ ! -e plots3/growth-bidiag.svg ]
check $? "a figure over the entries where there are three sizes" # 3 s^2 - 2 s

# ---- the page of a collection ----------------------------------------------------------------------------
cp general.mtx tree/general.mtx
printf '%%%%MatrixMarket matrix array real general\n3 1\n1\n1\n1\n' >rhs.mtx
for name in up_b up_rhs1 general_b12 a/b/deep_rhs; do cp rhs.mtx tree/$name.mtx; done
cp folder/lower.mtx tree/lonely_b.mtx   # a matrix that happens to be called so
cp folder/lower.mtx tree/up_chol.mtx    # beside up.mtx, but no right-hand side by its name
rm tree/a/broken.mtx
run --quiet --csv=c.csv --html=page.html tree
gives 0 "a collection with right-hand sides"
[ "$(column c.csv matrix | uniq | tr '\n' ' ')" = "deep.mtx general.mtx lonely_b.mtx up.mtx up_chol.mtx " ]
check $? "right-hand sides beside their matrices are no matrices"
[ "$(grep -c 'not a triangle' page.html)" = 1 ] && ! grep -q '_b12\|rhs' page.html
check $? "nor refused ones in the page"
run --quiet --csv=named.csv tree/up_b.mtx folder
[ "$status" = 0 ] && grep -q 'up_b.mtx.*not square' named.csv
check $? "one that is named is looked at"
grep -q '<meta name="viewport" content="width=device-width' page.html
check $? "the page is for phones as well"
for fact in '<b>5</b> matrices' '<b>4</b> solved' '<b>1</b> <a href="#failed">refused' 'within 1.1' 'geometric mean'; do
    sed '/id="figures"/,$d' page.html | grep -q "$fact"
    check $? "the summary on top has: $fact"
done
# anchors PAGE: each link leads somewhere, every matrix has one, no place is named twice
anchors() {
    grep -o ' href="#[^"]*"' "$1" | cut -d'"' -f2 | tr -d '#' | sort -u >links
    grep -o ' id="[^"]*"' "$1" | cut -d'"' -f2 | sort >places
    [ -s links ] && [ -z "$(comm -23 links places)" ] && [ -z "$(uniq -d places)" ]
}
anchors page.html
check $? "every link of the page leads to one place"
[ "$(grep -c '^m[0-9]' links)" = 5 ] && [ "$(grep -c '^m[0-9]' places)" = 5 ] && grep -q '^summary$' links &&
    grep -q '^solvers$' links && grep -q '^matrices$' links
check $? "contents: the sections, and every matrix"
[ "$(sed '/id="matrices"/,$d' page.html | grep -c '</svg>')" = 5 ] && [ "$(grep -c '</svg>' page.html)" = 9 ]
check $? "figures stand before the matrices, and each of these has one"
# the page's numbers, computed again from the CSV file
tr -d '\r' <c.csv | awk -F, '
    NR == 1 { for (k = 1; k <= NF; k++) c[$k] = k; next }
    $c["outcome"] == "good" {
        m = $c["matrix"]; t = $c["solve"]; f = $c["solve_first"]
        if (!(m in least) || f < least[m]) { least[m] = f; best[m] = t; fastest[m] = $c["solver"] }
        if ($c["auto_host"]) { taken[m] = t; choice[m] = $c["solver"]; chosen[$c["solver"]]++ }
        if ($c["solver"] == "cpu-level") { level[m] = t; over += log($c["solve_over_serial"]); solved++ }
    }
    END {
        for (m in best) {
            n++; r = taken[m] / best[m]; sum += log(r); if (r > worst) worst = r
            within += r <= 1.1; first += choice[m] == fastest[m]; wins += fastest[m] == "cpu-level"; rest += log(level[m] / best[m])
        }
        printf "<li><b>%.0f %%</b> of the choices are the fastest solver</li>\n", 100 * first / n
        printf "<li><b>%.0f %%</b> are within 1.1 of it</li>\n", 100 * within / n
        printf "<li><b>%.3f</b> geometric mean of choice over fastest</li>\n", exp(sum / n)
        printf "<li><b>%.4g</b> at worst</li>\n", worst
        printf "<tr><td>cpu-level</td><td>%d</td><td>0</td><td>0</td><td>%d</td><td>%d</td><td>%.4g</td><td>%.4g</td></tr>\n",
            solved, chosen["cpu-level"], wins, exp(rest / n), exp(over / solved)
    }' >expected
while read -r line; do
    has page.html "$line"
    check $? "the page has, as computed from the CSV file: $line"
done <expected
# dashes PAGE: no table has a column that holds dashes alone; every table can scroll
dashes() {
    awk '
        function judge() { for (k = 2; k <= columns; k++) if (rows && !said[k]) bad = 1; columns = rows = 0 }
        /<table>/ && !/class="wide"/ { bad = 1 }
        /<th>/ { judge(); columns = split($0, head, /<th[ >]/) - 1; delete said }
        /<tr[^>]*><td/ { if (split($0, field, /<td[^>]*>/) - 1 != columns) next
            rows++; for (k = 1; k <= columns; k++) if (field[k + 1] !~ /^-</) said[k] = 1 }
        END { judge(); exit bad }' "$1"
}
dashes page.html && ! grep -q '<th>/cusparse\|<th>factor' page.html
check $? "no column of dashes alone"
run --dense --quiet --html=dense.html 8 16
dashes dense.html && anchors dense.html && grep -q '<th>factor' dense.html
check $? "nor with --dense, where LU has a factorisation"
rm -r tree/*_* tree/a/b/*_*

# ---- what steps cost here --------------------------------------------------------------------------------
run --cell-seconds=0.2 --calibrate machine
gives 0 "--calibrate"
[ "$(grep -cE '^cpu_(byte|cached|entry|full|row|latency|scatter) +[0-9.e-]+ +# s' machine)" = 7 ] && grep -q '^# gpu_byte .*not measured' machine
check $? "the costs of the CPU are in the file, those of the GPU that is not there are not"
# on a busy machine there may be time for a single problem, and then no error is known, or for none
if grep -q '^# fit cpu: ' machine; then
    grep -qE '^# fit cpu: ([2-9]|[1-9][0-9]+) problems, [0-9]+ costs, leave-one-out error median |^# fit cpu: 1 problem,' machine &&
        ! grep -q '^# fit merged' machine
    check $? "and so is how well they fit"
    [ "$(grep -cE '^# choice, (earlier|fitted) costs: [0-9]+ solves?, [0-9.]+ % within 1.1 of the fastest' machine)" = 2 ]
    check $? "and how well they choose"
else
    skip "how well they fit" "the machine is too busy to measure"
fi
awk '/^cpu_(byte|cached)/ { if ($2 < 1e-13 || $2 > 1e-8) bad = 1 } END { exit bad }' machine
check $? "memory moves between 0.1 GB and 10 TB a second"
TRISOLVE_MACHINE=machine "$bindir/trisolve-sparse" --lower general.mtx >out 2>err
[ $? = 0 ] && grep -q '^costs  *machine$' out
check $? "the library goes by it"
run --cell-seconds=0.01 --calibrate
[ "$status" = 0 ] && head -n 1 out | grep -q '^# trisolve-sparse machine 2$'
check $? "without a file it goes to standard output"
echo wrong >>machine
TRISOLVE_MACHINE=machine
export TRISOLVE_MACHINE
run folder
[ "$status" = 1 ] && grep -q 'machine:.*no such cost' out
check $? "a wrong file is refused with its line"
run --cell-seconds=0.01 --calibrate machine
gives 0 "and can be replaced"
unset TRISOLVE_MACHINE
was=$XDG_CACHE_HOME XDG_CACHE_HOME=$dir/a/cache
export XDG_CACHE_HOME
run --calibrate --save
gives 0 "--calibrate --save"
[ "$(ls a/cache/trisolve-sparse)" = machine ] && head -n 1 a/cache/trisolve-sparse/machine | grep -q '^# trisolve-sparse machine '
check $? "the costs are in the user's cache"
"$bindir/trisolve-sparse" --solver=cpu-serial --lower general.mtx >out 2>err
[ $? = 0 ] && grep -q "^costs  *$dir/a/cache/trisolve-sparse/machine$" out
check $? "the library goes by them"
TRISOLVE_MACHINE='' "$bindir/trisolve-sparse" --lower general.mtx >out 2>err
[ $? = 0 ] && grep -q '^costs  *built in, [^;]*$' out
check $? "but not where TRISOLVE_MACHINE is set to nothing"
XDG_CACHE_HOME=$was

# ---- reading and writing files ---------------------------------------------------------------------------
printf '%%%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 1.5\n2 3 -2\n' >wide.mtx
TMPDIR=$dir
export TMPDIR
run --io --csv=io.csv wide.mtx general.mtx
gives 0 "--io"
grep -q '^wide.mtx  *1.5e-05  *2 ' out && grep -q '^general.mtx ' out
check $? "a line a file, rectangular ones too"
grep -q '^matrix,type,rows,nnz,runs,bytes_file,bytes_text,bytes_written,read,parse' io.csv &&
    grep -qE '^wide.mtx,f64,2,2,[0-9]+,67,15,67,' io.csv
check $? "its own columns"
run --io --low-memory --csv=io.csv wide.mtx
gives 0 "--io --low-memory"
run --low-memory folder
gives 0 "--low-memory"
run --io absent.mtx wide.mtx
[ "$status" = 1 ] && grep -q 'absent.mtx: No such file' err && grep -q '^wide.mtx' out
check $? "a bad file stops no other"
[ -z "$(ls -d trisolve-bench.* 2>/dev/null)" ]
check $? "no temporary folder is left"
unset TMPDIR
run --io --lower wide.mtx
gives 1 "--io with what solves"

# ---- what it refuses --------------------------------------------------------------------------------
run missing.mtx
gives 1 "nothing to solve: a missing diagonal"
grep -q 'row 2: diagonal is missing' out
check $? "the row is named"
run missing.mtx general.mtx tall.mtx folder/lower.mtx
gives 0 "one of four can be solved"
grep -q 'not a triangle' out && grep -q '3 x 2, not square' out && grep -q 'cpu-serial' out
check $? "each says why"
run --memory=1e-4 --csv=c.csv grid5:20
gives 0 "a limit of 107 kB"
[ "$(column c.csv outcome | sort -u | head -n 1)" = good ] || column c.csv outcome | grep -q refused
check $? "the limit shows in a row"
run short.mtx folder/lower.mtx
gives 1 "a file that breaks off, and a good one"
grep -q 'short.mtx' err && grep -q 'cpu-serial' out
check $? "the bad one is named, the good one was run"
run --precision=f32 huge.mtx
gives 3 "an entry that single precision cannot hold"

# ---- wrong use ----------------------------------------------------------------------------------------
run nosuch.mtx
gives 1 "no such file"
grep -q 'nosuch.mtx' err
check $? "it is named"
run nosuch:5
gives 1 "no such kind of matrix"
run
gives 1 "no matrix"
run --lower --upper folder
gives 1 "two triangles at once"
run --solvers=cpu-serial,nosuch folder
gives 1 "an unknown solver"
run --nrhs=0 folder
gives 1 "no right-hand side"
run --csv=nodir/c.csv folder
gives 1 "a CSV file that cannot be written"
run --html=nodir/c.html folder
gives 1 "a page that cannot be written"
run --plot=nodir/plots folder
gives 1 "a folder for plots that cannot be made"
run --calibrate nodir/machine
gives 1 "a file of costs that cannot be written"
for wrong in '--dense 0' '--dense 5x' '--dense 100000' '--dense --lower 5' '--dense --precision=c64 5' \
    '--calibrate a b' '--calibrate --save a' '--save a' '--calibrate --dense' '--calibrate --csv=c.csv'; do
    # shellcheck disable=SC2086 # words
    run $wrong
    gives 1 "$wrong"
done
printf '%%%%MatrixMarket matrix coordinate complex general\n2 2 2\n1 1 1 2\n2 2 3 4\n' >complex.mtx
run --precision=f32 complex.mtx
[ "$status" != 0 ] && grep -q 'complex values cannot be converted to --precision=f32' out
check $? "complex values in real precision"
run grid5:x
[ "$status" != 0 ] && grep -q 'grid5:x: the size is not a number' out
check $? "a kind without a size"
run --device=0 folder
[ "$status" = 1 ] && grep -q -e '--cpu and --device exclude each other' err
check $? "--cpu and --device"
"$bench" --device=1000 folder >out 2>err
[ $? = 1 ] && grep -q -e '^trisolve-bench: --device' err
check $? "a device that no machine has"
mkdir empty
run empty
gives 1 "an empty folder"
run --help
[ "$status" = 0 ] && grep -q '^Usage: trisolve-bench' out
check $? "--help"
run --version
[ "$status" = 0 ] && grep -q '^trisolve-bench [0-9]' out
check $? "--version"
[ -z "$(find . -name '*.part*' ! -name part.csv)" ]
check $? "nothing half-written is left"

echo "1..$count"

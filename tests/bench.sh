#!/bin/sh
# bench.sh: trisolve-bench on small matrices: what it runs, refuses and writes, and its exit status.
bindir=${TRS_BINDIR:-./bin}
case $bindir in /*) ;; *) bindir=$PWD/$bindir ;; esac
bench=$bindir/trisolve-bench
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
run --cell-seconds=5 --csv=c.csv folder/lower.mtx
gives 0 "a lower triangle"
[ "$(column c.csv solver | grep -cE '^cpu-(dense|serial|level)$')" = 3 ]
check $? "every CPU solver has a line"
grep -q 'cpu-serial' out && grep -q '2 levels' out || grep -q '3 levels' out
check $? "the table shows solvers and levels"
column c.csv omega | awk '{ if ($1 == "" || $1 > 1e-15) bad = 1; print "# omega " $1 } END { exit bad }'
check $? "backward errors are small"
tr -d '\r' <c.csv | awk -F, '
    NR == 1 { for (k = 1; k <= NF; k++) c[$k] = k; next }
    { d = $c["total"] - $c["analysis"] - $c["solve"]; if (d < 0) d = -d
      if (d > 1e-6 * $c["total"] || $c["solve_min"] > $c["solve"] || $c["solve"] > $c["solve_max"] ||
          $c["solves"] < 20) bad = 1 } END { exit bad || NR < 4 }'
check $? "total is analysis + solve; min, median and max in order; 20 solves"
[ "$(column c.csv auto_host | grep -c 1)" = 1 ]
check $? "one solver is the automatic choice"
column c.csv solver | grep -n "^cpu-serial$" | cut -d: -f1 >line
[ "$(column c.csv solve_over_serial | sed -n "$(cat line)p")" = 1 ]
check $? "cpu-serial takes as long as cpu-serial"

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
fi
run --quiet folder/lower.mtx
[ "$status" = 0 ] && [ ! -s out ] && [ ! -s err ]
check $? "--quiet prints nothing"

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
mkdir empty
run empty
gives 1 "an empty folder"
run --help
[ "$status" = 0 ] && grep -q '^Usage: trisolve-bench' out
check $? "--help"
run --version
[ "$status" = 0 ] && grep -q '^trisolve-bench [0-9]' out
check $? "--version"
[ -z "$(find . -name '*.part')" ]
check $? "nothing half-written is left"

echo "1..$count"

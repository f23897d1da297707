#!/bin/sh
# first_use.sh: what the first run of a program with many solves measures of the CPU and keeps for later ones: once, for this CPU
# alone, where it can be written; it can be turned off; and no run fails because of it.
. "${TRS_SRCDIR:-.}/tests/common/tap.sh"
once=$bin/trisolve-sparse
bench=$bin/trisolve-bench
seed5=$source/matrices/seed5.mtx
XDG_CACHE_HOME=$folder/cache; export XDG_CACHE_HOME
kept=cache/trisolve-sparse
unset TRISOLVE_NO_CALIBRATE TRISOLVE_MACHINE

# Many solves, for which a solver is chosen.
solve() { "$once" --repeat=2 "$@"; }


# ---- what spares it
expect 0 'a single solve' "$once" "$seed5"; absent cache; says out '^costs  *built in'
expect 0 'a solver is named' solve --solver=cpu-serial "$seed5"; absent cache
expect 0 'turned off by an option' solve --no-calibrate "$seed5"; absent cache; says out '^costs  *built in'
TRISOLVE_NO_CALIBRATE=1; export TRISOLVE_NO_CALIBRATE
expect 0 'turned off by the environment' solve "$seed5"; absent cache
unset TRISOLVE_NO_CALIBRATE
TRISOLVE_MACHINE=; export TRISOLVE_MACHINE
expect 0 'the built-in costs are asked for' solve "$seed5"; absent cache; says out '^costs  *built in'
unset TRISOLVE_MACHINE
expect 0 'not for a benchmark without a choice' "$bench" -q --cell-seconds=0.01 --dense 40; absent cache

# ---- the first run, and the second
expect 0 'the first run' solve "$seed5"; silent err; says out '^costs  *.*/cpu-[0-9a-f]*$'
file=$(ls $kept)
expect 0 'has written one file' test "${file#cpu-}" != "$file" -a "$(ls $kept | wc -l)" = 1
says $kept/$file '^# trisolve-sparse machine 2$'; says $kept/$file '^# .* first run .* online, .*trisolve-sparse [0-9]'
# steps; what is fitted beside depends on how much time a busy machine has for it
for cost in cpu_byte cpu_cached cpu_latency; do says $kept/$file "^$cost  *[0-9.e-]*  *# s"; done
expect 1 'no costs of a GPU' grep -q '^gpu_' $kept/$file
cp $kept/$file before
expect 0 'the second run' solve "$seed5"; says out "^costs  *.*$kept/$file"
expect 0 'measures nothing' cmp $kept/$file before
expect 0 'nor does the benchmark' "$bench" --cpu --cell-seconds=0.01 --solvers=cpu-serial "$seed5"
expect 0 'which goes by the same' cmp $kept/$file before

# ---- files that do not count
mv $kept/$file $kept/cpu-0123456789abcdef
expect 0 'the file of another CPU' solve "$seed5"
expect 0 'is left alone' cmp $kept/cpu-0123456789abcdef before
expect 0 'and one for this CPU is written' test -f $kept/$file
rm $kept/cpu-0123456789abcdef
echo 'cpu_rows 1' >>$kept/$file
expect 0 'a damaged file without the means to replace it' solve --no-calibrate "$seed5"
says out '^costs  *built in.*; ignored .*no such cost'
expect 0 'is measured anew' solve "$seed5"; says out "^costs  *[^;]*$kept/$file\$"
expect 1 'and is whole again' grep -q cpu_rows $kept/$file
: >$kept/$file
expect 0 'an empty one, too' solve "$seed5"; says $kept/$file '^cpu_byte '
printf '# trisolve-sparse machine 2\ncpu_row 1e-3\n' >$kept/machine
rm $kept/$file
expect 0 'what was calibrated' solve "$seed5"; says out "^costs  *.*$kept/machine\$"
expect 0 'comes before it' test ! -f $kept/$file
rm $kept/machine

# ---- costs that were measured while the machine was busy
lower() { "$once" --lower --repeat=2 "$source/matrices/superlu_airfoil2.mtx"; }
predicted() { sed -n 's/.*predicted \([^;]*\).*/\1/p' "$1"; }
export TRISOLVE_MACHINE=
expect 0 'a prediction by the built-in costs' lower; predicted out >built_in
unset TRISOLVE_MACHINE
printf '# trisolve-sparse machine 2\ncpu_entry 1e-3\ncpu_row 1e-2\ncpu_barrier 0.1\n' >$kept/$file
expect 0 'is that by costs which no CPU has' lower; predicted out >odd; says out "^costs  *.*$kept/$file"
expect 0 'and not by what the file says' cmp built_in odd
printf '# trisolve-sparse machine 2\ncpu_entry 1e-9\n' >$kept/$file
expect 0 'others count' lower; predicted out >slow
expect 1 'and make a difference' cmp -s built_in slow

# ---- no place to write to
rm -r cache
: >file
XDG_CACHE_HOME=$folder/file
expect 0 'a cache that cannot be made' solve "$seed5"; silent err; says out '^costs  *built in'
mkdir -p locked/trisolve-sparse
chmod 500 locked/trisolve-sparse
XDG_CACHE_HOME=$folder/locked
expect 0 'a read-only one' solve "$seed5"; silent err
if [ "$(id -u)" = 0 ]; then skip 'has no file' 'root may write everywhere'; else
    expect 0 'has no file' test -z "$(ls locked/trisolve-sparse)"
fi
chmod 700 locked/trisolve-sparse
HOME=; export HOME
unset XDG_CACHE_HOME
expect 0 'no home' solve "$seed5"; silent err; says out '^costs  *built in'

# ---- several first runs at once
XDG_CACHE_HOME=$folder/cache; export XDG_CACHE_HOME
solve "$seed5" >1 2>&1 & solve "$seed5" >2 2>&1 & solve "$seed5" >3 2>&1
wait
for k in 1 2 3; do says $k "^costs  *.*$kept/$file\$"; done
expect 0 'leave one file' test "$(ls $kept)" = "$file"
finish

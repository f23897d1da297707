#!/bin/sh
# gen.sh: trisolve-gen: the sizes of what it makes are those of closed formulas, trisolve-sparse solves it, and wrong
# arguments are refused.
. "${TRS_SRCDIR:-.}/tests/common/tap.sh"
gen=$bin/trisolve-gen
solve=$bin/trisolve-sparse

expect 0 'help' "$gen" --help; says out 'grid27'; says out 'lu3d'
expect 0 'version' "$gen" --version
expect 1 'no argument' "$gen"; says err 'help'
expect 1 'unknown kind' "$gen" no-such 3; says err 'unknown kind'
expect 1 'not a number' "$gen" grid5 x
expect 1 'too large' "$gen" grid7 2000000; says err 'too large'
expect 1 'unwritable' "$gen" grid5 3 -o no/such/place.mtx
expect 1 'unwritable, binary' "$gen" grid5 3 -o no/such/place.trs; says err 'place.trs: cannot write'
expect 1 'binary to standard output' "$gen" grid5 3 --binary
expect 1 'more digits than a number has' "$gen" grid5 99999999999999999999; says err 'too large'
expect 1 'an option of another kind' "$gen" grid5 3 --degree=4; says err 'grid5 has no option --degree'
expect 1 'no entries' "$gen" rand 3 --degree=0; says err '1 or more'
for what in 'full 1000000' 'rmat 31' 'rmat 9 --edges=4611686018427387904' 'fem 9 --dof=9223372036854775807' \
        'rand 9 --degree=9223372036854775807' 'chain 9 --entries=9223372036854775807'; do
    expect 1 "$what" "$gen" $what -o big.mtx; says err 'too large'; absent big.mtx
done

# kind, size, rows, entries, levels: closed formulas
check() {
    expect 0 "$1 $2" "$gen" "$1" "$2" -o t.mtx
    says t.mtx "^$3 $3 $4\$"
    expect 0 "$1 $2 is solved" "$solve" t.mtx; says out 'lower triangle'
    [ -z "$5" ] || says out " $5 levels"
}
check grid5 7 49 133 13           # n^2, 3 n^2 - 2 n, 2 n - 1
check grid7 5 125 425 13          # n^3, 4 n^3 - 3 n^2, 3 n - 2
check grid27 4 64 532 22          # (27 n^3 of the 3x3x3 stencil inside + n^3) / 2; 7 n - 6
check fem 2 24 300 24             # all nodes are neighbours: a full triangle
check ilu 5 125 425 13
check bidiag 50 50 99 50
check full 20 20 210 20
check chain 60 60 '[0-9]*' 60
for kind in rand circuit; do check $kind 2000 2000 '[0-9]*' ''; done
check rmat 9 512 '[0-9]*' ''
for kind in grid5 grid7 grid27 fem ilu rand circuit chain bidiag full; do
    expect 0 "$kind 0" "$gen" $kind 0 -o t.mtx; says t.mtx '^0 0 0$'
done
if "$gen" lu2d 3 >out 2>err; then
    expect 0 'lu2d' "$gen" lu2d 12 -o l.mtx
    expect 0 'lu2d is solved' "$solve" l.mtx; says out '144 x 144'
    expect 0 'lu3d' "$gen" lu3d 4 -o l.mtx
else
    says err 'CHOLMOD'
fi

"$gen" rand 300 --seed=1 -o a.mtx; "$gen" rand 300 --seed=1 -o b.mtx; "$gen" rand 300 --seed=2 -o c.mtx
expect 0 'the same seed gives the same' cmp a.mtx b.mtx
expect 1 'another seed another' cmp a.mtx c.mtx
expect 0 'the file says how it was made' "$gen" chain 9 --seed=3 --entries=2 --reach=4 -o t.mtx
says t.mtx '^% trisolve-gen chain 9 --seed=3 --entries=2 --reach=4$'
expect 0 'binary' "$gen" rand 300 --seed=1 --binary -o a.trs
expect 0 'binary is solved' "$solve" a.trs; says out '300 x 300'
expect 0 'binary by its name' "$gen" rand 300 --seed=1 -o b.trs
expect 0 'the same bytes' cmp a.trs b.trs
ln -s b.trs link.trs
expect 0 'through a link' "$gen" rand 300 --seed=2 -o link.trs
if [ -L link.trs ] && ! cmp -s a.trs b.trs; then ok 'the link stays'; else not_ok 'the link is gone'; fi
if [ -c /dev/full ]; then
    expect 1 'a full device' "$gen" rand 300 --binary -o /dev/full; says err 'No space'
    if [ -c /dev/full ]; then ok 'the device stays'; else not_ok 'the device is gone'; fi
fi
mkfifo pipe
cat a.mtx >pipe &
expect 0 'from a pipe, with nothing lost' "$solve" pipe; says out '300 x 300'
absent .part
head -c 5000 a.trs >cut.trs
expect 1 'a cut binary file' "$solve" cut.trs; says err 'complete'
finish

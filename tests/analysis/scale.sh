#!/bin/sh
# scale.sh: the simulation of several GPUs, on triangles whose time can be computed by hand.
. "${TRS_SRCDIR:-.}/tests/common/tap.sh"
scale=${bin%/bin}/tests/analysis/scale
[ -x "$scale" ] || { echo '1..0 # SKIP no tests/analysis/scale'; exit 0; }

# 1000 rows in a chain: 32 bytes for the first and 44 for the others, at 44 bytes a us; 1 us, or 3 between GPUs, after each;
# 1 ns for a packet of 32 bytes.
expect 0 'a chain' "$scale" -g 2 -c rows,levels,jacobi,boxes -l 1000 -r 3000 -b 0.044 -p 32 bidiag:1000
says out '^bidiag:1000,1000,1999,1000,rows,1,1.9997,1.000,0,0,1.000$'
says out '^bidiag:1000,1000,1999,1000,rows,2,2.0017,0.999,0.0005,0.001,'
says out '^bidiag:1000,1000,1999,1000,levels,2,1.9997,1.000,0,0,2.000$'
says out '^bidiag:1000,1000,1999,1000,jacobi,2,1.0017,'
# and with hosts of one GPU
expect 0 'two hosts' "$scale" -g 2 -c rows -l 1000 -r 3000 -f 9000 -n 1 -b 0.044 -p 32 bidiag:1000
says out ',rows,2,2.0077,'

# 8 rows without dependencies: 32 us of memory on one GPU, 4 on each of eight; then 1 us.
printf '%%%%MatrixMarket matrix coordinate pattern general\n8 8 8\n' >diagonal.mtx
for i in 1 2 3 4 5 6 7 8; do echo "$i $i" >>diagonal.mtx; done
expect 0 'a diagonal matrix' "$scale" -g 8 -c rows,levels -l 1000 -b 0.008 diagonal.mtx
says out '^diagonal.mtx,8,8,1,rows,1,0.0330,1.000,0,0,1.000$'
says out '^diagonal.mtx,8,8,1,rows,8,0.0050,6.600,0,0,1.000$'
says out '^diagonal.mtx,8,8,1,levels,8,0.0050,6.600,0,0,1.000$'

# The 8 boxes of a grid of 2^3 points are its points: each of its 12 edges is between GPUs, and 7 of them send to others.
expect 0 'boxes' "$scale" -g 8 -c boxes -l 1000 -r 1000 -b 1000000 -p 1000000 grid7:2
says out '^grid7:2,8,20,4,boxes,8,0.0040,1.000,0.6,1.5,'

expect 1 'no such file' "$scale" nothing.mtx
says err 'scale: nothing.mtx: '
finish

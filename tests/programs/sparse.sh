#!/bin/sh
# sparse.sh: trisolve-sparse as a user meets it: what it prints and writes, and its exit status, for each option and for
# wrong use.
. "${TRS_SRCDIR:-.}/tests/common/tap.sh"
solve=$bin/trisolve-sparse
m=$source/matrices

# ---- help and lists
expect 0 'help' "$solve" --help; says out 'Usage: trisolve-sparse'; silent err
expect 0 'version' "$solve" --version; says out '^trisolve-sparse [0-9]'
expect 0 'list of solvers' "$solve" --list-solvers; says out '^  cpu-serial'; says out '^  cpu-level'
if grep 'not available:' out | sort | uniq -d | grep -q .; then not_ok 'a reason twice'; else ok 'each reason once'; fi
expect 1 'no argument' "$solve"; says err 'no matrix'; silent out
expect 1 'unknown option' "$solve" --no-such x; says err 'help'
expect 1 'too many files' "$solve" a b c
expect 1 'bad number' "$solve" --repeat=x a; says err 'repeat'
expect 1 'two files from one stream' "$solve" - -; says err 'only one of matrix and right-hand side'
expect 1 'both triangles' "$solve" --lower --upper a

# ---- triangles
expect 0 "the slides' example" "$solve" "$m/seed5.mtx"; says out 'lower triangle'; says out '2 levels, widest 3'
says out 'backward 0 '; says out 'forward 0'
expect 0 'its transpose' "$solve" --trans "$m/seed5.mtx"; says out "A' x = b"
expect 0 'a real triangle' "$solve" "$m/superlu_airfoil2.mtx"; says out '613 levels'
expect 0 'lower of a general matrix' "$solve" --lower "$m/rdb3200l.mtx"; says out '80 levels'
expect 0 'upper of a general matrix' "$solve" --upper "$m/rdb3200l.mtx"; says out 'upper triangle'
expect 0 'unit diagonal' "$solve" --lower --unit "$m/impcol_a.mtx"; says out 'unit lower'
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 5\n1 1 2\n2 1 1\n1 2 1\n2 2 3\n2 2 1\n' >twice.mtx
expect 1 'a unit diagonal of what is no triangle' "$solve" --unit twice.mtx; says err 'twice.mtx: not a triangle; --unit needs --lower or --upper$'
printf '%%%%MatrixMarket matrix array real general\n2 1\n4\n10\n' >twice.rhs
expect 0 'entries that are added' "$solve" --lower twice.mtx twice.rhs -o twice.sol; says twice.sol '^2$'
[ "$(tail -n 2 twice.sol | tr '\n' ' ')" = '2 2 ' ] && ok 'x by their sum' || not_ok 'x by their sum'
says out '^ +1 entry was added to another one in the same place$'
expect 0 'single precision' "$solve" --precision=single "$m/superlu_airfoil2.mtx"; says out 'single precision'
expect 0 'a named solver' "$solve" --solver=cpu-level "$m/seed5.mtx"; says out 'cpu-level'
expect 0 'repeated' "$solve" --repeat=5 "$m/seed5.mtx"; says out 'median .* of 5'
expect 0 'chosen by measuring' "$solve" --measure "$m/seed5.mtx"; says out '; measured cpu-serial '
expect 1 'measured and named' "$solve" --measure --solver=cpu-serial "$m/seed5.mtx"; says err 'exclude'
printf '# trisolve-sparse machine 2\ncpu_row 1e-3\nlink_start 1\n' >machine
TRISOLVE_MACHINE=machine; export TRISOLVE_MACHINE
expect 0 'costs from a file' "$solve" --repeat=2 "$m/seed5.mtx"; says out '^costs  *machine$'; says out 'predicted .* 5 ms'
printf 'cpu_rows 1e-3\n' >>machine
expect 1 'a wrong file of costs' "$solve" "$m/seed5.mtx"; says err 'machine:4: no such cost'
unset TRISOLVE_MACHINE
expect 1 'unknown solver' "$solve" --solver=none "$m/seed5.mtx"; says err 'no such solver in this build .*: none$'
expect 1 'nearly a solver' "$solve" --solver=cpu-serail "$m/seed5.mtx"; says err 'did you mean cpu-serial\?'; says err '--list-solvers'
expect 2 'missing diagonal' "$solve" --lower "$m/Erdos971.mtx"; says err 'row 1: diagonal is missing'
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 1\n2 2 0\n3 1 1\n3 3 2\n' >zero.mtx
expect 2 'zero pivot' "$solve" zero.mtx -o x.mtx; says err 'row 2: diagonal is zero'; absent x.mtx
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 nan\n2 2 1\n' >nan.mtx
expect 2 'pivot not finite' "$solve" nan.mtx; says err 'row 1: diagonal is not finite'

expect 0 'a row left out' "$solve" --pivot=skip zero.mtx -o x.mtx; says out 'pivots  *1 .* row 2: x = 0'
expect 0 'its x is 0' grep -qx 0 x.mtx
expect 0 'a pivot replaced' "$solve" --pivot=0.5 zero.mtx; says out 'row 2: replaced'
expect 0 'not a number left out' "$solve" --pivot=skip nan.mtx; says out 'row 1: x = 0'
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 5\n1 1 2\n2 1 nan\n2 2 0\n3 2 inf\n3 3 1\n' >cross.mtx
printf '%%%%MatrixMarket matrix array real general\n3 1\n1\n1\n1\n' >ones.mtx
expect 0 'NaN in the row and the column left out' "$solve" --pivot=skip cross.mtx ones.mtx -o x.mtx
expect 0 'the others are solved' sh -c 'test "$(tail -n 3 x.mtx | tr "\n" " ")" = "0.5 0 1 "'
expect 0 'a missing one, transposed' "$solve" --pivot=skip --lower --trans "$m/Erdos971.mtx"; says out 'pivots'
expect 1 'no policy for pivots' "$solve" --pivot=hope zero.mtx; says err 'fail, skip or a number'
for with in --refine=1 --cond --det; do
    expect 1 "no $with of another matrix" "$solve" --pivot=skip $with zero.mtx; says err 'another matrix'
done
expect 1 'zero cannot replace' "$solve" --pivot=0 zero.mtx; says err 'cannot replace'

expect 1 'a factorisation mistyped' "$solve" --factor=umfpak "$m/seed5.mtx"; says err '^trisolve-sparse: --factor needs .*: umfpak; did you mean umfpack\?'
expect 1 'more fill than there is' "$solve" --factor=ilu10 "$m/seed5.mtx"; says err 'ilu10; did you mean ilu0\?'
expect 1 'an ordering of a triangle' "$solve" --ordering=foo "$m/seed5.mtx"; says err '^trisolve-sparse: --ordering needs .*: foo$'
expect 1 'a method mistyped' "$solve" --krylov=gmers "$m/seed5.mtx"; says err 'did you mean gmres\?'
expect 1 'of several solvers' "$bin/trisolve-bench" --solvers=cpu-serial,cpu-lveel "$m/seed5.mtx"; says err ': cpu-lveel; did you mean cpu-level\?'
expect 1 'a kind of matrix' "$bin/trisolve-gen" gird5 9; says err 'gird5; did you mean grid5\?'
expect 3 'incomplete factors alone' "$solve" --factor=ilu0 "$m/rdb3200l.mtx"; says err 'try --krylov=gmres'

# ---- wisdom
expect 0 'measured and kept' "$solve" --measure --wisdom=wisdom "$m/seed5.mtx"; says out '; measured cpu-serial '
says wisdom '^# trisolve-sparse wisdom 2$'; says wisdom ' 5 8 lower f64 N 1 columns host auto any 0 .* cpu-[a-z]* [0-9.e-]* '
expect 0 'and found again' "$solve" --wisdom=wisdom "$m/seed5.mtx"; says out ': wisdom: cpu-[a-z]* took .* ms here'
cp wisdom before
expect 0 'also to measure' "$solve" --measure --wisdom=wisdom "$m/seed5.mtx"; says out ': wisdom: cpu-'
expect 0 'nothing is new' cmp wisdom before
expect 0 'not of the transpose' "$solve" --repeat=2 --trans --wisdom=wisdom "$m/seed5.mtx"; says out ': predicted '
TRISOLVE_WISDOM=wisdom; export TRISOLVE_WISDOM
expect 0 'by the environment' "$solve" "$m/seed5.mtx"; says out ': wisdom: cpu-'
sed '$s/lower/left/' before >wisdom
expect 1 'a wrong file of wisdom' "$solve" "$m/seed5.mtx"; says err 'wisdom:3: missing or wrong: kind'
unset TRISOLVE_WISDOM
expect 1 'one that is named' "$solve" --wisdom=wisdom "$m/seed5.mtx"; says err 'wisdom:3: missing or wrong: kind'
expect 1 'wisdom and a solver' "$solve" --wisdom --solver=cpu-serial "$m/seed5.mtx"; says err 'excludes --solver'
expect 1 'nowhere to write to' "$solve" --measure --wisdom=no/such/file "$m/seed5.mtx"; says err 'no/such/file'
expect 0 'no file yet' "$solve" --repeat=2 --wisdom=none "$m/seed5.mtx"; says out ': predicted '; absent none
was=$XDG_CACHE_HOME XDG_CACHE_HOME=$folder/a/cache; export XDG_CACHE_HOME
expect 0 'kept in the cache of the user' "$solve" --measure --wisdom "$m/seed5.mtx"
expect 0 'and found there' "$solve" --wisdom "$m/seed5.mtx"; says out ': wisdom: cpu-'
expect 0 'when it is asked for' "$solve" --repeat=2 "$m/seed5.mtx"; says out ': predicted '
expect 0 'alone' test "$(ls a/cache/trisolve-sparse)" = wisdom
XDG_CACHE_HOME=$was

# ---- analyses in files
expect 0 'the same bits' "$solve" --bitwise "$m/seed5.mtx"
if "$solve" --save-plan=plan "$m/seed5.mtx" 2>&1 | grep -q 'without xxhash'; then ok '# SKIP no xxhash'; else
    expect 0 'an analysis saved' "$solve" --lower --save-plan=plan "$m/rdb3200l.mtx"
    expect 0 'and loaded' "$solve" --lower --load-plan=plan "$m/rdb3200l.mtx"; says out '80 levels'
    expect 1 'not for another matrix' "$solve" --load-plan=plan "$m/seed5.mtx"; says err 'plan: saved for a matrix of another pattern'
    expect 1 'not from a matrix' "$solve" --load-plan="$m/seed5.mtx" "$m/seed5.mtx"; says err 'no saved plan'
    expect 1 'not where there is no folder' "$solve" --save-plan=no/such/plan "$m/seed5.mtx"; says err 'no/such/plan'
fi
expect 0 'what solvers promise' "$solve" --list-solvers; says out 'cpu-serial  *cpu  *yes  *yes  *-  *substitution'
{ printf '%%%%MatrixMarket matrix coordinate real general\n40000 40000 40000\n'
  awk 'BEGIN { for (i = 1; i <= 40000; i++) print i, i, 1 }' </dev/null; } >wide.mtx
expect 4 'more memory than a full matrix may take' "$solve" --solver=cpu-dense wide.mtx; says err 'over the limit'
if "$solve" --list-solvers | grep -A1 cuda-naive | grep -q 'not available'; then
    expect 5 'no GPU' "$solve" --solver=cuda-naive "$m/seed5.mtx"; says err 'cannot run here'
fi

# ---- small and empty
printf '%%%%MatrixMarket matrix coordinate real general\n0 0 0\n' >empty.mtx
expect 0 'empty matrix' "$solve" empty.mtx
printf '%%%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 4\n' >one.mtx
printf '%%%%MatrixMarket matrix array real general\n1 1\n8\n' >one_b.mtx
expect 0 'one row' "$solve" one.mtx one_b.mtx -q -o -; says out '^2$'
expect 0 'of one row' "$solve" one.mtx; says out '1 x 1, 1 entry,'; says out ' 1 level, widest 1, longest row 1'
expect 1 'of two rows' "$solve" "$m/seed5.mtx" one_b.mtx; says err 'one_b.mtx: 1 row, but the matrix has 5'
expect 2 'one bad pivot' "$solve" zero.mtx; says err 'diagonal is zero \(1 such row\)'
printf '%%%%MatrixMarket matrix coordinate real general\n1 1 1\n' >none.mtx
expect 1 'an entry missing' "$solve" none.mtx; says err 'ends after 0 of the 1 entry announced in line 2'
printf '%%%%MatrixMarket matrix coordinate real general\n0 0 1\n1' >none.mtx
expect 1 'an entry that cannot be' "$solve" none.mtx; says err '1 entry announced, but only 1 byte follows'

# ---- right-hand sides and output
printf '%%%%MatrixMarket matrix coordinate real general\n5 2 3\n1 1 2\n5 1 9\n2 2 4\n' >two.mtx
expect 0 'a coordinate right-hand side of two columns' "$solve" "$m/seed5.mtx" two.mtx -o x.mtx; says out '2 columns'
expect 0 'x is there' grep -q '^5 2$' x.mtx
says x.mtx '^2$' # x(2, 2) = 4 / 2
expect 0 'x to standard output' "$solve" "$m/seed5.mtx" -o -; says out '%%MatrixMarket matrix array'; says err 'backward'
expect 0 'quiet' "$solve" -q "$m/seed5.mtx"; silent out; silent err
expect 1 'wrong number of rows' "$solve" "$m/seed4.mtx" two.mtx; says err '5 rows, but the matrix has 4'
printf '%%%%MatrixMarket matrix coordinate real general\n1 5 1\n1 2 3\n' >row.mtx
expect 1 'a row as right-hand side' "$solve" "$m/seed5.mtx" row.mtx; says err 'row.mtx: 1 x 5 is a row; transpose it'
expect 0 'the usual right-hand side needs no remark' "$solve" "$m/seed5.mtx" two.mtx; silent err
expect 0 'a square one' "$solve" "$m/seed5.mtx" "$m/seed5.mtx"
says err 'right-hand side .*/seed5.mtx: 5 x 5, coordinate real, a square matrix'
printf '%%%%MatrixMarket matrix coordinate pattern general\n5 1 2\n1 1\n4 1\n' >ones.mtx
expect 0 'a pattern' "$solve" "$m/seed5.mtx" ones.mtx; says err 'ones.mtx: 5 x 1, coordinate pattern, whose entries are ones'
printf '%%%%MatrixMarket matrix coordinate real general\n5 900000 1\n1 2 3\n' >columns.mtx
expect 4 'more columns than memory' "$solve" --memory=0.01 "$m/seed5.mtx" columns.mtx; says err 'columns.mtx: .* needs 0.036 GB, the limit'

# ---- the binary form: its content decides, and it is no right-hand side of its own
"$bin/trisolve-gen" grid5 4 --binary -o b.trs; "$bin/trisolve-gen" grid5 4 -o b.mtx; cp b.trs other.name
for file in b.trs other.name; do
    expect 0 "$file" "$solve" $file; says out 'rhs  *none given'; silent err
done
expect 1 'nothing beside it' "$bin/trisolve-info" --rhs b.trs; says err 'b.trs: not an archive'
expect 0 'as named right-hand side' "$solve" "--solver=cpu-serial" b.trs b.trs -o x.mtx; says err 'b.trs: 16 x 16, coordinate real, a square'
expect 0 'x is the identity' awk 'FNR > 2 && !/^%/ { k++; d = $1 - ((k - 1) % 17 == 0); if (d > 1e-12 || d < -1e-12) exit 1 }' x.mtx
ok_rows=$(grep -vc '^%' x.mtx)
if [ "$ok_rows" = 257 ]; then ok '16 x 16 values'; else not_ok "$ok_rows lines, not 257"; fi

expect 1 'unwritable output' "$solve" -q "$m/seed5.mtx" -o no/such/folder/x.mtx; says err 'no/such/folder'

printf '%%%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1e15\n1 2 1e14\n2 2 1e15\n' >under.mtx
printf '%%%%MatrixMarket matrix array real general\n2 1\n1.2345678e-301\n2.3456789e-302\n' >under_b.mtx
expect 0 'x is subnormal' "$solve" under.mtx under_b.mtx -o x.mtx; says out 'backward [0-9.]+e-1[67] .componentwise., [0-9.]+e-1[67]'
says x.mtx '^1.21111(1|10|09)[0-9]*e-316$' # 1.2345678e-316 - 2.3456789e-318, to 1e-323: two roundings to 5e-324
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1e-20\n2 1 -1\n2 2 1\n' >sum0.mtx
expect 0 'A * ones is nearly 0' "$solve" sum0.mtx -o x.mtx; says out 'b = A \* x, x.i. = 1 \+ i/n, because A \* ones is 0'
says x.mtx '^1.(5|4999)'; says out 'forward [0-9.]*(e-1[67])?$'

# ---- numbers that are not finite
{ printf '%%%%MatrixMarket matrix coordinate real general\n9 9 17\n'
  awk 'BEGIN { for (i = 1; i <= 9; i++) { print i, i, 1; if (i > 1) print i, i - 1, 1e200 } }' </dev/null; } >grows.mtx
printf '%%%%MatrixMarket matrix coordinate real general\n9 2 2\n1 1 1\n3 2 1\n' >grows_b.mtx
expect 3 'x overflows' "$solve" grows.mtx grows_b.mtx; says err ': x overflows first in row 3, column 1$'; says out '^error  *x overflows first in row 3'
expect 3 'from below' "$solve" --trans grows.mtx; says err 'x overflows first in row 6$' # 1e200 + 1 - 1e200, 1e200 - 0, 1e200 - 1e400
expect 3 'the condition says more' "$solve" --cond grows.mtx grows_b.mtx; says err 'row 3, column 1; the matrix is singular to working precision'; says out 'condition .*: singular'
expect 3 'in single precision' "$solve" --precision=single "$m/rdb3200l.mtx" --lower --unit; says err 'x overflows single precision first in row [0-9]+$'
printf '%%%%MatrixMarket matrix array real general\n5 1\n1\n1\ninf\n1\n1\n' >inf_b.mtx
expect 3 'the right-hand side is not finite' "$solve" "$m/seed5.mtx" inf_b.mtx; says err 'inf_b.mtx: row 3 is not finite'
printf '%%%%MatrixMarket matrix array real general\n5 1\n1\n1e99\n1\n1\n1\n' >far_b.mtx
expect 3 'nor in single precision' "$solve" --precision=single "$m/seed5.mtx" far_b.mtx; says err 'far_b.mtx: row 2 is not finite in single precision'
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n2 1 nan\n2 2 1\n' >off.mtx
expect 3 'nor the matrix' "$solve" off.mtx; says err 'off.mtx: row 2, column 1 is not finite'
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n2 1 1.7e308\n2 2 1.7e308\n' >top.mtx
expect 3 'nor A * ones' "$solve" top.mtx; says err 'b = A . ones overflows in row 2'

# ---- wrong files
expect 1 'no such file' "$solve" missing.mtx; says err 'missing.mtx'
expect 1 'rectangular' "$solve" "$m/lp_afiro.mtx"; says err '27 x 51, not square'
printf 'hello\n' >text.mtx
expect 1 'no Matrix Market' "$solve" text.mtx; says err 'text.mtx:1:'
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n3 2 1\n' >range.mtx
expect 1 'row out of range' "$solve" range.mtx; says err 'range.mtx:4:'
printf '%%%%MatrixMarket matrix coordinate real general\n1000000000 1000000000 1000000000000000\n1 1 1\n' >huge.mtx
expect 1 'a header that promises too much' "$solve" huge.mtx; says err 'huge.mtx:'

# ---- packed by whatever: content decides; standard input; a limit for what it unpacks to
"$solve" "$m/superlu_airfoil2.mtx" -q -o plain.mtx
mkdir pair
{ cp "$m/superlu_airfoil2.mtx" pair/pair.mtx && cp plain.mtx pair/pair_b.mtx; } 2>/dev/null
gzip -c pair/pair.mtx >a.gz && printf 'x' >/dev/null
if "$solve" a.gz 2>&1 | grep -q 'no libarchive'; then ok '# SKIP no libarchive'; else
    for tool in gzip xz zstd bzip2; do
        command -v $tool >/dev/null 2>&1 || { ok "# SKIP no $tool"; continue; }
        $tool -c <pair/pair.mtx >packed.mtx
        expect 0 "packed by $tool" "$solve" -q packed.mtx -o x.mtx
        if cmp -s x.mtx plain.mtx; then ok 'the same x'; else not_ok 'another x'; fi
        "$solve" -q - -o x.mtx <packed.mtx 2>err
        if cmp -s x.mtx plain.mtx; then ok 'the same x from standard input'; else not_ok 'another x'; fi
    done
    expect 4 'more text than allowed' "$solve" --memory=0.0001 a.gz; says err 'bytes of text, which is the limit'
    expect 0 'little memory' "$solve" -q --low-memory a.gz -o x.mtx
    if cmp -s x.mtx plain.mtx; then ok 'the same x'; else not_ok 'another x'; fi
    tar -czf pair.tar.gz pair
    expect 0 'an archive with its right-hand side' "$solve" pair.tar.gz -o x.mtx
    says out 'pair.tar.gz: 1 column$'; says err 'right-hand side in pair.tar.gz: 4720 x 1, array real$'
    expect 0 'quietly' "$solve" -q pair.tar.gz; silent err
fi

# ---- general matrices, where SuiteSparse is there
if "$solve" "$m/bfwa62.mtx" 2>&1 | grep -q 'no SuiteSparse'; then
    expect 1 'a general matrix without SuiteSparse' "$solve" "$m/bfwa62.mtx"; says err 'no SuiteSparse'
else
    expect 0 'symmetric positive definite' "$solve" "$m/1138_bus.mtx"; says out 'CHOLMOD'
    expect 0 'unsymmetric' "$solve" "$m/west0067.mtx"; says out 'KLU|UMFPACK'; says out '^U '
    if "$solve" --factor=klu "$m/bfwa62.mtx" 2>&1 | grep -q 'no factorisation'; then ok '# SKIP no KLU'; else
        expect 0 'a pattern like that of a circuit' "$solve" "$m/bfwa62.mtx"; says out 'KLU, ordering AMD'
        expect 0 'ordered as told to' "$solve" --factor=klu --ordering=metis "$m/west0067.mtx"; says out 'KLU, ordering METIS'
    fi
    expect 0 'ordered by nothing' "$solve" --ordering=natural "$m/west0067.mtx"; says out 'ordering natural'
    expect 1 'no such ordering' "$solve" --ordering=random "$m/west0067.mtx"; says err 'random'
    expect 0 'complex symmetric' "$solve" "$m/qc324.mtx"; says out 'UMFPACK|static pivots'
    expect 0 'conjugate transpose' "$solve" --conj-trans "$m/cg20.mtx"
    expect 0 'skew-symmetric' "$solve" "$m/plskz362.mtx"
    expect 0 'factors rounded to single precision' "$solve" --precision=single "$m/west0067.mtx"; says out 'factors of the matrix, single precision, refined in double'
    says out 'backward error [0-9.]+e-0[678] before'; says out 'error .*backward [0-9.]+e-1[67]'
    expect 0 'of a symmetric one, on demand' "$solve" --factor=cholmod --precision=single "$m/1138_bus.mtx"; says out 'backward error [0-9.]+e-0[678] before'
    expect 0 'x in single precision too' "$solve" --precision=single --refine=0 "$m/bfwa62.mtx"; says out 'factors of the matrix, single precision$'; says out 'backward [0-9.]+e-0[678]'
    # x in double precision with an error between 1e-10 and 1e-4
    expect 0 "the tolerance of single precision" "$solve" --precision=single --refine=1 "$m/plskz362.mtx"; says out 'backward [0-9.]+e-(1[01]|0[5-9])'
    expect 0 'a triangle factored' "$solve" --factor=umfpack "$m/seed5.mtx"; says out 'UMFPACK'
    expect 2 'singular' "$solve" "$m/Erdos971.mtx"; says err 'row'
    printf '%%%%MatrixMarket matrix coordinate real symmetric\n4 4 10\n1 1 6\n2 2 5\n3 3 7\n4 4 6\n2 1 -2\n3 1 -3\n4 1 -1\n3 2 -1\n4 2 -2\n4 3 -3\n' >graph.mtx
    for option in --cond --quiet; do
        expect 7 "a singular matrix with $option" "$solve" $option graph.mtx; says err 'singular to working precision'
    done
    expect 7 'the Laplacian of a graph' "$solve" graph.mtx -o x.mtx; says x.mtx '^4 1$'; says out 'b = A \* x, x.i. = 1 \+ i/n'; says out 'singular to working precision'
    expect 1 'unknown method' "$solve" --factor=none "$m/bfwa62.mtx"
    expect 3 'a tolerance out of reach' "$solve" --tolerance=1e-30 "$m/bfwa62.mtx"; says err 'backward error'
    if "$solve" "$m/cavity10.mtx.xz" 2>&1 | grep -q 'libarchive'; then ok '# SKIP no libarchive'; else
        expect 0 'a packed matrix with its right-hand side' "$solve" "$m/cavity10.mtx.xz" "$m/cavity10_b.mtx"
    fi
fi

# ---- triangles after permutations of rows and columns, which need no factors; x by hand
head='%%MatrixMarket matrix coordinate real general'
printf "$head\n4 4 9\n1 1 1\n1 3 2\n2 1 3\n2 2 4\n2 3 5\n2 4 6\n3 1 7\n4 2 8\n4 3 9\n" >permuted.mtx
printf '%%%%MatrixMarket matrix array real general\n4 1\n7\n50\n7\n43\n' >permuted_rhs.mtx
expect 0 'a permuted triangle' "$solve" permuted.mtx permuted_rhs.mtx -o x.mtx
says out 'triangle after permutation of rows and columns, no factors needed'; says out '4 levels, widest 1'
tail -4 x.mtx | tr '\n' ' ' >out; says out '^1 2 3 4 $'
expect 0 'its transpose' "$solve" --trans --solver=cpu-level permuted.mtx
says out 'forward 0'; says out 'topological sort by in-degree \(CSC\)'
expect 0 'refined, with its condition' "$solve" --precision=single --refine=3 --cond permuted.mtx
says out 'condition  estimate'
printf "$head\n3 3 5\n1 2 1\n2 1 0\n2 2 1\n3 1 1\n3 3 1\n" >permuted0.mtx
expect 2 'with a zero pivot' "$solve" permuted0.mtx; says err 'row 2: its pivot, in column 1, is zero'
if "$solve" --factor permuted.mtx 2>&1 | grep -q 'no SuiteSparse'; then ok '# SKIP no SuiteSparse'; else
    expect 0 'factored when told to' "$solve" --factor=umfpack permuted.mtx; says out 'UMFPACK'
    printf "$head\n3 3 5\n1 2 1\n2 1 1\n2 3 1\n3 1 1\n3 3 2\n" >cycle.mtx
    expect 0 'with a cycle it is factored' "$solve" cycle.mtx; says out 'with factors of the matrix'
fi
if "$solve" --json permuted.mtx 2>&1 | grep -q 'without jansson'; then skip JSON 'built without jansson'; else
    expect 0 'JSON of it' "$solve" --json permuted.mtx
    says out '"shape": "triangle after permutation of rows and columns"'; says out '"level_analysis": "one sweep over the rows"'
fi

# ---- incomplete factors, refinement, condition
expect 3 'ILU(0) alone is no solution' "$solve" --factor=ilu0 --refine=0 "$m/rdb3200l.mtx"; says out 'incomplete factors'; says out 'ILU\(0\)'; says err 'backward error'
expect 0 'ILU(0) of a matrix without fill' "$solve" --factor=ilu0 "$m/seed5.mtx"
expect 0 'in single precision' "$solve" --factor=ilu0 --precision=single "$m/seed5.mtx"; says out 'single precision'
expect 3 'a step of refinement with it' "$solve" --factor=ilu0 "$m/rdb3200l.mtx"; says out 'refined .* before'
expect 0 'many steps, of which none halves twice' "$solve" --factor=ilu0 --refine=50 "$m/qc324.mtx"; says out 'refined  *1[0-9] steps, converged, backward error 0.013 before'
expect 3 'no more steps than allowed' "$solve" --factor=ilu0 --refine=5 "$m/qc324.mtx"; says out 'refined  *5 steps, all allowed steps done'
expect 3 'a divergent iteration' "$solve" --factor=ilu0 --refine=200 "$m/rdb3200l.mtx"; says out 'refined  *[1-9][0-9]? steps, diverged'
expect 3 'a stagnant one' "$solve" --factor=ilu0 --refine=200 "$m/cg20.mtx"; says out 'refined  *[5-9][0-9] steps, stagnated'
expect 3 'IC(0)' "$solve" --factor=ic0 "$m/1138_bus.mtx"; says out 'IC\(0\)'
expect 2 'IC(0) of an indefinite matrix' "$solve" --factor=ic0 "$m/bfwa62.mtx"; says err 'row [0-9]+: the pivot of IC'
expect 0 'refined from single to double' "$solve" --precision=single --refine=5 --lower "$m/1138_bus.mtx"; says out 'refined in double'; says out 'backward error [0-9.]+e-0[78] before'; says out 'error .*backward [0-9.]+e-1[67]'
expect 0 'condition of a triangle' "$solve" --cond --trans "$m/superlu_airfoil2.mtx"; says out 'condition  estimate [0-9.]+e\+'
expect 0 'condition of a small triangle' "$solve" --cond "$m/seed5.mtx"; says out 'estimate 2.00e\+00' # 4 * 0.5 by hand, truly 4 * 0.875

# ---- determinants, known by hand: 2 2 2 2 4 on the diagonal; n + 1 of the second difference; Hilbert of 5
second_difference() {
    printf '%%%%MatrixMarket matrix coordinate real %s\n' $2
    awk "BEGIN { n = $1; print n, n, $3 * (n - 1) + n
        for (i = 1; i <= n; i++) { print i, i, 2
            if (i < n) { print i + 1, i, -1; if ($3 == 2) print i, i + 1, -1 } } }" </dev/null
}
expect 0 'of a triangle' "$solve" --det "$m/seed5.mtx"; says out '^det  *64$'
expect 0 'of its transpose' "$solve" --det --trans --solver=cpu-level "$m/seed5.mtx"; says out '^det  *64$'
expect 0 'of a unit triangle' "$solve" --det --unit --lower "$m/seed5.mtx"; says out '^det  *1$'
expect 0 'none unasked' "$solve" "$m/seed5.mtx"
if grep -q '^det' out; then not_ok 'a determinant'; else ok 'no determinant'; fi
{ printf '%%%%MatrixMarket matrix coordinate real general\n201 201 201\n1 1 -2\n'
  awk 'BEGIN { for (i = 2; i <= 201; i++) print i, i, "1e300" }' </dev/null; } >range.mtx
expect 0 'beyond the range of double' "$solve" --det --solver=cpu-serial range.mtx; says out '^det  *-2e\+60000$'
printf '%%%%MatrixMarket matrix coordinate complex general\n2 2 3\n1 1 0 3\n2 1 1 0\n2 2 4 3\n' >complex.mtx
expect 0 'complex' "$solve" --det complex.mtx; says out '^det  *15 \(-0.6 \+0.8i\)$' # 3i (4 + 3i)
expect 0 'empty' "$solve" --det empty.mtx; says out '^det  *1$'
expect 1 'not of another matrix' "$solve" --det --factor=ilu0 "$m/seed5.mtx"; says err 'complete factors'
second_difference 50 symmetric 1 >spd.mtx
second_difference 50 general 2 >general.mtx
if "$solve" spd.mtx 2>&1 | grep -q 'no SuiteSparse'; then ok '# SKIP no SuiteSparse'; else
    expect 0 'through CHOLMOD' "$solve" --det spd.mtx; says out CHOLMOD; says out '^det  *51$'
    expect 0 'through UMFPACK' "$solve" --det --factor=umfpack general.mtx; says out UMFPACK; says out '^det  *51$'
    # the cycle 1 -> 2 -> ... -> n is odd for even n
    awk 'BEGIN { n = 40; print "%%MatrixMarket matrix coordinate real general"; print n, n, n
        for (i = 1; i <= n; i++) print i, i % n + 1, 1 }' </dev/null >cycle.mtx
    expect 0 'of a permutation' "$solve" --det cycle.mtx; says out '^det  *-1$'
fi
if "$solve" --list-solvers | grep -A1 lapack-getrf | grep -q 'not available'; then ok '# SKIP no LAPACK'; else
    { printf '%%%%MatrixMarket matrix array real general\n5 5\n'
      awk 'BEGIN { for (i = 1; i <= 25; i++) printf "%.17g\n", 1 / (int((i - 1) / 5) + (i - 1) % 5 + 1) }' </dev/null; } >hilbert.mtx
    expect 0 'through LAPACK' "$solve" --det --solver=lapack-getrf hilbert.mtx; says out '^det  *3.7492951[0-9]*e-12$'
    expect 0 'without row exchanges' "$solve" --det --solver=lu-serial hilbert.mtx; says out '^det  *3.7492951[0-9]*e-12$'
fi

# ---- for programs
if "$solve" --json "$m/seed5.mtx" 2>&1 | grep -q 'without jansson'; then skip JSON 'built without jansson'; else
    expect 0 'JSON' "$solve" --json "$m/seed5.mtx"; says out '"levels": 2'; says out '"backward_error"'
    expect 0 'determinant as JSON' "$solve" --det --json complex.mtx
    tr -d ' \n' <out >line
    says line '"determinant":\{"phase":\[-0.59999999999999998,0.80000000000000004\],"mantissa":1.875,"exponent":3\}'
    says out '"rhs": "A . ones"'; says out '"precision": "double precision"'
    expect 3 'JSON of an overflow' "$solve" --json grows.mtx grows_b.mtx; says out '"message": "x overflows first in row 3, column 1"'; says out '"backward_error": null'
    expect 3 'JSON of a refinement' "$solve" --json --factor=ilu0 --refine=200 "$m/rdb3200l.mtx"; says out '"refinement_stopped": "diverged"'; says out '"refined": '
fi
finish

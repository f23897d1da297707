#!/bin/sh
# info.sh: trisolve-info as a user meets it: what it prints, and its exit status; and on every case of the conformance
# table its verdict.
# MM_CONFORMANCE names the folder with expected.tsv; mm-conformance/open in TRS_SHARED is taken when there.
. "${TRS_SRCDIR:-.}/tests/common/tap.sh"
info=$bin/trisolve-info
m=$source/matrices

# ---- help and wrong use
expect 0 'help' "$info" --help; says out 'Usage: trisolve-info'; silent err
expect 0 'version' "$info" --version; says out '^trisolve-info [0-9]'
expect 1 'no argument' "$info"; says err 'no file given'; silent out
expect 1 'unknown option' "$info" --no-such x; says err 'help'
expect 1 'bad number' "$info" --memory=x a; says err 'memory'
expect 1 'a plot of two files' "$info" --plot=x.svg a b; says err 'one file'

# ---- what it says
expect 0 "the slides' example" "$info" "$m/seed5.mtx"
says out '5 x 5, 8 entries, coordinate real general'; says out '^triangle   lower$'
says out '^lower +8 entries, 2 levels: widest 3 rows, mean 2.5, median 2.5$'
says out 'longest 3 entries, mean 1.6'; says out 'diagonal: 0 missing, 0 zero'; says out 'at least 196 bytes' # 8*12 + 5*20
cat >arrow.mtx <<'E1'
%%MatrixMarket matrix coordinate complex general
4 4 9
1 1 3 -1
1 4 1 2
4 1 1 0
4 2 1 0
4 3 1 0
3 3 1 1
2 2 -1 0
4 4 5 -12
4 4 0 0
E1
expect 0 'a complex matrix' "$info" arrow.mtx
says out '8 entries, coordinate complex general'; says out '9 entries, 1 added'
says out '^values +sum 12 -10 i, largest 13$'; says out '^triangle   none'
says out '^lower +7 entries, 2 levels: widest 3'; says out '^upper +5 entries, 2 levels: widest 3'
printf '%%%%MatrixMarket matrix coordinate integer general\n2 2 3\n1 1 9007199254740993\n2 1 9007199254740992\n2 2 -9007199254740995\n' >large.mtx
expect 0 'integers that no double is' "$info" large.mtx
says out '^stored +3 entries, 2 integers rounded to a double; read in'; says out 'largest 9007199254740996$'
printf '%%%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n' >chain.mtx
expect 0 'an upper triangle without diagonal' "$info" chain.mtx; says out '^triangle   upper'
says out '^upper +2 entries, 3 levels: widest 1 row,'; says out 'diagonal: 3 missing, 0 zero'
printf '%%%%MatrixMarket matrix coordinate complex general\n3 3 4\n1 1 0 2\n2 1 1 0\n2 2 0 0\n3 2 1 0\n' >pivots.mtx
expect 0 'a missing and a zero diagonal entry' "$info" pivots.mtx; says out 'diagonal: 1 missing, 1 zero'
printf '%%%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 4\n' >one.mtx
expect 0 'one row' "$info" one.mtx
says out '1 x 1, 1 entry,'; says out '^stored +1 entry;'; says out '1 entry, 1 level: widest 1 row,'; says out 'longest 1 entry,'
expect 0 'rectangular' "$info" "$m/lp_afiro.mtx"; says out '27 x 51'; says out 'not square'
expect 0 'a right-hand side' "$info" "$m/cavity10_b.mtx"; says out 'array real general'
expect 1 'a bad file among good ones' "$info" "$m/seed4.mtx" missing.mtx "$m/seed5.mtx"
says err 'missing.mtx: No such file'; says out 'seed4.mtx: 4 x 4'; says out 'seed5.mtx: 5 x 5'
"$info" - <"$m/seed5.mtx" >out 2>err; says out 'standard input: 5 x 5, 8 entries'

# ---- Rutherford-Boeing and Harwell-Boeing files, as they are, packed, and in an archive
mkdir small
cat >small/small.rb <<'E2'
title                                                                   key
             3             1             1             1
rua                        2             2             3             0
(8I10)          (8I10)          (3E24.16)
         1         3         4
         1         2         2
  1.5000000000000000e+00 -1.0000000000000000e+00  2.5000000000000000e+00
E2
"$info" small/small.rb >out 2>err
# the same with one column more, in fields that touch, and with a right-hand side of the matrix behind
cat >small.rua <<'E3'
title                                                                   key
             4             1             1             1             1
RRA                        2             3             4             0
(8I2)           (8I2)           (4E8.1)             (4E8.1)
F                          1             0
 1 3 4 5
 1 2 2 1
 1.5E+00-1.0E+00 2.5E+00-3.5D+02
 1.0E+00 2.0E+00
E3
"$info" - <small/small.rb >out 2>err; says err 'standard input:1: a Rutherford-Boeing file, which a build with RBio reads by its name'
"$info" - <small.rua >out 2>err; says err 'standard input:1: a Harwell-Boeing file, which a build with RBio reads by its name'
printf 'one\n1 2 3 4\nrua 1 1 x\n' | "$info" - >out 2>err; says err 'standard input:1: the first line must be'
"$info" small/small.rb >out 2>err
if grep -q 'which a build with RBio reads' err; then ok '# SKIP no RBio'; else
    expect 0 'a Harwell-Boeing file' "$info" small.rua; silent err
    says out '2 x 3, 4 entries, coordinate real general'; says out '^values +sum -347, largest 350'
    expect 0 'a Rutherford-Boeing file' "$info" small/small.rb; silent err
    says out '2 x 2, 3 entries, coordinate real general'; says out '^values +sum 3, largest 2.5'
    says out '^triangle   lower'
    if gzip -c small/small.rb >packed && tar -czf small.tar.gz small && ! "$info" packed 2>&1 | grep -q 'no libarchive'; then
        expect 0 'packed' "$info" packed; says out 'sum 3,'
        expect 0 'in an archive' "$info" small.tar.gz; says out 'sum 3,'
        expect 0 'solved' "$bin/trisolve-sparse" small.tar.gz; says out 'lower triangle'
    else ok '# SKIP no gzip, tar or libarchive'; fi
    sed 's/2             3  /2             9  /' small/small.rb >damaged
    expect 1 'a damaged one' "$info" damaged; says err '^trisolve-info: damaged:1: a Rutherford-Boeing file: '; silent out
fi

# ---- plots
plots() {
expect 1 'no levels to draw' "$info" --plot=x.svg "$m/lp_afiro.mtx"; says err 'no levels'; absent x.svg
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1\n2 2 1\n3 3 1\n' >diagonal.mtx
mkdir recorder
printf '#!/bin/sh\ncat >csv\n' >recorder/python3 && chmod +x recorder/python3
draw() { (PATH=$folder/recorder:$PATH; "$info" --plot=drawn.svg "$1") >out 2>err </dev/null; }
# every step from where its level begins to where it ends, the last one too
draw diagonal.mtx; says csv '^lower: 1 level,-0.5,3$'; says csv '^lower: 1 level,0.5,3$'
draw "$m/seed5.mtx"; for level in -0.5 0.5 1.5; do says csv ",$level,[23]\$"; done
expect 0 'a plot' "$info" --plot=x.svg "$m/rdb3200l.mtx"; says x.svg '<svg'; says x.svg 'lower: 80 levels'
expect 0 'of a diagonal matrix' "$info" --plot=d.svg diagonal.mtx
says d.svg 'd="M[0-9. ]*H[0-9.]*V[0-9.]*"><title>lower: 1 level<' # its one level
# rows 1 and 3 of the file are of level 0, row 2 of level 1
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 1\n2 2 1\n3 3 1\n2 1 1\n' >three.mtx
spied() { (PATH=$folder/recorder:$PATH; "$info" --spy=drawn.svg "$1") >out 2>err </dev/null; }
spied three.mtx
for cell in 0,0,0.0 1,0,1.0 1,1,1.0 2,2,0.0; do says csv "^lower: 2 levels,order of the file,3,2,$cell\$"; done
for cell in 0,0,0.0 2,0,1.0 2,2,1.0 1,1,0.0; do says csv "^lower: 2 levels,rows sorted by levels,3,2,$cell\$"; done
expect 0 'nothing else' test "$(wc -l <csv)" = 9
expect 0 'a pattern' "$info" --spy=s.svg "$m/rdb3200l.mtx"; says s.svg 'rows sorted by levels'; says s.svg '>upper: 80 levels<'
expect 1 'no pattern' "$info" --spy=none.svg "$m/lp_afiro.mtx"; says err '--spy: .* no levels'; absent none.svg
expect 1 'a plot nowhere' "$info" --plot=no/folder/x.svg "$m/seed5.mtx"; says err 'no/folder/x.svg: .*No such file'
mkdir none
for tool in sed ls rm cat dirname basename mkdir mv cp grep; do # of libtool's script around the program
    command -v $tool >/dev/null && ln -s "$(command -v $tool)" none/$tool
done
(PATH=$folder/none; "$info" --plot=y.svg "$m/seed5.mtx") >out 2>err && not_ok 'a plot without python3' ||
    says err 'python3 is not installed'; absent y.svg
}
if command -v python3 >/dev/null; then plots; else ok '# SKIP no python3'; fi

# ---- a triangle after permutations of rows and columns: rows 3, 1, 4, 2, columns 1, 3, 2, 4
printf '%%%%MatrixMarket matrix coordinate real general\n4 4 7\n1 1 1\n1 3 2\n2 2 4\n2 4 6\n3 1 7\n4 2 8\n4 3 9\n' >permuted.mtx
expect 0 'a permuted triangle' "$info" permuted.mtx
says out '^triangle   permuted: a triangle after permutations'; says out '^permuted   7 entries, 4 levels: widest 1'
printf '%%%%MatrixMarket matrix array real general\n2 2\n0\n2\n3\n4\n' >full.mtx
expect 0 'a full one' "$info" full.mtx; says out '^permuted   3 entries, 2 levels'
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 5\n1 2 1\n2 1 1\n2 3 1\n3 1 1\n3 3 2\n' >cycle.mtx
expect 0 'a cycle' "$info" cycle.mtx; says out '^triangle   none$'

# ---- a terminal sees a line when reading takes more than a second
if command -v script >/dev/null 2>&1 && "$bin/trisolve-gen" grid5 150 -o grid.mtx; then
    n=$(wc -c <grid.mtx) half=$(($(wc -c <grid.mtx) / 2))
    head -c $half grid.mtx >one; tail -c $((n - half)) grid.mtx >two
    expect 0 'reading slowly' script -qec "(cat one; sleep 1.3; cat two) | '$info' --threads=1 -" typescript
    says typescript 'reading, [0-9]+ s, [0-9.]+ GB'; says typescript '22500 x 22500'
    (cat one; sleep 1.3; cat two) | "$info" - >out 2>err; silent err
else ok '# SKIP no script'; fi

# ---- for programs
"$info" --json "$m/seed5.mtx" >out 2>&1
if grep -q 'without jansson' out; then skip JSON 'built without jansson'; finish; exit 0; fi
expect 0 'JSON' "$info" --json arrow.mtx
for fact in '"format": "coordinate"' '"field": "complex"' '"symmetry": "general"' '"rows": 4' '"cols": 4' \
    '"stored": 9' '"entries": 8' '"sum_re": 12.0' '"sum_im": -10.0' '"max_abs": 13.0' '"triangle": "none"'; do
    says out "^  $fact,?$"
done
expect 0 'JSON of the diagonal' "$info" --json pivots.mtx; says out '"missing_diagonals": 1'; says out '"zero_diagonals": 1'
expect 0 'JSON of a permuted triangle' "$info" --json permuted.mtx
says out '^  "triangle": "permuted"'; says out '"how": "one sweep over the rows"'
says out '"how": "topological sort by in-degree \(CSC\)"'
expect 1 'JSON of nothing' "$info" --json missing.mtx; says out '^  "status": 1,'; says err 'missing.mtx: '
expect 1 'JSON of several' "$info" --json arrow.mtx missing.mtx; says out '"message": "missing.mtx: '
printf '%%%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 inf\n' >inf.mtx
expect 0 'JSON of infinity' "$info" --json inf.mtx; says out '"sum_re": null'

# ---- the conformance table: as the library has it (t_mm_conformance), so the program
table=${MM_CONFORMANCE:-$TRS_SHARED/mm-conformance/open}
if [ ! -r "$table/expected.tsv" ]; then ok '# SKIP no conformance table: set MM_CONFORMANCE'; finish; exit 0; fi
fact() { sed -n "s/^  \"$1\": \"\\{0,1\\}\\([^\",]*\\)\"\\{0,1\\},\\{0,1\\}$/\\1/p" out; }
near() { awk -v a="$1" -v b="$2" 'function f(x) { return x < 0 ? -x : x } BEGIN {
    exit !(a + 0 == b + 0 || f(a - b) <= 1e-13 * (f(a) + f(b))) }'; }
check() { # FILE ROWS COLS STORED ENTRIES SUM_RE SUM_IM MAX_ABS
    [ "$2" = - ] && return 0
    [ "$(fact rows) $(fact cols)" = "$2 $3" ] || return 1
    [ "$4" = - ] && return 0
    [ "$(fact stored) $(fact entries)" = "$4 $5" ] && near "$(fact sum_re)" "$6" &&
        near "$(fact sum_im)" "$7" && near "$(fact max_abs)" "$8"
}
tab=$(printf '\t')
while IFS=$tab read -r file role verdict line must rows cols stored entries re im max note; do
    [ "$verdict" = verdict ] && continue
    "$info" --json "$table/$file" >out 2>err </dev/null
    got=$?
    where="$table/$file:"; [ "$line" = - ] || where="$where$line:"
    [ $got -le 1 ] || { not_ok "$file: exit $got"; continue; }
    # a legal rectangular matrix is right here, and wrong only for a solve
    [ "$verdict$role" = rejectmatrix ] && [ $got = 0 ] && [ "$(fact triangle)" = null ] && verdict=choice
    if [ $got = 0 ] && [ "$verdict" != reject ]; then
        if check "$file" "$rows" "$cols" "$stored" "$entries" "$re" "$im" "$max"; then ok "$file"; else
            not_ok "$file: other figures than the table's"; fi
    elif [ $got = 1 ] && [ "$verdict" != accept ]; then
        if [ "$(fact status)" != 1 ]; then not_ok "$file: refused, and no status 1"
        elif grep -qF -- "trisolve-info: $where" err; then ok "$file refused"
        else not_ok "$file: does not name $where"; fi
    else not_ok "$file: exit $got, must be: $verdict"; fi
done <"$table/expected.tsv"
finish

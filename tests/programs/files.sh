#!/bin/sh
# files.sh: what the programs do to files and streams: closed descriptors, links, pipes, devices, several runs at once, runs
# that fail, a full device.
. "${TRS_SRCDIR:-.}/tests/common/tap.sh"
solve=$bin/trisolve-sparse info=$bin/trisolve-info gen=$bin/trisolve-gen
bench() { "$bin/trisolve-bench" --cpu --cell-seconds=0.01 --solvers=cpu-serial "$@"; }
case $source in /*) ;; *) source=$OLDPWD/$source ;; esac
m=$source/matrices/seed5.mtx
report() { python3 "$source/bin/report/report.py" "$@"; }
is_link() { if [ -L "$1" ]; then ok "$1 is a link still"; else not_ok "$1 is no link"; fi; }
same() { if cmp -s "$1" "$2"; then ok "$1 is as $2"; else not_ok "$1 is not as $2"; fi; }
without() { # a name from list_of_files that nothing else made
    if ls -A "${2:-.}" | grep -q -- "$1"; then not_ok "$1 is left"; else ok "no $1 left"; fi
}
has_python=true has_plans=true
command -v python3 >/dev/null || has_python=false
if "$solve" -q --save-plan=plan "$m" 2>&1 | grep -q 'without xxhash'; then has_plans=false; fi
"$solve" -q "$m" -o right.mtx || exit 99

# ---- closed descriptors: nothing that is meant for a stream gets into a file
for closed in '>&-' '2>&-' '<&-' '>&- 2>&-' '<&- >&- 2>&-'; do
    sh -c "'$solve' '$m' -o x.mtx $closed" >out 2>err
    same x.mtx right.mtx
    sh -c "'$solve' -q '$m' -o x.mtx $closed" >out 2>err
    if [ $? = 0 ]; then ok "quiet $closed"; else not_ok "quiet $closed"; fi
    same x.mtx right.mtx
    sh -c "'$gen' chain 9 -o g.mtx $closed"; "$gen" chain 9 -o g9.mtx
    same g.mtx g9.mtx
    rm -f wisdom
    sh -c "'$solve' --measure --wisdom=wisdom '$m' $closed" >out 2>err
    if [ "$(grep -vc '^#' wisdom)" = 1 ]; then ok 'only wisdom in it'; else not_ok 'more or less than wisdom'; fi
    sh -c "'$bin/trisolve-bench' --cpu --cell-seconds=0.01 --solvers=cpu-serial --csv=c.csv '$m' $closed" >out 2>err
    if [ "$(grep -c . c.csv)" = 2 ]; then ok 'only rows in it'; else not_ok "no rows, or more: $(cat c.csv)"; fi
    $has_plans || continue
    sh -c "'$solve' --save-plan=plan2 '$m' $closed" >out 2>err
    same plan2 plan
done
expect 1 'the report cannot be written' sh -c "'$solve' '$m' >&-"; says err 'cannot write to standard output: Bad file'
expect 1 'nothing to read' sh -c "'$solve' - <&-"; says err 'standard input: Bad file'

# ---- failures of standard output are called so, with a status
if [ -w /dev/full ]; then
    expect 1 'x to a full device' sh -c "'$solve' -q '$m' -o - >/dev/full"; says err 'standard output: cannot write: No space'
    expect 1 'a report' sh -c "'$solve' '$m' >/dev/full"; says err 'cannot write to standard output: No space'
    expect 1 'solvers' sh -c "'$solve' --list-solvers >/dev/full"; says err 'cannot write to standard output'
    expect 1 'facts' sh -c "'$info' '$m' >/dev/full"; says err 'cannot write to standard output'
    expect 1 'a matrix' sh -c "'$gen' chain 9 >/dev/full"; says err 'standard output: cannot write'
    for program in sparse info gen bench; do
        for option in help version; do
            expect 1 "$program --$option" sh -c "'$bin/trisolve-$program' --$option >/dev/full"
            says err 'cannot write to standard output'
        done
    done
    if $has_python; then
        expect 1 'a page' sh -c "python3 '$source/bin/report/report.py' --help >/dev/full"; says err 'No space'
    fi
else ok '# SKIP no /dev/full'; fi

# ---- links are followed
mkdir there
ln -s there/x.mtx link.mtx
ln -s link.mtx link2.mtx
expect 0 'through links that dangle' "$solve" -q "$m" -o link2.mtx
is_link link.mtx; is_link link2.mtx; same there/x.mtx right.mtx
expect 0 'to a file' "$solve" -q "$m" -o link.mtx
is_link link.mtx; same there/x.mtx right.mtx
ln -s "$folder/there/w" wlink
expect 0 'wisdom' "$solve" -q --measure --wisdom=wlink "$m"; is_link wlink; says there/w wisdom
ln -s there/c.csv clink
expect 0 'results' bench -q --csv=clink "$m"; is_link clink; says there/c.csv cpu-serial
ln -s loop loop
expect 1 'a link to itself' "$solve" -q "$m" -o loop; says err 'loop: .*symbolic links'; is_link loop
if $has_python; then
    ln -s there/p.svg plink; ln -s there/page rlink
    expect 0 'a figure' "$info" --plot=plink "$m"; is_link plink; says there/p.svg '<svg'
    expect 0 'a page' report there/c.csv -o rlink; is_link rlink; says there/page '<html'
    expect 1 'a page that does not fit' sh -c "ulimit -f 1; trap '' XFSZ; python3 '$source/bin/report/report.py' there/c.csv -o rlink"
    says err 'File too large'; says there/page '</html>'
    expect 0 'a page to standard output' report there/c.csv -o /dev/stdout; same out there/page
fi
without '\.part' there

# ---- what is no regular file is written directly
for to in - /dev/stdout /dev/fd/1 /proc/self/fd/1; do
    expect 0 "x to $to" "$solve" -q "$m" -o $to; same out right.mtx
    printf 'before\n' >both
    sh -c "'$solve' -q '$m' -o $to >>both"
    { echo before; cat right.mtx; } >want; same both want
    expect 0 "results to $to" bench -q --csv=$to "$m"; says out 'cpu-serial'
    if [ "$(grep -c . out)" = 2 ]; then ok 'nothing else'; else not_ok 'something else'; fi
done
expect 0 'no table among results' bench --json=- "$m"; if [ "$(head -c 1 out)" = '{' ]; then ok 'a document'; else not_ok 'no document'; fi
expect 1 'nothing to resume' bench --resume --csv=- "$m"; says err '--resume needs a regular file'
expect 1 'two at once' bench --json=- --csv=- "$m"; says err 'only one of'
expect 1 'and the choice' bench --choice --csv=- "$m"; says err 'only one of'
expect 0 'the report beside x' "$solve" "$m" -o /dev/stdout; same out right.mtx; says err 'backward'
if [ -e - ]; then not_ok 'a file of the name -'; else ok 'no file of the name -'; fi
mkfifo pipe
for command in "'$solve' -q '$m' -o pipe" "'$bin/trisolve-bench' --cpu --cell-seconds=0.01 -q --csv=pipe '$m'" "'$gen' chain 9 -o pipe"; do
    cat pipe >got & reader=$!
    expect 0 "$command" sh -c "$command"
    wait $reader
    if [ -s got ] && [ -p pipe ]; then ok 'through the pipe'; else not_ok 'not through the pipe'; fi
done
expect 0 'to a device' bench -q --csv=/dev/null --json=/dev/null "$m"
if [ -c /dev/null ]; then ok 'a device still'; else not_ok 'no device any more'; fi
expect 1 'no plan from a pipe' "$solve" --load-plan=pipe "$m"; if $has_plans; then says err 'no ordinary file'; fi
expect 1 'no wisdom from one' "$solve" --wisdom=pipe "$m"; says err 'pipe: no regular file'
if sh -c "ulimit -v 1500000; '$solve' -q '$m'" 2>err; then # sanitizers need more
    expect 4 "no memory for the times" sh -c "ulimit -v 1500000; '$solve' --repeat=1000000000 '$m'"; says err "out of memory for the times of 1000000000 solves"
else ok '# SKIP more memory needed'; fi

# ---- several runs at once
rm -f wisdom
for n in 5 6 7 8 9 10; do "$gen" chain $n -o c$n.mtx; done
pids=
for n in 5 6 7 8 9 10; do "$solve" -q --measure --wisdom=wisdom c$n.mtx & pids="$pids $!"; done
for pid in $pids; do wait $pid || not_ok 'a run failed'; done
if [ "$(grep -vc '^#' wisdom)" = 6 ]; then ok 'each run has left its wisdom'; else not_ok "$(cat wisdom)"; fi
bench -q --csv=both.csv c5.mtx 2>err1 & one=$!
bench -q --csv=both.csv c6.mtx 2>err2 & two=$!
wait $one; first=$?
wait $two; second=$?
if [ "$first$second" = 00 ] && [ "$(grep -c . both.csv)" = 2 ]; then ok 'two runs, one file'; else not_ok "$first $second"; fi
mkdir set; cp c5.mtx set
if command -v flock >/dev/null; then
    : >set.csv.resume
    expect 1 'a journal is of one run' flock set.csv.resume "$bin/trisolve-bench" --cpu -q --csv=set.csv set
    says err 'set.csv.resume: another run writes it'
    rm set.csv.resume
fi

# ---- nothing is replaced by a run that fails
bench -q --csv=r.csv --json=r.json "$m"
cp r.csv r.csv.was
expect 1 'a folder that is not there' bench --csv=r.csv no/such/folder; same r.csv r.csv.was
expect 1 'nothing to solve' bench --csv=r.csv "$source/matrices/lp_afiro.mtx"; same r.csv r.csv.was
cp right.mtx x.mtx
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 0\n2 2 1\n' >bad.mtx
expect 2 'a pivot' "$solve" bad.mtx -o x.mtx; same x.mtx right.mtx
printf 'no wisdom\n' >other
expect 1 'another file' "$solve" --measure --wisdom=other "$m"; says other '^no wisdom$'
rm -f fresh
expect 2 'no wisdom of a failure' "$solve" --measure --wisdom=fresh bad.mtx; without '^fresh$'
expect 1 'figures into what is no folder' bench --plot=r.csv "$m"; says err 'r.csv: Not a directory'; same r.csv r.csv.was
expect 1 'a figure nowhere' "$info" --plot=no/folder/p.svg "$m"
if grep -q '<svg' out; then not_ok 'a figure on the screen'; else ok 'no figure on the screen'; fi
if $has_python && [ "$(id -u)" != 0 ]; then
    mkdir closed; chmod 555 closed
    expect 1 'without right' "$info" --plot=closed/p.svg "$m"; says err 'closed/p.svg: .*Permission denied'
    if grep -q '<svg' out; then not_ok 'a figure on the screen'; else ok 'no figure on the screen'; fi
    expect 1 'nor figures' bench --plot=closed "$m"; says err 'closed: Permission denied'
fi
without '\.part'
finish

#!/bin/sh
# interrupt.sh: Ctrl-C of trisolve-sparse, and the line that it draws on a terminal.  Input comes from a pipe, so that the
# program can be caught while it reads.
. "${TRS_SRCDIR:-.}/tests/common/tap.sh"
solve=$bin/trisolve-sparse
banner='%%%%MatrixMarket matrix coordinate real general\n'
mkfifo input
TRISOLVE_NO_CALIBRATE=1
export TRISOLVE_NO_CALIBRATE

# Send a signal to the program when it has opened the file, and then text without end.
endless() {
    exec 3>input
    printf "${banner}2000000000 2000000000 2000000000\n" >&3
    kill -INT "$(cat pid)"
    yes '1 1 1' >&3
}

# caught STATUS NAME OPTION...: how it ends, although there is more to read
caught() {
    status=$1 title=$2
    shift 2
    endless 2>/dev/null &
    expect "$status" "$title" sh -c 'echo $$ >pid; exec "$@"' sh "$solve" "$@" input
    wait
}

if sh -c 'kill -INT $$'; then
    skip 'interrupted' 'this shell ignores SIGINT, and so does what it starts'
else
    caught 130 'interrupted while it reads'; says err '^trisolve-sparse: interrupted$'
    says out '^time  *reading [0-9.e-]* s$'
    expect 0 'one sentence' test "$(wc -l <err)" -eq 1
    caught 130 'with --quiet' --quiet; says err '^trisolve-sparse: interrupted$'; silent out
    caught 130 'with --json' --json; says err '^trisolve-sparse: interrupted$'
    if grep -q 'without jansson' err; then skip 'JSON' 'built without jansson'; else says out '^  "status": 130,$'; fi
    trap '' INT # as for programs in the background
    caught 4 'not if it is ignored' --memory=0.05; says err 'limit'
    trap - INT
fi

# Send the last line when the program's line is on the screen, or after two minutes.
patient() {
    exec 3>input
    printf "${banner}1 1 1\n" >&3
    tries=0
    until grep -q 'reading, ' screen || [ $tries = 1200 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    printf '1 1 2\n' >&3
}

if ! script -qfec true screen >/dev/null 2>&1 </dev/null; then
    skip 'the line' 'no script(1) of util-linux here'
else
    patient &
    script -qfec "$solve input" screen >/dev/null 2>err </dev/null
    wait
    tr '\r' '\n' <screen >out
    says out 'reading, [0-9]+ s, [0-9.]+ GB$'
    says out "^$(printf '\033')\[Kmatrix " # the line is gone before the report
    says out '^error  *backward'
fi
finish

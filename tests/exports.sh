#!/bin/sh
# exports.sh: the libraries export what their headers declare with TRS_API, and nothing else; lib/lu.h and
# lib/call.h are between the two libraries.
. "${TRS_SRCDIR:-.}/tests/tap.sh"
lib=${bin%/bin}/.libs
skip() { echo "1..0 # SKIP $*"; exit 0; }
[ -e "$lib/libtrisolve-sparse.so" ] || skip 'no shared libraries'
${NM:-nm} -D --defined-only "$lib/libtrisolve-sparse.so" >/dev/null 2>&1 || skip 'nm does not list them'

# names that follow TRS_API in these headers, over line ends
declared() {
    cat "$@" | tr '\n' ' ' | sed 's/TRS_API/\n&/g' |
        sed -n 's/^TRS_API[^(]*[ *]\([a-z_0-9]*\)(.*/\1/p' | grep -E '^(trs|mm)_' | sort -u
}
exported() { ${NM:-nm} -D --defined-only "$lib/$1" | awk '$2 ~ /^[A-Z]$/ && $3 !~ /^_/ { print $3 }' | sort -u; }

compare() { # LIBRARY HEADER...
    exported "$1" >have
    library=$1
    shift
    declared "$@" >want
    count_of=$(wc -l <have)
    if diff want have >err; then ok "$library exports $((count_of)) names, all declared"
    else not_ok "$library exports other names than its headers declare (< declared, > exported)"; fi
    if grep -Evq '^(trs|mm)_' have; then not_ok "$library: names begin with trs_ or mm_"
    else ok "$library: names begin with trs_ or mm_"; fi
}
compare libtrisolve-sparse.so "$source/lib/trisolve-sparse.h" "$source/lib/trisolve-mmio.h" \
    "$source/lib/lu.h" "$source/lib/call.h"
[ ! -e "$lib/libtrisolve-suitesparse.so" ] ||
    compare libtrisolve-suitesparse.so "$source/lib/trisolve-suitesparse.h"

# the man page of the library names every public function
declared "$source/lib/trisolve-sparse.h" "$source/lib/trisolve-suitesparse.h" "$source/lib/trisolve-mmio.h" >want
for name in $(cat want); do
    grep -q "[ *]$name(" "${bin%/bin}/doc/trisolve-sparse.3" || echo "$name"
done >err
if [ ! -s err ]; then ok 'every function is in the man page'; else not_ok 'functions without a man page'; fi
finish

#!/bin/sh
# exports.sh: the libraries export what their public headers declare with TRS_API, and select/predict.h and io/output.h
# for the programs of this package, and nothing else.
. "${TRS_SRCDIR:-.}/tests/common/tap.sh"
lib=${bin%/bin}/.libs
: "${CC:=cc}" "${NM:=nm}"
skip() { echo "1..0 # SKIP $*"; exit 0; }
[ -e "$lib/libtrisolve-sparse.so" ] || skip 'no shared libraries'
$NM -D --defined-only "$lib/libtrisolve-sparse.so" >/dev/null 2>&1 || skip 'nm does not list them'

# the names that follow TRS_API, over line ends
names() { tr '\n' ' ' | sed 's/TRS_API/\n&/g' | sed -n 's/^TRS_API[^(]*[ *]\([a-z_0-9]*\)(.*/\1/p' | sort -u; }
# as the compiler sees them: trisolve-mmio.h has other names for programs than for the linker
declared() {
    for header in "$@"; do echo "#include \"$header\""; done >all.h
    $CC -E -P -x c all.h | sed 's/__attribute__((visibility("default")))/TRS_API/g' | names
}
exported() { $NM -D --defined-only "$lib/$1" | awk '$2 ~ /^[A-Z]$/ { print $3 }' | sort -u; }

# compare LIBRARY: its names with those in want
compare() {
    library=$1
    exported "$library" >have
    count_of=$(wc -l <have)
    if diff want have >err && [ -s have ]; then ok "$library exports $((count_of)) names, all declared"
    else not_ok "$library exports other names than its headers declare (< declared, > exported)"; fi
    if grep -v '^trs_' have >err; then not_ok "$library: names begin with trs_"
    else ok "$library: names begin with trs_"; fi
}
core="$source/lib/trisolve-sparse.h $source/lib/trisolve-mmio.h"
# and what the programs of this package ask for
{ declared $core; sed '/^#/d' "$source/lib/select/predict.h" "$source/lib/io/output.h" | names; } | sort -u >want
compare libtrisolve-sparse.so
if [ -e "$lib/libtrisolve-suitesparse.so" ]; then
    # this header includes that of the other library
    mv want core
    declared "$source/lib/trisolve-suitesparse.h" | comm -23 - core >want
    compare libtrisolve-suitesparse.so
fi

# every public function is in exactly one man page of the library, whose functions are all public
sed '/^#/d' $core "$source/lib/trisolve-suitesparse.h" | names >want
headers="$core $source/lib/trisolve-suitesparse.h"
for page in "$source"/doc/trisolve-*.3.in; do
    AWK="${AWK:-awk}" sh "$source/build-aux/header-man" --functions "$page" $headers
done | sort >have
if [ -s want ] && diff want have >err; then ok 'every function is in one man page'
else not_ok 'functions in no man page (<), or in several (>)'; fi
for name in $(cat want); do
    [ "$(grep -l "^[a-z][a-z_ ]*[ *]$name(" "${bin%/bin}"/doc/trisolve-*.3 | wc -l)" = 1 ] || echo "$name"
done >err
if [ ! -s err ]; then ok 'and its prototype is there alone'; else not_ok 'prototypes in no page, or in several'; fi
finish

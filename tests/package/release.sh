#!/bin/sh
# release.sh: all files name the same version, and all of them the same date.
. "${TRS_SRCDIR:-.}/tests/common/tap.sh"
version=$(sed -n 's/^#define TRS_VERSION  *"\(.*\)"$/\1/p' "$source/lib/trisolve-sparse.h")
date=$(sed -n 's/^date-released: "\(.*\)"$/\1/p' "$source/CITATION.cff")
# has FILE PATTERN: a line of the file matches
has() { if grep -qE -- "$2" "$source/$1" 2>err; then ok "$1 has $2"; else not_ok "$1 does not have $2"; fi; }
echo "$version" | grep -qE '^[0-9]+\.[0-9]+\.[0-9]+$' && ok "version $version" || not_ok "version '$version'"
k=1
for part in MAJOR MINOR PATCH; do
    has lib/trisolve-sparse.h "^#define TRS_VERSION_$part  *$(echo "$version" | cut -d. -f$k)$"
    k=$((k + 1))
done
has CITATION.cff "^version: $version$"
has NEWS.md "^## $version \\($(date -d "$date" +'%-d %B %Y')\\)"
if [ -d "$source/debian" ]; then has debian/changelog "^trisolve-sparse \\($version-"; fi
[ "$("$bin/trisolve-sparse" --version)" = "trisolve-sparse $version" ] && ok 'the program' || not_ok 'the program has another version'
finish

#!/bin/sh
# man.sh: roff takes a line that begins with a dot or an apostrophe as a request and leaves it out when it
# knows none of that name: every sentence of the man pages must be seen on the page.
. "${TRS_SRCDIR:-.}/tests/common/tap.sh"
: "${AWK:=awk}"
pages="$source/doc/trisolve-*.1 ${bin%/bin}/doc/trisolve-*.3"

# The macros of mdoc are two or three characters long, the first a capital or %.
control() { $AWK '/^[.\047]/ && !/^\.(\\"|[A-Z%][A-Za-z0-9][A-Za-z0-9]?( |$))/ { print FILENAME ":" FNR ": " $0 }' "$1"; }

plain() { mandoc -T ascii "$1" | sed 's/.\x08//g'; } # without what makes it bold

# Lines of text that are not on the rendered page; it breaks lines elsewhere, also behind a hyphen.
lost() {
    plain "$1" | tr -d ' \t\n' >page
    echo >>page
    $AWK 'NR == FNR { page = $0; next }
        /^\./ { next }
        { line = $0; gsub(/\\&|[ \t]/, "", line); gsub(/\\e/, "\\", line) }
        line != "" && !index(page, line)' page "$1"
}

for page in $pages; do
    name=$(basename "$page")
    control "$page" >out
    if [ -s out ]; then not_ok "$name: text that begins as a request"; else ok "$name: requests are macros"; fi
    if ! command -v mandoc >/dev/null 2>&1; then ok '# SKIP no mandoc'; continue; fi
    mandoc -T lint -W error "$page" >out 2>&1
    if [ -s out ]; then not_ok "$name: mandoc finds errors"; else ok "$name: mandoc finds no error"; fi
    lost "$page" >out
    if [ -s out ]; then not_ok "$name: not on the page"; else ok "$name: every line of text is on the page"; fi
done

# ---- the pages of functions; debian/ names the version in which each appeared
mkdir man3
for topic in plans solve factors matrix-market errors; do
    AWK=$AWK sh "$source/build-aux/header-man" --pages man3 "$source/doc/trisolve-$topic.3.in" "$source"/lib/trisolve-*.h
done 2>err
silent err
for page in man3/*.3; do
    grep -q '^\.so ' "$page" && continue
    control "$page"
    for section in LIBRARY SYNOPSIS DESCRIPTION HISTORY; do
        grep -A1 "^\.Sh $section" "$page" | grep -q '^[^.]\|^\.[LIBPV]' || echo "$page: no $section"
    done
    if command -v mandoc >/dev/null 2>&1; then mandoc -T lint -W error "$page" 2>&1; lost "$page"; fi
done >out
silent out
for symbols in "$source"/debian/*.symbols; do
    [ -e "$symbols" ] || continue
    sed -n 's/^ \(trs_[a-z_]*\)@Base \([0-9.]*\).*/\1 \2/p' "$symbols" | while read -r name version; do
        [ -e "man3/$name.3" ] || continue
        grep -q '^\.so ' "man3/$name.3" || grep -qx "Since trisolve-sparse $version\." "man3/$name.3" || echo "$name: not $version"
    done
done >out
silent out
expect 0 'twenty pages at least' test "$(grep -l '^\.Sh HISTORY' man3/trs_*.3 | wc -l)" -ge 20

# ---- the generator: comments may begin with anything
cat >small.h <<'H'
#ifndef TRISOLVE_SMALL_H
/* ---- small things ---- */

/* The extension is
.bz2 and the quote is
'this' and the path is C:\e\n. */
TRS_API int trs_small(void);

/* Two at a time.     int k ; in, "any".
 *     double *x ; out [k]:
 *         so many.   int *n ; out.
 *     and more of it.
 * It follows from
 *     x = y   for all y
 * Since 7.1.
 * Returns TRS_OK. */
TRS_API int trs_two(int k, double *x,
                    int *n);
TRS_API void trs_two_free(double *x);

/* ---- other things ---- */
TRS_API int trs_other(void);
#endif
H
printf '.Dd January 1, 2026\n.Dt SMALL 3\n.Os\n.Sh NAME\n.Nm small\n.Nd small\n.Sh SMALL\n' >small.3.in
printf '%s\n' '@SECTION small things@' '.Sh OTHERS' 'Elsewhere:' '@FUNCTIONS other@' >>small.3.in
echo '@SECTION other things@' >other.3.in
generate() { AWK=$AWK sh "$source/build-aux/header-man" "$@"; }
expect 0 'a page' generate small.3.in small.h
mv out small.3
control small.3 >out; silent out
expect 0 'the names of its functions' generate --functions small.3.in small.h
if [ "$(echo $(cat out))" = 'trs_small trs_two trs_two_free' ]; then ok 'are all of it'; else not_ok 'are others'; fi
mkdir pages
expect 0 'a page a function' generate --pages pages small.3.in small.h
if [ "$(cd pages && echo *)" = 'trs_small.3 trs_two.3 trs_two_free.3' ]; then ok 'are all of it'; else not_ok 'are others'; fi
expect 0 'of the second name' grep -qx '.so man3/trs_two.3' pages/trs_two_free.3
for line in '.Nm trs_two ,' '.Nd two at a time' '.In small.h' '.Sh RETURN VALUES' 'Returns TRS_OK.' 'Since trisolve-sparse 7.1.' \
    '.Xr small 3'; do says pages/trs_two.3 "^\\$line\$"; done
echo '@SECTION no such things@' >bad.3.in
expect 1 'a section that is not there' generate bad.3.in small.h; says err 'no section no such things in small.h'
if command -v mandoc >/dev/null 2>&1; then
    plain small.3 >out
    says out '^ *The extension is \.bz2 and the quote is .this. and the path is C:[\]e[\]n\.$'
    says out '^   trs_two, trs_two_free$'
    says out '^     int trs_two\(int k, double \*x,$'; says out '^                 int \*n\);$'
    says out '^     int k   in, "any"\.$'; says out '^             out \[k\]: so many\.'; says out '^ *x = y   for all y$'
    says out '^     Elsewhere: trs_other\(\)\.$'
else ok '# SKIP no mandoc'; fi
finish

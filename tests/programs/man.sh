#!/bin/sh
# man.sh: roff takes a line that begins with a dot or an apostrophe as a request and leaves it out when it
# knows none of that name: every sentence of the man pages must be seen on the page.
. "${TRS_SRCDIR:-.}/tests/common/tap.sh"
: "${AWK:=awk}"
built=${bin%/bin}/doc/trisolve-sparse.3
[ -r "$built" ] || built=$source/doc/trisolve-sparse.3 # of a release
pages="$source/doc/trisolve-*.1 $built"

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

# ---- the generator: comments may begin with anything
cat >small.h <<'H'
#ifndef TRISOLVE_SMALL_H
/* The extension is
.bz2 and the quote is
'this' and the path is C:\e\n. */
TRS_API int trs_small(void);
H
printf '.Dd January 1, 2026\n.Dt SMALL 3\n.Os\n@FUNCTIONS@\n' >small.in
sh "$source/build-aux/header-man" small.in small.h >small.3
control small.3 >out; silent out
if command -v mandoc >/dev/null 2>&1; then
    plain small.3 >out
    says out '^ *\.bz2 and the quote is'; says out "^ *'this' and the path is C:[\\]e[\\]n"
else ok '# SKIP no mandoc'; fi
finish

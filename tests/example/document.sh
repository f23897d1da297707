#!/bin/sh
# document.sh: every piece of code in doc/adding-a-solver.md stands like that in the file that it names:
# ```c lib/example/columns.h
. "${TRS_SRCDIR:-.}/tests/common/tap.sh"
document=$source/doc/adding-a-solver.md
if [ ! -f "$document" ]; then
    echo '1..0 # SKIP the document is not here'
    exit 0
fi
source=$(cd "$source" && pwd)
: "${AWK:=awk}"

# block 1, block 2, ... have the code; blocks names the files, - where the code is a command for the reader
$AWK '/^```/ && !inside { inside = 1; n++; print n, $2 == "" ? "-" : $2, NR > "blocks"; printf "" > ("block" n); next }
      /^```/ { inside = 0; close("block" n); next }
      inside { print > ("block" n) }' "$document"
: >out
while read -r n file line; do
    [ "$file" = - ] && continue
    : >err
    if $AWK 'FNR == NR { want = want $0 "\n"; next } { text = text $0 "\n" }
        END { exit !(want != "" && index("\n" text, "\n" want)) }' "block$n" "$source/$file" 2>err
    then ok "line $line is in $file"
    else cat "block$n" >>err; not_ok "line $line is not in $file"; fi
done <blocks
if [ "$count" -ge 5 ]; then ok 'there is code'; else not_ok 'there is code'; fi
finish

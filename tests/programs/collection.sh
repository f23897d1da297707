#!/bin/sh
# collection.sh: every matrix of $TRS_SHARED/matrices: solved, or refused with a sentence.
. "${TRS_SRCDIR:-.}/tests/common/tap.sh"
if [ -z "${TRS_SHARED-}" ] || [ ! -d "$TRS_SHARED/matrices" ]; then
    echo '1..0 # SKIP no folder of matrices in TRS_SHARED'
    exit 0
fi
if "$bin/trisolve-sparse" "$TRS_SHARED/matrices/cavity10.mtx.xz" 2>&1 | grep -qE 'libarchive|SuiteSparse'; then
    echo '1..0 # SKIP wants libarchive and SuiteSparse'
    exit 0
fi
for file in "$TRS_SHARED"/matrices/*.mtx*; do
    name=${file##*/}
    how=
    case $name in
        *_b.mtx* | *_rhs1.mtx*) continue ;;
        G3_circuit* | metis_mdual*) how=--lower ;; # minutes to factor
    esac
    "$bin/trisolve-sparse" $how "$file" >out 2>err </dev/null
    case $? in
        0 | 7) if grep -q backward out; then ok "$name solved"; else not_ok "$name: no report"; fi ;;
        1) if grep -q 'not square' err; then ok "$name refused: not square"; else not_ok "$name"; fi ;;
        2) if grep -qE '(row|column) [0-9]' err; then ok "$name refused: $(cat err)"; else not_ok "$name"; fi ;;
        *) not_ok "$name" ;;
    esac
done
finish

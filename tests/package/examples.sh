#!/bin/sh
# examples.sh: every example that was built runs, and finds its own answer right; 77 is a skip.
. "${TRS_SRCDIR:-.}/tests/common/tap.sh"
top=${bin%/bin}
for example in ${TRS_EXAMPLES:-examples/01_solve_once}; do
    "$top/$example" >out 2>err </dev/null
    case $? in
        0) ok "$example: $(tail -n 1 out)" ;;
        77) ok "$example # SKIP $(tail -n 1 out)" ;;
        *) cat out >>err; not_ok "$example" ;;
    esac
done

# every one is described
for file in "$source"/examples/*.c; do
    if grep -q "\`$(basename "$file")\`" "$source/examples/README.md"; then ok "README has $(basename "$file")"
    else not_ok "README has $(basename "$file")"; fi
    if grep '#include "' "$file" >err; then not_ok "$(basename "$file"): only installed headers"
    else ok "$(basename "$file"): only installed headers"; fi
done
finish

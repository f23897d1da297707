#!/bin/sh
# examples.sh: every example that was built runs, and finds its own answer right; 77 is a skip.
. "${TRS_SRCDIR:-.}/tests/common/tap.sh"
top=${bin%/bin}
ln -sf "$source/matrices" .
for example in ${TRS_EXAMPLES:-examples/01_solve_once}; do
    "$top/$example" >out 2>err </dev/null
    case $? in
        0) ok "$example: $(tail -n 1 out)" ;;
        77) ok "$example # SKIP $(tail -n 1 out)" ;;
        *) cat out >>err; not_ok "$example" ;;
    esac
done

# with larger files, where they are
for run in 10_interior_point:lp_stocfor3 10_interior_point:lp_maros-r7 11_circuit_sweep:add20 11_circuit_sweep:memplus; do
    program=$top/examples/${run%:*} file=${TRS_SHARED:-$source/../shared}/matrices/${run#*:}.mtx.xz
    if [ ! -x "$program" ] || [ ! -e "$file" ]; then ok "$run # SKIP it is not here"
    elif "$program" "$file" >out 2>err; then ok "$run: $(tail -n 1 out)"
    else cat out >>err; not_ok "$run"; fi
done

# every one is described
for file in "$source"/examples/*.c; do
    if grep -q "\`$(basename "$file")\`" "$source/examples/README.md"; then ok "README has $(basename "$file")"
    else not_ok "README has $(basename "$file")"; fi
    if grep '#include "' "$file" >err; then not_ok "$(basename "$file"): only installed headers"
    else ok "$(basename "$file"): only installed headers"; fi
done
finish

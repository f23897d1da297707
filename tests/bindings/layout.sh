#!/bin/sh
# layout.sh: every structure has the same size, and every member the same place, in C and in Fortran.
. "${TRS_SRCDIR:-.}/tests/common/tap.sh"
build=${bin%/bin}
: "${CC:=cc}" "${FC:=gfortran}" "${AWK:=awk}"

# A program that prints `type member offset` and `type . size`, from the types of a module.
cat >layout.awk <<'END'
function c_line(what, value) { print "    printf(\"" what " %zu\\n\", (size_t)" value ");" }
BEGIN {
    if (language == "c") print "#include <stddef.h>\n#include <stdio.h>\n#include \"trisolve-suitesparse.h\"\nint main(void)\n{"
    else print "program layout\n   use trisolve_sparse_c\n   use " module "\n   implicit none"
}
/type, bind\(c\) ::/ {
    type = c_type = $NF
    sub(/_t$/, "", c_type) # in Fortran the name of a constant too
    if (language == "c") c_line(c_type " .", "sizeof(" c_type ")")
    else {
        declarations = declarations "   type(" type "), target :: v_" type "\n"
        calls = calls "   print '(a, i0)', '" c_type " . ', c_sizeof(v_" type ")\n"
    }
}
/^      .* :: / && type != "" {
    member = $0
    sub(/.* :: /, "", member)
    sub(/ =.*/, "", member)
    element = member ~ /\(/ ? "(1)" : ""
    sub(/\(.*/, "", member)
    if (language == "c") c_line(c_type " " member, "offsetof(" c_type ", " member ")")
    else calls = calls "   call say('" c_type " " member " ', c_loc(v_" type "%" member element "), c_loc(v_" type "))\n"
}
/end type/ { type = "" }
END {
    if (language == "c") print "    return 0;\n}"
    else print declarations calls "contains\n   subroutine say(what, at, start)\n      character(*), intent(in) :: what\n" \
        "      type(c_ptr), intent(in) :: at, start\n" \
        "      print '(a, i0)', what, transfer(at, 0_c_intptr_t) - transfer(start, 0_c_intptr_t)\n" \
        "   end subroutine say\nend program layout"
}
END
for module in trisolve_sparse_c trisolve_suitesparse_c; do
    from=$build/bindings/fortran/$module.f90
    if [ ! -e "$from" ]; then ok "$module # SKIP not built"; continue; fi
    $AWK -v language=c -f layout.awk "$from" >layout.c
    $AWK -v language=fortran -v module=$module -f layout.awk "$from" >layout.f90
    expect 0 "$module in C" $CC -I"$source/lib" layout.c -o c_layout
    expect 0 "$module in Fortran" $FC -I"$build/bindings/fortran" layout.f90 -o fortran_layout
    ./c_layout >want
    ./fortran_layout >have
    if diff want have >err && [ -s want ]; then ok "$(wc -l <want) places agree"; else not_ok 'other places'; fi
    sed -n 's/^typedef struct \([a-z_]*\) {.*/\1/p' "$source/lib/$(echo ${module%_c} | tr _ -).h" | sort >want
    awk '$2 == "." { print $1 }' have | sort >types
    if diff want types >err && [ -s want ]; then ok "all $(wc -l <types) structures"; else not_ok 'structures are missing'; fi
done
finish

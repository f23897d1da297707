#!/bin/sh
# installed.sh: what is installed is enough for a stranger, with pkg-config and with CMake, wherever the whole
# prefix was moved to.  TRS_INSTALLED names an installed prefix; without it the data of this build are installed
# and its libraries copied (libtool would link them anew where other tests use them).
. "${TRS_SRCDIR:-.}/tests/common/tap.sh"
build=${bin%/bin}
: "${CC:=cc}" "${CXX:=c++}" "${MAKE:=make}"
unset MAKEFLAGS MFLAGS DESTDIR
if grep -q sanitize "$build/config.status"; then echo '1..0 # SKIP built with sanitizers'; exit 0; fi
moved=$folder/moved
if [ -n "${TRS_INSTALLED-}" ]; then cp -RP "$TRS_INSTALLED" moved; else
    prefix=$(sed -n 's/^prefix = //p' "$build/Makefile")
    expect 0 'make install-data' "$MAKE" -s -C "$build" install-data DESTDIR="$folder/root"
    mv "$folder/root$prefix" moved
fi
pc=$(find "$moved" -name trisolve-sparse.pc)
lib=$(dirname "$(dirname "$pc")")
if [ -z "${TRS_INSTALLED-}" ]; then cp -P "$build"/.libs/libtrisolve-*.so* "$build"/.libs/libtrisolve-*.a "$lib" 2>err; fi
if ! ls "$lib"/libtrisolve-sparse.so >/dev/null 2>&1; then ok '# SKIP no shared libraries'; finish; exit 0; fi
PKG_CONFIG_PATH=$lib/pkgconfig
LD_LIBRARY_PATH=$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export PKG_CONFIG_PATH LD_LIBRARY_PATH

# ---- man pages: each function has one of its name, or of another one with the same text ----------------------
pages=$(find "$moved" -name man3)
for page in "$source"/doc/trisolve-*.3.in; do
    topic=$(basename "$page" .in)
    AWK="${AWK:-awk}" sh "$source/build-aux/header-man" --functions "$page" "$source"/lib/trisolve-*.h >names
    for name in $(cat names); do
        other=$(sed -n 's,^\.so man3/,,p' "$pages/$name.3")
        grep -Eq "^\.(Nm|Fn|Ss) ([a-z_, ]+, )?$name( ,|, |\$)" "$pages/${other:-$name.3}" && [ -s "$pages/$topic" ] || echo "$name"
    done
done >err 2>&1
if [ -s "$pages/trs_plan_create.3" ] && [ ! -s err ]; then ok 'every function has a man page'
else not_ok 'functions without a man page'; fi

# ---- the JSON Schema --------------------------------------------------------------------------------------------
expect 0 'the JSON Schema' cmp "$(find "$moved" -name trisolve-1.schema.json)" "$source/doc/trisolve-1.schema.json"

# ---- what a program has to link: libc, libm, OpenMP; of CUDA what is not linked statically ------------------
needs='libc libm libgomp libomp libpthread libdl librt libgcc_s libstdc++ libcudart ld-linux-x86-64'
if ! command -v readelf >/dev/null; then ok 'needs # SKIP no readelf'; else
    if grep -q '^#define HAVE_LIBARCHIVE' "$build/config.h"; then
        grep -q '^#define LIBARCHIVE_SONAME' "$build/config.h" || needs="$needs libarchive"
    fi
    readelf -d "$lib/libtrisolve-sparse.so" | sed -n 's/.*(NEEDED).*\[\(.*\)\.so.*/\1/p' >needed
    for name in $(cat needed); do
        case " $needs " in *" $name "*) ;; *) echo "$name" ;; esac
    done >err
    if [ -s needed ] && [ ! -s err ]; then ok "needs $(echo $(cat needed))"; else not_ok 'needs more'; fi
fi

# ---- the programs -------------------------------------------------------------------------------------------
if [ -n "${TRS_INSTALLED-}" ]; then
    expect 0 'the command finds its libraries' env -u LD_LIBRARY_PATH "$moved/bin/trisolve-sparse" -q \
        "$source/matrices/cg20.mtx"
    if ! command -v python3 >/dev/null; then ok 'a page # SKIP no python3'; else
        expect 0 'and the script that makes a page' env -u LD_LIBRARY_PATH -u TRISOLVE_REPORT "$moved/bin/trisolve-bench" \
            -q --cpu --cell-seconds=0.01 --html=page.html grid5:9
        says page.html '</html>'
    fi
fi

# ---- pkg-config -----------------------------------------------------------------------------------------------
example=$source/examples/04_preconditioned_cg.c
if ! command -v pkg-config >/dev/null; then ok 'pkg-config # SKIP not here'; finish; exit 0; fi
expect 0 'pkg-config knows it' pkg-config --cflags --libs trisolve-sparse
expect 0 'an example with pkg-config' $CC -std=c11 "$example" $(cat out) -lm -o by_pkg_config
expect 0 'it runs' ./by_pkg_config
expect 0 'where it was moved' pkg-config --variable=libdir trisolve-sparse
if [ "$(cd "$(cat out)" && pwd -P)" = "$(cd "$lib" && pwd -P)" ]; then ok 'as the file says'; else not_ok "not $lib"; fi
# pkg-config takes the parent of lib/pkgconfig for the prefix, also where that is lib/x86_64-linux-gnu/pkgconfig
if [ "$lib" != "$moved/lib" ]; then ok '--define-prefix # SKIP libdir is not PREFIX/lib'; else
    expect 0 'where it was moved' pkg-config --define-prefix --variable=libdir trisolve-sparse
    if [ "$(cat out)" = "$lib" ]; then ok 'as its user says'; else not_ok "not $lib"; fi
fi
version=$(sed -n 's/^#define TRS_VERSION *"\(.*\)"$/\1/p' "$source/lib/trisolve-sparse.h")
expect 0 'the version of the package' pkg-config --modversion trisolve-sparse
if [ "$(cat out)" = "$version" ]; then ok "is the header's"; else not_ok "is not the header's"; fi

# ---- the headers alone, and a client of all shapes, in both languages ------------------------------------------
for standard in c99 c++11; do
    case $standard in
        c99) compile=$CC language=c complex=complex.h ;;
        *) compile=$CXX language=c++ complex='complex complex.h' ;;
    esac
    if ! command -v ${compile%% *} >/dev/null; then ok "$standard # SKIP no compiler"; continue; fi
    flags="-std=$standard -Wall -Wextra -pedantic-errors -Werror $(pkg-config --cflags trisolve-sparse)"
    headers=$(cd "$(pkg-config --variable=includedir trisolve-sparse)" && ls trisolve-*.h)
    for header in $headers; do
        echo "#include <$header>" >alone.c
        expect 0 "$header alone is $standard" $compile $flags -x $language -fsyntax-only alone.c
    done
    printf '#include <%s>\n' $complex $headers >all.c
    expect 0 "all after $complex" $compile $flags -x $language -fsyntax-only all.c
    expect 0 "a client in $standard" $compile $flags -x $language "$source/tests/package/client.c" -x none \
        $(pkg-config --libs trisolve-sparse) -lm -o client_$language
    expect 0 'it finds nothing wrong' ./client_$language 2000 100000
done

# ---- the programs of the READMEs of the bindings print what they say there ----------------------------------------
program() { # BINDING FENCE FILE COMMAND...: those of the first block of this kind, compiled by COMMAND
    text=$source/bindings/$1/README.md fence=$2 file=$3
    shift 3
    sed -n "/^\`\`\`$fence\$/,/^\`\`\`\$/p" "$text" | sed '/^```/d' >"$file"
    sed -n '/^It prints$/,/^and is compiled/p' "$text" | sed -n '/^```/,/^```/p' | sed '/^```/d' >prints
    expect 0 "the program of $fence" "$@"
    ./by_readme >have 2>err
    if [ -s prints ] && diff prints have >err; then ok 'prints what it says'; else not_ok 'prints something else'; fi
}
if pkg-config --exists eigen3 && command -v ${CXX%% *} >/dev/null; then
    program cxx cpp readme.cpp $CXX -std=c++17 readme.cpp $(pkg-config --cflags --libs trisolve-sparse eigen3) -o by_readme
else ok 'Eigen # SKIP not here'; fi
if pkg-config --exists trisolve-fortran && [ -e "$lib/libtrisolve-fortran.so" ]; then
    program fortran fortran readme.f90 ${FC:-gfortran} readme.f90 $(pkg-config --cflags --libs trisolve-fortran) \
        -o by_readme
else ok 'Fortran # SKIP not built'; fi

# ---- a program with an mmio.c of its own -----------------------------------------------------------------------
cat >mmio.c <<'EOF'
#include <stdio.h>
/* as a code has it that was written against mmio.h: every name that trisolve-mmio.h maps */
#define MINE(name) int name(void); int name(void) { puts(#name); return 42; }
MINE(mm_is_valid) MINE(mm_typecode_to_str) MINE(mm_read_banner) MINE(mm_read_mtx_crd_size)
MINE(mm_read_mtx_array_size) MINE(mm_write_banner) MINE(mm_write_mtx_crd_size)
MINE(mm_write_mtx_array_size) MINE(mm_read_mtx_crd_data) MINE(mm_read_mtx_crd_entry)
MINE(mm_read_mtx_crd) MINE(mm_read_unsymmetric_sparse) MINE(mm_write_mtx_crd)
int read_with_mmio(void);
int read_with_mmio(void) { return mm_read_banner(); }
EOF
cat >main.c <<'EOF'
#include <complex.h>
#include <trisolve-mmio.h>
int read_with_mmio(void);
int main(int argc, char **argv)
{
    int rows, cols, nz, *i, *j;
    double *value;
    MM_typecode code;
    int rc = argc == 2 ? mm_read_mtx_crd(argv[1], &rows, &cols, &nz, &i, &j, &value, &code) : 1;
    if (!rc) printf("%d %d %d %s\n", rows, cols, nz, mm_typecode_to_str(code));
    return rc ? rc : read_with_mmio() != 42;
}
EOF
both() { # NAME LIBRARIES...
    name=$1
    shift
    expect 0 "beside another mmio.c, $name" $CC $(pkg-config --cflags trisolve-sparse) main.c mmio.c "$@" -o both
    expect 0 'each is called by its own' ./both "$source/matrices/seed5.mtx"
    if [ "$(sed -n '1s/^\([0-9]*\) .*/\1/p;2p' out | tr '\n' ' ')" = '5 mm_read_banner ' ]; then ok 'and reads'
    else not_ok 'another one was called'; fi
}
both shared $(pkg-config --libs trisolve-sparse)
if [ -e "$lib/libtrisolve-sparse.a" ]; then
    both static "$lib/libtrisolve-sparse.a" $(pkg-config --static --libs trisolve-sparse)
fi

# ---- what is opened at run time, where it cannot be -------------------------------------------------------------
cat >absent.c <<'EOF'
#include <stdio.h>
#include <string.h>
#include <trisolve-sparse.h>
int main(int argc, char **argv)
{
    const double a[4] = {0, 1, 1, 0};
    trs_mat A = {.n = 2, .val = a, .ld = 2, .format = TRS_DENSE};
    trs_plan *plan;
    trs_solver_info s;
    trs_mm mm;
    for (int k = 0; trs_solver_get(k, &s) == TRS_OK; k++)
        if (!strcmp(s.name, "lapack-getrf")) printf("%d %s\n", s.available, s.why);
    int rc = trs_mm_read(argv[argc - 1], NULL, &mm);
    if (rc) printf("%d %s\n", rc, trs_message());
    trs_mm_free(&mm);
    rc = trs_plan_create(&plan, &A, NULL);
    if (!rc) rc = trs_plan_analyse(plan);
    printf("%d %s\n", rc, trs_message());
    trs_plan_destroy(plan);
    return 0;
}
EOF
mkdir hidden
: >hidden/liblapack.so.3
: >hidden/libarchive.so.13 # no libraries: the loader stops at them
expect 0 'a program without libarchive and LAPACK' $CC $(pkg-config --cflags trisolve-sparse) absent.c \
    $(pkg-config --libs trisolve-sparse) -o absent
expect 0 'starts' env "LD_LIBRARY_PATH=$folder/hidden:$LD_LIBRARY_PATH" ./absent "$source/matrices/cavity10.mtx.xz"
if grep -q '^#define HAVE_LAPACK 1' "$build/config.h"; then
    says out '^0 .*liblapack.so.3'
    grep -q '^#define HAVE_CUDA' "$build/config.h" || says out '^-4 a general matrix needs .* \(.*liblapack.so.3'
else says out '^0 built without LAPACK'; fi
if grep -q '^#define LIBARCHIVE_SONAME' "$build/config.h"; then
    says out '^-4 .*cavity10.mtx.xz: packed by xz; packed files need libarchive \(.*libarchive.so.13: .*\)$'
elif ! grep -q '^#define HAVE_LIBARCHIVE' "$build/config.h"; then
    says out '^-4 .*packed by xz, but this build has no libarchive'
fi

# ---- CMake -------------------------------------------------------------------------------------------------------
if ! command -v cmake >/dev/null; then ok 'CMake # SKIP not here'; finish; exit 0; fi
mkdir client
cp "$source/tests/package/client.c" client/client.cxx
cat >client/CMakeLists.txt <<EOF
cmake_minimum_required(VERSION 3.21)
project(client C CXX)
find_package(trisolve-sparse 0.9 REQUIRED COMPONENTS sparse)
add_executable(cg $example)
target_link_libraries(cg trisolve::sparse m)
add_executable(client client.cxx)
target_link_libraries(client trisolve::sparse m)
find_package(Eigen3 QUIET NO_MODULE)
if(TARGET Eigen3::Eigen)
    add_executable(eigen $folder/readme.cpp)
    target_link_libraries(eigen trisolve::eigen)
endif()
if(TARGET trisolve::suitesparse)
    add_executable(lu $source/examples/05_factors_of_umfpack.c)
    target_link_libraries(lu trisolve::suitesparse m)
endif()
EOF
unset LD_LIBRARY_PATH # what CMake writes into the programs must do
client() {
    cmake -S client -B "$1" "-DCMAKE_PREFIX_PATH=$moved" "-DCMAKE_C_COMPILER=${CC%% *}" \
        "-DCMAKE_CXX_COMPILER=${CXX%% *}"
}
expect 0 'CMake finds it' client good
expect 0 'and builds with it' cmake --build good
expect 0 'it runs' good/cg
expect 0 'in C++ too' good/client 200 100000
[ ! -e "$lib/libtrisolve-suitesparse.so" ] || expect 0 'and with SuiteSparse' good/lu
[ ! -e good/eigen ] || expect 0 'and with Eigen' good/eigen
sed -i.was 's/COMPONENTS sparse/COMPONENTS no_such/' client/CMakeLists.txt
expect 1 'a component that is not there' client component; says err 'no_such is not installed'
sed 's/trisolve-sparse 0.9/trisolve-sparse 99.0/' client/CMakeLists.txt.was >client/CMakeLists.txt
expect 1 'a version that is not there' client version; says err '99.0'
finish

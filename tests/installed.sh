#!/bin/sh
# installed.sh: what is installed is enough for a stranger, with pkg-config and with CMake: an example is built
# out of the tree and run.  The libraries are copied: libtool would link them anew where other tests use them.
. "${TRS_SRCDIR:-.}/tests/tap.sh"
build=${bin%/bin}
: "${CC:=cc}" "${MAKE:=make}"
unset MAKEFLAGS MFLAGS DESTDIR
root=$folder/root
if grep -q sanitize "$build/config.status"; then echo '1..0 # SKIP built with sanitizers'; exit 0; fi
expect 0 'make install-data' "$MAKE" -s -C "$build" install-data DESTDIR="$root"

# the files name the prefix; here it lies under $root
pc=$(find "$root" -name trisolve-sparse.pc)
config=$(find "$root" -name trisolve-sparseConfig.cmake)
lib=$(dirname "$(dirname "$pc")")
cp -P "$build"/.libs/libtrisolve-*.so* "$lib" 2>err || { ok '# SKIP no shared libraries'; finish; exit 0; }
for file in "$lib"/pkgconfig/*.pc "$config"; do
    sed "s|^prefix=|prefix=$root|; s|set(prefix \"|set(prefix \"$root|" "$file" >moved && mv moved "$file"
done
PKG_CONFIG_PATH=$lib/pkgconfig
LD_LIBRARY_PATH=$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export PKG_CONFIG_PATH LD_LIBRARY_PATH

example=$source/examples/04_preconditioned_cg.c
if ! command -v pkg-config >/dev/null; then ok 'pkg-config # SKIP not here'; else
    expect 0 'pkg-config knows it' pkg-config --cflags --libs trisolve-sparse
    expect 0 'an example with pkg-config' $CC -std=c11 "$example" $(cat out) -lm -o by_pkg_config
    expect 0 'it runs' ./by_pkg_config
fi

# the headers alone, and a client of all shapes, in both languages
: "${CXX:=c++}"
for standard in c99 c++11; do
    case $standard in c99) compile=$CC language=c ;; *) compile=$CXX language=c++ ;; esac
    if ! command -v ${compile%% *} >/dev/null || ! command -v pkg-config >/dev/null; then
        ok "$standard # SKIP no compiler, or no pkg-config"
        continue
    fi
    flags="-std=$standard -Wall -Wextra -pedantic-errors -Werror $(pkg-config --cflags trisolve-sparse)"
    for header in $(cd "$(pkg-config --variable=includedir trisolve-sparse)" && ls trisolve-*.h); do
        echo "#include <$header>" >alone.c
        expect 0 "$header alone is $standard" $compile $flags -x $language -fsyntax-only alone.c
    done
    expect 0 "a client in $standard" $compile $flags -x $language "$source/tests/client.c" -x none \
        $(pkg-config --libs trisolve-sparse) -lm -o client_$language
    expect 0 'it finds nothing wrong' ./client_$language 2000 100000
done

if ! command -v cmake >/dev/null; then ok 'CMake # SKIP not here'; else
    mkdir client
    cat >client/CMakeLists.txt <<EOF
cmake_minimum_required(VERSION 3.21)
project(client C)
find_package(trisolve-sparse 0.1 REQUIRED COMPONENTS sparse)
add_executable(cg $example)
target_link_libraries(cg trisolve::sparse m)
if(TARGET trisolve::suitesparse)
    add_executable(lu $source/examples/05_factors_of_umfpack.c)
    target_link_libraries(lu trisolve::suitesparse m)
endif()
EOF
    client() { cmake -S client -B "$1" "-Dtrisolve-sparse_DIR=$(dirname "$config")" "-DCMAKE_C_COMPILER=${CC%% *}"; }
    expect 0 'CMake finds it' client good
    expect 0 'and builds with it' cmake --build good
    expect 0 'it runs' good/cg
    [ ! -e "$lib/libtrisolve-suitesparse.so" ] || expect 0 'and with SuiteSparse' good/lu
    sed -i.was 's/COMPONENTS sparse/COMPONENTS no_such/' client/CMakeLists.txt
    expect 1 'a component that is not there' client component; says err 'no_such is not installed'
    sed 's/trisolve-sparse 0.1/trisolve-sparse 99.0/' client/CMakeLists.txt.was >client/CMakeLists.txt
    expect 1 'a version that is not there' client version; says err '99.0'
fi
finish

# steps.sh: the steps of .ci/run and .ci/full.  Each is a function that returns 0 if all it checks holds; `run STEP...` runs them
# in order, prints what failed, and ends with a table of seconds and the line "N passed, N failed, N skipped".
#
# A step that cannot run here says why with `skip`.  A step with tests of its own adds their totals with `add`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CONFIGURE_FLAGS='--enable-werror --with-cuda-arch=90'
jobs=$(nproc)
logs=$PWD/build-logs
mkdir -p "$logs"
passed=0 failed=0 skipped=0 table=

# ---- running steps ------------------------------------------------------------------------------------
# Add the totals of a test run in the build folder $1, or those of the line $2.
add() {
    local p f s line
    line=${2-$(make -s -C "$1" totals)}
    echo "$1: $line"
    read -r p _ f _ s _ <<<"$line"
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s)) counted=yes
}

skip() { echo "skipped: $*"; skipped=$((skipped + 1)) counted=yes; }

# What failed, by the log $1 of a build and its tests, and the end of the log.
explain() { grep -E '^(FAIL|ERROR|not ok)|error:|warning:' "$1" | head -n 40 || true; tail -n "${2-40}" "$1"; }

# quietly LOG COMMAND...: its output goes to a file, which is shown if it fails
quietly() {
    local log=$logs/$1.log
    shift
    "$@" >"$log" 2>&1 || { explain "$log"; return 1; }
}

install() { DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1; }

run() {
    local step start
    for step; do
        start=$SECONDS counted=no
        printf '\n==== %s\n' "${step//_/ }"
        if ! "step_$step"; then failed=$((failed + 1)); counted=failed; fi
        [ $counted != no ] || passed=$((passed + 1))
        table+=$(printf '%6d s  %s%s' $((SECONDS - start)) "${step//_/ }" "$([ $counted != failed ] || echo '  FAILED')")$'\n'
    done
    printf '\n==== where the time goes\n%s%6d s  all of it\n\n' "$table" "$SECONDS"
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ]
}

# ---- compiler cache -------------------------------------------------------------------------------------
# Builds of one run share their objects.  The cache is in the checkout, so that a clean clone begins with an empty one.
if [ -x /usr/bin/ccache ] || install ccache; then
    export CCACHE_DIR=$PWD/build-ccache CCACHE_NOHASHDIR=1 PATH=/usr/lib/ccache:$PATH
fi

# ---- the build and its tests ---------------------------------------------------------------------------
step_quickstart_check() {
    local rc=0
    ./quickstart check || rc=1
    add build
    return $rc
}

step_formatting() {
    command -v clang-format >/dev/null || install clang-format || { skip 'no clang-format'; return; }
    git ls-files '*.c' '*.h' '*.cu' '*.cuh' '*.cpp' '*.hpp' | xargs clang-format --dry-run -Werror
}

# build_and_check FOLDER CONFIGURE-OPTION...
build_and_check() {
    local folder=$1
    shift
    mkdir -p "$folder"
    (cd "$folder" && ../configure -q "$@" && make -s -j"$jobs" && make -s -j"$jobs" check)
}

step_sanitizers() { # and assertions, and the example of a solver; CPU
    local rc=0
    quietly asan build_and_check build-asan --without-cuda --enable-debug --enable-example-solver \
        CFLAGS='-g1 -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer' || rc=1
    add build-asan
    return $rc
}

threads() (
    tests='tests/solvers/t_teams tests/solvers/t_threads tests/factor/suitesparse/t_ldlt'
    mkdir -p build-tsan && cd build-tsan &&
        CC=clang ../configure -q --without-cuda --without-fortran --without-cxx --enable-debug \
            CFLAGS='-g1 -O1 -fsanitize=thread -fno-omit-frame-pointer' || exit 1
    OMP_TOOL_LIBRARIES=$1 TSAN_OPTIONS=ignore_noninstrumented_modules=1 TRS_TESTS='cpu-*' \
        make -s -j"$jobs" check TESTS="$tests" check_PROGRAMS="$tests"
)
step_threads() { # of the CPU solvers, and of L D L', under ThreadSanitizer, which archer tells of OpenMP
    local rc=0 archer
    archer=$(clang -print-resource-dir 2>/dev/null || true)/../../libarcher.so
    [ -e "$archer" ] || install clang libclang-rt-14-dev libomp-14-dev || true
    archer=$(clang -print-resource-dir 2>/dev/null || true)/../../libarcher.so
    [ -e "$archer" ] || { skip 'no clang with archer (clang libclang-rt-14-dev libomp-14-dev)'; return; }
    quietly tsan threads "$archer" || { grep -A20 'WARNING: Thread' build-tsan/tests/*/*.log build-tsan/tests/*/*/*.log || true; rc=1; }
    add build-tsan
    return $rc
}

# ---- the package ---------------------------------------------------------------------------------------
# The tarball builds, passes tests, installs and uninstalls elsewhere.  $1: a name; the rest: options of configure
distcheck() { quietly "distcheck-$1" make -s -C build distcheck DISTCHECK_CONFIGURE_FLAGS="${*:2}"; }
step_distcheck_some_tests() {
    local tests='tests/core/t_plan tests/io/t_mm tests/programs/sparse.sh tests/package/house.sh'
    quietly distcheck make -s -C build distcheck DISTCHECK_CONFIGURE_FLAGS='--enable-werror --without-cuda CFLAGS=-O0' \
        TESTS="$tests" check_PROGRAMS='tests/core/t_plan tests/io/t_mm'
}
step_distcheck() { distcheck cuda --disable-static "$CONFIGURE_FLAGS"; }
step_distcheck_without_cuda() { distcheck cpu --enable-static --enable-werror --without-cuda; }

step_release() { # the same tarball from another clone, with another umask
    local there
    there=$(mktemp -d)
    git clone -q . "$there/clone"
    quietly release sh -c 'umask 077 && cd "$0/clone" && autoreconf -fi && mkdir build && cd build &&
        ../configure -q --without-cuda && make -s dist' "$there" || return 1
    make -s -C build dist >/dev/null 2>&1
    cmp "$there"/clone/build/trisolve-sparse-*.tar.xz build/trisolve-sparse-*.tar.xz || return 1
    rm -rf "$there"
}

step_binary_interface() { # against the last release
    command -v abidiff >/dev/null || install abigail-tools || { skip 'no abidiff (abigail-tools)'; return; }
    quietly abi build-aux/abi check build
}

staged_and_moved() {
    local prefix where=$1
    make -s -C build install DESTDIR="$where/staged"
    make -s -C build install prefix="$where/elsewhere"
    for prefix in "$where/staged/usr/local" "$where/elsewhere"; do
        TRS_INSTALLED=$prefix TRS_SRCDIR=$PWD TRS_BINDIR=$PWD/build/bin sh tests/package/installed.sh
    done
}
step_installed() { # staged, and moved
    rm -rf "$logs"/prefix.*
    quietly installed staged_and_moved "$(mktemp -d "$logs/prefix.XXXXXX")" || return 1
    [ "$(grep -c '^1\.\.' "$logs/installed.log")" = 2 ] && ! grep -B1 -A9 '^not ok' "$logs/installed.log"
}

step_python() { # with the library installed there and with its own
    local prefix
    prefix=$(echo "$logs"/prefix.*/elsewhere)
    TRS_BINDIR=$PWD/build/bin TRISOLVE_PREFIX=$prefix python/check >"$logs/python.log" 2>&1 ||
        grep -v passed "$logs/python.log" || true
    add python "$(tail -n 1 "$logs/python.log")"
}

step_wheels() { # what could be uploaded to PyPI
    python/wheels build-wheels >"$logs/wheels.log" 2>&1 || cat "$logs/wheels.log"
    add wheels "$(tail -n 1 "$logs/wheels.log")"
}

step_debian() { # lintian; installed, used and removed in a bare Debian
    { [ "$(id -u)" = 0 ] && install debootstrap lintian && apt-get build-dep -y -qq --no-install-recommends ./ >/dev/null 2>&1; } ||
        { skip 'debootstrap, lintian and what debian/control names cannot be installed here'; return; }
    DEB_BUILD_OPTIONS="nocheck parallel=$jobs" quietly debian debian/check build-packages
}

# ---- other builds --------------------------------------------------------------------------------------
# petsc FOLDER [PREFIX]: the solver type of the PETSc that pkg-config finds, or of the one in PREFIX
petsc() (
    if [ -n "${2-}" ]; then export PKG_CONFIG_PATH="$2/lib/pkgconfig"; fi
    mkdir -p "$1" && cd "$1" &&
        ../configure -q --enable-werror --without-cuda --with-petsc CFLAGS=-O0 && make -s -j"$jobs" || exit 1
    if [ -d ../../shared/matrices ]; then export TRS_SHARED=$PWD/../../shared; fi
    TRS_SRCDIR=$PWD/.. TRS_BINDIR=$PWD/bin sh ../tests/petsc/petsc.sh
)
petsc_passed() { grep -q '^1\.\.' "$logs/$1.log" && ! grep -A20 '^not ok' "$logs/$1.log"; }
step_petsc() { # with Open MPI; and the PETSc in the folder PETSC_PREFIX, such as bindings/petsc/build-petsc makes it
    install libpetsc-real-dev libpetsc3.18-dev-examples openmpi-bin libopenmpi-dev || { skip 'PETSc cannot be installed here'; return; }
    quietly petsc petsc build-petsc && petsc_passed petsc || return 1
    [ -z "${PETSC_PREFIX-}" ] || { quietly petsc-prefix petsc build-petsc-prefix "$PETSC_PREFIX" && petsc_passed petsc-prefix; }
}

step_without_libraries() { .ci/without; }
step_without_modules() { CONFIGURE_FLAGS='--without-cuda CFLAGS=-O0' .ci/without-module; }

# fuzz SECONDS: the reader of Matrix Market files
fuzz() (
    cd build-fuzz || exit 1
    corpus=../matrices
    if [ -d ../shared/mm-conformance/open ]; then corpus="$corpus ../../shared/mm-conformance/open"; fi
    # shellcheck disable=SC2086 # several folders
    clang -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -DHAVE_CONFIG_H -I../build-asan -I../lib \
        ../tests/io/fuzz_mm.c ../lib/io/{archive,input,output}.c ../lib/io/{decimal,mm}/*.c \
        ../lib/base/{libraries/library,memory,call,context,number/number,parallel,no_device}.c ../build-asan/device_stubs.c -lm -o fuzz_mm &&
        ./fuzz_mm -max_total_time="$1" -max_len=4096 -artifact_prefix=./ corpus $corpus
)
fuzzing() {
    mkdir -p build-fuzz/corpus
    echo 'int LLVMFuzzerTestOneInput(const unsigned char *p, unsigned long n) { return p && n > 9; }' |
        clang -fsanitize=fuzzer,address,undefined -x c - -o build-fuzz/can_fuzz 2>/dev/null ||
        { skip 'no clang with libFuzzer (clang libclang-rt-14-dev)'; return; }
    quietly fuzz fuzz "$1" || return 1
    tail -n 1 "$logs/fuzz.log"
}
step_fuzzing_20_s() { fuzzing 20; }
step_fuzzing_5_min() { fuzzing 300; }

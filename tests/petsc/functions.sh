# functions.sh: sourced by the tests of the solver type "trisolve" in PETSc.
. "${TRS_SRCDIR:-.}/tests/common/tap.sh"
here=$(cd "$source" && pwd)/matrices
compare=$bin/../tests/petsc/compare
module=$(cd "$bin/../.libs" && pwd)/libtrisolve-petsc.so
tutorials=${PETSC_EXAMPLES:-$(pkg-config --variable=prefix PETSc)/share/petsc/examples/src}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMP_NUM_THREADS=1
LD_LIBRARY_PATH=$(dirname "$module"):$(pkg-config --variable=libdir PETSc)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
case $(mpirun --version 2>/dev/null) in *'Open MPI'*) crowd=--oversubscribe ;; *) crowd= ;; esac
complete=$(nm -D "$module" | grep -c trs_factor)

# PETSc says at the end which of its memory is left.
checked="-dll_prepend $module -malloc_debug -malloc_dump"
on() { processes=$1; shift; mpirun $crowd -n "$processes" "$@"; }
clean() { if ! grep -qE '^\[ ?[0-9]+\] ?[0-9]+ bytes' out err; then ok "$1"; else not_ok "$1"; fi; }

# ---- matrices: tests/petsc/compare ----------------------------------------------------------------
incomplete() { expect 0 "incomplete factors: $*" "$compare" $checked -matrix "$@"; clean 'and no memory is left'; }
exact() { expect 0 "complete factors: $*" "$compare" $checked -complete -matrix "$@"; clean 'and no memory is left'; }

# ---- programs of PETSc's tutorials ---------------------------------------------------------------
# Can they be built and run?
have_tutorials() {
    [ -d "$tutorials/ksp" ] && command -v mpirun >/dev/null && return
    echo "# no mpirun, or no tutorials of PETSc in $tutorials (Debian: libpetsc3.18-dev-examples): they were not run"
    return 1
}

# build NAME FOLDER: a tutorial
build() {
    $(pkg-config --variable=ccompiler PETSc) -O1 -w -o "$1" "$tutorials/$2/$1.c" $(pkg-config --cflags --libs PETSc) -lm
}

# alike FILE FILE: the same lines, but for one iteration in 100: the rounding errors of another BLAS may cost so many.
alike() {
    awk 'NR == FNR { line[FNR] = $0; next }
         { here = $0; there = line[FNR]; gsub(/[0-9]+/, "#", here); gsub(/[0-9]+/, "#", there)
           match($0, /[0-9]+$/); k = substr($0, RSTART) + 0; match(line[FNR], /[0-9]+$/); d = substr(line[FNR], RSTART) - k
           if (here != there || 100 * d > k || -100 * d > k) bad = 1 }
         END { exit bad || FNR != NR - FNR }' "$1" "$2"
}

# same PROCESSES OPTION PROGRAM...: it converges in the same way with our factors and with those of $theirs, which OPTION
# names.
theirs=petsc
same() {
    processes=$1 option=$2
    shift 2
    for package in trisolve $theirs; do
        on "$processes" "$@" $checked "$option" "$package" -ksp_converged_reason >out 2>err </dev/null ||
            { not_ok "$package on $processes: $*"; return; }
        grep -E 'iterations' out | sed 's/[-0-9.e]*, iterations/iterations/; s/error [0-9.e-]*/error/' >"$package"
        if [ -s trisolve ] && alike trisolve "$package"; then continue; fi
        cat trisolve "$package" >out
        not_ok "on $processes, other iterations with $package: $*"
        return
    done
    ok "on $processes, $(grep -oE 'iterations [0-9]+' trisolve | tail -n 1): $*"
    clean 'and no memory is left'
}

# killed OPTION...: of three processes that iterate for ever one is killed after two seconds, which mpirun reports when it has
# ended the others.  One that ended by itself would do so earlier, and with another status.
killed() {
    for_ever="-dll_prepend $module -m 300 -n 300 -pc_type bjacobi -sub_pc_type ilu -ksp_rtol 1e-30 -ksp_atol 0 -ksp_max_it 100000000 $*"
    start=$(date +%s)
    timeout -k 5 90 mpirun $crowd -n 2 ./ex2 $for_ever : -n 1 sh -c './ex2 "$@" & sleep 2; kill -9 $!; wait $!' sh $for_ever \
        >out 2>err </dev/null && return 1
    seconds=$(($(date +%s) - start))
    [ $seconds -ge 2 ] && [ $seconds -lt 60 ] && grep -q 137 out err
}

build_tutorials() {
    for program in ksp/ksp/tutorials/ex2 ksp/ksp/tutorials/ex10 ksp/ksp/tutorials/ex50 ksp/ksp/tutorials/ex56 \
        snes/tutorials/ex19; do
        expect 0 "$program is built" build "$(basename $program)" "$(dirname $program)"
    done
    "$compare" -matrix "$here/bfwa62.mtx" -write unsymmetric.bin >out && "$compare" -matrix "$here/1138_bus.mtx" \
        -write definite.bin >out
    local_ilu='-ksp_type gmres -sub_pc_type ilu -ksp_max_it 200'
}

#!/bin/sh
# petsc.sh: the solver type "trisolve" in PETSc, beside PETSc's own factors.
#
#   matrices     tests/petsc/compare on those of matrices/ and of $TRS_SHARED, where it is set
#   programs     of PETSc's tutorials, where they are installed, on 1, 2 and 4 processes: the same iterations
#   the rest     no memory left, our lines in -log_view, -help, and what goes wrong
. "${TRS_SRCDIR:-.}/tests/common/tap.sh"
here=$(cd "$source" && pwd)/matrices
compare=$bin/../tests/petsc/compare
module=$(cd "$bin/../.libs" && pwd)/libtrisolve-petsc.so
tutorials=${PETSC_EXAMPLES:-$(pkg-config --variable=prefix PETSc)/share/petsc/examples/src}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMP_NUM_THREADS=1
LD_LIBRARY_PATH=$(dirname "$module")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
case $(mpirun --version 2>/dev/null) in *'Open MPI'*) crowd=--oversubscribe ;; *) crowd= ;; esac
complete=$(nm -D "$module" | grep -c trs_factor)

# PETSc says at the end which of its memory is left.
checked="-dll_prepend $module -malloc_debug -malloc_dump"
on() { processes=$1; shift; mpirun $crowd -n "$processes" "$@"; }
clean() { if ! grep -qE '^\[ ?[0-9]+\] ?[0-9]+ bytes' out err; then ok "$1"; else not_ok "$1"; fi; }

# ---- matrices ------------------------------------------------------------------------------------
incomplete() { expect 0 "incomplete factors: $*" "$compare" $checked -matrix "$@"; clean 'and no memory is left'; }
exact() { expect 0 "complete factors: $*" "$compare" $checked -complete -matrix "$@"; clean 'and no memory is left'; }

incomplete "$here/1138_bus.mtx" -symmetric -bs 2
incomplete "$here/bcsstk02.mtx" -symmetric -bs 3
incomplete "$here/bcsstm25.mtx.xz" -symmetric
incomplete "$here/bfwa62.mtx" -bs 2
incomplete "$here/rdb3200l.mtx" -bs 4
incomplete "$here/superlu_airfoil2.mtx"
expect 0 'bad pivots' "$compare" $checked -pivots $([ "$complete" = 0 ] || echo -complete)
clean 'and no memory is left'
if [ "$complete" != 0 ]; then
    for matrix in 1138_bus.mtx bcsstk02.mtx bcsstm25.mtx.xz; do exact "$here/$matrix" -symmetric; done
    for matrix in bfwa62.mtx cavity10.mtx.xz impcol_a.mtx west0067.mtx; do exact "$here/$matrix"; done
    exact "$here/rdb3200l.mtx" -bs 4
fi
if [ -n "${TRS_SHARED-}" ]; then
    for matrix in bcsstk16 wathenSmall; do incomplete "$TRS_SHARED/matrices/$matrix.mtx.xz" -symmetric; done
    for matrix in BentPipe2D100 orsirr_1 sherman3 pde2961 add20; do
        incomplete "$TRS_SHARED/matrices/$matrix.mtx.xz"
        [ "$complete" = 0 ] || exact "$TRS_SHARED/matrices/$matrix.mtx.xz"
    done
fi

# ---- programs of PETSc's tutorials ---------------------------------------------------------------
# build NAME FOLDER: a tutorial
build() {
    $(pkg-config --variable=ccompiler PETSc) -O1 -w -o "$1" "$tutorials/$2/$1.c" $(pkg-config --cflags --libs PETSc) -lm
}

# same PROCESSES OPTION PROGRAM...: it converges in the same way with both types of factors, which OPTION names.
same() {
    processes=$1 option=$2
    shift 2
    for package in petsc trisolve; do
        on "$processes" "$@" $checked "$option" "$package" -ksp_converged_reason >out 2>err </dev/null ||
            { not_ok "$package on $processes: $*"; return; }
        grep -E 'iterations' out >"$package"
    done
    if [ -s petsc ] && sed 's/[-0-9.e]*, iterations/iterations/; s/error [0-9.e-]*/error/' petsc >petsc.said &&
        sed 's/[-0-9.e]*, iterations/iterations/; s/error [0-9.e-]*/error/' trisolve | cmp -s - petsc.said; then
        ok "on $processes, $(grep -oE 'iterations [0-9]+' petsc | tail -n 1): $*"
    else cat petsc trisolve >out; not_ok "on $processes, other iterations: $*"; fi
    clean 'and no memory is left'
}

if [ -d "$tutorials/ksp" ] && command -v mpirun >/dev/null; then
    for program in ex2 ex10 ex50; do
        expect 0 "KSP $program is built" build $program ksp/ksp/tutorials
    done
    expect 0 'SNES ex19 is built' build ex19 snes/tutorials
    "$compare" -matrix "$here/bfwa62.mtx" -write unsymmetric.bin >out && "$compare" -matrix "$here/1138_bus.mtx" \
        -write definite.bin >out
    local_ilu='-ksp_type gmres -sub_pc_type ilu -ksp_max_it 200'
    for processes in 1 2 4; do
        for pc in bjacobi asm; do
            same $processes -sub_pc_factor_mat_solver_type ./ex2 -m 60 -n 50 $local_ilu -pc_type $pc
            same $processes -sub_pc_factor_mat_solver_type ./ex10 -f unsymmetric.bin $local_ilu -pc_type $pc
            same $processes -sub_pc_factor_mat_solver_type ./ex19 -da_refine 2 -lidvelocity 100 -grashof 1000 \
                $local_ilu -pc_type $pc
        done
        same $processes -sub_pc_factor_mat_solver_type ./ex10 -f definite.bin -ksp_type cg -pc_type bjacobi -sub_pc_type icc
        same $processes -sub_pc_factor_mat_solver_type ./ex2 -ksp_type gmres -pc_type bjacobi -sub_pc_type ilu \
            -sub_pc_factor_levels 2 -sub_pc_factor_mat_ordering_type rcm
        same $processes -sub_pc_factor_mat_solver_type ./ex50 -da_grid_x 20 -da_grid_y 20 -ksp_type gmres \
            -pc_type asm -sub_pc_type ilu -dm_mat_type aij
    done
    [ "$complete" = 0 ] ||
        same 1 -pc_factor_mat_solver_type ./ex19 -da_refine 2 -lidvelocity 100 -ksp_type gmres -pc_type lu
    expect 0 'a nonlinear problem with the options of the issue' on 2 ./ex19 $checked -da_refine 2 -pc_type bjacobi \
        -sub_pc_type ilu -sub_pc_factor_mat_solver_type trisolve -sub_mat_trisolve_solver cpu-level -sub_mat_trisolve_view \
        -log_view -options_left
    says out '^TrsFactor +1 '
    says out '^TrsUpdate +[1-9]'
    says out '^TrsSolve +[1-9]'
    says out 'L: cpu-level, [0-9]+ entries, [0-9]+ levels'
    says out 'There are no unused options'
    expect 0 'ksp_view' ./ex2 $checked -pc_type ilu -pc_factor_mat_solver_type trisolve -ksp_view
    says out 'trisolve-sparse .*ILU\(0\), ordering natural'
    expect 0 help ./ex2 $checked -pc_type ilu -pc_factor_mat_solver_type trisolve -help
    for option in solver device threads transpose view; do says out "-mat_trisolve_$option"; done
    not_zero() { if "$@" >out 2>err; then return 1; fi; }
    expect 0 'an unknown solver is an error' not_zero ./ex2 $checked -pc_type ilu -pc_factor_mat_solver_type trisolve \
        -mat_trisolve_solver nonsense
    says err 'no solver "nonsense" in this build'
else
    echo "# no mpirun, or no tutorials of PETSc in $tutorials (Debian: libpetsc3.18-dev-examples): they were not run"
fi
finish

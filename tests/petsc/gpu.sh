#!/bin/sh
# gpu.sh: factors of the solver type "trisolve" on a GPU, with a PETSc that has CUDA (bindings/petsc/build-petsc).
#
#   matrices     tests/petsc/compare with matrices of type AIJCUSPARSE, where no vector may be copied, and of the host
#   programs     of PETSc's tutorials on 1, 2 and 4 processes that share the GPUs: the iterations of PETSc's CPU factors and
#                of its cuSPARSE factors
#   -log_view    no copies in the solves of a nonlinear problem
. "${TRS_SRCDIR:-.}/tests/petsc/functions.sh"
if ! grep -q 'define PETSC_HAVE_CUDA 1' "$(pkg-config --variable=includedir PETSc)/petscconf.h" 2>/dev/null; then
    skip 'PETSc on a GPU' 'this PETSc is built without CUDA'
    finish
    exit
fi
if ! nvidia-smi -L >out 2>&1; then
    skip 'PETSc on a GPU' 'there is no GPU'
    finish
    exit
fi
export PETSC_OPTIONS='-use_gpu_aware_mpi 0' # messages pass through the host

# ---- matrices ------------------------------------------------------------------------------------
for place in '-mat_type aijcusparse' '-mat_trisolve_device cuda'; do
    incomplete "$here/1138_bus.mtx" -symmetric -gpu $place
    incomplete "$here/bfwa62.mtx" -gpu $place
    incomplete "$here/rdb3200l.mtx" -gpu $place
    expect 0 "bad pivots: $place" "$compare" $checked -pivots -gpu $place
    clean 'and no memory is left'
    [ "$complete" != 0 ] || continue
    exact "$here/1138_bus.mtx" -symmetric -gpu $place
    exact "$here/rdb3200l.mtx" -gpu $place
done

# ---- programs of PETSc's tutorials ---------------------------------------------------------------
# stays EVENT: -log_view in out has seen EVENT, and no copy between host and GPU in it
stays() {
    if awk -v event="$1" '$1 == event { seen = 1; copies += $(NF - 4) + $(NF - 2) } END { exit !seen || copies }' out; then
        ok "no copy in $1"
    else not_ok "copies in $1, or no $1"; fi
}

if have_tutorials; then
    build_tutorials
    theirs='petsc cusparse'
    matrix='-mat_type aijcusparse -vec_type cuda'
    grid='-dm_mat_type aijcusparse -dm_vec_type cuda'
    for processes in 1 2 4; do
        case $processes in 2) pc=asm ;; *) pc=bjacobi ;; esac
        same $processes -sub_pc_factor_mat_solver_type ./ex2 $matrix -m 60 -n 50 $local_ilu -pc_type $pc
        same $processes -sub_pc_factor_mat_solver_type ./ex19 $grid -da_refine 2 -lidvelocity 100 -grashof 1000 \
            $local_ilu -pc_type $pc
        same $processes -sub_pc_factor_mat_solver_type ./ex2 $matrix -m 60 -n 50 -ksp_type cg -pc_type bjacobi -sub_pc_type icc
    done
    if [ "$complete" != 0 ]; then
        theirs=petsc
        same 2 -mg_coarse_sub_pc_factor_mat_solver_type ./ex2 $matrix -m 60 -n 50 -ksp_type cg -pc_type gamg
        same 1 -pc_factor_mat_solver_type ./ex2 $matrix -m 60 -n 50 -pc_type cholesky
        same 1 -pc_factor_mat_solver_type ./ex19 $grid -da_refine 2 -lidvelocity 100 -ksp_type gmres -pc_type lu
    fi
    expect 0 'a nonlinear problem' ./ex19 $checked $grid -da_refine 3 -pc_type ilu -pc_factor_mat_solver_type trisolve \
        -mat_trisolve_view -log_view
    for event in TrsSolve MatSolve; do stays $event; done
    says out '^TrsUpdate +[1-9]'
    says out '^ *GPU [0-9]'
fi
finish

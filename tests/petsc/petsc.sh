#!/bin/sh
# petsc.sh: the solver type "trisolve" in PETSc, beside PETSc's own factors.
#
#   matrices     tests/petsc/compare on those of matrices/ and of $TRS_SHARED, where it is set
#   programs     of PETSc's tutorials, where they are installed, on 1, 2 and 4 processes: the same iterations
#   the rest     no memory left, our lines in -log_view, -help, a process that is killed, and what else goes wrong
. "${TRS_SRCDIR:-.}/tests/petsc/functions.sh"

# ---- matrices ------------------------------------------------------------------------------------
incomplete "$here/1138_bus.mtx" -symmetric -bs 2
# PETSc 3.26 factors a duplicate by inodes with pointers to the diagonal that the duplicate has not
incomplete "$here/bcsstk02.mtx" -symmetric -bs 3 -mat_no_inode
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
if have_tutorials; then
    build_tutorials
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
    same 1 -pc_factor_mat_solver_type ./ex56 -ne 9 -ksp_type gmres -pc_type ilu
    same 1 -pc_factor_mat_solver_type ./ex56 -ne 5 -ksp_type bicg -pc_type ilu
    same 1 -pc_factor_mat_solver_type ./ex56 -ne 5 -ksp_type gmres -pc_type ilu -pc_factor_shift_type nonzero
    for option in '' '-pc_factor_zeropivot 1e-12' '-mat_trisolve_solver cpu-serial'; do
        expect 0 "three unknowns a node $option" ./ex56 $checked -ne 5 -ksp_type gmres -pc_type ilu \
            -pc_factor_mat_solver_type trisolve -ksp_view $option
        says out "trisolve-sparse .*ILU\\(0\\)$([ "$option" ] || echo ', blocks of 3'), ordering natural"
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
    expect 0 'a process is killed, and the others end' killed -sub_pc_factor_mat_solver_type trisolve
fi
finish

#!/bin/sh
# krylov.sh: Krylov methods and time steps of trisolve-sparse.  That a method has found the solution is checked by another
# run, which takes its x for a right-hand side of the identity and compares, and by the errors of the report.
. "${TRS_SRCDIR:-.}/tests/common/tap.sh"
solve=$bin/trisolve-sparse
m=$source/matrices
spd=$m/1138_bus.mtx          # symmetric positive definite
any=$m/bfwa62.mtx            # unsymmetric, from an optical waveguide
complex=$m/qc324.mtx

# number PATTERN: what stands behind the pattern in the report of the last run
number() { sed -nE "s/.*$1 *([0-9][0-9.e+-]*).*/\\1/p" out | head -n 1; }

# below A B: A < B, as decimal numbers
below() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a + 0 < b + 0) }'; }

check() { if "$@"; then ok "$*"; else not_ok "$*"; fi; }

# same_x FILE: x by the method agrees with x by complete factors in FILE to a millionth
same_x() {
    paste x.mtx "$1" | awk '/^[-0-9]/ && NR > 2 { for (k = 1; k <= NF / 2; k++) { d = $k - $(k + NF / 2); if (d < 0) d = -d
        if (d > worst) worst = d; a = $k < 0 ? -$k : $k; if (a > most) most = a } }
        END { exit !(most > 0 && worst < 1e-6 * most) }'
}

# the parts of an iteration on the host are those of one loop
adds_up() {
    sed -nE 's/^iteration *([0-9.e+-]+) us: product ([0-9.e+-]+), preconditioner ([0-9.e+-]+), vectors ([0-9.e+-]+)$/\1 \2 \3 \4/p' out |
        awk '{ parts = $2 + $3 + $4; exit !($2 > 0 && $3 > 0 && $4 > 0 && parts < 1.02 * $1 && parts > 0.98 * $1) }'
}

# ---- each method finds the solution -------------------------------------------------------------
for case in "cg $spd" "minres $spd" "gmres $any" "fgmres $any" "bicgstab $any" "gmres $complex" "bicgstab $complex"; do
    set -- $case
    expect 0 "$case" "$solve" --krylov="$1" --rtol=1e-11 -o x.mtx "$2"
    says out "^krylov  *$1, [1-9]"; says out 'converged to 1e-11'; says out '^iteration .*product'; check adds_up
    check below "$(number 'forward')" 1e-3
    expect 0 'complete factors' "$solve" --factor -o direct.mtx "$2"
    check same_x direct.mtx
done
expect 0 'the transpose' "$solve" --krylov=gmres --trans --rtol=1e-11 "$any"; says out "A' x = b"
check below "$(number 'forward')" 1e-3
expect 0 'the conjugate transpose' "$solve" --krylov=bicgstab --conj-trans --rtol=1e-11 "$complex"
check below "$(number 'forward')" 1e-3
expect 0 'single precision' "$solve" --krylov=cg --precision=single --rtol=1e-4 "$spd"; says out 'single precision'
expect 0 'complete factors converge at once' "$solve" --krylov=gmres --factor=umfpack "$any"
says out '^krylov  *gmres, [12] iteration'
expect 0 'default factors of cg' "$solve" --krylov=cg "$spd"; says out '^factor  *IC\(0\)'
expect 0 'of gmres' "$solve" --krylov=gmres "$any"; says out '^factor  *ILU\(0\)'
printf '%%%%MatrixMarket matrix array real general\n62 1\n' >zero.mtx
awk 'BEGIN { for (i = 0; i < 62; i++) print 0 }' >>zero.mtx
for method in gmres bicgstab; do
    expect 0 "b = 0, $method" "$solve" --krylov=$method "$any" zero.mtx; says out ', 0 iterations'
done
awk 'BEGIN { print "%%MatrixMarket matrix array real general"; print "62 3"; for (i = 0; i < 186; i++) print i % 7 + 1 }' >three.mtx
expect 0 'three right-hand sides' "$solve" --krylov=bicgstab "$any" three.mtx; says out '3 columns'

# ---- fill takes fewer iterations, colours take fewer levels -----------------------------------------
levels=$("$solve" --krylov=cg "$spd" | sed -n 's/^L .* \([0-9]*\) levels.*/\1/p')
last=1000
for k in 0 1 2 9; do
    expect 0 "level of fill $k" "$solve" --krylov=cg --factor=ic$k "$spd"; says out "^factor  *IC\\($k\\), ordering natural"
    now=$(number 'cg,')
    check below "$now" "$last"
    last=$now
done
expect 0 'in colours' "$solve" --krylov=cg --ilu-ordering=multicolour "$spd"; says out 'ordering multicolour'
check below "$(number 'entries,')" "$levels"
expect 0 'in an order of small bandwidth' "$solve" --krylov=gmres --factor=ilu1 --ilu-ordering=rcm --rtol=1e-11 "$any"
says out '^factor  *ILU.1., ordering RCM'
check below "$(number 'forward')" 1e-3

# ---- no convergence is exit status 3 with a reason ------------------------------------------------
expect 3 'too few iterations' "$solve" --krylov=gmres --maxit=2 "$any"; says err 'gmres did not converge: .* after 2 iterations'
says out 'NOT converged'
expect 3 'not definite' "$solve" --krylov=cg --factor=ilu0 "$m/bfwa62.mtx"; says err 'not positive definite'
expect 3 'an rtol that no arithmetic reaches' "$solve" --krylov=bicgstab --rtol=1e-30 --maxit=100 "$any"; says err 'did not converge'
expect 3 'restarts of two vectors' "$solve" --krylov=gmres --restart=2 --maxit=20 --rtol=1e-13 "$any"; says err 'after 20'
expect 3 'of one, which stagnate' "$solve" --krylov=gmres --restart=1 --rtol=1e-13 "$any"; says err 'no longer reduce the residual'

# ---- time steps -----------------------------------------------------------------------------------
expect 0 'steps with cg' "$solve" --krylov=cg --steps=3 --perturb=1e-6 "$spd"
says out '^step 3 .*iterations'; says out '^steps  *3, values times .1 \+ e u_i. .1 \+ e u_j., e = 1e-06'
printf '%%%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1\n2 1 0.9999\n2 2 1\n' >near.mtx
if "$solve" near.mtx --factor=cholmod 2>&1 | grep -q 'no factorisation\|no SuiteSparse'; then ok '# SKIP no CHOLMOD'; else
    expect 2 'a step fails' "$solve" --factor=cholmod --steps=5 --perturb=0.9 near.mtx -o near_x.mtx
    says err 'step 1 of 5: row 2: '; says out '^solve  *min'; says out '^error  *backward [0-9.]+e-1[678]'; absent near_x.mtx
fi
expect 0 'it stays positive definite' "$solve" --krylov=cg --steps=5 --perturb=0.5 "$spd"; says out '^step 5 '
expect 0 'steps with complete factors' "$solve" --factor=umfpack --steps=4 "$any" -o x.mtx; says out '^step 4 '
expect 0 'the same values again' "$solve" --factor=umfpack --steps=4 "$any" -o again.mtx
expect 0 'give the same x' cmp x.mtx again.mtx
expect 0 'other values' "$solve" --factor=umfpack --steps=4 --perturb=0.02 "$any" -o other.mtx
expect 1 'give another x' cmp x.mtx other.mtx

# ---- entries that are not small: a smaller tolerance takes fewer iterations, and more entries -------
last=1000 entries=0
for t in 1e-1 1e-2 1e-4; do
    expect 0 "tolerance $t" "$solve" --krylov=cg --factor=ict --drop-tol=$t "$spd"; says out '^factor  *ICT, ordering natural'
    check below "$(number 'cg,')" "$last"
    last=$(number 'cg,') more=$(sed -n 's/^L  *\([0-9]*\) entries.*/\1/p' out)
    check below "$entries" "$more"
    entries=$more
done
expect 0 'ILUT, no more entries than A' "$solve" --krylov=gmres --factor=ilut --fill=1 "$any"; says out '^factor  *ILUT'
expect 0 'diagonal blocks' "$solve" --krylov=gmres --factor=dilu --block=2 "$any"; says out '^factor  *DILU, blocks of 2, ordering natural'
says out '^solver  *blocks$'
expect 0 'the diagonal' "$solve" --krylov=gmres --factor=jacobi --maxit=1000 "$any"; says out '^factor  *Jacobi, blocks of 1'
expect 0 'five sweeps' "$solve" --krylov=cg --factor=ic0 --sweeps=5 "$spd"; says out '^solver  *cpu-sweeps$'
says out '5 sweeps: error at most 0[0-9.]* of the largest number of L.-1 b$'
check below "$(number 'cg,')" 200
expect 0 'as many as levels' "$solve" --krylov=gmres --sweeps=300 "$any"
says out '300 sweeps: error at most 0 of the largest number of L.-1 b, 0 of U.-1 b$'
expect 1 'sweeps of complete factors' "$solve" --factor=klu --sweeps=2 "$any"; says err 'sweeps needs incomplete factors'
expect 1 'sweeps by a solver' "$solve" --factor=ilu0 --sweeps=2 --solver=cpu-serial "$any"; says err 'sweeps excludes'
expect 1 'blocks of complete factors' "$solve" --factor=klu --block=2 "$any"; says err 'block needs incomplete factors'
expect 1 'a tolerance of levels' "$solve" --factor=ilu1 --drop-tol=0.1 "$any"; says err 'ilut or ict'
expect 1 'fill of complete factors' "$solve" --factor=umfpack --fill=2 "$any"; says err 'incomplete factors'

# ---- JSON, wrong use ------------------------------------------------------------------------------
if "$solve" --json "$m/seed5.mtx" >out 2>&1; then
    expect 0 'JSON' "$solve" --json --krylov=gmres --steps=2 "$any"
    says out '"method": "gmres"'; says out '"converged": true'; says out '"history": \['; says out '"update_seconds"'
fi
expect 1 'no such method' "$solve" --krylov=qmr "$any"; says err 'gmres, fgmres or bicgstab'
expect 1 'no such ordering' "$solve" --krylov=cg --ilu-ordering=best "$any"; says err 'multicolour'
expect 1 'no such device' "$solve" --krylov=cg --device=tpu "$any"; says err 'cuda:K'
expect 1 'with refinement' "$solve" --krylov=cg --refine=3 "$any"; says err 'excludes'
expect 1 'no iterations' "$solve" --krylov=cg --maxit=0 "$any"
finish

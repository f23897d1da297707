/* compare.c: factors of the solver type "trisolve" beside PETSc's own, on a matrix from a file.
 *
 *     compare -matrix FILE [-symmetric] [-complete] [-bs B] [-gpu] [-write FILE] [options of PETSc]
 *
 * Without -complete incomplete factors are compared: solutions of every kind, iterations of KSP, new values.  Complete
 * ones, which exchange rows, are judged by residuals.  -bs B compares with blocks of B rows too.  -write puts A and a
 * right-hand side into a file for ex10 of PETSc's tutorials instead.  -gpu says that -mat_type or -mat_trisolve_device
 * puts our factors on a GPU: what they do not do there is left out, and with matrices of type AIJCUSPARSE no vector may be
 * copied.  A line for each check: "ok - what" or "not ok - what". */
#include <petscksp.h>
#include <trisolve-sparse.h>

#include <stdlib.h>

static PetscBool failed = PETSC_FALSE, gpu = PETSC_FALSE;

static PetscErrorCode check(PetscBool good, const char *what, double measured)
{
    PetscFunctionBegin;
    PetscCall(
        PetscPrintf(PETSC_COMM_SELF, "%sok - %s: %.3g\n", good ? "" : "not ", what, measured));
    if (!good) failed = PETSC_TRUE;
    PetscFunctionReturn(0);
}

/* ---- matrices and vectors ---------------------------------------------------------------------- */

/* A of the type of -mat_type, for count[i] entries in row i, or with count = NULL for most */
static PetscErrorCode create(PetscInt rows, PetscInt columns, PetscInt most, const PetscInt *count,
                             Mat *A)
{
    PetscFunctionBegin;
    PetscCall(MatCreate(PETSC_COMM_SELF, A));
    PetscCall(MatSetSizes(*A, rows, columns, rows, columns));
    PetscCall(MatSetType(*A, MATSEQAIJ));
    PetscCall(MatSetFromOptions(*A));
    PetscCall(MatSeqAIJSetPreallocation(*A, most, count));
    PetscFunctionReturn(0);
}

/* Are A and its vectors on a GPU? */
static PetscErrorCode is_there(Mat A, PetscBool *there)
{
    PetscFunctionBegin;
    PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQAIJCUSPARSE, there));
    PetscFunctionReturn(0);
}

static PetscErrorCode read_matrix(const char *file, Mat *A)
{
    trs_mm mm;
    PetscFunctionBegin;
    PetscCheck(!trs_mm_read(file, NULL, &mm), PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "%s",
               trs_message());
    const double *val = mm.val;
    const int wide = mm.dtype == TRS_C64;
    PetscInt *count;
    PetscCall(PetscMalloc1(mm.rows, &count));
    for (int64_t i = 0; i < mm.rows; i++) count[i] = (PetscInt)(mm.ptr[i + 1] - mm.ptr[i]);
    PetscCall(create((PetscInt)mm.rows, (PetscInt)mm.cols, 0, count, A));
    for (int64_t i = 0; i < mm.rows; i++) {
        for (int64_t p = mm.ptr[i]; p < mm.ptr[i + 1]; p++) {
#ifdef PETSC_USE_COMPLEX
            const PetscScalar a = wide
                                      ? PetscCMPLX((PetscReal)val[2 * p], (PetscReal)val[2 * p + 1])
                                      : (PetscReal)val[p];
#else
            const PetscScalar a = (PetscScalar)val[wide ? 2 * p : p];
#endif
            PetscCall(MatSetValue(*A, (PetscInt)i, mm.idx[p], a, INSERT_VALUES));
        }
    }
    PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
    PetscCall(PetscFree(count));
    trs_mm_free(&mm);
    PetscFunctionReturn(0);
}

static PetscErrorCode random_vectors(Mat A, Vec *b, Vec *x, Vec *y)
{
    PetscRandom random;
    PetscFunctionBegin;
    PetscCall(MatCreateVecs(A, x, b));
    PetscCall(VecDuplicate(*x, y));
    PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &random));
    PetscCall(PetscRandomSetInterval(random, -1, 1));
    PetscCall(VecSetRandom(*b, random));
    PetscCall(PetscRandomDestroy(&random));
    PetscFunctionReturn(0);
}

/* |x - y| / |x|, which is lost in y */
static PetscErrorCode distance(Vec x, Vec y, PetscReal *d)
{
    PetscReal norm;
    PetscFunctionBegin;
    PetscCall(VecNorm(x, NORM_2, &norm));
    PetscCall(VecAXPY(y, -1, x));
    PetscCall(VecNorm(y, NORM_2, d));
    *d /= norm > 0 ? norm : 1;
    PetscFunctionReturn(0);
}

/* |b - op(A) x| / (|A| |x| + |b|) */
static PetscErrorCode residual(Mat A, PetscBool transpose, Vec b, Vec x, PetscReal *r)
{
    PetscReal norm_a, norm_x, norm_b;
    Vec y;
    PetscFunctionBegin;
    PetscCall(VecDuplicate(b, &y));
    PetscCall((transpose ? MatMultTranspose : MatMult)(A, x, y));
    PetscCall(VecAYPX(y, -1, b));
    PetscCall(VecNorm(y, NORM_2, r));
    PetscCall(MatNorm(A, NORM_FROBENIUS, &norm_a));
    PetscCall(VecNorm(x, NORM_2, &norm_x));
    PetscCall(VecNorm(b, NORM_2, &norm_b));
    *r /= norm_a * norm_x + norm_b;
    PetscCall(VecDestroy(&y));
    PetscFunctionReturn(0);
}

/* ---- factors ------------------------------------------------------------------------------------ */

static PetscErrorCode numeric(Mat F, Mat A, MatFactorType type, const MatFactorInfo *info)
{
    const PetscBool half = (PetscBool)(type == MAT_FACTOR_ICC || type == MAT_FACTOR_CHOLESKY);
    PetscFunctionBegin;
    PetscCall((half ? MatCholeskyFactorNumeric : MatLUFactorNumeric)(F, A, info));
    PetscFunctionReturn(0);
}

static PetscErrorCode factor(Mat A, const char *package, MatFactorType type,
                             MatOrderingType ordering, const MatFactorInfo *info, Mat *F)
{
    IS row, col;
    PetscFunctionBegin;
    PetscCall(MatGetFactor(A, package, type, F));
    PetscCall(MatGetOrdering(A, ordering, &row, &col));
    if (type == MAT_FACTOR_LU) PetscCall(MatLUFactorSymbolic(*F, A, row, col, info));
    if (type == MAT_FACTOR_ILU) PetscCall(MatILUFactorSymbolic(*F, A, row, col, info));
    if (type == MAT_FACTOR_CHOLESKY) PetscCall(MatCholeskyFactorSymbolic(*F, A, row, info));
    if (type == MAT_FACTOR_ICC) PetscCall(MatICCFactorSymbolic(*F, A, row, info));
    PetscCall(numeric(*F, A, type, info));
    PetscCall(ISDestroy(&row));
    PetscCall(ISDestroy(&col));
    PetscFunctionReturn(0);
}

typedef PetscErrorCode (*solve_fn)(Mat, Vec, Vec);

/* Copies between host and GPU so far. */
static PetscLogDouble copies(void)
{
#ifdef PETSC_HAVE_CUDA
    return petsc_ctog_ct + petsc_gtoc_ct;
#else
    return 0;
#endif
}

/* Solve with both factors.  Solutions may differ by rounding, times the condition |A| |M^-1|, of which |x| / |b| tells:
 * incomplete factors can be far worse than A. */
static PetscErrorCode same_solution(Mat A, Mat theirs, Mat ours, solve_fn solve, const char *what)
{
    PetscReal d, norm_a, norm_b, norm_x;
    PetscLogDouble before;
    PetscBool there;
    Vec b, x, y;
    PetscFunctionBegin;
    PetscCall(random_vectors(A, &b, &x, &y));
    PetscCall(solve(theirs, b, x));
    PetscCall(solve(ours, b, y)); /* the first one may prepare something */
    PetscCall(is_there(A, &there));
    before = copies();
    PetscCall(solve(ours, b, y));
    if (there) PetscCall(check((PetscBool)(copies() == before), "no copies", copies() - before));
    PetscCall(distance(x, y, &d));
    PetscCall(MatNorm(A, NORM_FROBENIUS, &norm_a));
    PetscCall(VecNorm(b, NORM_2, &norm_b));
    PetscCall(VecNorm(x, NORM_2, &norm_x));
    PetscCall(check((PetscBool)(d < 100 * PETSC_MACHINE_EPSILON * (1 + norm_a * norm_x / norm_b)),
                    what, (double)d));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscFunctionReturn(0);
}

static PetscErrorCode solve_add(Mat F, Vec b, Vec x)
{
    PetscFunctionBegin;
    PetscCall(MatSolveAdd(F, b, b, x));
    PetscFunctionReturn(0);
}

/* L' \ (L \ b), of which PETSc's own L and L' are others than ours, their product not. */
static PetscErrorCode solve_halves(Mat F, Vec b, Vec x)
{
    Vec y;
    PetscFunctionBegin;
    PetscCall(VecDuplicate(b, &y));
    PetscCall(MatForwardSolve(F, b, y));
    PetscCall(MatBackwardSolve(F, y, x));
    PetscCall(VecDestroy(&y));
    PetscFunctionReturn(0);
}

/* A dense matrix where the vectors of A are. */
static PetscErrorCode dense(Mat A, PetscInt columns, PetscInt lda, Mat *B)
{
    PetscInt rows;
    PetscBool there;
    PetscFunctionBegin;
    PetscCall(MatGetSize(A, &rows, NULL));
    PetscCall(is_there(A, &there));
    PetscCall(MatCreate(PETSC_COMM_SELF, B));
    PetscCall(MatSetSizes(*B, rows, columns, rows, columns));
    PetscCall(MatSetType(*B, there ? MATSEQDENSECUDA : MATSEQDENSE));
    PetscCall(MatDenseSetLDA(*B, lda));
    PetscCall(MatSetUp(*B));
    PetscFunctionReturn(0);
}

/* Columns of MatMatSolve against MatSolve, in matrices whose columns are longer than they need to be. */
static PetscErrorCode same_columns(Mat A, Mat F, PetscBool transpose, const char *what)
{
    enum { COLUMNS = 5 };
    PetscInt n;
    PetscReal d, worst = 0;
    PetscLogDouble before;
    PetscBool there;
    Mat B, X;
    Vec b, x, y;
    PetscFunctionBegin;
    PetscCall(MatGetSize(A, &n, NULL));
    PetscCall(dense(A, COLUMNS, n + 3, &B));
    PetscCall(dense(A, COLUMNS, n + 1, &X));
    PetscCall(MatSetRandom(B, NULL));
    PetscCall((transpose ? MatMatSolveTranspose : MatMatSolve)(F, B, X));
    PetscCall(is_there(A, &there));
    before = copies();
    PetscCall((transpose ? MatMatSolveTranspose : MatMatSolve)(F, B, X));
    if (there) PetscCall(check((PetscBool)(copies() == before), "no copies", copies() - before));
    PetscCall(MatCreateVecs(A, &x, NULL));
    for (PetscInt k = 0; k < COLUMNS; k++) {
        PetscCall(MatDenseGetColumnVecRead(B, k, &b));
        PetscCall((transpose ? MatSolveTranspose : MatSolve)(F, b, x));
        PetscCall(MatDenseRestoreColumnVecRead(B, k, &b));
        PetscCall(MatDenseGetColumnVec(X, k, &y));
        PetscCall(distance(x, y, &d));
        PetscCall(MatDenseRestoreColumnVec(X, k, &y));
        worst = PetscMax(worst, d);
    }
    PetscCall(check((PetscBool)(worst < 1e-10), what, (double)worst));
    PetscCall(MatDestroy(&B));
    PetscCall(MatDestroy(&X));
    PetscCall(VecDestroy(&x));
    PetscFunctionReturn(0);
}

/* D A D, D = 1 + 0.1 sin i: other values in the same pattern, symmetric and definite where A is. */
static PetscErrorCode perturb(Mat A, Mat *perturbed)
{
    PetscInt n;
    PetscScalar *val;
    Vec d;
    PetscFunctionBegin;
    PetscCall(MatCreateVecs(A, &d, NULL));
    PetscCall(VecGetSize(d, &n));
    PetscCall(VecGetArrayWrite(d, &val));
    for (PetscInt i = 0; i < n; i++) val[i] = 1 + PetscSinReal((PetscReal)i) / 10;
    PetscCall(VecRestoreArrayWrite(d, &val));
    PetscCall(MatDuplicate(A, MAT_COPY_VALUES, perturbed));
    PetscCall(MatDiagonalScale(*perturbed, d, d));
    PetscCall(VecDestroy(&d));
    PetscFunctionReturn(0);
}

/* ---- checks ---------------------------------------------------------------------------------------- */

typedef struct setup {
    MatFactorType type;
    MatOrderingType ordering;
    PetscInt levels;
    MatFactorShiftType shift;
    PetscReal zeropivot; /* 0: PETSc's default */
} setup;

static MatFactorInfo info_of(const setup *s)
{
    const PetscReal eps = 100 * PETSC_MACHINE_EPSILON;
    MatFactorInfo info;
    (void)MatFactorInfoInitialize(&info);
    info.fill = 1, info.levels = (PetscReal)s->levels;
    info.zeropivot = s->zeropivot > 0 ? s->zeropivot : eps, info.shifttype = (PetscReal)s->shift,
    info.shiftamount = (PetscReal)0.1;
    return info;
}

/* MatSolveTranspose of complex L L^H is not to be had of ICC, nor MatMultTranspose of SBAIJ. */
static PetscBool has_transpose(MatFactorType type)
{
    const PetscBool half = (PetscBool)(type == MAT_FACTOR_ICC || type == MAT_FACTOR_CHOLESKY);
    return (PetscBool)(!half || !PetscDefined(USE_COMPLEX));
}

/* On a GPU pivots of ICC, and of ILU without shifts, are compared with zero alone. */
static PetscBool is_theirs_alone(const setup *s)
{
    const PetscBool shifts = (PetscBool)(s->shift != MAT_SHIFT_NONE);
    return (PetscBool)(gpu && s->zeropivot > 0 && (s->type == MAT_FACTOR_ICC || !shifts));
}

static PetscErrorCode compare_incomplete(Mat A, const setup *s)
{
    const PetscBool half = (PetscBool)(s->type == MAT_FACTOR_ICC);
    const PetscBool transposes = has_transpose(s->type);
    const MatFactorInfo info = info_of(s);
    char what[128];
    MatType matrix;
    MatFactorError their_error, our_error;
    Mat theirs, ours, A2;
    PetscFunctionBegin;
    if (is_theirs_alone(s)) PetscFunctionReturn(0);
    PetscCall(MatGetType(A, &matrix));
    PetscCall(factor(A, MATSOLVERPETSC, s->type, s->ordering, &info, &theirs));
    PetscCall(factor(A, "trisolve", s->type, s->ordering, &info, &ours));
    PetscCall(MatFactorGetError(theirs, &their_error));
    PetscCall(MatFactorGetError(ours, &our_error));
    PetscCall(PetscSNPrintf(what, sizeof what, "%s %s(%d) %s %s", matrix, MatFactorTypes[s->type],
                            (int)s->levels, s->ordering, MatFactorShiftTypes[s->shift]));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "# %s\n", what));
    PetscCall(
        check((PetscBool)(their_error == our_error), "same MatFactorError", (double)our_error));
    if (!their_error && !our_error && s->shift != MAT_SHIFT_INBLOCKS) {
        PetscCall(same_solution(A, theirs, ours, MatSolve, "MatSolve"));
        PetscCall(same_solution(A, theirs, ours, solve_add, "MatSolveAdd"));
        if (transposes)
            PetscCall(same_solution(A, theirs, ours, MatSolveTranspose, "MatSolveTranspose"));
        if (half)
            PetscCall(
                same_solution(A, theirs, ours, solve_halves, "MatForwardSolve, MatBackwardSolve"));
        PetscCall(same_columns(A, ours, PETSC_FALSE, "MatMatSolve"));
        if (transposes) PetscCall(same_columns(A, ours, PETSC_TRUE, "MatMatSolveTranspose"));
        PetscCall(perturb(A, &A2));
        PetscCall(numeric(theirs, A2, s->type, &info));
        PetscCall(numeric(ours, A2, s->type, &info));
        PetscCall(same_solution(A2, theirs, ours, MatSolve, "MatSolve with new values"));
        if (transposes)
            PetscCall(same_solution(A2, theirs, ours, MatSolveTranspose,
                                    "MatSolveTranspose with new values"));
        PetscCall(MatDestroy(&A2));
    }
    PetscCall(MatDestroy(&theirs));
    PetscCall(MatDestroy(&ours));
    PetscFunctionReturn(0);
}

static PetscErrorCode compare_complete(Mat A, MatFactorType type)
{
    const setup s = {type, MATORDERINGEXTERNAL, 0, MAT_SHIFT_NONE, 0};
    const MatFactorInfo info = info_of(&s);
    PetscReal r;
    MatType matrix;
    Mat F, A2;
    Vec b, x, y;
    PetscFunctionBegin;
    PetscCall(MatGetType(A, &matrix));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "# %s %s\n", matrix, MatFactorTypes[type]));
    PetscCall(random_vectors(A, &b, &x, &y));
    PetscCall(factor(A, "trisolve", type, MATORDERINGNATURAL, &info, &F));
    PetscCall(perturb(A, &A2));
    for (int step = 0; step < 2; step++) {
        Mat now = step ? A2 : A;
        if (step) PetscCall(numeric(F, now, type, &info));
        PetscCall(MatSolve(F, b, x));
        PetscCall(residual(now, PETSC_FALSE, b, x, &r));
        PetscCall(
            check((PetscBool)(r < 1e-12), step ? "new values: residual" : "residual", (double)r));
        if (!has_transpose(type)) continue;
        PetscCall(MatSolveTranspose(F, b, y));
        PetscCall(residual(now, PETSC_TRUE, b, y, &r));
        PetscCall(check((PetscBool)(r < 1e-12), "residual of the transpose", (double)r));
    }
    PetscCall(same_columns(A2, F, PETSC_FALSE, "MatMatSolve"));
    PetscCall(same_columns(A2, F, PETSC_TRUE, "MatMatSolveTranspose"));
    PetscCall(MatDestroy(&A2));
    PetscCall(MatDestroy(&F));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscFunctionReturn(0);
}

/* ILU of a full matrix whose large entries lie across, with rows and columns in orders of their own. */
static PetscErrorCode compare_crossed(void)
{
    enum { N = 20 };
    const setup s = {MAT_FACTOR_ILU, MATORDERINGNATURAL, 0, MAT_SHIFT_NONE, 0};
    const MatFactorInfo info = info_of(&s);
    PetscInt r[N], c[N];
    IS row, col;
    Mat A, F[2];
    PetscFunctionBegin;
    PetscCall(create(N, N, N, NULL, &A));
    PetscCall(MatSetOption(A, MAT_USE_INODES, PETSC_FALSE)); /* PETSc permutes inodes as a whole */
    for (PetscInt i = 0; i < N; i++) {
        r[i] = (i + 3) % N, c[i] = N - 1 - i;
        for (PetscInt j = 0; j < N; j++)
            PetscCall(
                MatSetValue(A, i, j, PetscSinReal((PetscReal)(i * i + 2 * j)), INSERT_VALUES));
    }
    for (PetscInt i = 0; i < N; i++) PetscCall(MatSetValue(A, r[i], c[i], N, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(ISCreateGeneral(PETSC_COMM_SELF, N, r, PETSC_USE_POINTER, &row));
    PetscCall(ISCreateGeneral(PETSC_COMM_SELF, N, c, PETSC_USE_POINTER, &col));
    PetscCall(ISSetPermutation(row));
    PetscCall(ISSetPermutation(col));
    for (int k = 0; k < 2; k++) {
        PetscCall(MatGetFactor(A, k ? "trisolve" : MATSOLVERPETSC, MAT_FACTOR_ILU, &F[k]));
        PetscCall(MatILUFactorSymbolic(F[k], A, row, col, &info));
        PetscCall(MatLUFactorNumeric(F[k], A, &info));
    }
    PetscCall(same_solution(A, F[0], F[1], MatSolve, "rows and columns permuted: MatSolve"));
    PetscCall(same_solution(A, F[0], F[1], MatSolveTranspose,
                            "rows and columns permuted: MatSolveTranspose"));
    for (int k = 0; k < 2; k++) PetscCall(MatDestroy(&F[k]));
    PetscCall(ISDestroy(&row));
    PetscCall(ISDestroy(&col));
    PetscCall(MatDestroy(&A));
    PetscFunctionReturn(0);
}

static PetscErrorCode iterations(Mat A, const char *ksp_type, PCType pc_type, const char *package,
                                 PetscInt *count)
{
    KSP ksp;
    PC pc;
    Vec b, x, y;
    PetscFunctionBegin;
    PetscCall(random_vectors(A, &b, &x, &y));
    PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetType(ksp, ksp_type));
    PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 300));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, pc_type));
    PetscCall(PCFactorSetMatSolverType(pc, package));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, count));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscFunctionReturn(0);
}

/* The same, but for rounding errors, which show in one iteration of fifty. */
static PetscErrorCode compare_iterations(Mat A, const char *ksp, PCType pc)
{
    PetscInt theirs, ours;
    char what[128];
    PetscFunctionBegin;
    PetscCall(iterations(A, ksp, pc, MATSOLVERPETSC, &theirs));
    PetscCall(iterations(A, ksp, pc, "trisolve", &ours));
    PetscCall(PetscSNPrintf(what, sizeof what, "%s with %s, PETSc's %d iterations", ksp, pc,
                            (int)theirs));
    PetscCall(check((PetscBool)(PetscAbsInt(theirs - ours) <= theirs / 50), what, (double)ours));
    PetscFunctionReturn(0);
}

static PetscErrorCode compare_forms(Mat A, PetscBool symmetric, PetscInt bs)
{
    const setup all[] = {
        {MAT_FACTOR_ILU, MATORDERINGNATURAL, 0, MAT_SHIFT_NONE, 0},
        {MAT_FACTOR_ILU, MATORDERINGNATURAL, 2, MAT_SHIFT_NONE, 0},
        {MAT_FACTOR_ILU, MATORDERINGRCM, 0, MAT_SHIFT_NONZERO, 0},
        {MAT_FACTOR_ILU, MATORDERINGND, 1, MAT_SHIFT_POSITIVE_DEFINITE, 0},
        {MAT_FACTOR_ICC, MATORDERINGNATURAL, 0, MAT_SHIFT_POSITIVE_DEFINITE, 0},
        {MAT_FACTOR_ICC, MATORDERINGRCM, 1, MAT_SHIFT_POSITIVE_DEFINITE, 0},
        {MAT_FACTOR_ICC, MATORDERINGNATURAL, 0, MAT_SHIFT_POSITIVE_DEFINITE, (PetscReal)0.3}};
    const setup blocks = {MAT_FACTOR_ILU, MATORDERINGNATURAL, 0, MAT_SHIFT_NONE, 0};
    const setup half = {MAT_FACTOR_ICC, MATORDERINGNATURAL, 0, MAT_SHIFT_POSITIVE_DEFINITE, 0};
    PetscBool there;
    Mat B;
    PetscFunctionBegin;
    for (int k = 0; k < (symmetric ? 7 : 4); k++) PetscCall(compare_incomplete(A, &all[k]));
    PetscCall(compare_iterations(A, KSPGMRES, PCILU));
    PetscCall(compare_iterations(A, KSPBICG, PCILU));
    if (symmetric) PetscCall(compare_iterations(A, KSPCG, PCICC));
    PetscCall(is_there(A, &there));
    if (there) PetscFunctionReturn(0); /* there are no blocks */
    if (symmetric) {
        PetscCall(MatConvert(A, MATSEQSBAIJ, MAT_INITIAL_MATRIX, &B));
        PetscCall(compare_incomplete(B, &half));
        PetscCall(compare_iterations(B, KSPCG, PCICC));
        PetscCall(MatDestroy(&B));
    }
    if (bs > 1) {
        PetscCall(MatSetBlockSize(A, bs));
        PetscCall(MatConvert(A, MATSEQBAIJ, MAT_INITIAL_MATRIX, &B));
        PetscCall(compare_incomplete(B, &blocks));
        PetscCall(compare_iterations(B, KSPGMRES, PCILU));
        PetscCall(MatDestroy(&B));
    }
    PetscFunctionReturn(0);
}

static PetscErrorCode compare_exact(Mat A, PetscBool symmetric, PetscInt bs)
{
    PetscBool there;
    Mat B;
    PetscFunctionBegin;
    PetscCall(compare_complete(A, MAT_FACTOR_LU));
    if (symmetric) PetscCall(compare_complete(A, MAT_FACTOR_CHOLESKY));
    PetscCall(is_there(A, &there));
    if (there) PetscFunctionReturn(0);
    PetscCall(MatSetBlockSize(A, bs));
    PetscCall(MatConvert(A, MATSEQBAIJ, MAT_INITIAL_MATRIX, &B));
    PetscCall(compare_complete(B, MAT_FACTOR_LU));
    PetscCall(MatDestroy(&B));
    if (!symmetric) PetscFunctionReturn(0);
    PetscCall(MatConvert(A, MATSEQSBAIJ, MAT_INITIAL_MATRIX, &B));
    PetscCall(compare_complete(B, MAT_FACTOR_CHOLESKY));
    PetscCall(MatDestroy(&B));
    PetscFunctionReturn(0);
}

/* tridiag (-1, d, -1), with d = 0 on the diagonal too if it is so */
static PetscErrorCode tridiagonal(PetscInt n, PetscScalar d, Mat *A)
{
    PetscFunctionBegin;
    PetscCall(create(n, n, 3, NULL, A));
    for (PetscInt i = 0; i < n; i++) {
        if (i) PetscCall(MatSetValue(*A, i, i - 1, -1, INSERT_VALUES));
        PetscCall(MatSetValue(*A, i, i, d, INSERT_VALUES));
        if (i < n - 1) PetscCall(MatSetValue(*A, i, i + 1, -1, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatSetOption(*A, MAT_SYMMETRIC, PETSC_TRUE));
    PetscCall(MatSetOption(*A, MAT_HERMITIAN, PETSC_TRUE));
    PetscFunctionReturn(0);
}

static PetscErrorCode expect_error(Mat A, MatFactorType type, MatFactorError expected)
{
    const setup s = {type, MATORDERINGNATURAL, 0, MAT_SHIFT_NONE, 0};
    const MatFactorInfo info = info_of(&s);
    const PetscBool half = (PetscBool)(type == MAT_FACTOR_ICC || type == MAT_FACTOR_CHOLESKY);
    const PetscErrorCode code = half ? PETSC_ERR_MAT_CH_ZRPVT : PETSC_ERR_MAT_LU_ZRPVT;
    PetscErrorCode got;
    MatFactorError error;
    Mat F;
    Vec b, x, y;
    PetscReal norm;
    PetscFunctionBegin;
    PetscCall(
        PetscPrintf(PETSC_COMM_SELF, "# %s of a matrix with a zero pivot\n", MatFactorTypes[type]));
    PetscCall(factor(A, "trisolve", type, MATORDERINGNATURAL, &info, &F));
    PetscCall(MatFactorGetError(F, &error));
    PetscCall(check((PetscBool)(error == expected), "MatFactorError", (double)error));
    PetscCall(random_vectors(A, &b, &x, &y));
    PetscCall(MatSolve(F, b, x));
    PetscCall(VecNorm(x, NORM_INFINITY, &norm));
    PetscCall(check(PetscIsInfReal(norm), "MatSolve says Inf", (double)norm));
    PetscCall(MatSetErrorIfFailure(A, PETSC_TRUE));
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    got = numeric(F, A, type, &info);
    PetscCall(PetscPopErrorHandler());
    PetscCall(check((PetscBool)(got == code), "MatSetErrorIfFailure", (double)got));
    PetscCall(MatSetErrorIfFailure(A, PETSC_FALSE));
    PetscCall(MatShift(A, 4));
    PetscCall(numeric(F, A, type, &info));
    PetscCall(MatSolve(F, b, x));
    PetscCall(residual(A, PETSC_FALSE, b, x, &norm));
    PetscCall(check((PetscBool)(norm < 1e-14), "good values afterwards", (double)norm));
    PetscCall(MatShift(A, -4));
    PetscCall(MatDestroy(&F));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscFunctionReturn(0);
}

/* Of tridiagonal matrices ILU(0) and ICC(0) are complete.  With a diagonal of 0 and an even n the first pivot is 0, with
 * an odd n the matrix is singular; with 1 the second pivot is 0.  Shifts of 0.1 keep the factors well-conditioned, and a
 * tolerance of 0.3 lets it matter what pivots are compared with.  What is done in blocks is our own rule. */
static PetscErrorCode compare_pivots(PetscBool with_complete)
{
    const MatFactorShiftType shifts[] = {MAT_SHIFT_NONE, MAT_SHIFT_NONZERO,
                                         MAT_SHIFT_POSITIVE_DEFINITE, MAT_SHIFT_INBLOCKS};
    const setup icc = {MAT_FACTOR_ICC, MATORDERINGNATURAL, 0, MAT_SHIFT_POSITIVE_DEFINITE,
                       (PetscReal)0.3};
    Mat A;
    PetscFunctionBegin;
    for (int d = 0; d < 2; d++) {
        PetscCall(tridiagonal(50, d, &A));
        for (int k = 0; k < 4; k++) {
            const setup ilu = {MAT_FACTOR_ILU, MATORDERINGNATURAL, 0, shifts[k], (PetscReal)0.3};
            PetscCall(compare_incomplete(A, &ilu));
        }
        PetscCall(compare_incomplete(A, &icc));
        PetscCall(MatDestroy(&A));
    }
    PetscCall(tridiagonal(51, 0, &A));
    PetscCall(expect_error(A, MAT_FACTOR_ILU, MAT_FACTOR_NUMERIC_ZEROPIVOT));
    PetscCall(expect_error(A, MAT_FACTOR_ICC, MAT_FACTOR_NUMERIC_ZEROPIVOT));
    if (with_complete) {
        PetscCall(expect_error(A, MAT_FACTOR_LU, MAT_FACTOR_NUMERIC_ZEROPIVOT));
        PetscCall(expect_error(A, MAT_FACTOR_CHOLESKY, MAT_FACTOR_NUMERIC_ZEROPIVOT));
    }
    PetscCall(MatDestroy(&A));
    PetscFunctionReturn(0);
}

/* A and b = A ones, as ex10 reads them. */
static PetscErrorCode write_system(Mat A, const char *file)
{
    PetscViewer viewer;
    Vec ones, b;
    PetscFunctionBegin;
    PetscCall(MatCreateVecs(A, &ones, &b));
    PetscCall(VecSet(ones, 1));
    PetscCall(MatMult(A, ones, b));
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_SELF, file, FILE_MODE_WRITE, &viewer));
    PetscCall(MatView(A, viewer));
    PetscCall(VecView(b, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
    PetscCall(VecDestroy(&ones));
    PetscCall(VecDestroy(&b));
    PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
    char matrix[PETSC_MAX_PATH_LEN] = "", file[PETSC_MAX_PATH_LEN];
    PetscBool symmetric = PETSC_FALSE, complete = PETSC_FALSE, write, pivots;
    PetscInt bs = 1;
    Mat A;
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(PetscOptionsGetBool(NULL, NULL, "-complete", &complete, NULL));
    PetscCall(PetscOptionsHasName(NULL, NULL, "-pivots", &pivots));
    PetscCall(PetscOptionsHasName(NULL, NULL, "-gpu", &gpu));
    if (pivots) {
        PetscCall(compare_pivots(complete));
        PetscCall(compare_crossed());
        PetscCall(PetscFinalize());
        return failed ? EXIT_FAILURE : EXIT_SUCCESS;
    }
    PetscCall(PetscOptionsGetString(NULL, NULL, "-matrix", matrix, sizeof matrix, NULL));
    PetscCall(PetscOptionsGetBool(NULL, NULL, "-symmetric", &symmetric, NULL));
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-bs", &bs, NULL));
    PetscCall(PetscOptionsGetString(NULL, NULL, "-write", file, sizeof file, &write));
    PetscCall(read_matrix(matrix, &A));
    PetscCall(MatSetOption(A, MAT_SYMMETRIC, symmetric));
    PetscCall(MatSetOption(A, MAT_HERMITIAN, symmetric));
    if (write) PetscCall(write_system(A, file));
    else if (complete) PetscCall(compare_exact(A, symmetric, bs));
    else PetscCall(compare_forms(A, symmetric, bs));
    PetscCall(MatDestroy(&A));
    PetscCall(PetscFinalize());
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

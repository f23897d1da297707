/* measure.c: times of KSP for a Laplacian on a grid, with the preconditioner that options choose; a line of CSV.
 *
 *     measure -label NAME -grid N [-weak] [-points 27] [-solves K] [options of PETSc]
 *
 * The grid has N^3 points, with -weak for each process.  Milliseconds of the slowest process: setup, the first solve, the
 * fastest of K more (10), and an update, the setup for new values.  copies: between host and GPU, all processes, in the
 * last solve.  residual: |b - A x| / |b|. */
#include <petscdevice.h>
#include <petscdmda.h>
#include <petscksp.h>

typedef struct measured {
    double setup, first, solve, update, copies;
    PetscInt iterations;
    PetscReal residual;
} measured;

static PetscErrorCode laplacian(DM grid, PetscInt points, Mat *A)
{
    DMDALocalInfo info;
    PetscFunctionBegin;
    PetscCall(DMCreateMatrix(grid, A));
    PetscCall(DMDAGetLocalInfo(grid, &info));
    for (PetscInt z = info.zs; z < info.zs + info.zm; z++)
        for (PetscInt y = info.ys; y < info.ys + info.ym; y++)
            for (PetscInt x = info.xs; x < info.xs + info.xm; x++) {
                const MatStencil row = {.i = x, .j = y, .k = z};
                MatStencil column[27];
                PetscScalar value[27];
                PetscInt count = 0;
                for (PetscInt p = 0; p < 27; p++) {
                    const PetscInt i = p % 3 - 1, j = p / 3 % 3 - 1, k = p / 9 - 1;
                    if (points == 7 && i * i + j * j + k * k > 1) continue;
                    if (x + i < 0 || y + j < 0 || z + k < 0) continue;
                    if (x + i >= info.mx || y + j >= info.my || z + k >= info.mz) continue;
                    column[count] = (MatStencil){.i = x + i, .j = y + j, .k = z + k};
                    value[count++] = i || j || k ? -1 : (PetscScalar)(points - 1);
                }
                PetscCall(MatSetValuesStencil(*A, 1, &row, count, column, value, INSERT_VALUES));
            }
    PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatSetOption(*A, MAT_SPD, PETSC_TRUE));
    PetscFunctionReturn(0);
}

/* Milliseconds of one step on the slowest process. */
static PetscErrorCode timed(KSP ksp, PetscErrorCode (*step)(KSP, Vec, Vec), Vec b, Vec x,
                            double *ms)
{
    PetscDeviceContext context;
    PetscLogDouble start, end;
    PetscFunctionBegin;
    PetscCall(PetscDeviceContextGetCurrentContext(&context));
    PetscCall(PetscDeviceContextSynchronize(context));
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    PetscCall(PetscTime(&start));
    PetscCall(step(ksp, b, x));
    PetscCall(PetscDeviceContextSynchronize(context));
    PetscCall(PetscTime(&end));
    *ms = 1e3 * (end - start);
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, ms, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
    PetscFunctionReturn(0);
}

static PetscErrorCode set_up(KSP ksp, Vec b, Vec x)
{
    Mat A, P;
    PetscFunctionBegin;
    (void)b, (void)x;
    PetscCall(KSPGetOperators(ksp, &A, &P));
    PetscCall(KSPSetOperators(ksp, A, P));
    PetscCall(KSPSetUp(ksp));
    PetscCall(KSPSetUpOnBlocks(ksp));
    PetscFunctionReturn(0);
}

static double copies(void)
{
#ifdef PETSC_HAVE_CUDA
    return petsc_ctog_ct + petsc_gtoc_ct;
#else
    return 0;
#endif
}

static PetscErrorCode measure(Mat A, PetscInt solves, measured *m)
{
    KSP ksp;
    Vec b, x, r;
    double ms;
    PetscReal norm;
    PetscFunctionBegin;
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecDuplicate(b, &r));
    PetscCall(VecSet(r, 1));
    PetscCall(MatMult(A, r, b));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(timed(ksp, set_up, b, x, &m->setup));
    PetscCall(timed(ksp, KSPSolve, b, x, &m->first));
    m->solve = m->first;
    for (PetscInt k = 0; k < solves; k++) {
        const double before = copies();
        PetscCall(timed(ksp, KSPSolve, b, x, &ms));
        m->solve = PetscMin(m->solve, ms);
        m->copies = copies() - before;
    }
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &m->copies, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
    PetscCall(KSPGetIterationNumber(ksp, &m->iterations));
    PetscCall(MatMult(A, x, r));
    PetscCall(VecAYPX(r, -1, b));
    PetscCall(VecNorm(r, NORM_2, &m->residual));
    PetscCall(VecNorm(b, NORM_2, &norm));
    m->residual /= norm;
    PetscCall(MatScale(A, 2)); /* the first update may prepare something */
    PetscCall(timed(ksp, set_up, b, x, &ms));
    PetscCall(MatScale(A, 2));
    PetscCall(timed(ksp, set_up, b, x, &m->update));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&r));
    PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
    char label[64] = "";
    PetscInt n = 32, points = 7, solves = 10, rows;
    PetscBool weak = PETSC_FALSE;
    PetscMPIInt size;
    measured m = {0};
    DM grid;
    Mat A;
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
    PetscCall(PetscOptionsGetString(NULL, NULL, "-label", label, sizeof label, NULL));
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-grid", &n, NULL));
    PetscCall(PetscOptionsGetBool(NULL, NULL, "-weak", &weak, NULL));
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-points", &points, NULL));
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-solves", &solves, NULL));
    PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE,
                           points == 7 ? DMDA_STENCIL_STAR : DMDA_STENCIL_BOX, n, n,
                           weak ? n * size : n, 1, 1, PETSC_DECIDE, 1, 1, NULL, NULL, NULL, &grid));
    PetscCall(DMSetFromOptions(grid));
    PetscCall(DMSetUp(grid));
    PetscCall(laplacian(grid, points, &A));
    PetscCall(MatGetSize(A, &rows, NULL));
    PetscCall(measure(A, solves, &m));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "%s,%d,%d,%" PetscInt_FMT ",%" PetscInt_FMT
                          ",%.3f,%.3f,%.3f,%.3f,%.0f,%.2e\n",
                          label, (int)points, (int)size, rows, m.iterations, m.setup, m.first,
                          m.solve, m.update, m.copies, (double)m.residual));
    PetscCall(MatDestroy(&A));
    PetscCall(DMDestroy(&grid));
    PetscCall(PetscFinalize());
    return 0;
}

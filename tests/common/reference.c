/* reference.c: triangles, substitution and comparison for sequential references. */
#include "reference.h"

#include <math.h>

static void for_both_triangles(model *m, void (*f)(trs_context *, const trs_tri *))
{
    trs_context ctx = {.threads = 1, .nrhs = 1};
    trs_tri t, u;
    model_triangles(&ctx, m, &t, &u);
    f(&ctx, &t);
    f(&ctx, &u);
    trs_tri_free(&ctx, &t);
    trs_tri_free(&ctx, &u);
    model_free(m);
}

void for_all_triangles(int n, void (*f)(trs_context *ctx, const trs_tri *L))
{
    for (int p = 0; p < PATTERNS; p++) {
        random_t r = {(uint64_t)p};
        model m = model_new((pattern)p, false, true, false, &r);
        for_both_triangles(&m, f);
    }
    for (int d = 0; d < DAGS; d++) {
        random_t r = {(uint64_t)d};
        model m = model_of(&dags[d], n, false, &r);
        for_both_triangles(&m, f);
    }
}

double *random_vector(int n)
{
    random_t r = {5};
    double *b = malloc((size_t)n * sizeof *b + 1);
    assert_non_null(b);
    for (int i = 0; i < n; i++) b[i] = random_uniform(&r);
    return b;
}

void substitute(const trs_tri *L, const double *b, double *x)
{
    const double *Lx = L->val;
    for (int32_t i = 0; i < L->n; i++) {
        double s = b[i];
        int64_t p = L->ptr[i];
        for (; p < L->ptr[i + 1] - 1; p++) s -= Lx[p] * x[L->idx[p]];
        x[i] = s / Lx[p];
    }
}

void assert_near(int n, const double *x, const double *y)
{
    double size = 0, apart = 0;
    for (int i = 0; i < n; i++) {
        size = larger(size, fabs(y[i]));
        apart = larger(apart, fabs(x[i] - y[i]));
    }
    assert_at_most(apart, 1e-11 * size);
}

trs_mat mat_of(const trs_tri *L)
{
    return (trs_mat){.n = L->n,
                     .nnz = L->nnz,
                     .ptr = L->ptr,
                     .idx = L->idx,
                     .val = L->val,
                     .ptr_bits = 64,
                     .idx_bits = 32,
                     .dtype = L->dtype,
                     .format = TRS_CSR,
                     .kind = TRS_LOWER};
}

void compare_with_solver(const char *solver, const trs_tri *L, const double *b, const double *x)
{
    const trs_solver *s = trs_solver_named(solver);
    const trs_options opt = {.solver = solver};
    const trs_mat m = mat_of(L);
    char why[200];
    trs_plan *p;
    if (!s || !trs_solver_available(s, 0, why, sizeof why)) return;
    double *y = random_vector(L->n);
    assert_status(trs_plan_create(&p, &m, &opt), TRS_OK);
    assert_status(trs_plan_analyse(p), TRS_OK);
    assert_status(trs_solve(p, TRS_N, 1, b, L->n, y, L->n, NULL), TRS_OK);
    assert_near(L->n, x, y);
    trs_plan_destroy(p);
    free(y);
}

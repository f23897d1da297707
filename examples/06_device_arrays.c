/* 06_device_arrays.c: everything lives on the GPU, and the code is plain C.
 *
 * The arrays of the matrix are on the device (trs_mat.device), B and X too (trs_options.device).  A code
 * that has its arrays from cudaMalloc passes those; trs_device_new and its friends are for codes without
 * a CUDA compiler.  Exit status 77: no GPU here. */
#include <trisolve-sparse.h>

#include <math.h>
#include <stdio.h>

enum { N = 20000, ENTRIES = 2 * N - 1 };

static int64_t ptr[N + 1];
static int32_t idx[ENTRIES];
static double val[ENTRIES], x[N];

/* A copy of host memory on the device; NULL: none, or no host memory to copy. */
static void *to_device(const void *from, size_t bytes)
{
    void *p = NULL;
    if (trs_device_new(TRS_CUDA(0), bytes, &p)) return NULL;
    if (from && trs_device_put(TRS_CUDA(0), p, from, bytes))
        trs_device_free(TRS_CUDA(0), p), p = NULL;
    return p;
}

/* 2 on the diagonal, -1 at i/2: a tree, x(i) = (b(i) + x(i/2)) / 2.  x holds b = L * ones. */
static void make_tree(void)
{
    int64_t p = 0;
    for (int i = 0; i < N; i++) {
        if (i) idx[p] = i / 2, val[p++] = -1;
        idx[p] = i, val[p++] = 2;
        ptr[i + 1] = p;
        x[i] = i ? 1 : 2;
    }
}

/* x = L^-1 x, by way of B and X on the device. */
static int solve(const trs_mat *L, const void *B, void *X)
{
    const trs_options options = {.device = TRS_CUDA(0)};
    trs_plan *plan = NULL;
    trs_info info;
    int rc = trs_plan_create(&plan, L, &options);
    if (!rc) rc = trs_plan_analyse(plan);
    if (!rc) rc = trs_solve(plan, TRS_N, 1, B, N, X, N, NULL); /* enqueued */
    if (!rc) rc = trs_device_get(TRS_CUDA(0), x, X, sizeof x); /* waits */
    if (!rc) rc = trs_plan_info(plan, &info);
    if (!rc) printf("%lld levels, %s\n", (long long)info.levels, info.solver);
    else fprintf(stderr, "%s\n", trs_message());
    trs_plan_destroy(plan);
    return rc;
}

static double largest_error(void)
{
    double worst = 0;
    for (int i = 0; i < N; i++) worst = fmax(worst, fabs(x[i] - 1));
    return worst;
}

int main(void)
{
    char name[200];
    if (trs_device_name(TRS_CUDA(0), name, sizeof name)) return printf("no GPU: %s\n", name), 77;

    make_tree();
    trs_mat L = {.n = N, .nnz = ENTRIES, .kind = TRS_LOWER, .device = TRS_CUDA(0)};
    L.ptr = to_device(ptr, sizeof ptr);
    L.idx = to_device(idx, sizeof idx);
    L.val = to_device(val, sizeof val);
    void *B = to_device(x, sizeof x), *X = to_device(NULL, sizeof x);
    const int rc = L.ptr && L.idx && L.val && B && X ? solve(&L, B, X) : TRS_EMEM;

    const double worst = largest_error();
    printf("%s: largest error %.2g\n", name, worst);
    const void *all[] = {L.ptr, L.idx, L.val, B, X};
    for (int k = 0; k < 5; k++) trs_device_free(TRS_CUDA(0), (void *)all[k]);
    return rc || !(worst < 1e-14);
}

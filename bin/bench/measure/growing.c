/* growing.c: a plan with default options: prepared quickly, and replaced by a better one after some solves (doc/growing.md).
 *
 * On a GPU the matrix is in device memory, like B and X: that is where the preparation of other libraries finds theirs.
 * trs_plan_tune stands for the solve in which a plan would grow by itself. */
#include "config.h"

#include "cell.h"

#include "bin/common/numbers.h"

/* Copies an array to the device, unless there was an error. */
static const void *copy(const bed *b, const void *from, size_t bytes, int *rc)
{
    const int device = b->settings->device;
    void *to = NULL;
    if (!*rc) *rc = trs_device_new(device, bytes, &to);
    if (!*rc) *rc = trs_device_put(device, to, from, bytes);
    return to;
}

/* The matrix where B and X are; of a copy arrays are to be freed. */
static int place_matrix(const bed *b, bool gpu, trs_mat *T)
{
    int rc = TRS_OK;
    if (!gpu || T->format != TRS_CSR) return rc;
    T->device = b->settings->device;
    T->ptr = copy(b, T->ptr, ((size_t)T->n + 1) * (T->ptr_bits == 32 ? 4 : 8), &rc);
    T->idx = copy(b, T->idx, (size_t)T->nnz * (T->idx_bits == 64 ? 8 : 4), &rc);
    T->val = copy(b, T->val, (size_t)T->nnz * size_of_number(T->dtype), &rc);
    return rc;
}

static void free_matrix(const trs_mat *T)
{
    if (T->device == TRS_HOST) return;
    trs_device_free(T->device, (void *)T->ptr);
    trs_device_free(T->device, (void *)T->idx);
    trs_device_free(T->device, (void *)T->val);
}

static int time_growth(const bed *b, bool gpu, trs_plan *plan, double *seconds)
{
    const double start = now();
    int rc = trs_plan_tune(plan);
    if (!rc && gpu) rc = wait_for_gpu(b);
    *seconds = now() - start;
    return rc;
}

/* Makes plans and lets them grow while there is time; the last one then has the better solver. */
static int measure(const bed *b, bool gpu, growing *g, trs_plan **plan)
{
    const int device = gpu ? b->settings->device : TRS_HOST;
    double prepare[PLANS], growth[PLANS], sum = 0;
    spread half[2] = {{0}};
    trs_info i = {0};
    int rc = TRS_OK, k = 0;
    while (!rc && k < PLANS && (k == 0 || sum < b->settings->cell_seconds / SHARE)) {
        trs_plan_destroy(*plan);
        rc = make_default_plan(b, device, plan);
        if (rc) break;
        trs_plan_info(*plan, &i);
        prepare[k] = i.seconds_create + i.seconds_analyse;
        if (k == 0 && i.grows_at != 1)
            rc = time_solves(b, *plan, gpu, i.grows_at ? i.grows_at - 1 : MOST_SOLVES, half);
        if (!rc) rc = time_growth(b, gpu, *plan, &growth[k]);
        sum += prepare[k] + growth[k];
        k++;
    }
    if (rc) return rc;
    *g = (growing){i.grows_at, spread_of(prepare, k).median, half[1].median, 0, half[1].median};
    if (g->grows_at) g->growth = spread_of(growth, k).median;
    if (g->grows_at) rc = time_solves(b, *plan, gpu, MOST_SOLVES, half);
    g->grown = half[1].median;
    return rc;
}

void measure_growing(const bed *b, growing *g)
{
    const bool gpu = in_device_memory(b->settings);
    trs_plan *plan = NULL;
    trs_mat T = *b->T;
    bed placed = *b;
    placed.T = &T;
    int rc = gpu && !b->device_B ? TRS_EMEM : place_matrix(b, gpu, &T);
    if (!rc) rc = measure(&placed, gpu, g, &plan);
    if (rc) *g = (growing){0};
    trs_plan_destroy(plan);
    free_matrix(&T);
}

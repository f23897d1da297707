/* t_huge.c: more entries than 32 bits count: row i waits for rows i - width, i - 2 width, ..., at most MOST of
 * them.  All numbers are sums of a few powers of two, so that x is exactly 1 whatever the order of the sums.
 *
 * Small, unless TRS_HUGE is the number of rows: 6500000 make 2.6e9 entries, and take 70 GB of the host's memory and
 * 50 of the GPU's. */
#include "tests/common/model.h"

#include <stdlib.h>

enum { MOST = 520 };

static const float ENTRY = -1.0F / 2048;

typedef struct huge {
    int64_t n, nnz, width; /* of levels, in rows */
    int64_t *ptr;
    int32_t *idx;
    float *val, *b, *x;
} huge;

static int64_t count_before(const huge *h, int64_t row)
{
    return row / h->width < MOST ? row / h->width : MOST;
}

static huge huge_new(int64_t n, int64_t width)
{
    huge h = {.n = n, .width = width};
    h.ptr = malloc(((size_t)n + 1) * sizeof *h.ptr);
    h.b = malloc((size_t)n * sizeof *h.b);
    h.x = calloc((size_t)n, sizeof *h.x);
    assert_true(h.ptr && h.b && h.x);
    for (int64_t i = 0; i < n; i++) {
        h.ptr[i] = h.nnz;
        h.nnz += count_before(&h, i) + 1;
        h.b[i] = 1 + (float)count_before(&h, i) * ENTRY;
    }
    h.ptr[n] = h.nnz;
    h.idx = malloc((size_t)h.nnz * sizeof *h.idx);
    h.val = malloc((size_t)h.nnz * sizeof *h.val);
    assert_true(h.idx && h.val);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        int64_t p = h.ptr[i];
        for (int64_t k = count_before(&h, i); k > 0; k--) {
            h.idx[p] = (int32_t)(i - k * width);
            h.val[p++] = ENTRY;
        }
        h.idx[p] = (int32_t)i;
        h.val[p] = 1;
    }
    return h;
}

static void huge_free(huge *h)
{
    free(h->ptr);
    free(h->idx);
    free(h->val);
    free(h->b);
    free(h->x);
}

static void solve(const char *name, const huge *h)
{
    const trs_mat L = {.n = h->n,
                       .nnz = h->nnz,
                       .ptr = h->ptr,
                       .idx = h->idx,
                       .val = h->val,
                       .dtype = TRS_F32,
                       .kind = TRS_LOWER,
                       .idx_bits = 32};
    const trs_options opt = {.solver = name, .memory_limit = (int64_t)1 << 38};
    trs_plan *p;
    assert_int_equal(trs_plan_create(&p, &L, &opt), TRS_OK);
    assert_status(trs_plan_analyse(p), TRS_OK);
    assert_status(trs_solve(p, TRS_N, 1, h->b, h->n, h->x, h->n, NULL), TRS_OK);
    int64_t wrong = 0;
    for (int64_t i = 0; i < h->n; i++) wrong += h->x[i] != 1, h->x[i] = 0;
    assert_int_equal(wrong, 0);
    trs_info info;
    assert_int_equal(trs_plan_info(p, &info), TRS_OK);
    assert_int_equal(info.levels, (h->n + h->width - 1) / h->width);
    trs_plan_destroy(p);
}

static void test_huge(void **state)
{
    (void)state;
    static const char *const names[] = {"cuda-dataflow", "cpu-serial", "cpu-level",
                                        "cuda-multiblock"};
    const char *rows = getenv("TRS_HUGE");
    char why[200];
    huge h = rows ? huge_new(atoll(rows), 4096) : huge_new(8000, 8);
    for (int k = 0; k < (h.nnz > INT32_MAX ? 2 : 4); k++) {
        const trs_solver *s = trs_solver_named(names[k]);
        if (s && trs_solver_available(s, 0, why, sizeof why)) solve(s->name, &h);
    }
    huge_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_huge)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* incomplete.c: what the tests of incomplete factors share. */
#include "incomplete.h"

#include "tests/common/counter.h"

trs_lu *factor(const trs_mat *m, const trs_ilu_options *opt)
{
    trs_lu *lu;
    const int rc = trs_ilu(&lu, m, opt);
    if (rc) print_message("%s\n", trs_message());
    assert_int_equal(rc, TRS_OK);
    return lu;
}

void assert_same_bits(const trs_lu *a, const trs_lu *b)
{
    trs_mat of_a[2], of_b[2];
    assert_int_equal(trs_lu_factors(a, &of_a[0], &of_a[1], NULL, NULL, NULL), TRS_OK);
    assert_int_equal(trs_lu_factors(b, &of_b[0], &of_b[1], NULL, NULL, NULL), TRS_OK);
    for (int k = 0; k < 2; k++) {
        const trs_mat *f = &of_a[k], *g = &of_b[k];
        assert_int_equal(f->nnz, g->nnz);
        if (f->nnz == 0) continue;
        assert_memory_equal(f->ptr, g->ptr, (size_t)(f->n + 1) * sizeof(int64_t));
        assert_memory_equal(f->idx, g->idx, (size_t)f->nnz * sizeof(int32_t));
        assert_memory_equal(f->val, g->val, (size_t)f->nnz * size_of(f->dtype));
    }
}

/* Updates of a device's factors allocate nothing. */
static int update(trs_lu *lu, const trs_mat *m, const counter *c, bool on_device)
{
    const int rc = trs_lu_update(lu, m);
    const long calls = c->calls;
    if (rc || !on_device) return rc;
    assert_int_equal(trs_lu_update(lu, m), TRS_OK);
    assert_int_equal(c->calls, calls);
    return rc;
}

/* With a vector where the factors want it. */
static int solve(trs_lu *lu, int64_t n, int device)
{
    zz b[16] = {1};
    void *x = b;
    if (device > 0) {
        assert_int_equal(trs_device_new(device, sizeof b, &x), TRS_OK);
        assert_int_equal(trs_device_put(device, x, b, sizeof b), TRS_OK);
    }
    const int rc = trs_lu_solve(lu, TRS_N, 1, x, n, x, n, NULL);
    if (device > 0) trs_device_free(device, x);
    return rc;
}

static int attempt(const trs_mat *m, const trs_ilu_options *opt, counter *c)
{
    const int device = opt->plan.device;
    trs_lu *lu;
    int rc = trs_ilu(&lu, m, opt);
    if (rc && lu) { /* enough now: a half-made one refuses, or works */
        c->fail_at = -1;
        const int again = trs_lu_update(lu, m);
        assert_true(again == TRS_OK || again == TRS_ESTATE);
        if (!again) assert_int_equal(solve(lu, m->n, device), TRS_OK);
    }
    if (!rc) rc = update(lu, m, c, device > 0);
    if (!rc) rc = solve(lu, m->n, device);
    trs_lu_destroy(lu);
    assert_int_equal(c->live, 0);
    return rc;
}

void check_out_of_memory(const trs_mat *m, trs_ilu_options opt)
{
    int rc = TRS_EMEM, allowed = 0;
    bool refused = true;
    for (; refused; allowed++) {
        counter c = {.fail_at = allowed};
        opt.plan.memory = counted_memory(&c);
        opt.plan.device_memory = counted_device_memory(&c);
        rc = attempt(m, &opt, &c);
        refused = rc != TRS_OK || was_refused(&c);
        assert_true(rc == TRS_OK || rc == TRS_EMEM);
    }
    print_message("%d allocations\n", allowed - 1);
    assert_int_equal(rc, TRS_OK);
}

/* t_import.c: whatever form a triangle comes in, one and the same lower CSR is made of it. */
#include "tests/common/model.h"

#include <math.h>

static zz wanted_at(const model *m, int i, int j, bool *there)
{
    for (int64_t k = 0; k < m->nnz; k++)
        if (m->row[k] == i && m->col[k] == j) return *there = true, m->val[k];
    *there = false;
    return 0;
}

/* Columns ascend, the diagonal is where it should be, nothing is outside. */
static void check_form(const trs_tri *t, bool lower)
{
    assert_int_equal(t->ptr[0], 0);
    assert_int_equal(t->ptr[t->n], t->nnz);
    for (int32_t i = 0; i < t->n; i++) {
        assert_true(t->ptr[i] < t->ptr[i + 1]);
        assert_int_equal(t->idx[lower ? t->ptr[i + 1] - 1 : t->ptr[i]], i);
        for (int64_t p = t->ptr[i]; p < t->ptr[i + 1]; p++) {
            assert_true(t->idx[p] >= 0 && t->idx[p] < t->n);
            assert_true(p == t->ptr[i] || t->idx[p] > t->idx[p - 1]);
        }
    }
}

/* Entry (i, j) of t is entry (i, j) or, flipped, (j, i) of the model. */
static void compare(const trs_tri *t, const model *m, const form *f, bool flipped)
{
    const bool zeros = f->format == TRS_DENSE || f->format == TRS_BSR; /* are entries too */
    for (int32_t i = 0; i < t->n; i++)
        for (int64_t p = t->ptr[i]; p < t->ptr[i + 1]; p++) {
            bool there;
            int j = t->idx[p];
            zz v = wanted_at(m, flipped ? j : i, flipped ? i : j, &there);
            if (f->unit && i == j) v = 1;
            if (!trs_is_complex(f->dtype)) v = creal(v);
            assert_true(there || zeros);
            assert_true(get_number(t->val, f->dtype, p) == v);
        }
    if (!zeros) assert_int_equal(t->nnz, m->nnz);
}

static void one_form(uint64_t seed)
{
    static const pattern patterns[] = {EMPTY, ONE, DIAGONAL, FULL, RANDOM, SEED4, SEED5};
    random_t r = {seed};
    form f = form_random((trs_dtype)random_below(&r, 4), &r);
    model m = model_new(patterns[seed % 7], random_below(&r, 2), true, trs_is_complex(f.dtype), &r);
    trs_mat a = show(&m, &f, &r);
    trs_context ctx = {.base = f.base};
    trs_tri t, u, v;
    const bool flipped = !trs_by_rows(&a), lower = m.upper == flipped;
    if (trs_tri_import(&ctx, &a, &t)) print_error("%s\n", trs_message()), fail();
    check_form(&t, lower);
    compare(&t, &m, &f, flipped);

    assert_int_equal(trs_tri_transpose(&ctx, &t, true, &u), TRS_OK);
    check_form(&u, !lower);
    compare(&u, &m, &f, !flipped);

    assert_int_equal(trs_tri_transpose(&ctx, &u, true, &v), TRS_OK); /* T'' = T */
    assert_memory_equal(v.idx, t.idx, (size_t)t.nnz * sizeof *t.idx);
    for (int64_t p = 0; p < t.nnz; p++) assert_int_equal(v.src[p], t.src ? t.src[p] : p);

    assert_int_equal(trs_tri_reverse(&ctx, &v), TRS_OK);
    check_form(&v, !lower);
    assert_int_equal(trs_tri_reverse(&ctx, &v), TRS_OK); /* counted backwards twice */
    compare(&v, &m, &f, flipped);
    assert_memory_equal(v.ptr, t.ptr, ((size_t)t.n + 1) * sizeof *t.ptr);

    memset(u.val, 0x7f, (size_t)u.nnz * trs_size(u.dtype)); /* the places lead back to the values */
    trs_tri_read_values(&ctx, &u, a.val);
    compare(&u, &m, &f, !flipped);
    trs_tri_free(&ctx, &t);
    trs_tri_free(&ctx, &u);
    trs_tri_free(&ctx, &v);
    mat_free(&a);
    model_free(&m);
}

static void test_forms(void **state)
{
    (void)state;
    for (uint64_t k = 0; k < 420; k++) one_form(k);
}

/* By level: a lower triangle again, with the values of P A P'. */
static void test_permute(void **state)
{
    (void)state;
    random_t r = {5};
    form f = {
        .dtype = TRS_C64, .format = TRS_CSR, .ptr_bits = 64, .idx_bits = 32, .shuffled = true};
    model m = model_new(RANDOM, false, true, true, &r);
    trs_mat a = show(&m, &f, &r);
    trs_context ctx = {0};
    trs_tri t, csc, b;
    trs_levels lv;
    assert_int_equal(trs_tri_import(&ctx, &a, &t), TRS_OK);
    assert_int_equal(trs_tri_transpose(&ctx, &t, false, &csc), TRS_OK);
    assert_int_equal(trs_level_sets(&ctx, &csc, &lv), TRS_OK);
    assert_int_equal(trs_tri_permute(&ctx, &t, lv.topo, &b), TRS_OK);
    check_form(&b, true);
    for (int32_t i = 0; i < b.n; i++)
        for (int64_t p = b.ptr[i]; p < b.ptr[i + 1]; p++) {
            bool there;
            zz v = wanted_at(&m, lv.topo[i], lv.topo[b.idx[p]], &there);
            assert_true(there && v == get_number(b.val, TRS_C64, p));
            assert_true(v == get_number(a.val, TRS_C64, b.src ? b.src[p] : p));
        }
    trs_levels_free(&ctx, &lv);
    trs_tri_free(&ctx, &t);
    trs_tri_free(&ctx, &csc);
    trs_tri_free(&ctx, &b);
    mat_free(&a);
    model_free(&m);
}

/* A missing diagonal is kept as a zero whose place says so. */
static void test_missing_diagonal(void **state)
{
    (void)state;
    const int64_t ptr[] = {0, 1, 2, 3};
    const int32_t idx[] = {0, 0, 2};
    const double val[] = {1, 2, 3};
    trs_mat a = {.n = 3, .nnz = 3, .ptr = ptr, .idx = idx, .val = val, .kind = TRS_LOWER};
    trs_context ctx = {0};
    trs_tri t;
    assert_int_equal(trs_tri_import(&ctx, &a, &t), TRS_OK);
    assert_int_equal(t.nnz, 4);
    check_form(&t, true);
    assert_int_equal(t.src[2], TRS_SRC_MISSING);
    assert_true(((double *)t.val)[2] == 0);
    trs_tri_free(&ctx, &t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_permute),
        cmocka_unit_test(test_missing_diagonal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* t_canonical.c: which matrices are taken over as they are (lib/matrix/canonical.c).
 *
 * One that is canonical as the caller stores it gives an operator with the same arrays.  One in which a single thing is
 * wrong is not taken over.  With its rows turned it is converted, by threads that share the work, to the same arrays.
 * Some matrices have more entries than a thread is given alone. */
#include "tests/common/model.h"

#include "matrix/canonical.h"

enum { THREADS = 3 };

typedef struct form_of {            /* of the arrays */
    bool wide_ptr, wide_idx, first; /* 64 bits; the diagonal comes first in a row, or column */
    int base;
    trs_format format;
} form_of;

typedef struct arrays { /* made plain first, then in the form that is asked for */
    int32_t n;
    int64_t nnz, *ptr, *idx;
    double *val;
    void *p, *i;
    trs_mat m;
} arrays;

static void *need(int64_t count, size_t size)
{
    void *p = calloc((size_t)count + 1, size);
    assert_non_null(p);
    return p;
}

/* Rows, or columns, of 0 to most entries besides the diagonal; the widest of n / 2. */
static arrays make(int32_t n, int most, bool first, random_t *r)
{
    arrays a = {.n = n};
    a.ptr = need(n + 1, sizeof *a.ptr);
    a.idx = need((int64_t)n * (most + 1) + n, sizeof *a.idx);
    for (int32_t i = 0; i < n; i++) {
        const int32_t room = first ? n - 1 - i : i,
                      wide = i == n / 2 ? room : random_below(r, most + 1);
        const int32_t count = wide < room ? wide : room;
        if (first) a.idx[a.nnz++] = i;
        for (int32_t k = 0; k < count; k++) /* ascending, spread over the room */
            a.idx[a.nnz++] = (first ? i + 1 : 0) + (int64_t)k * room / count;
        if (!first) a.idx[a.nnz++] = i;
        a.ptr[i + 1] = a.nnz;
    }
    a.val = need(a.nnz, sizeof *a.val);
    for (int64_t p = 0; p < a.nnz; p++) a.val[p] = random_uniform(r);
    return a;
}

static void *narrow_or_not(const int64_t *from, int64_t count, bool wide, int base)
{
    void *to = need(count, wide ? 8 : 4);
    for (int64_t k = 0; k < count; k++) {
        if (wide) ((int64_t *)to)[k] = from[k] + base;
        else ((int32_t *)to)[k] = (int32_t)(from[k] + base);
    }
    return to;
}

static void put_on(arrays *a, const form_of *f)
{
    free(a->p);
    free(a->i);
    a->p = narrow_or_not(a->ptr, a->n + 1, f->wide_ptr, f->base);
    a->i = narrow_or_not(a->idx, a->nnz, f->wide_idx, f->base);
    a->m = (trs_mat){.n = a->n,
                     .nnz = a->nnz,
                     .ptr = a->p,
                     .idx = a->i,
                     .val = a->val,
                     .ptr_bits = f->wide_ptr ? 64 : 32,
                     .idx_bits = f->wide_idx ? 64 : 32,
                     .base = f->base,
                     .format = f->format,
                     .kind = (f->format == TRS_CSR) == f->first ? TRS_UPPER : TRS_LOWER};
}

static void unmake(arrays *a)
{
    free(a->ptr);
    free(a->idx);
    free(a->val);
    free(a->p);
    free(a->i);
}

static form_of draw(random_t *r)
{
    return (form_of){random_below(r, 2), random_below(r, 2), random_below(r, 2), random_below(r, 2),
                     random_below(r, 2) ? TRS_CSR : TRS_CSC};
}

static void same_arrays(const trs_tri *t, const arrays *a)
{
    assert_int_equal(t->n, a->n);
    assert_int_equal(t->nnz, a->nnz);
    assert_memory_equal(t->ptr, a->ptr, ((size_t)a->n + 1) * sizeof *t->ptr);
    for (int64_t p = 0; p < a->nnz; p++) assert_int_equal(t->idx[p], a->idx[p]);
    assert_memory_equal(t->val, a->val, (size_t)a->nnz * sizeof *a->val);
}

static const struct {
    int32_t n;
    int most;
} sizes[] = {{1, 0}, {2, 1}, {40, 3}, {30000, 4}, {90000, 12}};

static void test_taken(void **state)
{
    (void)state;
    for (int k = 0; k < 40; k++) {
        random_t r = {(uint64_t)k};
        const form_of f = draw(&r);
        arrays a = make(sizes[k % 5].n, sizes[k % 5].most, f.first, &r);
        trs_context ctx = {.threads = 1 + k % THREADS};
        trs_tri t;
        put_on(&a, &f);
        assert_int_equal(trs_canonical_import(&ctx, &a.m, &t), TRS_OK);
        assert_null(t.src);
        same_arrays(&t, &a);
        trs_tri_free(&ctx, &t);
        unmake(&a);
    }
}

/* ---- what is not taken ------------------------------------------------------------------------- */

enum { SWAPPED, TWICE, OTHER_TRIANGLE, BELOW, BEYOND, NO_DIAGONAL, MOVED, BACKWARDS, WRONGS };

static void swap(int64_t *a, int64_t *b)
{
    const int64_t old = *a;
    *a = *b;
    *b = old;
}

/* Make one thing wrong in this row, or column.  Returns false if it has too few entries for that. */
static bool spoil(arrays *a, const form_of *f, int wrong, int32_t major)
{
    const int64_t begin = a->ptr[major] + f->first, end = a->ptr[major + 1] - !f->first;
    int64_t farthest = begin, nearest = end - 1, diagonal = end; /* of the entries of this row */
    int next = 1; /* from the diagonal to the other triangle */
    const int64_t two = begin + (end - begin) / 2;
    if (f->first) farthest = end - 1, nearest = begin, diagonal = begin - 1, next = -1;
    if (end - begin < 3 || major < 3 || major > a->n - 4) return false;
    switch (wrong) {
    case SWAPPED:
        swap(&a->idx[two], &a->idx[two - 1]);
        break;
    case TWICE:
        a->idx[two] = a->idx[two - 1];
        break;
    case OTHER_TRIANGLE:
        a->idx[nearest] = major + next;
        break;
    case BELOW:
        a->idx[farthest] = -1;
        break;
    case BEYOND:
        a->idx[farthest] = a->n;
        break;
    case NO_DIAGONAL:
        a->idx[diagonal] = major - next;
        break;
    case MOVED:
        a->ptr[major]++;
        break;
    case BACKWARDS:
        a->ptr[major] = a->ptr[major + 1] + 1;
        break;
    }
    return true;
}

static void test_not_taken(void **state)
{
    (void)state;
    int done[WRONGS] = {0};
    for (int k = 0; k < 320; k++) {
        random_t r = {(uint64_t)k + 1000};
        const form_of f = draw(&r);
        const bool big = k % 40 == 0;
        arrays a = make(big ? 90000 : 200, 12, f.first, &r);
        trs_context ctx = {.threads = THREADS};
        trs_tri t;
        if (spoil(&a, &f, k / 8 % WRONGS, k % 3 ? random_below(&r, a.n) : a.n / 2)) {
            put_on(&a, &f);
            assert_int_equal(trs_canonical_import(&ctx, &a.m, &t), TRS_EMATRIX);
            assert_null(t.ptr);
            done[k / 8 % WRONGS]++;
        }
        unmake(&a);
    }
    for (int w = 0; w < WRONGS; w++) assert_true(done[w] > 0);
}

/* ---- the general way, shared among threads, gives the same ---------------------------------------- */

/* Every row begins somewhere in its middle. */
static void turn_rows(arrays *a, random_t *r)
{
    for (int32_t i = 0; i < a->n; i++) {
        const int64_t p = a->ptr[i], length = a->ptr[i + 1] - p, by = random_below(r, (int)length);
        int64_t *idx = need(length, sizeof *idx);
        double *val = need(length, sizeof *val);
        for (int64_t k = 0; k < length; k++) {
            idx[k] = a->idx[p + (k + by) % length];
            val[k] = a->val[p + (k + by) % length];
        }
        memcpy(a->idx + p, idx, (size_t)length * sizeof *idx);
        memcpy(a->val + p, val, (size_t)length * sizeof *val);
        free(idx);
        free(val);
    }
}

static void test_general(void **state)
{
    (void)state;
    for (int k = 0; k < 10; k++) {
        random_t r = {(uint64_t)k + 70}, again = r;
        const form_of f = draw(&r);
        (void)draw(&again);
        arrays a = make(sizes[k % 5].n, sizes[k % 5].most, f.first, &r);
        arrays turned = make(sizes[k % 5].n, sizes[k % 5].most, f.first, &again);
        trs_context ctx = {.threads = THREADS};
        trs_tri t;
        turn_rows(&turned, &again);
        put_on(&turned, &f);
        assert_int_equal(trs_tri_import(&ctx, &turned.m, &t), TRS_OK);
        same_arrays(&t, &a);
        for (int64_t p = 0; t.src && p < t.nnz; p++) assert_true(turned.val[t.src[p]] == a.val[p]);
        trs_tri_free(&ctx, &t);
        unmake(&a);
        unmake(&turned);
    }
}

/* The diagonal of two rows is stored twice: the first is named whoever finds it first. */
static void test_twice(void **state)
{
    (void)state;
    random_t r = {5};
    form_of f = {.format = TRS_CSR};
    arrays a = make(90000, 12, false, &r);
    trs_context ctx = {.threads = THREADS};
    trs_tri t;
    for (int32_t i = 89999; i > 100; i -= 89899 - 300)
        if (a.ptr[i + 1] - a.ptr[i] > 1) a.idx[a.ptr[i]] = i;
    int32_t first = 101;
    while (a.ptr[first + 1] - a.ptr[first] < 2) first++;
    a.idx[a.ptr[first]] = first;
    put_on(&a, &f);
    assert_int_equal(trs_tri_import(&ctx, &a.m, &t), TRS_EMATRIX);
    char words[60];
    snprintf(words, sizeof words, "row %d, column %d is stored twice", first, first);
    assert_string_equal(trs_message(), words);
    unmake(&a);
}

/* ---- a plan that threads share in making ------------------------------------------------------------ */

/* Bidiagonal in blocks of four rows: row i waits for the one before it unless i is a multiple of 4. */
static void one_plan(bool upper)
{
    enum { N = 520000 };
    int64_t *ptr = need(N + 1, sizeof *ptr), nnz = 0;
    int32_t *idx = need(2 * N, sizeof *idx);
    double *val = need(2 * N, sizeof *val), *b = need(N, sizeof *b), *x = need(N, sizeof *x);
    for (int32_t i = 0; i < N; i++) {
        const bool waits = upper ? i % 4 != 3 : i % 4 != 0;
        if (waits && !upper) val[nnz] = -1, idx[nnz++] = i - 1;
        val[nnz] = 0.5, idx[nnz++] = i;
        if (waits && upper) val[nnz] = -1, idx[nnz++] = i + 1;
        ptr[i + 1] = nnz;
        b[i] = 1;
    }
    trs_mat m = {.n = N, .nnz = nnz, .ptr = ptr, .idx = idx, .val = val};
    m.kind = upper ? TRS_UPPER : TRS_LOWER;
    const trs_options opt = {.solver = "cpu-level", .threads = THREADS};
    trs_plan *p;
    trs_info info;
    const int32_t *topo, *lv_ptr;
    assert_int_equal(trs_plan_create(&p, &m, &opt), TRS_OK);
    assert_status(trs_plan_analyse(p), TRS_OK);
    assert_int_equal(trs_plan_info(p, &info), TRS_OK);
    assert_int_equal(info.levels, 4);
    assert_int_equal(info.widest, N / 4);
    assert_int_equal(info.longest, 2);
    assert_int_equal(trs_plan_levels(p, &topo, &lv_ptr), TRS_OK);
    for (int32_t k = 0; k < N;
         k++) { /* level by level, ascending: multiples of 4, those and 1, ... */
        const int32_t level = k / (N / 4);
        assert_int_equal(topo[k], 4 * (k % (N / 4)) + (upper ? 3 - level : level));
    }
    assert_int_equal(trs_solve(p, TRS_N, 1, b, N, x, N, NULL), TRS_OK);
    static const double exact[] = {2, 6, 14, 30}; /* x = 2 (1 + x of the row before) */
    for (int32_t i = 0; i < N; i++) assert_true(x[i] == exact[upper ? 3 - i % 4 : i % 4]);

    int64_t count, first;
    for (int32_t i = 300001; i < N; i += 100000)
        for (int64_t e = ptr[i]; e < ptr[i + 1]; e++)
            if (idx[e] == i) val[e] = 0;
    assert_int_equal(trs_plan_update(p, &m, NULL), TRS_EPIVOT);
    assert_non_null(strstr(trs_message(), "row 300001: diagonal is zero (3 such rows)"));
    assert_int_equal(trs_plan_pivots(p, &count, &first), TRS_OK);
    assert_int_equal(count, 3);
    assert_int_equal(first, 300001);
    trs_plan_destroy(p);
    free(ptr);
    free(idx);
    free(val);
    free(b);
    free(x);
}

static void test_plan(void **state)
{
    (void)state;
    one_plan(false);
    one_plan(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_taken),   cmocka_unit_test(test_not_taken),
        cmocka_unit_test(test_general), cmocka_unit_test(test_twice),
        cmocka_unit_test(test_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

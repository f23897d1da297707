/* t_again.c: new values with the old pivots, on the host: the factors are those of the new A, with the same plans and the same
 * bits on any number of threads; nothing is allocated; and what does not suit the pivots is factored by the library. */
#include "tests/common/counter.h"
#include "tests/common/full.h"
#include "trisolve-suitesparse.h"
#include "factor/again/lu_again.h"

/* Short rows are computed product by product, long ones by fronts, or, if these had much more fill, by runs of rows of U; and
 * L L^H by fronts. */
typedef struct kind {
    const char *method;
    bool hermitian, dense; /* dense: long rows */
    int side;              /* of the grid */
    bool upper;            /* a block triangle: fronts of A + A' would be dense */
} kind;

static const kind kinds[] = {
#ifdef HAVE_CHOLMOD
    {"cholmod", true, false, 12, false},  {"cholmod", true, true, 12, false},
    {"cholmod", true, true, 1, false},    {"static", false, false, 12, false},
    {"static", false, true, 12, false},   {"static", true, true, 12, false},
#endif
#ifdef HAVE_KLU
    {"klu", false, false, 12, false},     {"klu", false, true, 12, false},
    {"klu", false, false, 1, false},      {"klu", false, true, 18, true},
#endif
#ifdef HAVE_UMFPACK
    {"umfpack", false, false, 12, false}, {"umfpack", false, true, 12, false},
#endif
};

enum { KINDS = sizeof kinds / sizeof kinds[0], BLOCK = 36 };

/* A grid of side * side nodes, with a second neighbour along rows if dense. */
typedef struct grid {
    int64_t n, nnz;
    int64_t *ptr;
    int32_t *idx;
    zz *value;
    void *val;
    trs_mat m;
} grid;

/* Is there an entry between these nodes? */
static bool is_near(const kind *k, int i, int j)
{
    const int dx = abs(i % k->side - j % k->side), dy = abs(i / k->side - j / k->side);
    if (k->upper) return i / BLOCK == j / BLOCK || i > j;
    return dx + dy <= 1 || (k->dense && (dx <= 3 && dy <= 3));
}

static int64_t place_of(const grid *g, int64_t i, int64_t j)
{
    int64_t p = g->ptr[j];
    while (p < g->ptr[j + 1] && g->idx[p] != i) p++;
    assert_true(p < g->ptr[j + 1]);
    return p;
}

/* Random values; those on the diagonal make it dominant. */
static void change(grid *g, const kind *k)
{
    const bool c = g->m.dtype == TRS_C64 || g->m.dtype == TRS_C32;
    for (int64_t j = 0; j < g->n; j++)
        for (int64_t p = g->ptr[j]; p < g->ptr[j + 1]; p++) {
            const int64_t i = g->idx[p];
            zz z = (k->upper ? 0.2 : 1) * number(c);
            if (i == j) z = (k->dense ? 60 : 6) + creal(z);
            if (k->hermitian && i > j) z = conj(g->value[place_of(g, j, i)]);
            g->value[p] = z;
        }
    for (int64_t j = 0; j < g->n && k->hermitian; j++)
        for (int64_t p = g->ptr[j]; p < g->ptr[j + 1]; p++)
            if (g->idx[p] > j) g->value[p] = conj(g->value[place_of(g, j, g->idx[p])]);
    for (int64_t p = 0; p < g->nnz; p++) set_value(g->val, g->m.dtype, p, g->value[p]);
}

static grid make(const kind *k, trs_dtype t, trs_format format)
{
    grid g = {.n = (int64_t)k->side * k->side};
    g.ptr = calloc((size_t)g.n + 1, sizeof *g.ptr);
    for (int64_t j = 0; j < g.n; j++)
        for (int i = 0; i < g.n; i++) g.nnz += is_near(k, i, (int)j);
    g.idx = malloc((size_t)g.nnz * sizeof *g.idx);
    g.value = malloc((size_t)g.nnz * sizeof *g.value);
    g.val = malloc((size_t)g.nnz * sizeof *g.value);
    for (int64_t j = 0, q = 0; j < g.n; j++) {
        for (int i = (int)g.n - 1; i >= 0; i--) /* not ascending */
            if (is_near(k, i, (int)j)) g.idx[q++] = i;
        g.ptr[j + 1] = q;
    }
    g.m = (trs_mat){.n = g.n, .nnz = g.nnz, .ptr_bits = 64, .idx_bits = 32, .format = format};
    g.m.dtype = t;
    g.m.ptr = g.ptr, g.m.idx = g.idx, g.m.val = g.val;
    change(&g, k);
    return g;
}

static void drop(grid *g)
{
    free(g->ptr);
    free(g->idx);
    free(g->value);
    free(g->val);
}

/* The largest |L U - scale A(P, Q)| / (|L| |U|), in n eps. */
static double identity_error(const trs_lu *lu, const trs_mat *m)
{
    trs_mat Lm, Um;
    const int64_t *P, *Q;
    const double *s;
    const int n = (int)m->n;
    double worst = 0;
    assert_int_equal(trs_lu_factors(lu, &Lm, &Um, &P, &Q, &s), TRS_OK);
    full A = unfold(m), L = unfold(&Lm), U = Um.n ? unfold(&Um) : full_new(n, A.is_complex);
    for (int j = 0; !Um.n && j < n; j++)
        for (int i = 0; i < n; i++) U.a[i + n * j] = conj(L.a[j + n * i]);
    for (int k = 0; k < n; k++)
        for (int c = 0; c < n; c++) {
            zz sum = 0;
            double size = 0;
            for (int t = 0; t < n; t++) {
                const zz term = L.a[k + n * t] * U.a[t + n * c];
                if (term == 0) continue;
                sum += term;
                size += cabs(term);
            }
            const double r = cabs(sum - (s ? s[P[k]] : 1) * A.a[P[k] + n * Q[c]]);
            if (r > 0 && !(r / size <= worst)) worst = r / size;
        }
    free(A.a);
    free(L.a);
    free(U.a);
    return worst / (n * DBL_EPSILON);
}

/* omega of a solution. */
static double omega_of(trs_lu *lu, const grid *g, trs_op op)
{
    const size_t size = (size_t)g->n * sizeof(zz);
    void *b = malloc(size), *x = malloc(size);
    trs_error e;
    const bool c = g->m.dtype == TRS_C64 || g->m.dtype == TRS_C32;
    for (int64_t i = 0; i < g->n; i++) set_value(b, g->m.dtype, i, number(c));
    assert_int_equal(trs_lu_solve(lu, op, 1, b, g->n, x, g->n, NULL), TRS_OK);
    assert_int_equal(trs_backward_error(&g->m, op, 1, b, g->n, x, g->n, TRS_COL_MAJOR, &e), TRS_OK);
    free(b);
    free(x);
    return e.omega;
}

/* ---- numbers ------------------------------------------------------------------------------------ */

/* The first update may make other plans, where the library has left out entries; later ones keep them. */
/* det A by these factors is that by new ones. */
static void check_determinant(const trs_lu *lu, const trs_mat *m)
{
    trs_det det, expected;
    trs_lu *other;
    assert_int_equal(trs_lu_determinant(lu, &det), TRS_OK);
    assert_int_equal(trs_factor(&other, m, NULL), TRS_OK);
    assert_int_equal(trs_lu_determinant(other, &expected), TRS_OK);
    trs_lu_destroy(other);
    const double ratio =
        ldexp(det.mantissa / expected.mantissa, (int)(det.exponent - expected.exponent));
    assert_true(fabs(ratio - 1) <= 1e-9);
    assert_true(hypot(det.re - expected.re, det.im - expected.im) <= 1e-9);
}

static void many_updates(void **state)
{
    static const trs_dtype types[] = {TRS_F64, TRS_F32, TRS_C64, TRS_C32};
    (void)state;
    for (int k = 0; k < KINDS; k++)
        for (int t = 0; t < 8; t++) {
            const trs_factor_options opt = {.method = kinds[k].method, .plan = {.ops = 7}};
            grid g = make(&kinds[k], types[t / 2], t & 1 ? TRS_CSC : TRS_CSR);
            trs_lu *lu;
            trs_lu_info first, info;
            const int64_t *P, *was = NULL;
            double worst = 0, omega = 0;
            assert_int_equal(trs_factor(&lu, &g.m, &opt), TRS_OK);
            for (int step = 0; step < 5; step++) {
                change(&g, &kinds[k]);
                assert_int_equal(trs_lu_update(lu, &g.m), TRS_OK);
                assert_int_equal(trs_lu_get_info(lu, &info), TRS_OK);
                if (step == 2) check_determinant(lu, &g.m);
                assert_int_equal(trs_lu_factors(lu, NULL, NULL, &P, NULL, NULL), TRS_OK);
                if (step == 0) first = info, was = P;
                assert_ptr_equal(info.l, first.l);
                assert_ptr_equal(P, was); /* the library did not run */
                worst = larger(worst, identity_error(lu, &g.m));
                omega = larger(omega, omega_of(lu, &g, (trs_op)(step % 3)));
            }
            print_message("%s, %s, type %d, %s: |LU - A| = %.2g n eps, omega %.2g\n",
                          kinds[k].method, kinds[k].dense ? "dense" : "sparse", (int)types[t / 2],
                          t & 1 ? "CSC" : "CSR", worst, omega);
            const bool fronts = kinds[k].hermitian || (kinds[k].dense && !kinds[k].upper) ||
                                !strcmp(kinds[k].method, "static");
            assert_int_equal(trs_lu_again_by_fronts(lu), fronts);
            assert_true(worst < 1);
            assert_true(omega < (t / 2 % 2 ? 40 * (double)FLT_EPSILON : 200 * DBL_EPSILON));
            assert_true(info.rcond > 0 && info.rcond <= 1);
            trs_lu_destroy(lu);
            drop(&g);
        }
}

/* x of a solve after two updates with so many threads. */
static void *solved(grid *g, const kind *k, int threads, void *b)
{
    const trs_factor_options opt = {.method = k->method, .plan = {.threads = threads}};
    trs_lu *lu;
    trs_mat L, U;
    void *x = malloc((size_t)(2 * g->n) * sizeof(zz));
    assert_int_equal(trs_factor(&lu, &g->m, &opt), TRS_OK);
    /* or else they would stay in the library, which factors again */
    assert_int_equal(trs_lu_factors(lu, NULL, NULL, NULL, NULL, NULL), TRS_OK);
    for (int step = 0; step < 2; step++) assert_int_equal(trs_lu_update(lu, &g->m), TRS_OK);
    assert_ptr_not_equal(lu->again, NULL);
    assert_int_equal(trs_lu_solve(lu, TRS_N, 1, b, g->n, x, g->n, NULL), TRS_OK);
    assert_int_equal(trs_lu_factors(lu, &L, &U, NULL, NULL, NULL), TRS_OK);
    const size_t size = size_of(g->m.dtype), n = (size_t)g->n;
    char *sums = (char *)x + n * size; /* of the factors, an exclusive or of their bits a row */
    memset(sums, 0, n * size);
    for (int64_t p = 0; p < L.nnz; p++)
        for (size_t c = 0; c < size; c++)
            sums[(size_t)p % n * size + c] ^= ((const char *)L.val)[(size_t)p * size + c];
    trs_lu_destroy(lu);
    return x;
}

static void bits(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++)
        for (int c = 0; c < 2; c++) {
            kind big = kinds[k];
            if (big.side == 1) continue;
            if (!big.upper) big.side = big.dense ? 44 : 90; /* threads share the largest fronts */
            grid g = make(&big, c ? TRS_C64 : TRS_F64, TRS_CSR);
            void *b = malloc((size_t)g.n * sizeof(zz));
            for (int64_t i = 0; i < g.n; i++) set_value(b, g.m.dtype, i, number(c));
            void *one = solved(&g, &big, 1, b);
            for (int threads = 2; threads <= 4; threads++) {
                void *x = solved(&g, &big, threads, b);
                assert_memory_equal(one, x, 2 * (size_t)g.n * size_of(g.m.dtype));
                free(x);
            }
            free(one);
            free(b);
            drop(&g);
        }
}

/* ---- what does not suit ---------------------------------------------------------------------------- */

static bool exchanges(const kind *k)
{
    return strcmp(k->method, "static") != 0;
}

/* Pivots that become small are exchanged, a singular matrix is refused, and the next good one is factored. */
static void other_pivots(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        if (kinds[k].hermitian || kinds[k].side == 1 || !exchanges(&kinds[k])) continue;
        const trs_factor_options opt = {.method = kinds[k].method};
        grid g = make(&kinds[k], TRS_F64, TRS_CSR);
        double *a = g.val;
        trs_lu *lu;
        assert_int_equal(trs_factor(&lu, &g.m, &opt), TRS_OK);
        assert_int_equal(trs_lu_update(lu, &g.m), TRS_OK);
        for (int zero = 0; zero < 2; zero++) {
            for (int64_t i = 0; i < g.n; i += 2) a[place_of(&g, i, i)] = zero ? 0 : 1e-14;
            assert_int_equal(trs_lu_update(lu, &g.m), TRS_OK);
            print_message("%s: omega %.2g\n", kinds[k].method, omega_of(lu, &g, TRS_N));
            assert_true(omega_of(lu, &g, TRS_N) < 1e-13);
            change(&g, &kinds[k]);
            assert_int_equal(trs_lu_update(lu, &g.m), TRS_OK);
            assert_int_equal(trs_lu_update(lu, &g.m), TRS_OK);
        }
        for (int64_t p = g.ptr[7]; p < g.ptr[8]; p++) a[p] = 0;
        assert_int_equal(trs_lu_update(lu, &g.m), TRS_EPIVOT);
        assert_int_equal(trs_lu_status(lu, NULL, NULL, NULL), TRS_ESTATE);
        change(&g, &kinds[k]);
        a[3] = NAN;
        assert_int_equal(trs_lu_update(lu, &g.m), TRS_EMATRIX);
        a[3] = 0.5;
        for (int step = 0; step < 3; step++) assert_int_equal(trs_lu_update(lu, &g.m), TRS_OK);
        a[5] = INFINITY;
        assert_int_equal(trs_lu_update(lu, &g.m), TRS_EMATRIX);
        a[5] = 0.5;
        for (int step = 0; step < 3; step++) assert_int_equal(trs_lu_update(lu, &g.m), TRS_OK);
        assert_true(omega_of(lu, &g, TRS_N) < 1e-13);
        trs_lu_destroy(lu);
        drop(&g);
    }
}

/* A NaN is found wherever it is, also where nothing is computed with it. */
static void not_finite(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        kind small = kinds[k];
        if (small.hermitian || small.side == 1) continue;
        small.side = 7; /* more than one BLOCK */
        const trs_factor_options opt = {.method = small.method};
        grid g = make(&small, TRS_F64, TRS_CSR);
        double *a = g.val;
        trs_lu *lu;
        assert_int_equal(trs_factor(&lu, &g.m, &opt), TRS_OK);
        for (int64_t p = 0; p < g.nnz; p += 1 + g.nnz / 100) {
            const double was = a[p];
            assert_int_equal(trs_lu_factors(lu, NULL, NULL, NULL, NULL, NULL), TRS_OK);
            assert_int_equal(trs_lu_update(lu, &g.m), TRS_OK);
            assert_ptr_not_equal(lu->again, NULL);
            a[p] = NAN;
            assert_int_equal(trs_lu_update(lu, &g.m), TRS_EMATRIX);
            a[p] = was;
            assert_int_equal(trs_lu_update(lu, &g.m), TRS_OK);
        }
        trs_lu_destroy(lu);
        drop(&g);
    }
}

/* A pivot may be smaller than it was, but not by so much that numbers grow. */
static void growth(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        const kind *how = &kinds[k];
        if (how->hermitian || !how->dense || how->upper || !exchanges(how)) continue;
        for (int c = 0; c < 2; c++)
            for (int grows = 0; grows < 2; grows++) {
                const trs_factor_options opt = {.method = how->method};
                grid g = make(how, c ? TRS_C64 : TRS_F64, TRS_CSC);
                const int64_t *P, *Q;
                trs_lu *lu;
                assert_int_equal(trs_factor(&lu, &g.m, &opt), TRS_OK);
                assert_int_equal(trs_lu_factors(lu, NULL, NULL, &P, &Q, NULL), TRS_OK);
                assert_int_equal(trs_lu_update(lu, &g.m), TRS_OK);
                assert_true(trs_lu_again_by_fronts(lu));
                set_value(g.val, g.m.dtype, place_of(&g, P[0], Q[0]), grows ? 1e-5 : 0.1);
                assert_int_equal(trs_lu_update(lu, &g.m), TRS_OK);
                assert_int_equal(trs_lu_again_by_fronts(lu), !grows);
                assert_true(omega_of(lu, &g, TRS_N) < 1e-13);
                trs_lu_destroy(lu);
                drop(&g);
            }
    }
}

#if defined HAVE_CHOLMOD && defined HAVE_UMFPACK
/* A that was positive definite is not any more, or is not Hermitian. */
static void not_definite(void **state)
{
    (void)state;
    for (int c = 0; c < 2; c++)
        for (int how = 0; how < 3; how++) {
            const trs_factor_options named = {.method = "cholmod"};
            grid g = make(&kinds[0], c ? TRS_C64 : TRS_F64, TRS_CSC);
            trs_lu_info info;
            for (int k = 0; k < 2; k++) {
                trs_lu *lu;
                change(&g, &kinds[0]);
                assert_int_equal(trs_factor(&lu, &g.m, k ? NULL : &named), TRS_OK);
                for (int step = 0; step < 2; step++)
                    assert_int_equal(trs_lu_update(lu, &g.m), TRS_OK);
                const int64_t p = how == 1 ? g.ptr[1] : place_of(&g, 50, 50);
                static const double values[] = {-3, 0.25, 1e-30};
                set_value(g.val, g.m.dtype, p, values[how]);
                const int expected = how == 2 ? TRS_EPIVOT : TRS_EMATRIX;
                assert_int_equal(trs_lu_update(lu, &g.m), k ? TRS_OK : expected);
                if (k) {
                    assert_true(omega_of(lu, &g, TRS_N) < 1e-13);
                    trs_lu_get_info(lu, &info);
                    assert_string_not_equal(info.library, "CHOLMOD");
                }
                trs_lu_destroy(lu);
            }
            drop(&g);
        }
}
#endif

#ifdef HAVE_CHOLMOD
/* The last pivot, behind which no other one tells, is negative. */
static void negative_at_last(void **state)
{
    (void)state;
    const kind one = {"cholmod", true, false, 1, false};
    grid g = make(&one, TRS_F64, TRS_CSC);
    trs_lu *lu;
    assert_int_equal(trs_factor(&lu, &g.m, &(trs_factor_options){.method = one.method}), TRS_OK);
    assert_true(omega_of(lu, &g, TRS_N) < 1e-15);
    for (int step = 0; step < 2; step++) assert_int_equal(trs_lu_update(lu, &g.m), TRS_OK);
    set_value(g.val, TRS_F64, 0, -3);
    assert_int_equal(trs_lu_update(lu, &g.m), TRS_EMATRIX);
    trs_lu_destroy(lu);
    drop(&g);
}
#endif

/* Another pattern is analysed again, and then the old one. */
static void other_pattern(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        kind other = kinds[k];
        other.dense = !other.dense;
        const trs_factor_options opt = {.method = kinds[k].method};
        grid g[2] = {make(&kinds[k], TRS_F64, TRS_CSR), make(&other, TRS_F64, TRS_CSR)};
        trs_lu *lu;
        assert_int_equal(trs_factor(&lu, &g[0].m, &opt), TRS_OK);
        for (int step = 0; step < 7; step++) {
            grid *now = &g[step / 3 & 1];
            change(now, step / 3 & 1 ? &other : &kinds[k]);
            assert_int_equal(trs_lu_update(lu, &now->m), TRS_OK);
            assert_true(omega_of(lu, now, TRS_N) < 1e-14);
            assert_true(identity_error(lu, &now->m) < 1);
        }
        trs_lu_destroy(lu);
        drop(&g[0]);
        drop(&g[1]);
    }
}

#ifdef HAVE_UMFPACK
/* UMFPACK leaves out what is zero, so that the pattern of A has far more fill than the factors: it factors each A anew. */
static void stored_zeros(void **state)
{
    (void)state;
    const kind k = {"umfpack", false, true, 12, false};
    const trs_factor_options opt = {.method = k.method};
    grid g = make(&k, TRS_F64, TRS_CSC);
    trs_lu *lu = NULL;
    for (int step = 0; step < 3; step++) {
        change(&g, &k);
        for (int64_t j = 0; j < g.n; j++)
            for (int64_t p = g.ptr[j]; p < g.ptr[j + 1]; p++)
                if (g.idx[p] != j) set_value(g.val, TRS_F64, p, 0);
        assert_int_equal(lu ? trs_lu_update(lu, &g.m) : trs_factor(&lu, &g.m, &opt), TRS_OK);
        assert_true(omega_of(lu, &g, TRS_N) < 1e-14);
    }
    trs_lu_destroy(lu);
    drop(&g);
}
#endif

/* ---- memory ------------------------------------------------------------------------------------------ */

/* Leave out what is above the diagonal. */
static void halve(grid *g)
{
    int64_t q = 0, begin = 0;
    for (int64_t l = 0; l < g->n; l++) {
        const int64_t end = g->ptr[l + 1];
        for (int64_t p = begin; p < end; p++)
            if (g->idx[p] <= l) g->idx[q] = g->idx[p], g->value[q++] = g->value[p];
        g->ptr[l + 1] = q;
        begin = end;
    }
    g->nnz = g->m.nnz = q;
    g->m.kind = TRS_LOWER | TRS_SELFADJOINT;
    for (int64_t p = 0; p < q; p++) set_value(g->val, g->m.dtype, p, g->value[p]);
}

/* A = D A D, by which pivots differ much in size and are as good as before. */
static void scale_each_second(grid *g)
{
    for (int64_t j = 0; j < g->n; j++)
        for (int64_t p = g->ptr[j]; p < g->ptr[j + 1]; p++) {
            g->value[p] *= (j % 2 ? 1e-9 : 1) * (g->idx[p] % 2 ? 1e-9 : 1);
            set_value(g->val, g->m.dtype, p, g->value[p]);
        }
}

static void no_allocation(void **state)
{
    (void)state;
    for (int half = 0; half < 2 * KINDS; half++) {
        const int k = half / 2;
        if (half % 2 && !kinds[k].hermitian) continue;
        counter c = {.fail_at = -1};
        const trs_factor_options opt = {.method = kinds[k].method,
                                        .plan = {.memory = counted_memory(&c)}};
        grid g = make(&kinds[k], TRS_F64, TRS_CSR);
        trs_lu *lu;
        if (kinds[k].hermitian) scale_each_second(&g);
        if (half % 2) halve(&g);
        assert_int_equal(trs_factor(&lu, &g.m, &opt), TRS_OK);
        assert_true(omega_of(lu, &g, TRS_N) < 1e-14); /* else the library would factor again */
        assert_int_equal(trs_lu_update(lu, &g.m), TRS_OK);
        const long calls = c.calls;
        for (int step = 0; step < 3; step++) {
            for (int64_t p = 0; p < g.nnz; p++) ((double *)g.val)[p] *= 1.5;
            assert_int_equal(trs_lu_update(lu, &g.m), TRS_OK);
        }
        assert_int_equal(c.calls, calls);
        assert_true(omega_of(lu, &g, TRS_N) < 1e-14);
        trs_lu_destroy(lu);
        assert_int_equal(c.live, 0);
        drop(&g);
    }
}

/* Each allocation of the first update fails once; a later update succeeds. */
static void out_of_memory(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        bool refused = true;
        for (int at = 0; refused; at++) {
            counter c = {.fail_at = -1};
            const trs_factor_options opt = {.method = kinds[k].method,
                                            .plan = {.memory = counted_memory(&c)}};
            kind small = kinds[k];
            if (small.side > 5) small.side = small.dense ? 8 : 5;
            grid g = make(&small, TRS_F64, TRS_CSR);
            trs_lu *lu;
            assert_int_equal(trs_factor(&lu, &g.m, &opt), TRS_OK);
            c.fail_at = c.calls + at;
            const int rc = trs_lu_update(lu, &g.m);
            refused = was_refused(&c);
            assert_true(rc == TRS_OK || (refused && rc == TRS_EMEM));
            if (rc) assert_true(*trs_message());
            c.fail_at = -1;
            assert_int_equal(trs_lu_update(lu, &g.m), TRS_OK);
            assert_true(omega_of(lu, &g, TRS_N) < 1e-14);
            trs_lu_destroy(lu);
            assert_int_equal(c.live, 0);
            drop(&g);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_updates),
#ifdef HAVE_CHOLMOD
        cmocka_unit_test(negative_at_last),
#endif
#ifdef HAVE_UMFPACK
        cmocka_unit_test(stored_zeros),
#endif
        cmocka_unit_test(bits),
        cmocka_unit_test(other_pivots),
        cmocka_unit_test(growth),
        cmocka_unit_test(not_finite),
#if defined HAVE_CHOLMOD && defined HAVE_UMFPACK
        cmocka_unit_test(not_definite),
#endif
        cmocka_unit_test(other_pattern),
        cmocka_unit_test(no_allocation),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests_name("again", tests, NULL, NULL);
}

/* t_lu_large.c: solves with factors of so many rows that threads share the passes before and after the triangles.
 *
 *     (L U)(k, m) = s(P(k)) A(P(k), Q(m)),   L and U of two diagonals each
 *
 * A is applied to an x of small whole numbers by its definition.  All numbers are multiples of small powers of two, diagonals
 * and scaling are powers of two, and so every step of a solve is exact: x comes back bit by bit. */
#include "tests/common/full.h"

enum { N = 60000, NRHS = 2, LD = N + 3 };

typedef struct factors {                /* of type double complex; real types take the real parts */
    zz below[N], diagonal[N], above[N]; /* L(k, k-1), U(k, k), U(k, k+1) */
    int64_t P[N], Q[N];
    double scale[N];
} factors;

static int below(int n)
{
    return (int)(fabs(uniform()) * n);
}

/* A power of the imaginary unit, or a sign. */
static zz turn(bool is_complex)
{
    static const zz unit[] = {1, -1, I, -I};
    return unit[below(is_complex ? 4 : 2)];
}

static void shuffle(int64_t *p)
{
    for (int k = 0; k < N; k++) p[k] = k;
    for (int k = N - 1; k > 0; k--) {
        const int j = below(k + 1);
        const int64_t t = p[k];
        p[k] = p[j], p[j] = t;
    }
}

/* Chains of 4 rows, so that sums stay short. */
static void make(factors *f, bool is_complex)
{
    shuffle(f->P);
    shuffle(f->Q);
    for (int k = 0; k < N; k++) {
        f->below[k] = k % 4 > 0 ? turn(is_complex) / 2 : 0;
        f->diagonal[k] = turn(is_complex) * (1 << below(3));
        f->above[k] = k % 4 < 3 && k < N - 1 ? turn(is_complex) : 0;
        f->scale[k] = ldexp(1, below(7) - 3);
    }
}

/* w = L y, L' y or L^H y */
static void apply_L(const factors *f, trs_op op, const zz *y, zz *w)
{
    for (int k = 0; k < N; k++) {
        const zz l = op == TRS_H ? conj(f->below[(k + 1) % N]) : f->below[(k + 1) % N];
        w[k] = y[k];
        if (op == TRS_N && k > 0) w[k] += f->below[k] * y[k - 1];
        if (op != TRS_N && k < N - 1) w[k] += l * y[k + 1];
    }
}

static void apply_U(const factors *f, trs_op op, const zz *y, zz *w)
{
    for (int k = 0; k < N; k++) {
        w[k] = (op == TRS_H ? conj(f->diagonal[k]) : f->diagonal[k]) * y[k];
        if (op == TRS_N && k < N - 1) w[k] += f->above[k] * y[k + 1];
        if (op != TRS_N && k > 0)
            w[k] += (op == TRS_H ? conj(f->above[k - 1]) : f->above[k - 1]) * y[k - 1];
    }
}

/* b = op(A) x */
static void apply(const factors *f, trs_op op, const zz *x, zz *b)
{
    static zz y[N], w[N];
    if (op == TRS_N) {
        for (int k = 0; k < N; k++) y[k] = x[f->Q[k]];
        apply_U(f, op, y, w);
        apply_L(f, op, w, y);
        for (int k = 0; k < N; k++) b[f->P[k]] = y[k] / f->scale[f->P[k]];
    } else {
        for (int k = 0; k < N; k++) y[k] = x[f->P[k]] / f->scale[f->P[k]];
        apply_L(f, op, y, w);
        apply_U(f, op, w, y);
        for (int k = 0; k < N; k++) b[f->Q[k]] = y[k];
    }
}

/* A triangle by rows, from entry `first` of each: L has a unit diagonal, which is not stored. */
static trs_mat triangle(const factors *f, bool lower, trs_dtype t)
{
    int64_t *ptr = calloc(N + 1, sizeof *ptr), p = 0;
    int32_t *idx = calloc(2 * N, sizeof *idx);
    void *val = calloc(2 * N, size_of(t));
    for (int k = 0; k < N; k++) {
        if (!lower) set_value(val, t, p, f->diagonal[k]), idx[p++] = k;
        const zz other = lower ? f->below[k] : f->above[k];
        if (other != 0) set_value(val, t, p, other), idx[p++] = lower ? k - 1 : k + 1;
        ptr[k + 1] = p;
    }
    return (trs_mat){.n = N,
                     .nnz = p,
                     .ptr = ptr,
                     .idx = idx,
                     .val = val,
                     .dtype = t,
                     .kind = lower ? TRS_LOWER | TRS_UNIT : TRS_UPPER};
}

static void check(const factors *f, trs_lu *lu, trs_dtype t, trs_op op, trs_layout layout)
{
    static zz x[N], b[N];
    const bool rows = layout == TRS_ROW_MAJOR, is_complex = t == TRS_C64 || t == TRS_C32;
    const int64_t ld = rows ? NRHS + 1 : LD, rs = rows ? ld : 1, cs = rows ? 1 : ld;
    const trs_exec exec = {.layout = layout, .threads = 3};
    const size_t count = (size_t)(rows ? ld * N : ld * NRHS);
    void *B = calloc(count, size_of(t)), *X = calloc(count, size_of(t)),
         *E = calloc(count, size_of(t)); /* E: what is expected */
    for (int r = 0; r < NRHS; r++) {
        for (int i = 0; i < N; i++) {
            const double re = below(9) - 4, im = is_complex ? below(9) - 4 : 0;
            x[i] = re + im * I;
        }
        apply(f, op, x, b);
        for (int i = 0; i < N; i++) {
            set_value(B, t, i * rs + r * cs, b[i]);
            set_value(E, t, i * rs + r * cs, x[i]);
        }
    }
    assert_int_equal(trs_lu_solve(lu, op, NRHS, B, ld, X, ld, &exec), TRS_OK);
    assert_int_equal(trs_lu_solve(lu, op, NRHS, B, ld, B, ld, &exec), TRS_OK);
    for (int64_t k = 0; k < (int64_t)count; k++) {
        assert_true(get_value(X, t, k) == get_value(E, t, k));
        assert_true(get_value(X, t, k) == get_value(B, t, k));
    }
    free(B);
    free(X);
    free(E);
}

static void solves(void **state)
{
    static factors f;
    const trs_options opt = {.ops = 7, .nrhs = NRHS, .solver = "cpu-serial"};
    (void)state;
    for (trs_dtype t = TRS_F64; t <= TRS_C32; t++) {
        make(&f, t == TRS_C64 || t == TRS_C32);
        trs_mat L = triangle(&f, true, t), U = triangle(&f, false, t);
        trs_lu *lu;
        assert_int_equal(trs_lu_import(&lu, &L, &U, f.P, f.Q, f.scale, &opt), TRS_OK);
        hide(&L);
        hide(&U);
        for (trs_op op = TRS_N; op <= TRS_H; op++)
            for (trs_layout layout = TRS_COL_MAJOR; layout <= TRS_ROW_MAJOR; layout++)
                check(&f, lu, t, op, layout);
        trs_lu_destroy(lu);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(solves)};
    return cmocka_run_group_tests_name("lu_large", tests, NULL, NULL);
}

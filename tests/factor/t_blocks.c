/* t_blocks.c: incomplete factors by blocks solve with the M of their definition: M is made of full matrices here, by
 * elimination of blocks that drops what is outside the pattern, and M x = b, or op(M) x = b, is checked.  Factors of numbers are the
 * same M where no rows are exchanged.  Small examples are exact.  Singular blocks and values that are not finite are named.
 * Threads and updates do not change the bits. */
#include "incomplete.h"

enum { MOST = 8 };

/* ---- M by its definition ---------------------------------------------------------------------- */

static zz *at(const full *f, int i, int j)
{
    return &f->a[i + f->n * j];
}

static full copy_of(const full *f)
{
    full g = full_new(f->n, f->is_complex);
    memcpy(g.a, f->a, (size_t)(f->n * f->n) * sizeof *f->a);
    return g;
}

static full product(const full *f, const full *g)
{
    full h = full_new(f->n, f->is_complex);
    for (int j = 0; j < f->n; j++)
        for (int k = 0; k < f->n; k++)
            for (int i = 0; i < f->n; i++) *at(&h, i, j) += *at(f, i, k) * *at(g, k, j);
    return h;
}

/* Does f have a number in block (bi, bj)? */
static bool has_block(const full *f, int b, int bi, int bj)
{
    bool found = bi == bj;
    for (int k = 0; k < b * b; k++) found |= *at(f, bi * b + k % b, bj * b + k / b) != 0;
    return found;
}

/* The inverse of a [n*n], by Gauss-Jordan elimination with complete search for pivots in the column. */
static full inverse(const full *f)
{
    const int n = f->n;
    full a = copy_of(f), e = full_new(n, f->is_complex);
    for (int k = 0; k < n; k++) *at(&e, k, k) = 1;
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k; i < n; i++)
            if (cabs(*at(&a, i, k)) > cabs(*at(&a, p, k))) p = i;
        for (int j = 0; j < n; j++) {
            zz t = *at(&a, k, j);
            *at(&a, k, j) = *at(&a, p, j), *at(&a, p, j) = t;
            t = *at(&e, k, j);
            *at(&e, k, j) = *at(&e, p, j), *at(&e, p, j) = t;
        }
        const zz d = *at(&a, k, k);
        for (int j = 0; j < n; j++) *at(&a, k, j) /= d, *at(&e, k, j) /= d;
        for (int i = 0; i < n; i++) {
            const zz l = *at(&a, i, k);
            for (int j = 0; j < n && i != k; j++) {
                *at(&a, i, j) -= l * *at(&a, k, j);
                *at(&e, i, j) -= l * *at(&e, k, j);
            }
        }
    }
    free(a.a);
    return e;
}

/* The block diagonal of f. */
static full diagonal_of(const full *f, int b)
{
    full d = full_new(f->n, f->is_complex);
    for (int j = 0; j < f->n; j++)
        for (int i = j / b * b; i < j / b * b + b; i++) *at(&d, i, j) = *at(f, i, j);
    return d;
}

/* block (bi, bj) of f -= block (bi, bk) of g inverse (block (bk, bk) of f) block (bk, bj) of f; with g = f also l(bi, bk) is stored. */
static void eliminate(full *f, int b, int bi, int bk, int bj, const full *inv)
{
    for (int r = 0; r < b; r++)
        for (int c = 0; c < b; c++)
            for (int p = 0; p < b; p++)
                for (int q = 0; q < b; q++)
                    *at(f, bi * b + r, bj * b + c) -= *at(f, bi * b + r, bk * b + p) *
                                                      *at(inv, p, q) *
                                                      *at(f, bk * b + q, bj * b + c);
}

static full block_inverse(const full *f, int b, int bk)
{
    full d = full_new(b, f->is_complex);
    for (int k = 0; k < b * b; k++) *at(&d, k % b, k / b) = *at(f, bk * b + k % b, bk * b + k / b);
    full e = inverse(&d);
    free(d.a);
    return e;
}

/* Right-looking: block column bk is eliminated from all rows below.  The a(bi, bk) themselves stay, so M = (D + L) D^-1 (D + U) in all
 * three methods.  DILU: only diagonal blocks change. */
static full preconditioner(const full *A, int b, trs_ilu_method method)
{
    const int blocks = A->n / b;
    full f = copy_of(A);
    if (method == TRS_BLOCK_JACOBI) {
        full d = diagonal_of(A, b);
        free(f.a);
        return d;
    }
    for (int bk = 0; bk < blocks; bk++) {
        full inv = block_inverse(&f, b, bk);
        for (int bi = bk + 1; bi < blocks; bi++)
            for (int bj = bk + 1; bj < blocks; bj++)
                if (has_block(A, b, bi, bk) && has_block(A, b, bk, bj) && has_block(A, b, bi, bj) &&
                    (method == TRS_ILU0 || bi == bj))
                    eliminate(&f, b, bi, bk, bj, &inv);
        free(inv.a);
    }
    full d = diagonal_of(&f, b), lower = copy_of(&d), upper = copy_of(&d);
    for (int j = 0; j < f.n; j++)
        for (int i = 0; i < f.n; i++) {
            if (i / b > j / b) *at(&lower, i, j) = *at(&f, i, j);
            if (i / b < j / b) *at(&upper, i, j) = *at(&f, i, j);
        }
    full inv = inverse(&d), t = product(&inv, &upper), M = product(&lower, &t);
    free(f.a), free(d.a), free(lower.a), free(upper.a), free(inv.a), free(t.a);
    return M;
}

/* ---- matrices --------------------------------------------------------------------------------- */

/* Blocks at random, full; diagonal blocks whose diagonals are zero, so that rows must be exchanged, on demand. */
static full of_blocks(int b, int blocks, bool is_complex, bool weak)
{
    full f = full_new(b * blocks, is_complex);
    for (int bj = 0; bj < blocks; bj++)
        for (int bi = 0; bi < blocks; bi++) {
            if (bi != bj && uniform() > -0.2) continue;
            for (int k = 0; k < b * b; k++)
                *at(&f, bi * b + k % b, bj * b + k / b) = number(is_complex);
            for (int k = 0; k < b && bi == bj; k++) {
                const int to = weak ? (k + 1) % b : k;
                if (weak && b > 1) *at(&f, bi * b + k, bj * b + k) = 0;
                *at(&f, bi * b + k, bj * b + to) = 3 * b + uniform();
            }
        }
    return f;
}

/* f in blocks, as BSR; free ptr, idx and val. */
static trs_mat show_blocks(const full *f, int b, trs_dtype t, trs_layout layout)
{
    const int blocks = f->n / b;
    int64_t *ptr = malloc(((size_t)blocks + 1) * sizeof *ptr), nnz = 0;
    int32_t *idx = malloc((size_t)(blocks * blocks) * sizeof *idx);
    char *val = malloc((size_t)(f->n * f->n) * size_of(t));
    for (int bi = 0; bi < blocks; bi++) {
        ptr[bi] = nnz + 1;
        for (int bj = blocks - 1; bj >= 0; bj--) { /* backwards */
            if (!has_block(f, b, bi, bj)) continue;
            for (int k = 0; k < b * b; k++) {
                const int r = layout == TRS_ROW_MAJOR ? k / b : k % b;
                const int c = layout == TRS_ROW_MAJOR ? k % b : k / b;
                set_value(val, t, nnz * b * b + k, *at(f, bi * b + r, bj * b + c));
            }
            idx[nnz++] = bj + 1;
        }
    }
    ptr[blocks] = nnz + 1;
    trs_mat m = {.n = f->n, .nnz = nnz, .ptr = ptr, .idx = idx, .val = val, .dtype = t, .base = 1};
    m.format = TRS_BSR, m.block = b, m.block_layout = layout;
    return m;
}

/* ---- solves ----------------------------------------------------------------------------------- */

static zz element(const full *M, trs_op op, int i, int j)
{
    if (op == TRS_N) return *at(M, i, j);
    return op == TRS_H ? conj(*at(M, j, i)) : *at(M, j, i);
}

/* |op(M) x - b| / (|op(M)| |x| + |b|) at most for random b, by rows or columns, in place or not, with some columns. */
static double residual(trs_lu *lu, const full *M, trs_dtype t, trs_op op, int nrhs,
                       trs_layout layout, bool in_place)
{
    const int n = M->n, ld = layout == TRS_ROW_MAJOR ? nrhs + 1 : n + 2;
    const int count = layout == TRS_ROW_MAJOR ? n * ld : nrhs * ld;
    char *b = calloc((size_t)count, size_of(t)), *x = calloc((size_t)count, size_of(t));
    double worst = 0;
    for (int k = 0; k < count; k++) set_value(b, t, k, number(M->is_complex));
    memcpy(x, b, (size_t)count * size_of(t));
    const trs_exec exec = {.layout = layout};
    assert_int_equal(trs_lu_solve(lu, op, nrhs, in_place ? x : b, ld, x, ld, &exec), TRS_OK);
    for (int r = 0; r < nrhs; r++)
        for (int i = 0; i < n; i++) {
            const int si = layout == TRS_ROW_MAJOR ? ld : 1, sr = layout == TRS_ROW_MAJOR ? 1 : ld;
            zz s = get_value(b, t, i * si + r * sr);
            double size = cabs(s);
            for (int j = 0; j < n; j++) {
                const zz term = element(M, op, i, j) * get_value(x, t, j * si + r * sr);
                s -= term;
                size += cabs(term);
            }
            worst = larger(worst, cabs(s) / size);
        }
    free(b);
    free(x);
    return worst;
}

static void check_solves(trs_lu *lu, const full *M, trs_dtype t)
{
    double worst = 0;
    for (int op = TRS_N; op <= TRS_H; op++)
        for (int nrhs = 1; nrhs <= 7; nrhs += 2)
            for (int k = 0; k < 4; k++)
                worst = larger(worst, residual(lu, M, t, op, nrhs, k / 2, k % 2));
    const double eps = M->n * eps_of(t);
    if (worst > eps) print_message("|M x - b| = %.2g n eps\n", worst / eps);
    assert_true(worst <= eps);
}

static const trs_dtype types[2][2] = {{TRS_F64, TRS_F32}, {TRS_C64, TRS_C32}};

static void definitions(void **state)
{
    (void)state;
    const trs_ilu_method methods[] = {TRS_ILU0, TRS_DILU, TRS_BLOCK_JACOBI};
    for (int b = 1; b <= MOST; b++)
        for (int k = 0; k < 4; k++)
            for (int h = 0; h < 3; h++) {
                const trs_dtype t = types[k / 2][k % 2];
                if (b == 1 && h == 0) continue; /* factors of numbers */
                full A = of_blocks(b, 9, k / 2, h % 2);
                round_to(&A, t);
                trs_mat m = show_blocks(&A, b, t, (b + k) % 2);
                const trs_ilu_options opt = {.method = methods[h], .plan.ops = 7};
                trs_lu *lu = factor(&m, &opt);
                trs_lu_info info;
                assert_int_equal(trs_lu_get_info(lu, &info), TRS_OK);
                assert_true(info.block == b && !info.l && !info.u && info.n == 9 * b);
                full M = preconditioner(&A, b, methods[h]);
                check_solves(lu, &M, t);
                trs_lu_destroy(lu);
                free(M.a), free(A.a);
                hide(&m);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(definitions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

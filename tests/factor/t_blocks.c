/* t_blocks.c: incomplete factors by blocks solve with the M of their definition: M is made of full matrices here, by
 * elimination of blocks that drops what is outside the pattern, and M x = b, or op(M) x = b, is checked.  Factors of numbers are the
 * same M where no rows are exchanged; IC(0) is ILU(0) of the Hermitian A whose lower triangle it reads.  Small examples are exact.
 * Singular blocks and values that are not finite are named.
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

/* The same, Hermitian positive definite. */
static full hermitian_blocks(int b, int blocks, bool is_complex)
{
    full f = of_blocks(b, blocks, is_complex, false);
    for (int j = 0; j < f.n; j++) {
        *at(&f, j, j) = creal(*at(&f, j, j)) + 10;
        for (int i = 0; i < j; i++) *at(&f, i, j) = conj(*at(&f, j, i));
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

/* A full first row and column of blocks: that row is searched for the few columns of the others. */
static void arrow(void **state)
{
    enum { B = 2, BLOCKS = 80 };
    (void)state;
    for (int ic = 0; ic < 2; ic++) {
        full A = ic ? hermitian_blocks(B, BLOCKS, true) : of_blocks(B, BLOCKS, true, false);
        for (int bi = 1; bi < BLOCKS; bi++)
            for (int bj = 1; bj < BLOCKS; bj++)
                for (int k = 0; k < B * B && bi != bj; k++)
                    if (ic ? abs(bi - bj) != 1 || (bi + bj) % 3 : bj - bi != bi % 3 - 1)
                        *at(&A, bi * B + k % B, bj * B + k / B) = 0;
        for (int k = 0; k < A.n; k++) {
            *at(&A, k, k) += ic ? 150 : 20;
            *at(&A, 0, k) += 0.1;
            *at(&A, k, !ic) += 0.1;
        }
        trs_mat m = show_blocks(&A, B, TRS_C64, TRS_ROW_MAJOR);
        const trs_ilu_options opt = {.method = ic ? TRS_IC0 : TRS_ILU0, .plan.ops = 7};
        trs_lu *lu = factor(&m, &opt);
        full M = preconditioner(&A, B, TRS_ILU0);
        check_solves(lu, &M, TRS_C64);
        trs_lu_destroy(lu);
        hide(&m);
        free(A.a), free(M.a);
    }
}

/* ---- IC(0) ------------------------------------------------------------------------------------ */

/* IC(0) reads neither what is above the diagonal, which is NaN here, nor the imaginary part of the diagonal. */
static void spoil_upper(trs_mat *m)
{
    const int b = m->block;
    for (int bi = 0; bi < m->n / b; bi++)
        for (int64_t p = ((int64_t *)m->ptr)[bi] - 1; p < ((int64_t *)m->ptr)[bi + 1] - 1; p++)
            for (int k = 0; k < b * b; k++) {
                const bool rows = m->block_layout == TRS_ROW_MAJOR;
                const int64_t i = (int64_t)bi * b + (rows ? k / b : k % b);
                const int64_t j =
                    (int64_t)(((int32_t *)m->idx)[p] - 1) * b + (rows ? k % b : k / b);
                const zz v = get_value(m->val, m->dtype, p * b * b + k);
                if (i < j) set_value((void *)m->val, m->dtype, p * b * b + k, NAN);
                if (i == j && (m->dtype == TRS_C64 || m->dtype == TRS_C32))
                    set_value((void *)m->val, m->dtype, p * b * b + k, v + 7 * I);
            }
}

static int64_t lower_blocks(const full *A, int b)
{
    int64_t count = 0;
    for (int bi = 0; bi < A->n / b; bi++)
        for (int bj = 0; bj <= bi; bj++) count += has_block(A, b, bi, bj);
    return count;
}

static void cholesky(void **state)
{
    (void)state;
    const trs_ilu_options opt = {.method = TRS_IC0};
    for (int b = 2; b <= MOST; b++)
        for (int k = 0; k < 4; k++) {
            const trs_dtype t = types[k / 2][k % 2];
            full A = hermitian_blocks(b, 9, k / 2);
            round_to(&A, t);
            trs_mat m = show_blocks(&A, b, t, (b + k) % 2);
            spoil_upper(&m);
            trs_lu *lu = factor(&m, &opt);
            trs_lu_info info;
            char name[30];
            snprintf(name, sizeof name, "IC(0), blocks of %d", b);
            assert_int_equal(trs_lu_get_info(lu, &info), TRS_OK);
            assert_true(info.block == b && !info.l && !info.u && info.n == 9 * b);
            assert_true(info.nnz_l == lower_blocks(&A, b) * b * b && info.nnz_u == 0);
            assert_string_equal(info.library, name);
            for (int again = 0; again < 2; again++) {
                full M = preconditioner(&A, b, TRS_ILU0);
                check_solves(lu, &M, t);
                free(M.a);
                for (int i = 0; i < A.n * A.n; i++) A.a[i] *= 1 + (i % A.n == i / A.n);
                trs_mat other = show_blocks(&A, b, t, (b + k) % 2);
                assert_int_equal(trs_lu_update(lu, &other), TRS_OK);
                hide(&other);
            }
            trs_lu_destroy(lu);
            free(A.a);
            hide(&m);
        }
}

/* With every format, and every way to show a triangle. */
static void cholesky_of_entries(void **state)
{
    (void)state;
    const trs_ilu_options opt = {.method = TRS_IC0, .block = 3};
    for (int k = 0; k < FORMS; k++)
        for (int c = 0; c < 2; c++) {
            full A = hermitian_blocks(3, 4, c);
            trs_mat m = show_full(&A, &forms[k]);
            round_to(&A, m.dtype);
            /* all numbers of a DENSE matrix are entries */
            full M = m.format == TRS_DENSE ? copy_of(&A) : preconditioner(&A, 3, TRS_ILU0);
            for (int half = 0; half < (m.format == TRS_DENSE ? 1 : 3); half++) {
                static const unsigned kinds[] = {0, TRS_SELFADJOINT | TRS_LOWER,
                                                 TRS_SELFADJOINT | TRS_UPPER};
                m.kind = kinds[half];
                trs_lu *lu = factor(&m, &opt);
                check_solves(lu, &M, m.dtype);
                trs_lu_destroy(lu);
            }
            hide(&m);
            free(A.a), free(M.a);
        }
}

/* ---- examples --------------------------------------------------------------------------------- */

/* Two block rows without fill, so that M = A, whose solution is exact:
 *     | 0 1 | 2 0 |       | 1 |   | 7 |
 *     | 1 0 | 0 2 |   x   | 2 | = | 9 |
 *     | 1 0 | 4 0 |       | 3 |   |13 |
 *     | 0 1 | 1 4 |       | 4 |   |21 |   The first pivot is zero: rows 1 and 2 are exchanged within the block. */
static void exact(void **state)
{
    static const double a[4][4] = {{0, 1, 2, 0}, {1, 0, 0, 2}, {1, 0, 4, 0}, {0, 1, 1, 4}};
    static const double wanted[4] = {1, 2, 3, 4};
    (void)state;
    full A = full_new(4, false);
    double x[4] = {0};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            *at(&A, i, j) = a[i][j];
            x[i] += a[i][j] * wanted[j];
        }
    trs_mat m = show_blocks(&A, 2, TRS_F64, TRS_ROW_MAJOR), whole = show_full(&A, &plain);
    const trs_ilu_options two = {.block = 2}, one = {.block = 1};
    const trs_mat *of[] = {&m, &whole};
    /* the second: CSR without zeros, of which block says how it is cut */
    for (int k = 0; k < 2; k++) {
        double y[4];
        trs_lu *lu = factor(of[k], k ? &two : NULL);
        assert_int_equal(trs_lu_solve(lu, TRS_N, 1, x, 4, y, 4, NULL), TRS_OK);
        for (int i = 0; i < 4; i++) assert_true(fabs(y[i] - wanted[i]) <= 1e-14);
        assert_int_equal(trs_lu_factors(lu, NULL, NULL, NULL, NULL, NULL), TRS_ESUPPORT);
        assert_non_null(strstr(trs_message(), "block = 1"));
        trs_lu_destroy(lu);
    }
    trs_lu *lu;
    const int rc = trs_ilu(&lu, &m, &one); /* by numbers there is a zero pivot */
    assert_refused(lu, rc, TRS_EPIVOT, "row 1: the pivot of ILU(0) is zero");
    hide(&m);
    hide(&whole);
    free(A.a);
}

/* Where no rows need to be exchanged, M is that of factors by numbers; and the block size is found in CSR from 1000 rows on, if
 * blocks are nine tenths full. */
static void found(void **state)
{
    enum { B = 3, N = 1002 };
    (void)state;
    for (int zeros = 0; zeros < 2; zeros++) {
        int64_t *ptr = malloc((N + 1) * sizeof *ptr), nnz = 0;
        int32_t *idx = malloc(sizeof *idx * N * 3 * B);
        double *val = malloc(sizeof *val * N * 3 * B), b[N], x[2][N];
        for (int i = 0; i < N; i++) {
            ptr[i] = nnz;
            b[i] = uniform();
            for (int j = i / B * B - B; j < i / B * B + 2 * B; j++) {
                if (j < 0 || j >= N || (zeros && (i + j) % 8 == 1)) continue;
                val[nnz] = i == j ? 9 : uniform();
                idx[nnz++] = j;
            }
        }
        ptr[N] = nnz;
        const trs_mat m = {.n = N, .nnz = nnz, .ptr = ptr, .idx = idx, .val = val};
        for (int k = 0; k < 4; k++) {
            const trs_ilu_options opt = {.method = k / 2 ? TRS_IC0 : TRS_ILU0, .block = k % 2};
            const char *name = k / 2 ? "IC(0)" : "ILU(0)";
            char with_blocks[30];
            trs_lu_info info;
            trs_lu *lu = factor(&m, &opt);
            snprintf(with_blocks, sizeof with_blocks, "%s, blocks of 3", name);
            assert_int_equal(trs_lu_get_info(lu, &info), TRS_OK);
            assert_int_equal(info.block, k % 2 || zeros ? 0 : B);
            assert_true(!info.l == !!info.block && info.nnz_l > 0);
            assert_true(k / 2 ? info.nnz_u == 0 : info.nnz_u >= info.nnz_l);
            assert_string_equal(info.library, info.block ? with_blocks : name);
            assert_int_equal(trs_lu_solve(lu, TRS_N, 1, b, N, x[k % 2], N, NULL), TRS_OK);
            trs_lu_destroy(lu);
            for (int i = 0; i < N && k % 2; i++) assert_true(fabs(x[0][i] - x[1][i]) < 1e-14);
        }
        free(ptr), free(idx), free(val);
    }
}

/* ---- iterations --------------------------------------------------------------------------------- */

enum { SIDE = 10, NODES = SIDE * SIDE * SIDE };

/* The 27-point Laplacian times a full 3 x 3 matrix, as BSR. */
static trs_mat stiffness(void)
{
    static const double s[3][3] = {{2, 0.5, 0.3}, {0.5, 1, 0.2}, {0.3, 0.2, 1}};
    int64_t *ptr = malloc((NODES + 1) * sizeof *ptr), nnz = 0;
    int32_t *idx = malloc(NODES * 27 * sizeof *idx);
    double *val = malloc(NODES * 27 * 9 * sizeof *val);
    for (int i = 0; i < NODES; i++) {
        ptr[i] = nnz;
        for (int k = 0; k < 27; k++) {
            const int x = i % SIDE + k % 3 - 1, y = i / SIDE % SIDE + k / 3 % 3 - 1;
            const int z = i / SIDE / SIDE + k / 9 - 1;
            if (x < 0 || x >= SIDE || y < 0 || y >= SIDE || z < 0 || z >= SIDE) continue;
            for (int q = 0; q < 9; q++) val[nnz * 9 + q] = s[q / 3][q % 3] * (k == 13 ? 26 : -1);
            idx[nnz++] = x + SIDE * (y + SIDE * z);
        }
    }
    ptr[NODES] = nnz;
    trs_mat m = {.n = 3 * NODES, .nnz = nnz, .ptr = ptr, .idx = idx, .val = val};
    m.format = TRS_BSR, m.block = 3;
    return m;
}

/* Iterations of CG.  block = -1: without a preconditioner. */
static int64_t iterations(const trs_mat *m, trs_ilu_method method, int block)
{
    const trs_ilu_options opt = {.method = method, .block = block};
    const trs_krylov_goal goal = {.rtol = 1e-10, .max_iterations = 1000};
    double *b = malloc(2 * (size_t)m->n * sizeof *b), *x = b + m->n;
    trs_lu *lu = block < 0 ? NULL : factor(m, &opt);
    trs_krylov *k;
    trs_krylov_info info;
    for (int i = 0; i < m->n; i++) b[i] = 1 + i % 7, x[i] = 0;
    const trs_krylov_options with = {.method = TRS_CG, .dtype = TRS_F64, .n = m->n};
    assert_int_equal(trs_krylov_create(&k, &with), TRS_OK);
    const trs_map A = {.mat = m}, P = {.lu = lu};
    assert_int_equal(trs_krylov_solve(k, &A, lu ? &P : NULL, 1, b, m->n, x, m->n, &goal, &info),
                     TRS_OK);
    assert_int_equal(info.stop, TRS_STOP_CONVERGED);
    trs_krylov_destroy(k);
    trs_lu_destroy(lu);
    free(b);
    return info.iterations;
}

/* M of full blocks is that of numbers, and so are the iterations; they are fewer than those with the diagonal blocks alone. */
static void conjugate_gradients(void **state)
{
    (void)state;
    trs_mat m = stiffness();
    const int64_t plain_cg = iterations(&m, TRS_IC0, -1), numbers = iterations(&m, TRS_IC0, 1);
    const int64_t blocks = iterations(&m, TRS_IC0, 0), lu = iterations(&m, TRS_ILU0, 0);
    const int64_t jacobi = iterations(&m, TRS_BLOCK_JACOBI, 0);
    print_message("CG: %d, Jacobi %d, IC(0) by numbers %d, by blocks %d, ILU(0) %d\n",
                  (int)plain_cg, (int)jacobi, (int)numbers, (int)blocks, (int)lu);
    assert_true(llabs(blocks - numbers) <= 1 && llabs(blocks - lu) <= 1);
    assert_true(3 * blocks <= 2 * jacobi && jacobi < plain_cg);
    hide(&m);
}

/* ---- threads, updates --------------------------------------------------------------------------- */

enum { GRID = 12, WIDE_B = 8, WIDE_N = GRID * GRID * GRID * WIDE_B };

/* The 27-point grid, with levels that threads share. */
static trs_mat wide(void)
{
    const int nodes = GRID * GRID * GRID;
    int64_t *ptr = malloc((size_t)(nodes + 1) * sizeof *ptr), nnz = 0;
    int32_t *idx = malloc((size_t)nodes * 27 * sizeof *idx);
    double *val = malloc((size_t)nodes * 27 * WIDE_B * WIDE_B * sizeof *val);
    for (int i = 0; i < nodes; i++) {
        ptr[i] = nnz;
        for (int k = 0; k < 27; k++) {
            const int x = i % GRID + k % 3 - 1, y = i / GRID % GRID + k / 3 % 3 - 1;
            const int z = i / GRID / GRID + k / 9 - 1;
            if (x < 0 || x >= GRID || y < 0 || y >= GRID || z < 0 || z >= GRID) continue;
            for (int q = 0; q < WIDE_B * WIDE_B; q++)
                val[nnz * WIDE_B * WIDE_B + q] = uniform() + (k == 13 && q % 9 == 0 ? 200 : 0);
            idx[nnz++] = x + GRID * (y + GRID * z);
        }
    }
    ptr[nodes] = nnz;
    trs_mat m = {.n = WIDE_N, .nnz = nnz, .ptr = ptr, .idx = idx, .val = val, .format = TRS_BSR};
    m.block = WIDE_B;
    return m;
}

/* Threads, work spaces, and an update with other values before, change no bit. */
static void threads(void **state)
{
    (void)state;
    trs_mat m = wide();
    double *b = malloc(4 * WIDE_N * sizeof *b), *x = b + WIDE_N, *y = x + WIDE_N, *z = y + WIDE_N;
    for (int k = 0; k < WIDE_N; k++) b[k] = uniform();
    const trs_ilu_method methods[] = {TRS_ILU0, TRS_DILU, TRS_IC0};
    for (int method = 0; method < 3; method++) {
        trs_ilu_options opt = {.method = methods[method]};
        opt.plan = (trs_options){.threads = 1, .ops = 7};
        trs_lu *one = factor(&m, &opt), *many;
        opt.plan.threads = 7;
        trs_mat other = m;
        double *v = calloc((size_t)m.nnz * WIDE_B * WIDE_B, sizeof *v);
        other.val = v;
        int rc = trs_ilu(&many, &other, &opt); /* all zero */
        assert_int_equal(rc, TRS_EPIVOT);
        assert_int_equal(trs_lu_solve(many, TRS_N, 1, b, WIDE_N, x, WIDE_N, NULL), TRS_ESTATE);
        int64_t bad, first;
        assert_int_equal(trs_lu_status(many, &bad, &first, NULL), TRS_EPIVOT);
        assert_true(bad == WIDE_N / WIDE_B && first == 0);
        assert_int_equal(trs_lu_update(many, &m), TRS_OK);
        trs_lu_work *work;
        assert_int_equal(trs_lu_work_create(&work, many, 1), TRS_OK);
        const trs_exec exec = {.lu_work = work, .threads = 5};
        for (int op = TRS_N; op <= TRS_T; op++) {
            trs_lu_solve(one, op, 1, b, WIDE_N, x, WIDE_N, NULL);
            assert_int_equal(trs_lu_solve(many, op, 1, b, WIDE_N, y, WIDE_N, NULL), TRS_OK);
            assert_int_equal(trs_lu_solve(many, op, 1, b, WIDE_N, z, WIDE_N, &exec), TRS_OK);
            assert_memory_equal(x, y, WIDE_N * sizeof *x);
            assert_memory_equal(x, z, WIDE_N * sizeof *x);
        }
        trs_lu_work_destroy(work);
        trs_lu_destroy(one);
        trs_lu_destroy(many);
        free(v);
    }
    free(b);
    hide(&m);
}

/* ---- bad blocks ----------------------------------------------------------------------------------- */

/* Block row 2 of three becomes singular, or its first pivot small. */
static full with_block(double d)
{
    full A = full_new(6, false);
    for (int k = 0; k < 6; k++) *at(&A, k, k) = 2;
    *at(&A, 0, 5) = 1;
    *at(&A, 3, 0) = 8;
    for (int k = 2; k < 4; k++)
        for (int j = 2; j < 4; j++) *at(&A, k, j) = k == 3 && j == 3 ? 1 + d : 1;
    return A;
}

static void bad_blocks(void **state)
{
    (void)state;
    for (int method = 0; method < 3; method++) {
        trs_ilu_options opt = {.method = method ? TRS_DILU + method - 1 : TRS_ILU0};
        full A = with_block(0);
        trs_mat m = show_blocks(&A, 2, TRS_F64, TRS_COL_MAJOR);
        trs_lu *lu;
        int rc = trs_ilu(&lu, &m, &opt);
        assert_refused(lu, rc, TRS_EPIVOT, "rows 3 to 4: the diagonal block of");
        opt.boost = 0.25; /* of the 8, except for Jacobi, which has no 8 */
        const double size = method == 2 ? 0.25 : 2;
        lu = factor(&m, &opt);
        trs_lu_info info;
        trs_lu_get_info(lu, &info);
        assert_int_equal(info.boosted, method == 2 ? 1 : 2);
        double b[6] = {0, 0, 0, 1, 0, 0}; /* x(4) = 1 / the second pivot */
        assert_int_equal(trs_lu_solve(lu, TRS_N, 1, b, 6, b, 6, NULL), TRS_OK);
        assert_true(b[3] == 1 / (method == 2 ? size : 2));
        trs_lu_destroy(lu);
        for (int k = 0; k < 2; k++) {
            set_value((void *)m.val, TRS_F64, 9, k ? INFINITY : NAN);
            rc = trs_ilu(&lu, &m, &opt);
            assert_refused(lu, rc, TRS_EMATRIX, "a value is not finite");
        }
        hide(&m);
        free(A.a);
    }
    full A = with_block(0);
    *at(&A, 0, 0) = 1e-300, *at(&A, 2, 0) = 1e300, *at(&A, 0, 2) = 1e300;
    trs_mat m = show_blocks(&A, 2, TRS_F64, TRS_COL_MAJOR);
    trs_lu *lu;
    const int rc = trs_ilu(&lu, &m, NULL);
    assert_refused(lu, rc, TRS_EPIVOT,
                   "rows 3 to 4: the diagonal block of ILU(0), blocks of 2 is not finite");
    hide(&m);
    free(A.a);
}

/* A Hermitian block is refused if it has a pivot that is not positive, even if it is not singular and exchanges of rows would find
 * others.  boost replaces them. */
static void indefinite(void **state)
{
    (void)state;
    static const double of[][3] = {{2, 3, 1}, {-2, 0, 5}, {0, 1, 0}, {4, 8, 16}}; /* a, b; b, c */
    for (int k = 0; k < 8; k++) {
        const trs_dtype t = k / 4 ? TRS_C64 : TRS_F64;
        full A = hermitian_blocks(2, 4, k / 4);
        for (int i = 0; i < A.n; i++)
            for (int j = 4; j < 6 && i < 6; j++) *at(&A, i, j) = *at(&A, j, i) = 0;
        *at(&A, 4, 4) = of[k % 4][0], *at(&A, 5, 5) = of[k % 4][2];
        *at(&A, 5, 4) = of[k % 4][1] * (k / 4 ? I : 1);
        *at(&A, 4, 5) = conj(*at(&A, 5, 4));
        trs_mat m = show_blocks(&A, 2, t, TRS_COL_MAJOR);
        const trs_ilu_options plain_ic = {.method = TRS_IC0};
        trs_lu *lu;
        const int rc = trs_ilu(&lu, &m, &plain_ic);
        int64_t bad, first;
        assert_int_equal(rc, TRS_EPIVOT);
        assert_non_null(strstr(trs_message(), "rows 5 to 6: the diagonal block of IC(0), blocks of "
                                              "2 is not positive definite"));
        assert_int_equal(trs_lu_status(lu, &bad, &first, NULL), TRS_EPIVOT);
        assert_true(first == 4 && bad >= 1);
        trs_lu_destroy(lu);
        const trs_ilu_options opt = {.method = TRS_IC0, .boost = 1};
        trs_lu_info info;
        lu = factor(&m, &opt);
        assert_int_equal(trs_lu_get_info(lu, &info), TRS_OK);
        assert_true(info.block == 2 && info.boosted >= 1);
        trs_lu_destroy(lu);
        hide(&m);
        free(A.a);
    }
}

/* A block alone, whose pivots are 1 and 2 - 4 = -2, which becomes 0.25 x 2:  M = | 1 2 |   M^-1 = | 9 -4 |
 *                                                                             | 2 4.5 |          | -4 2 |   */
static void boosted(void **state)
{
    (void)state;
    full A = full_new(2, false);
    *at(&A, 0, 0) = 1, *at(&A, 0, 1) = *at(&A, 1, 0) = *at(&A, 1, 1) = 2;
    trs_mat m = show_blocks(&A, 2, TRS_F64, TRS_COL_MAJOR);
    const trs_ilu_options opt = {.method = TRS_IC0, .boost = 0.25};
    trs_lu *lu = factor(&m, &opt);
    trs_lu_info info;
    double x[2] = {1, 0};
    assert_int_equal(trs_lu_get_info(lu, &info), TRS_OK);
    assert_int_equal(info.boosted, 1);
    assert_int_equal(trs_lu_solve(lu, TRS_N, 1, x, 2, x, 2, NULL), TRS_OK);
    assert_true(x[0] == 9 && x[1] == -4);
    trs_lu_destroy(lu);
    hide(&m);
    free(A.a);
}

/* The diagonal is multiplied by 1 + shift. */
static void shift(void **state)
{
    (void)state;
    for (int ic = 0; ic < 2; ic++) {
        full A = ic ? hermitian_blocks(3, 5, false) : of_blocks(3, 5, false, false);
        const trs_ilu_options opt = {.method = ic ? TRS_IC0 : TRS_ILU0, .shift = 0.5};
        trs_mat m = show_blocks(&A, 3, TRS_F64, TRS_COL_MAJOR);
        trs_lu *lu = factor(&m, &opt);
        for (int k = 0; k < A.n; k++) *at(&A, k, k) *= 1.5;
        full M = preconditioner(&A, 3, TRS_ILU0);
        assert_true(residual(lu, &M, TRS_F64, TRS_N, 1, TRS_COL_MAJOR, false) < 1e-14);
        trs_lu_destroy(lu);
        hide(&m);
        free(A.a), free(M.a);
    }
}

static void refuse(const trs_mat *m, trs_ilu_options opt, int code, const char *says)
{
    trs_lu *lu;
    const int rc = trs_ilu(&lu, m, &opt);
    assert_refused(lu, rc, code, says);
}

static void refused(void **state)
{
    (void)state;
    full A = of_blocks(2, 5, false, false);
    trs_mat m = show_blocks(&A, 2, TRS_F64, TRS_COL_MAJOR);
    refuse(&m, (trs_ilu_options){.block = -1}, TRS_EARG, "block must be in 0 .. 8");
    refuse(&m, (trs_ilu_options){.block = 9}, TRS_EARG, "block must be in 0 .. 8");
    refuse(&m, (trs_ilu_options){.block = 3}, TRS_EARG, "n = 10 is not a multiple");
    refuse(&m, (trs_ilu_options){.block = 2, .level = 1}, TRS_EARG, "block is of");
    refuse(&m, (trs_ilu_options){.block = 2, .method = TRS_ICT}, TRS_EARG, "block is of");
    refuse(&m, (trs_ilu_options){.block = 2, .plan.solver = "cpu-serial"}, TRS_EARG, "block is of");
    refuse(&m, (trs_ilu_options){.method = TRS_DILU, .level = 1}, TRS_EARG, "take neither level");
    refuse(&m, (trs_ilu_options){.method = TRS_BLOCK_JACOBI, .ordering = TRS_ILU_RCM}, TRS_EARG,
           "take neither level");
    refuse(&m, (trs_ilu_options){.plan.memory_limit = 100}, TRS_EMEM, "over the limit");
    hide(&m);
    free(A.a);
}

/* Orders, fill and named solvers take the numbers of a BSR. */
static void numbers(void **state)
{
    (void)state;
    full A = of_blocks(2, 5, false, false);
    trs_mat m = show_blocks(&A, 2, TRS_F64, TRS_COL_MAJOR);
    const trs_ilu_options with[] = {{.block = 1},
                                    {.level = 1},
                                    {.ordering = TRS_ILU_RCM},
                                    {.plan.solver = "cpu-serial"},
                                    {.method = TRS_ILUT}};
    for (int k = 0; k < 5; k++) {
        trs_lu_info info;
        trs_lu *lu = factor(&m, &with[k]);
        trs_lu_get_info(lu, &info);
        assert_true(info.block == 0 && info.l && info.u);
        trs_lu_destroy(lu);
    }
    hide(&m);
    free(A.a);
}

static void no_memory(void **state)
{
    (void)state;
    full A = hermitian_blocks(2, 5, false);
    trs_mat m = show_blocks(&A, 2, TRS_F64, TRS_COL_MAJOR);
    check_out_of_memory(&m, (trs_ilu_options){.plan.ops = 7});
    check_out_of_memory(&m, (trs_ilu_options){.method = TRS_IC0, .plan.ops = 7});
    check_out_of_memory(&m, (trs_ilu_options){.method = TRS_DILU});
    hide(&m);
    free(A.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(definitions),
        cmocka_unit_test(arrow),
        cmocka_unit_test(exact),
        cmocka_unit_test(found),
        cmocka_unit_test(threads),
        cmocka_unit_test(shift),
        cmocka_unit_test(bad_blocks),
        cmocka_unit_test(refused),
        cmocka_unit_test(numbers),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(cholesky),
        cmocka_unit_test(cholesky_of_entries),
        cmocka_unit_test(indefinite),
        cmocka_unit_test(boosted),
        cmocka_unit_test(conjugate_gradients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

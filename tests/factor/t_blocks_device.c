/* t_blocks_device.c: incomplete factors by blocks on a device solve as those of the host do, which t_blocks.c compares with their
 * definition: for every size, type, method and op, with A on either side, after updates, in graphs, with rows of any length and
 * few blocks of threads.  Bad diagonal blocks are named in the words of the host. */
#include "incomplete.h"
#include "there.h"

enum { MOST = 8 };

/* ---- matrices --------------------------------------------------------------------------------- */

/* A BSR in its own arrays; hide frees it. */
static trs_mat bsr_new(int blocks, int64_t most, int b, trs_dtype t)
{
    int64_t *ptr = calloc((size_t)blocks + 1, sizeof *ptr);
    int32_t *idx = malloc((size_t)most * sizeof *idx);
    char *val = malloc((size_t)(most * b * b) * size_of(t));
    trs_mat m = {.n = (int64_t)blocks * b, .ptr = ptr, .idx = idx, .val = val, .dtype = t};
    m.format = TRS_BSR, m.block = b;
    return m;
}

/* Append block j to a row; `size` is that of its diagonal, or, if it is weak, of the one next to it, and the diagonal is zero. */
static void add_block(trs_mat *m, int32_t j, double size, bool weak)
{
    const int b = m->block;
    const bool is_complex = m->dtype == TRS_C64 || m->dtype == TRS_C32;
    for (int k = 0; k < b * b; k++) {
        zz v = number(is_complex);
        const int r = k % b, c = k / b;
        if (weak && size > 0 && r == c && b > 1) v = 0;
        if (size > 0 && c == (weak ? (r + 1) % b : r)) v = size + uniform();
        set_value((void *)m->val, m->dtype, m->nnz * b * b + k, v);
    }
    ((int32_t *)m->idx)[m->nnz++] = j;
}

/* Row i has the blocks j for which has (i, j), backwards; the diagonal dominates by numbers, or with rows exchanged. */
static trs_mat bsr_where(int blocks, int b, trs_dtype t, bool weak, bool (*has)(int, int, int))
{
    trs_mat m = bsr_new(blocks, (int64_t)blocks * blocks, b, t);
    for (int i = 0; i < blocks; i++) {
        int count = 0;
        for (int j = 0; j < blocks; j++) count += i == j || has(i, j, blocks);
        for (int j = blocks - 1; j >= 0; j--)
            if (i == j) add_block(&m, j, 3.0 * b * count, weak);
            else if (has(i, j, blocks)) add_block(&m, j, 0, false);
        ((int64_t *)m.ptr)[i + 1] = m.nnz;
    }
    return m;
}

static bool at_random(int i, int j, int blocks)
{
    (void)i, (void)j;
    return uniform() > 1 - 8.0 / blocks;
}

static bool in_arrow(int i, int j, int blocks)
{
    return i == 0 || j == 0 || i == blocks - 1;
}

static bool everywhere(int i, int j, int blocks)
{
    (void)i, (void)j, (void)blocks;
    return true;
}

static bool nowhere(int i, int j, int blocks)
{
    (void)i, (void)j, (void)blocks;
    return false;
}

/* Blocks at random, backwards in each row. */
static trs_mat random_bsr(int blocks, int b, trs_dtype t, bool weak)
{
    trs_mat m = bsr_new(blocks, (int64_t)blocks * blocks, b, t);
    for (int i = 0; i < blocks; i++) {
        for (int j = blocks - 1; j >= 0; j--)
            if (i == j) add_block(&m, j, 30.0 * b, weak);
            else if (at_random(i, j, blocks)) add_block(&m, j, 0, false);
        ((int64_t *)m.ptr)[i + 1] = m.nnz;
    }
    return m;
}

/* The 27-point grid. */
static trs_mat grid(int m1, int b, trs_dtype t)
{
    trs_mat m = bsr_new(m1 * m1 * m1, (int64_t)27 * m1 * m1 * m1, b, t);
    for (int i = 0; i < m1 * m1 * m1; i++) {
        for (int k = 0; k < 27; k++) {
            const int x = i % m1 + k % 3 - 1, y = i / m1 % m1 + k / 3 % 3 - 1;
            const int z = i / m1 / m1 + k / 9 - 1;
            if (x < 0 || x >= m1 || y < 0 || y >= m1 || z < 0 || z >= m1) continue;
            add_block(&m, x + m1 * (y + m1 * z), k == 13 ? 30.0 * b : 0, false);
        }
        ((int64_t *)m.ptr)[i + 1] = m.nnz;
    }
    return m;
}

/* Other values in the same pattern, every number times 1 + a little. */
static void change_values(trs_mat *m)
{
    for (int64_t k = 0; k < m->nnz * m->block * m->block; k++)
        set_value((void *)m->val, m->dtype, k,
                  get_value(m->val, m->dtype, k) * (1 + 0.1 * uniform()));
}

/* ---- solves on both sides --------------------------------------------------------------------------- */

/* By blocks of b, on the host or the device. */
static trs_lu *factored(const trs_mat *m, trs_ilu_options opt, int device, int b)
{
    trs_lu_info info;
    opt.plan.device = device;
    trs_lu *lu = factor(m, &opt);
    assert_int_equal(trs_lu_get_info(lu, &info), TRS_OK);
    assert_int_equal(info.block, b);
    assert_true(!info.l && !info.u && (info.kernel != NULL) == (device > 0));
    return lu;
}

typedef struct shape { /* of B and X */
    trs_op op;
    int nrhs;
    trs_layout layout;
    bool in_place;
} shape;

/* x of the device; b, x are on the host. */
static void solve_there(trs_lu *lu, const shape *s, const void *b, void *x, size_t bytes, int ld,
                        const trs_exec *e)
{
    trs_exec exec = {.layout = s->layout};
    if (e) exec = *e;
    void *from = array_there(b, bytes), *to = s->in_place ? from : array_there(x, bytes);
    assert_int_equal(trs_lu_solve(lu, s->op, s->nrhs, from, ld, to, ld, &exec), TRS_OK);
    assert_int_equal(trs_device_get(TRS_CUDA(0), x, to, bytes), TRS_OK);
    free_there(from);
    if (!s->in_place) free_there(to);
}

/* max |x - y| / (eps max |y|) of x by the device and y by the host. */
static double apart(trs_lu *dev, trs_lu *host, trs_dtype t, int n, const shape *s)
{
    const int ld = s->layout == TRS_ROW_MAJOR ? s->nrhs + 1 : n + 2;
    const int count = s->layout == TRS_ROW_MAJOR ? n * ld : s->nrhs * ld;
    const size_t bytes = (size_t)count * size_of(t);
    char *b = calloc(3, bytes), *x = b + bytes, *y = x + bytes;
    const trs_exec exec = {.layout = s->layout};
    double worst = 0, largest = 0;
    for (int k = 0; k < count; k++) set_value(b, t, k, number(t == TRS_C64 || t == TRS_C32));
    solve_there(dev, s, b, x, bytes, ld, NULL);
    assert_int_equal(trs_lu_solve(host, s->op, s->nrhs, b, ld, y, ld, &exec), TRS_OK);
    for (int r = 0; r < s->nrhs; r++)
        for (int i = 0; i < n; i++) {
            const int k = s->layout == TRS_ROW_MAJOR ? i * ld + r : i + r * ld;
            const zz v = get_value(x, t, k), w = get_value(y, t, k);
            assert_true(isfinite(creal(v)) && isfinite(cimag(v)));
            worst = larger(worst, cabs(v - w));
            largest = larger(largest, cabs(w));
        }
    free(b);
    return worst / (eps_of(t) * largest);
}

static void compare(trs_lu *dev, trs_lu *host, const trs_mat *m, int most_nrhs)
{
    double worst = 0;
    for (int op = TRS_N; op <= TRS_H; op++)
        for (int nrhs = 1; nrhs <= most_nrhs; nrhs += 2) {
            const shape s = {(trs_op)op, nrhs, (trs_layout)(nrhs / 2 % 2), op % 2};
            worst = larger(worst, apart(dev, host, m->dtype, (int)m->n, &s));
        }
    if (worst > 1000) print_message("%g eps apart\n", worst);
    assert_true(worst <= 1000);
}

/* With A on either side, and after an update from the other one. */
static void check(trs_mat *m, trs_ilu_options opt)
{
    opt.plan.ops = 7;
    trs_lu *before = factored(m, opt, TRS_HOST, m->block);
    trs_mat d = there(m);
    trs_lu *dev[2] = {factored(m, opt, TRS_CUDA(0), m->block),
                      factored(&d, opt, TRS_CUDA(0), m->block)};
    for (int side = 0; side < 2; side++) compare(dev[side], before, m, side ? 1 : 3);
    change_values(m);
    send_values(&d, m);
    trs_lu *after = factored(m, opt, TRS_HOST, m->block);
    for (int side = 0; side < 2; side++) {
        trs_mat values = side ? *m : d;
        values.ptr = values.idx = NULL;
        assert_int_equal(trs_lu_update(dev[side], &values), TRS_OK);
        compare(dev[side], after, m, 1);
        trs_lu_destroy(dev[side]);
    }
    trs_lu_destroy(before);
    trs_lu_destroy(after);
    away(&d);
}

static const trs_dtype types[4] = {TRS_F64, TRS_F32, TRS_C64, TRS_C32};
/* IC(0) takes the lower triangle of each matrix here for that of a Hermitian one. */
static const trs_ilu_method methods[4] = {TRS_ILU0, TRS_DILU, TRS_BLOCK_JACOBI, TRS_IC0};

/* b = 1: these two are by numbers. */
static bool needs_blocks(trs_ilu_method method)
{
    return method == TRS_ILU0 || method == TRS_IC0;
}

static void same_as_on_the_host(void **state)
{
    (void)state;
    static const int sizes[] = {1, 2, 9, 60};
    for (int b = 1; b <= MOST; b++)
        for (int k = 0; k < 4; k++)
            for (int h = 0; h < 4; h++) {
                const bool weak = (b + h) % 2 && methods[h] != TRS_IC0;
                if (b == 1 && needs_blocks(methods[h])) continue;
                trs_mat m = random_bsr(sizes[(b + k + h) % 4], b, types[k], weak);
                m.block_layout = (trs_layout)(k % 2);
                const trs_ilu_options opt = {.method = methods[h], .shift = k == 1 ? 0.01 : 0};
                check(&m, opt);
                hide(&m);
            }
}

/* Long rows, which shared memory does not hold, and rows of U that are searched; few blocks of threads wait for one another. */
static void long_rows(void **state)
{
    (void)state;
    for (int few = 0; few < 2; few++) {
        if (few) setenv("TRISOLVE_BLOCKS", "1", 1);
        for (int k = 0; k < 4; k++) {
            const int b = k % 2 ? 8 : 3;
            for (int h = 0; h < 4; h++) {
                const bool weak = k / 2 && methods[h] != TRS_IC0;
                if (methods[h] == TRS_BLOCK_JACOBI) continue;
                trs_mat m = bsr_where(90, b, types[k], weak, k == 2 ? everywhere : in_arrow);
                check(&m, (trs_ilu_options){.method = methods[h]});
                hide(&m);
            }
        }
        unsetenv("TRISOLVE_BLOCKS");
    }
}

/* Blocks of CSR are those that the options name. */
static void of_entries(void **state)
{
    (void)state;
    full A = full_new(12, false);
    for (int j = 0; j < 12; j++)
        for (int i = 0; i < 12; i++)
            if (i == j || uniform() > 0.4) A.a[i + 12 * j] = i == j ? 20 : uniform();
    for (int k = 0; k < FORMS; k++) {
        trs_mat m = show_full(&A, &forms[k]), d = there(&m);
        const trs_ilu_options opt = {.block = 3, .plan.ops = 7};
        trs_lu *host = factored(&m, opt, TRS_HOST, 3), *dev = factored(&d, opt, TRS_CUDA(0), 3);
        compare(dev, host, &m, 3);
        assert_int_equal(trs_lu_factors(dev, NULL, NULL, NULL, NULL, NULL), TRS_ESUPPORT);
        trs_det det;
        assert_int_equal(trs_lu_determinant(dev, &det), TRS_ESUPPORT);
        trs_lu_destroy(host);
        trs_lu_destroy(dev);
        away(&d);
        hide(&m);
    }
    free(A.a);
}

/* Where a list of products would be much longer than the factors, ILU(0) is by numbers, and DILU is not made. */
static void many_products(void **state)
{
    (void)state;
    for (int ic = 0; ic < 2; ic++) { /* IC(0) has half as many */
        trs_mat m = bsr_where(ic ? 420 : 280, 2, TRS_F64, false, everywhere);
        trs_ilu_options opt = {.method = ic ? TRS_IC0 : TRS_ILU0, .plan.device = TRS_CUDA(0)};
        trs_lu_info info;
        trs_lu *lu = factor(&m, &opt);
        assert_int_equal(trs_lu_get_info(lu, &info), TRS_OK);
        assert_true(info.block == 0 && info.l && (info.u == NULL) == ic);
        assert_string_equal(info.library, ic ? "IC(0)" : "ILU(0)");
        trs_lu_destroy(lu);
        if (!ic) check(&m, (trs_ilu_options){.method = TRS_DILU});
        hide(&m);
    }
}

/* ---- bits ----------------------------------------------------------------------------------------- */

/* Every update and every solve have the same bits, whichever warps do them, and with any work space. */
static void bits(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        trs_mat m = grid(12, k % 2 ? 8 : 3, types[k]), d = there(&m);
        const size_t bytes = (size_t)m.n * size_of(m.dtype);
        char *b = calloc(3, bytes), *x = b + bytes, *y = x + bytes;
        static const trs_ilu_method of[] = {TRS_ILU0, TRS_IC0, TRS_IC0, TRS_DILU};
        const trs_ilu_options opt = {.method = of[k]};
        const shape s = {.nrhs = 1};
        trs_lu *lu = factored(&d, opt, TRS_CUDA(0), m.block), *host, *few;
        host = factored(&m, opt, TRS_HOST, m.block);
        assert_true(apart(lu, host, m.dtype, (int)m.n, &s) < 1000);
        setenv("TRISOLVE_BLOCKS", "2", 1);
        few = factored(&d, opt, TRS_CUDA(0), m.block);
        unsetenv("TRISOLVE_BLOCKS");
        for (int i = 0; i < m.n; i++) set_value(b, m.dtype, i, number(k > 1));
        solve_there(lu, &s, b, x, bytes, (int)m.n, NULL);
        solve_there(few, &s, b, y, bytes, (int)m.n, NULL);
        assert_memory_equal(x, y, bytes);
        trs_lu_work *work;
        assert_int_equal(trs_lu_work_create(&work, lu, 1), TRS_OK);
        const trs_exec exec = {.lu_work = work};
        for (int again = 0; again < 20; again++) {
            assert_int_equal(trs_lu_update(lu, &d), TRS_OK);
            solve_there(lu, &s, b, y, bytes, (int)m.n, again % 2 ? &exec : NULL);
            assert_memory_equal(x, y, bytes);
        }
        trs_lu_work_destroy(work);
        trs_lu_destroy(lu), trs_lu_destroy(few), trs_lu_destroy(host);
        away(&d);
        hide(&m);
        free(b);
    }
}

/* A NaN in b reaches the blocks that depend on it, and no other. */
static void a_nan(void **state)
{
    (void)state;
    enum { B = 3, BLOCKS = 40, SIZE = B * BLOCKS };
    trs_mat m = bsr_where(BLOCKS, B, TRS_F64, false, nowhere);
    trs_lu *lu = factored(&m, (trs_ilu_options){0}, TRS_CUDA(0), B);
    double b[SIZE], x[SIZE] = {0};
    const shape s = {.nrhs = 1};
    for (int i = 0; i < SIZE; i++) b[i] = 1;
    memset(b + 7 * B + 1, 0xff, sizeof *b); /* the reserved pattern */
    b[9 * B] = INFINITY;
    solve_there(lu, &s, b, x, sizeof x, SIZE, NULL);
    for (int i = 0; i < SIZE; i++) assert_int_equal(isfinite(x[i]) != 0, i / B != 7 && i / B != 9);
    trs_lu_destroy(lu);
    hide(&m);
}

/* ---- bad blocks --------------------------------------------------------------------------------------- */

/* Block (at, at) of m becomes singular: its columns are equal, or it is zero. */
static void spoil(trs_mat *m, int at, bool zero)
{
    const int b = m->block;
    const int64_t *ptr = m->ptr;
    const int32_t *idx = m->idx;
    for (int64_t p = ptr[at]; p < ptr[at + 1]; p++)
        for (int k = 0; k < b * b && idx[p] == at; k++)
            set_value((void *)m->val, m->dtype, p * b * b + k, zero ? 0 : 1 + k % b);
}

/* The code and the words of the host; good values are taken afterwards. */
static void refuse_alike(trs_mat *m, const trs_mat *good, trs_ilu_options opt)
{
    trs_lu *host, *dev;
    char said[300];
    int64_t bad[2], first[2];
    const int rc = trs_ilu(&host, m, &opt);
    assert_int_equal(rc, TRS_EPIVOT);
    snprintf(said, sizeof said, "%s", trs_message());
    assert_int_equal(trs_lu_status(host, &bad[0], &first[0], NULL), TRS_EPIVOT);
    opt.plan.device = TRS_CUDA(0);
    assert_int_equal(trs_ilu(&dev, m, &opt), TRS_EPIVOT);
    assert_string_equal(trs_message(), said);
    assert_int_equal(trs_lu_status(dev, &bad[1], &first[1], NULL), TRS_EPIVOT);
    assert_true(first[0] == first[1] && bad[1] >= 1);
    assert_int_equal(trs_lu_update(host, good), TRS_OK);
    assert_int_equal(trs_lu_update(dev, good), TRS_OK);
    assert_int_equal(trs_lu_status(dev, &bad[1], &first[1], NULL), TRS_OK);
    assert_true(bad[1] == 0 && first[1] == -1);
    const shape s = {.nrhs = 1};
    assert_true(apart(dev, host, m->dtype, (int)m->n, &s) < 1000);
    assert_int_equal(trs_lu_update(dev, m), TRS_EPIVOT);
    assert_string_equal(trs_message(), said);
    trs_lu_destroy(host);
    trs_lu_destroy(dev);
}

static void bad_blocks(void **state)
{
    (void)state;
    for (int b = 2; b <= MOST; b++)
        for (int h = 0; h < 4; h++)
            for (int zero = 0; zero < 2; zero++) {
                trs_mat m = bsr_where(9, b, types[b % 4], false, nowhere), good = m;
                const size_t bytes = value_bytes(&m);
                good.val = malloc(bytes);
                memcpy((void *)good.val, m.val, bytes);
                spoil(&m, 5, zero);
                refuse_alike(&m, &good, (trs_ilu_options){.method = methods[h]});
                free((void *)good.val);
                hide(&m);
            }
}

static void not_finite(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        trs_mat m = random_bsr(20, 3, TRS_C32, false), d;
        set_value((void *)m.val, TRS_C32, 9 * m.nnz - 4, k ? INFINITY : NAN);
        d = there(&m);
        const trs_ilu_options opt = {.plan.device = TRS_CUDA(0)};
        trs_lu *lu;
        const int rc = trs_ilu(&lu, &d, &opt);
        assert_refused(lu, rc, TRS_EMATRIX, "not finite");
        away(&d);
        hide(&m);
    }
}

/* Small pivots are replaced by those of the host. */
static void boost(void **state)
{
    (void)state;
    for (int k = 0; k < 8; k++) {
        const int b = 2 + k % 4;
        trs_mat m = bsr_where(4, b, types[2 * (k / 4)], false, in_arrow);
        spoil(&m, 2, true);
        trs_ilu_options opt = {.boost = 0.25, .plan.ops = 7};
        if (k / 4) opt.method = TRS_IC0;
        else spoil(&m, 0, true);
        trs_lu *host = factored(&m, opt, TRS_HOST, b), *dev = factored(&m, opt, TRS_CUDA(0), b);
        trs_lu_info info[2];
        trs_lu_get_info(host, &info[0]);
        trs_lu_get_info(dev, &info[1]);
        assert_true(info[0].boosted == info[1].boosted && info[0].boosted >= b);
        assert_true(info[0].nnz_l == info[1].nnz_l && info[0].nnz_u == info[1].nnz_u);
        compare(dev, host, &m, 1);
        trs_lu_destroy(host);
        trs_lu_destroy(dev);
        hide(&m);
    }
}

/* ---- graphs, memory ----------------------------------------------------------------------------------- */

/* An update and a solve, captured, with other values in each replay. */
static void replayed(void **state)
{
    (void)state;
    trs_mat m = random_bsr(200, 3, TRS_F64, true), d = there(&m);
    const int n = (int)m.n;
    const size_t bytes = (size_t)n * sizeof(double);
    double *b = calloc(3, bytes), *x = b + n, *y = x + n;
    for (int i = 0; i < n; i++) b[i] = uniform();
    double *dev_b = array_there(b, bytes), *dev_x = array_there(b, bytes);
    cudaStream_t s = new_stream();
    const trs_exec exec = {.stream = s};
    trs_lu *lu = factored(&d, (trs_ilu_options){.defer = 1}, TRS_CUDA(0), 3);
    begin_capture(s);
    const int update = trs_lu_update_on(lu, &d, &exec);
    const int solve = trs_lu_solve(lu, TRS_N, 1, dev_b, n, dev_x, n, &exec);
    cudaGraphExec_t graph = end_capture(s);
    assert_int_equal(update, TRS_OK);
    assert_int_equal(solve, TRS_OK);
    for (int step = 0; step < 5; step++) {
        int64_t bad, first;
        change_values(&m);
        if (step == 3) spoil(&m, 5, true);
        for (int k = 0; k < 9 && step == 3; k++) /* so that row 5 depends on nothing */
            for (int64_t p = ((int64_t *)m.ptr)[5]; p < ((int64_t *)m.ptr)[6]; p++)
                set_value((void *)m.val, TRS_F64, 9 * p + k, 0);
        send_values(&d, &m);
        replay(graph, s);
        const int rc = trs_lu_status(lu, &bad, &first, NULL);
        assert_int_equal(rc, step >= 3 ? TRS_EPIVOT : TRS_OK);
        if (rc) {
            assert_true(first == 15 && bad >= 1);
            continue;
        }
        trs_lu *host = factored(&m, (trs_ilu_options){0}, TRS_HOST, 3);
        assert_int_equal(trs_lu_solve(host, TRS_N, 1, b, n, y, n, NULL), TRS_OK);
        assert_int_equal(trs_device_get(TRS_CUDA(0), x, dev_x, bytes), TRS_OK);
        for (int i = 0; i < n; i++) assert_true(fabs(x[i] - y[i]) <= 1e-12 * (fabs(y[i]) + 1e-3));
        trs_lu_destroy(host);
    }
    cudaGraphExecDestroy(graph);
    trs_lu_destroy(lu);
    cudaStreamDestroy(s);
    free_there(dev_b), free_there(dev_x);
    away(&d);
    hide(&m);
    free(b);
}

static void out_of_memory(void **state)
{
    (void)state;
    for (int h = 0; h < 4; h++) {
        trs_mat m = random_bsr(7, 2, TRS_F64, false);
        check_out_of_memory(
            &m, (trs_ilu_options){.method = methods[h],
                                  .plan = {.device = TRS_CUDA(0), .ops = h ? 1u << TRS_N : 7}});
        hide(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_on_the_host),
        cmocka_unit_test(long_rows),
        cmocka_unit_test(of_entries),
        cmocka_unit_test(many_products),
        cmocka_unit_test(bits),
        cmocka_unit_test(a_nan),
        cmocka_unit_test(bad_blocks),
        cmocka_unit_test(not_finite),
        cmocka_unit_test(boost),
        cmocka_unit_test(replayed),
        cmocka_unit_test(out_of_memory),
    };
    return run_on_device(tests);
}

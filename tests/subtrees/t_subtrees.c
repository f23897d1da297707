/* t_subtrees.c: factors that are cut into subtrees.  On the host: whether the parts are apart from one another and even, and
 * whether their triangles, solved by the test one after the other, give the x of the whole.  On devices: cuda-subtrees,
 * by parts that share a device, and by two devices if the machine has two, against a substitution by the test. */
#include "tests/common/model.h"
#include "tests/peers/lists.h"
#include "tests/common/counter.h"

#include "cuda/subtrees/parts.h"

#include <math.h>

/* ---- a factor ------------------------------------------------------------------------------------------------- */

typedef struct factor { /* L by rows */
    int n;
    int64_t *ptr;
    int32_t *idx;
    zz *val;
} factor;

/* Numbers the points of a box of a side x side grid: the halves, then the line between them. */
static void dissect(int side, int x0, int x1, int y0, int y1, int *number, int *next)
{
    if (x0 >= x1 || y0 >= y1) return;
    const bool by_x = x1 - x0 >= y1 - y0;
    const int middle = by_x ? (x0 + x1) / 2 : (y0 + y1) / 2;
    if (by_x) {
        dissect(side, x0, middle, y0, y1, number, next);
        dissect(side, middle + 1, x1, y0, y1, number, next);
        for (int y = y0; y < y1; y++) number[y * side + middle] = (*next)++;
    } else {
        dissect(side, x0, x1, y0, middle, number, next);
        dissect(side, x0, x1, middle + 1, y1, number, next);
        for (int x = x0; x < x1; x++) number[middle * side + x] = (*next)++;
    }
}

static void connect(char *has, int n, int a, int b)
{
    has[(int64_t)(a > b ? a : b) * n + (a > b ? b : a)] = 1;
}

/* The L of the 5-point grid by nested dissection, with other values: elimination of a full pattern. */
static factor factor_new(int side, random_t *r)
{
    const int n = side * side;
    int *number = zeroed(n, sizeof *number), next = 0;
    char *has = zeroed((int64_t)n * n, 1);
    dissect(side, 0, side, 0, side, number, &next);
    assert_int_equal(next, n);
    for (int k = 0; k < n; k++) {
        has[(int64_t)k * n + k] = 1;
        if (k % side) connect(has, n, number[k], number[k - 1]);
        if (k >= side) connect(has, n, number[k], number[k - side]);
    }
    for (int j = 0; j < n; j++)
        for (int i = j + 1, first = -1; i < n; i++) {
            if (!has[(int64_t)i * n + j]) continue;
            if (first < 0) first = i;
            has[(int64_t)i * n + first] = 1; /* column j goes to its parent */
        }
    factor L = {n, zeroed(n + 1, 8), zeroed((int64_t)n * n, 4), zeroed((int64_t)n * n, sizeof(zz))};
    for (int i = 0; i < n; i++) {
        int64_t q = L.ptr[i];
        int length = 0;
        for (int j = 0; j <= i; j++) length += has[(int64_t)i * n + j];
        for (int j = 0; j <= i; j++)
            if (has[(int64_t)i * n + j]) {
                L.idx[q] = j;
                L.val[q++] = i == j ? 2 : (random_uniform(r) + random_uniform(r) * I) / length;
            }
        L.ptr[i + 1] = q;
    }
    free(number), free(has);
    return L;
}

static void factor_free(factor *L)
{
    free(L->ptr), free(L->idx), free(L->val);
}

/* The transpose backwards: what a plan with op = T solves with. */
static factor backwards(const factor *L)
{
    const int n = L->n;
    factor U = {n, zeroed(n + 2, 8), zeroed(L->ptr[n], 4), zeroed(L->ptr[n], sizeof(zz))};
    for (int64_t q = 0; q < L->ptr[n]; q++) U.ptr[n - 1 - L->idx[q] + 2]++;
    for (int i = 0; i < n; i++) U.ptr[i + 2] += U.ptr[i + 1];
    for (int i = n - 1; i >= 0; i--)
        for (int64_t q = L->ptr[i]; q < L->ptr[i + 1]; q++) {
            const int64_t to = U.ptr[n - 1 - L->idx[q] + 1]++;
            U.idx[to] = n - 1 - i;
            U.val[to] = L->val[q];
        }
    return U;
}

/* ---- substitution by the test ----------------------------------------------------------------------------------- */

static void substitute(int n, const int64_t *ptr, const int32_t *idx, const zz *val, zz *x)
{
    for (int i = 0; i < n; i++) {
        for (int64_t q = ptr[i]; q < ptr[i + 1] - 1; q++) x[i] -= val[q] * x[idx[q]];
        assert_int_equal(idx[ptr[i + 1] - 1], i);
        x[i] /= val[ptr[i + 1] - 1];
    }
}

static void substitute_transposed(const factor *L, bool conj, zz *x)
{
    for (int i = L->n - 1; i >= 0; i--) {
        const zz d = L->val[L->ptr[i + 1] - 1];
        x[i] /= conj ? ~d : d;
        for (int64_t q = L->ptr[i]; q < L->ptr[i + 1] - 1; q++)
            x[L->idx[q]] -= (conj ? ~L->val[q] : L->val[q]) * x[i];
    }
}

/* ---- the cut ------------------------------------------------------------------------------------------------------ */

static trs_operator operator_of(trs_context *ctx, const factor *L)
{
    trs_operator op = {0};
    const int64_t nnz = L->ptr[L->n];
    trs_tri t = {.n = L->n, .nnz = nnz, .dtype = TRS_C64};
    t.ptr = trs_new(ctx, L->n + 1, 8, "");
    t.idx = trs_new(ctx, nnz, 4, "");
    t.val = trs_new(ctx, nnz, sizeof(zz), "");
    memcpy(t.ptr, L->ptr, (size_t)(L->n + 1) * 8);
    memcpy(t.idx, L->idx, (size_t)nnz * 4);
    memcpy(t.val, L->val, (size_t)nnz * sizeof(zz));
    trs_operator_from_host(&op, ctx, &t);
    return op;
}

/* The part of each row; every part is there, and no two of them have an entry in common. */
static int *check_parts(const factor *L, const trs_subtrees *cut)
{
    int *part = zeroed(L->n, sizeof *part);
    int64_t has[TRS_MOST_DEVICES + 1] = {0};
    for (int i = 0; i < L->n; i++) part[i] = -1;
    assert_int_equal(cut->begin[0], 0);
    assert_int_equal(cut->begin[cut->parts + 1], L->n);
    for (int p = 0; p <= cut->parts; p++)
        for (int k = cut->begin[p]; k < cut->begin[p + 1]; k++) {
            assert_int_equal(part[cut->row[k]], -1);
            assert_true(k == cut->begin[p] || cut->row[k] > cut->row[k - 1]);
            part[cut->row[k]] = p;
        }
    for (int i = 0; i < L->n; i++)
        for (int64_t q = L->ptr[i]; q < L->ptr[i + 1]; q++) {
            const int row = part[i], column = part[L->idx[q]];
            assert_true(row == column || (cut->top_first ? column : row) == cut->parts);
            has[cut->top_first ? row : column]++;
        }
    for (int p = 0; p < cut->parts; p++) {
        assert_true(has[p] > 0);
        assert_at_most((double)has[p], cut->largest * (double)L->ptr[L->n] + 0.5);
    }
    assert_at_most(fabs((double)has[cut->parts] / (double)L->ptr[L->n] - cut->top), 1e-12);
    assert_at_most(cut->largest + cut->top, 0.9);
    return part;
}

/* x of part k, with z or x of the top as its triangle has them. */
static void solve_part(trs_context *ctx, const trs_operator *op, const trs_subtrees *cut,
                       const int32_t *number, int k, zz *x, zz *top)
{
    trs_subtree_tri made;
    const int n = op->tri.n, from = cut->begin[cut->parts], tops = k < cut->parts ? n - from : 0;
    assert_int_equal(trs_subtree_tri_make(ctx, &op->tri, cut, number, k, &made), TRS_OK);
    assert_int_equal(made.rows, cut->begin[k + 1] - cut->begin[k]);
    assert_int_equal(made.tri.n, made.rows + tops);
    assert_int_equal(made.at, cut->top_first ? tops : 0);
    zz *val = zeroed(made.tri.nnz, sizeof *val), *y = zeroed(made.tri.n, sizeof *y);
    const int there_at = cut->top_first ? 0 : made.rows;
    trs_subtree_tri_values(ctx, TRS_C64, made.tri.nnz, made.src, op->tri.val, val);
    for (int i = 0; i < made.rows; i++) y[made.at + i] = x[cut->row[cut->begin[k] + i]];
    for (int i = 0; i < tops && cut->top_first; i++) y[i] = x[cut->row[from + i]];
    substitute(made.tri.n, made.tri.ptr, made.tri.idx, val, y);
    for (int i = 0; i < made.rows; i++) x[cut->row[cut->begin[k] + i]] = y[made.at + i];
    for (int i = 0; i < tops && !cut->top_first; i++) top[i] += y[there_at + i];
    free(val), free(y);
    trs_free(&ctx->mem, made.tri.ptr), trs_free(&ctx->mem, made.tri.idx);
    trs_free(&ctx->mem, made.src);
}

static void check_cut(const factor *L, int count, bool top_first, random_t *r)
{
    trs_context ctx = {.threads = 2, .nrhs = 1, .device_count = count};
    trs_operator op = operator_of(&ctx, L);
    const int n = L->n;
    const void *found;
    assert_int_equal(trs_operator_analysis(&op, &trs_subtrees_analysis, true, &found), TRS_OK);
    const trs_subtrees *cut = found;
    assert_non_null(cut);
    assert_int_equal(cut->parts, count);
    assert_int_equal(cut->top_first, top_first);
    free(check_parts(L, cut));
    const int from = cut->begin[count];
    int32_t *number = zeroed(n, sizeof *number);
    zz *x = zeroed(n, sizeof *x), *right = zeroed(n, sizeof *x), *top = zeroed(n, sizeof *x);
    for (int k = 0; k < n; k++) number[cut->row[k]] = k;
    for (int i = 0; i < n; i++) x[i] = right[i] = random_uniform(r);
    substitute(n, L->ptr, L->idx, L->val, right);
    if (top_first) solve_part(&ctx, &op, cut, number, count, x, top);
    for (int k = 0; k < count; k++) solve_part(&ctx, &op, cut, number, k, x, top);
    for (int k = from; k < n; k++) x[cut->row[k]] += top[k - from];
    if (!top_first) solve_part(&ctx, &op, cut, number, count, x, top);
    double most = 0;
    for (int i = 0; i < n; i++) most = larger(most, cabs(x[i] - right[i]));
    assert_at_most(most, 1e-13);
    free(number), free(x), free(right), free(top);
    trs_operator_free(&op);
}

static void test_cut(void **state)
{
    (void)state;
    random_t r = {11};
    for (int side = 9; side <= 33; side += 8) {
        factor L = factor_new(side, &r), U = backwards(&L);
        for (int count = 2; count <= 4; count++) {
            if (count == 3 && side < 17) continue; /* too coarse for three: there are quarters */
            check_cut(&L, count, false, &r);
            check_cut(&U, count, true, &r);
        }
        factor_free(&L), factor_free(&U);
    }
}

static bool is_cut(const factor *L, int count)
{
    trs_context ctx = {.threads = 1, .nrhs = 1, .device_count = count};
    trs_operator op = operator_of(&ctx, L);
    const void *found;
    assert_int_equal(trs_operator_analysis(&op, &trs_subtrees_analysis, true, &found), TRS_OK);
    trs_operator_free(&op);
    return found;
}

/* Row i depends on row i - 1 and on none, or all, or some others. */
static factor chain_new(int n, int step)
{
    factor L = {n, zeroed(n + 1, 8), zeroed(2 * (int64_t)n, 4), zeroed(2 * (int64_t)n, sizeof(zz))};
    for (int i = 0; i < n; i++) {
        int64_t q = L.ptr[i];
        if (i >= step) L.idx[q] = i - step, L.val[q++] = -0.5;
        L.idx[q] = i, L.val[q++] = 1;
        L.ptr[i + 1] = q;
    }
    return L;
}

static void test_no_cut(void **state)
{
    (void)state;
    random_t r = {12};
    factor L = factor_new(9, &r), chain = chain_new(1000, 1), two = chain_new(1000, 2);
    factor many = chain_new(5000, 2500), forest = chain_new(1000, 500),
           one = {1, (int64_t[]){0, 1}, (int32_t[]){0}, (zz[]){1}};
    assert_false(is_cut(&L, 1));
    assert_true(is_cut(&L, 2));
    assert_false(is_cut(&chain, 2));
    assert_true(is_cut(&two, 2));
    assert_false(is_cut(&two, 3)); /* two trees without a fork */
    assert_true(is_cut(&forest, 2));
    assert_false(is_cut(&many, 2)); /* dust */
    assert_false(is_cut(&one, 2));
    factor_free(&L), factor_free(&chain), factor_free(&two), factor_free(&many),
        factor_free(&forest);
}

/* An entry that joins two subtrees below the top is no reason to mix them up: there is no cut, or another one. */
static void test_joined(void **state)
{
    (void)state;
    random_t r = {13};
    const int side = 17, n = side * side;
    factor L = factor_new(side, &r),
           M = {n, zeroed(n + 1, 8), zeroed(L.ptr[n] + 1, 4), zeroed(L.ptr[n] + 1, sizeof(zz))};
    for (int trial = 0; trial < 50; trial++) {
        const int row = 1 + random_below(&r, n - 1), column = random_below(&r, row);
        int64_t q = 0;
        for (int i = 0; i < n; i++) {
            bool put = i != row;
            for (int64_t p = L.ptr[i]; p < L.ptr[i + 1]; p++) {
                put |= L.idx[p] == column;
                if (!put && L.idx[p] > column) M.idx[q] = column, M.val[q++] = 0.01, put = true;
                M.idx[q] = L.idx[p], M.val[q++] = L.val[p];
            }
            M.ptr[i + 1] = q;
        }
        trs_context ctx = {.threads = 1, .nrhs = 1, .device_count = 2};
        trs_operator op = operator_of(&ctx, &M);
        const void *found;
        assert_int_equal(trs_operator_analysis(&op, &trs_subtrees_analysis, true, &found), TRS_OK);
        if (found) free(check_parts(&M, found));
        trs_operator_free(&op);
    }
    factor_free(&L), factor_free(&M);
}

/* ---- devices -------------------------------------------------------------------------------------------------------- */

static const list lists[] = {{2, {1, 1}}, {4, {1, 1, 1, 1}}, {2, {1, 2}}, {4, {1, 1, 2, 2}}};
enum { LISTS = sizeof lists / sizeof lists[0] };

static trs_options options_of(const list *l)
{
    trs_options opt = options_for(l, "cuda-subtrees");
    opt.ops = 7;
    return opt;
}

typedef struct scene {
    factor L; /* its values are those of the type */
    trs_mat A;
    trs_dtype t;
    random_t r;
} scene;

static void new_values(scene *s)
{
    for (int64_t q = 0; q < s->A.nnz; q++) {
        zz v = s->L.val[q] * (1 + 0.25 * random_uniform(&s->r));
        if (!trs_is_complex(s->t)) v = creal(v);
        set_number((void *)s->A.val, s->t, q, v);
        s->L.val[q] = get_number(s->A.val, s->t, q);
    }
}

static scene scene_new(int side, trs_dtype t)
{
    scene s = {.t = t, .r = {21}};
    s.L = factor_new(side, &s.r);
    const int64_t nnz = s.L.ptr[s.L.n];
    s.A = (trs_mat){
        .n = s.L.n, .nnz = nnz, .ptr = s.L.ptr, .idx = s.L.idx, .dtype = t, .kind = TRS_LOWER};
    s.A.val = zeroed(nnz, trs_size(t));
    new_values(&s);
    return s;
}

static void scene_free(scene *s)
{
    free((void *)s->A.val);
    factor_free(&s->L);
}

static trs_plan *plan_new(const scene *s, const trs_options *opt)
{
    trs_plan *p;
    trs_info info;
    assert_status(trs_plan_create(&p, &s->A, opt), TRS_OK);
    assert_status(trs_plan_analyse(p), TRS_OK);
    assert_status(trs_plan_info(p, &info), TRS_OK);
    assert_string_equal(info.solver, "cuda-subtrees");
    return p;
}

/* x [n][nrhs] of what the call was given, by the test. */
static void check_x(const scene *s, trs_op op, int nrhs, int64_t ld, const void *b, const void *x)
{
    const int n = s->L.n;
    zz *right = zeroed(n, sizeof *right);
    double most = 0, size = 0;
    for (int c = 0; c < nrhs; c++) {
        for (int i = 0; i < n; i++) right[i] = get_number(b, s->t, c * ld + i);
        if (op == TRS_N) substitute(n, s->L.ptr, s->L.idx, s->L.val, right);
        else substitute_transposed(&s->L, op == TRS_H, right);
        for (int i = 0; i < n; i++) {
            most = larger(most, cabs(get_number(x, s->t, c * ld + i) - right[i]));
            size = larger(size, cabs(right[i]));
        }
    }
    assert_at_most(most, 100 * size * epsilon(s->t));
    free(right);
}

static void check_solve(scene *s, trs_plan *p, trs_op op, int nrhs, const trs_exec *exec)
{
    const int64_t n = s->L.n, ld = n + 3;
    const size_t bytes = (size_t)(ld * nrhs) * trs_size(s->t);
    char *b = zeroed((int64_t)bytes, 1), *x = zeroed((int64_t)bytes, 1),
         *again = zeroed((int64_t)bytes, 1);
    for (int64_t k = 0; k < ld * nrhs; k++)
        set_number(b, s->t, k, random_uniform(&s->r) + random_uniform(&s->r) * I);
    const bool in_place = random_below(&s->r, 2);
    void *on_b = place(b, bytes), *on_x = place(x, bytes), *second = place(b, bytes);
    void *const to = in_place ? on_b : on_x;
    assert_status(trs_solve(p, op, nrhs, on_b, ld, to, ld, exec), TRS_OK);
    assert_status(trs_solve(p, op, nrhs, second, ld, second, ld, exec), TRS_OK);
    bring(x, to, bytes);
    bring(again, second, bytes);
    check_x(s, op, nrhs, ld, b, x);
    for (int c = 0; c < nrhs; c++)
        assert_memory_equal(x + (size_t)(c * ld) * trs_size(s->t),
                            again + (size_t)(c * ld) * trs_size(s->t), (size_t)n * trs_size(s->t));
    unplace(on_b), unplace(on_x), unplace(second);
    free(b), free(x), free(again);
}

static void check_type(const list *l, trs_dtype t, int side)
{
    scene s = scene_new(side, t);
    trs_options opt = options_of(l);
    opt.nrhs = 1 + random_below(&s.r, 5);
    trs_plan *p = plan_new(&s, &opt);
    for (int update = 0; update < 2; update++) {
        for (int op = TRS_N; op <= TRS_H; op++)
            for (int nrhs = 1; nrhs <= 40; nrhs *= 3) check_solve(&s, p, op, nrhs, NULL);
        new_values(&s);
        assert_status(trs_plan_update(p, &s.A, NULL), TRS_OK);
    }
    trs_plan_destroy(p);
    scene_free(&s);
}

static void check_types(bool on_device)
{
    begin_on_device();
    there = on_device;
    for (int k = 0; k < LISTS; k++)
        for (trs_dtype t = TRS_F32; t <= TRS_C64 && is_here(&lists[k]); t++)
            check_type(&lists[k], t, t == TRS_F64 ? 33 : 17);
}

static void test_types(void **state)
{
    (void)state;
    check_types(true);
}

static void test_types_from_host(void **state)
{
    (void)state;
    check_types(false);
}

#ifdef HAVE_CUDA

enum { STREAMS = 3 };

static void test_streams(void **state)
{
    (void)state;
    begin_on_device();
    for (int k = 0; k < LISTS; k++) {
        if (!is_here(&lists[k])) continue;
        scene s = scene_new(25, TRS_F64);
        const trs_options opt = options_of(&lists[k]);
        trs_plan *p = plan_new(&s, &opt);
        const size_t bytes = (size_t)s.L.n * 8;
        double *b = zeroed(s.L.n, 8), *x = zeroed(s.L.n, 8);
        for (int i = 0; i < s.L.n; i++) b[i] = random_uniform(&s.r);
        void *on_b = place(b, bytes), *to[STREAMS][4];
        cudaStream_t stream[STREAMS];
        trs_work *work[STREAMS];
        for (int t = 0; t < STREAMS; t++) {
            stream[t] = new_stream();
            assert_status(trs_work_create(&work[t], p, 1), TRS_OK);
        }
        for (int d = 0; d < 4; d++)
            for (int t = 0; t < STREAMS; t++) {
                const trs_exec exec = {.stream = stream[t], .work = work[t]};
                to[t][d] = place(x, bytes);
                assert_status(trs_solve(p, (t + d) % 2 ? TRS_T : TRS_N, 1, on_b, s.L.n, to[t][d],
                                        s.L.n, &exec),
                              TRS_OK);
            }
        for (int t = 0; t < STREAMS; t++) {
            assert_int_equal(cudaStreamSynchronize(stream[t]), cudaSuccess);
            for (int d = 0; d < 4; d++) {
                bring(x, to[t][d], bytes);
                check_x(&s, (t + d) % 2 ? TRS_T : TRS_N, 1, s.L.n, b, x);
                unplace(to[t][d]);
            }
            trs_work_destroy(work[t]);
            cudaStreamDestroy(stream[t]);
        }
        unplace(on_b);
        free(b), free(x);
        trs_plan_destroy(p);
        scene_free(&s);
    }
}

static void test_capture(void **state)
{
    (void)state;
    begin_on_device();
    for (int k = 0; k < LISTS; k++) {
        if (!is_here(&lists[k])) continue;
        scene s = scene_new(25, TRS_F64);
        const trs_options opt = options_of(&lists[k]);
        trs_plan *p = plan_new(&s, &opt);
        trs_work *work;
        const size_t bytes = (size_t)s.L.n * 8;
        double *b = zeroed(s.L.n, 8), *x = zeroed(s.L.n, 8);
        void *on_b = place(b, bytes), *on_x = place(x, bytes);
        const cudaStream_t stream = new_stream();
        assert_status(trs_work_create(&work, p, 1), TRS_OK);
        const trs_exec exec = {.stream = stream, .work = work};
        begin_capture(stream);
        const int rc = trs_solve(p, TRS_N, 1, on_b, s.L.n, on_x, s.L.n, &exec);
        cudaGraphExec_t graph = end_capture(stream);
        assert_status(rc, TRS_OK);
        for (int again = 0; again < 3; again++) {
            for (int i = 0; i < s.L.n; i++) b[i] = random_uniform(&s.r);
            assert_int_equal(trs_device_put(TRS_CUDA(0), on_b, b, bytes), TRS_OK);
            replay(graph, stream);
            bring(x, on_x, bytes);
            check_x(&s, TRS_N, 1, s.L.n, b, x);
        }
        cudaGraphExecDestroy(graph);
        trs_work_destroy(work);
        cudaStreamDestroy(stream);
        unplace(on_b), unplace(on_x);
        free(b), free(x);
        trs_plan_destroy(p);
        scene_free(&s);
    }
}

#else

static void test_streams(void **state)
{
    (void)state;
    skip();
}

static void test_capture(void **state)
{
    (void)state;
    skip();
}

#endif

/* A triangle without subtrees is refused by name; without a name it stays on one device. */
static void test_refused(void **state)
{
    (void)state;
    begin_on_device();
    factor chain = chain_new(500, 1);
    double *val = zeroed(1000, sizeof *val);
    for (int64_t q = 0; q < chain.ptr[500]; q++) val[q] = creal(chain.val[q]);
    const trs_mat A = {.n = 500,
                       .nnz = chain.ptr[500],
                       .ptr = chain.ptr,
                       .idx = chain.idx,
                       .val = val,
                       .kind = TRS_LOWER};
    trs_options opt = options_of(&lists[0]);
    trs_plan *p;
    assert_status(trs_plan_create(&p, &A, &opt), TRS_OK);
    assert_status(trs_plan_analyse(p), TRS_ESUPPORT);
    assert_non_null(strstr(trs_message(), "subtrees"));
    trs_plan_destroy(p);
    opt.solver = NULL;
    assert_status(trs_plan_create(&p, &A, &opt), TRS_OK);
    assert_status(trs_plan_analyse(p), TRS_OK);
    trs_plan_destroy(p);
    free(val);
    factor_free(&chain);
}

/* Two chains, which nothing joins: there is no top. */
static void test_forest(void **state)
{
    (void)state;
    begin_on_device();
    scene s = {.L = chain_new(600, 2), .t = TRS_F64, .r = {31}};
    const int64_t nnz = s.L.ptr[600];
    s.A = (trs_mat){.n = 600, .nnz = nnz, .ptr = s.L.ptr, .idx = s.L.idx, .kind = TRS_LOWER};
    s.A.val = zeroed(nnz, 8);
    new_values(&s);
    for (int k = 0; k < LISTS; k += 2) {
        if (!is_here(&lists[k])) continue;
        const trs_options opt = options_of(&lists[k]);
        trs_plan *p = plan_new(&s, &opt);
        for (int op = TRS_N; op <= TRS_T; op++) check_solve(&s, p, op, 2, NULL);
        trs_plan_destroy(p);
    }
    scene_free(&s);
}

static void test_no_memory(void **state)
{
    (void)state;
    begin_on_device();
    scene s = scene_new(9, TRS_F64);
    trs_options opt = options_of(&lists[devices > 1 ? 2 : 0]);
    opt.threads = 1;
    int rc = TRS_EMEM, k = 0;
    for (; rc; k++) {
        counter c = {.fail_at = k, .and_after = 1};
        trs_plan *p;
        opt.memory = counted_memory(&c);
        rc = trs_plan_create(&p, &s.A, &opt);
        if (!rc) rc = trs_plan_analyse(p);
        trs_plan_destroy(p);
        if (rc) assert_int_equal(rc, TRS_EMEM);
        assert_int_equal(c.live, 0);
    }
    assert_true(k > 10);
    scene_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cut),
                                       cmocka_unit_test(test_no_cut),
                                       cmocka_unit_test(test_joined),
                                       cmocka_unit_test(test_types),
                                       cmocka_unit_test(test_types_from_host),
                                       cmocka_unit_test(test_streams),
                                       cmocka_unit_test(test_capture),
                                       cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_forest),
                                       cmocka_unit_test(test_no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

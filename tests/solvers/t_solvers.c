/* t_solvers.c: every solver on a seeded sample of all shapes of a triangle: the residual of x, computed by the test, is
 * within the bound of the solver's class, and nothing is written beside X.
 *
 * The full product of patterns, types, ops, formats, widths, orders, layouts, ... has millions of
 * cases.  What is drawn depends on the number of the case alone, so that it can be run again. */
#include "tests/common/stream.h"

#include <math.h>

enum { CPU_CASES = 400, GPU_CASES = 150 };

typedef struct scene { /* one case */
    const trs_solver *solver;
    int number;
    pattern pat;
    form f;
    model m;
    trs_op op;
    trs_options opt;
    int nrhs, first_values; /* 0: the right ones; 1: others, updated later; 2: zeros, likewise */
    bool in_place, exact;
    bool permuted;    /* a triangle after permutations */
    bool from_device; /* the matrix, at create or at the update */
    int64_t ldb, ldx;
    random_t r;
} scene;

/* ---- one case -------------------------------------------------------------------------------------- */

static void describe(const scene *s, const char *what)
{
    print_error("%s, case %d: %s: %s %s %s %s%s op %s base %d widths %d/%d%s%s nrhs %d %s order "
                "%s values %d%s%s%s%s ld %d %d\n",
                s->solver->name, s->number, what, pattern_name[s->pat], type_name[s->f.dtype],
                format_name[s->f.format], s->m.upper ? "upper" : "lower", s->f.unit ? " unit" : "",
                op_name[s->op], s->f.base, s->f.ptr_bits, s->f.idx_bits,
                s->f.shuffled ? " shuffled" : "", s->f.garbage ? " garbage" : "", s->nrhs,
                layout_name[s->opt.layout], order_name[s->opt.order], s->first_values,
                s->in_place ? " in place" : "", s->permuted ? " permuted" : "",
                s->opt.device > 0 ? " on device" : "", s->from_device ? " from device" : "",
                (int)s->ldb, (int)s->ldx);
}

static void require(const scene *s, bool good, const char *what)
{
    if (good) return;
    describe(s, what);
    fail();
}

static scene draw(const trs_solver *solver, int number)
{
    scene s = {.solver = solver, .number = number, .r = {(uint64_t)number * 1000003u + 17}};
    random_t *r = &s.r;
    s.pat = (pattern)(number % PATTERNS);
    s.f = form_random((trs_dtype)random_below(r, 4), r);
    const bool small = solver->full || s.f.format == TRS_DENSE;
    s.m = model_new(s.pat, random_below(r, 2), small, trs_is_complex(s.f.dtype), r);
    s.op = (trs_op)random_below(r, 3);
    s.exact = s.pat == SEED4 || s.pat == SEED5;
    static const int nrhs[] = {1, 1, 2, 3, 5, 8, 16, 35};
    s.nrhs = nrhs[random_below(r, 8)];
    s.first_values = random_below(r, 3);
    s.in_place = random_below(r, 2);
    s.opt.solver = solver->name;
    s.opt.layout = (trs_layout)random_below(r, 2);
    s.opt.order = (trs_order)random_below(r, 3);
    s.opt.nrhs = random_below(r, 4);
    s.opt.ops = 1u << s.op | (random_below(r, 3) ? 0 : 7);
    s.opt.device = solver->place == TRS_ON_CUDA && random_below(r, 2) ? TRS_CUDA(0) : TRS_HOST;
    s.from_device = solver->place == TRS_ON_CUDA && random_below(r, 2);
    const int64_t width = s.opt.layout == TRS_ROW_MAJOR ? s.nrhs : s.m.n;
    s.ldb = width + random_below(r, 3);
    s.ldx = s.in_place ? s.ldb : width + random_below(r, 3);
    return s;
}

/* Values that are not those of the matrix: none of them may be left after an update. */
static void *wrong_values(const scene *s, const trs_mat *a)
{
    const int64_t count = trs_value_count(a);
    void *v = malloc((size_t)(count + 1) * sizeof(zz));
    assert_non_null(v);
    for (int64_t k = 0; k < count; k++) set_number(v, a->dtype, k, s->first_values == 1 ? 3 : 0);
    return v;
}

static int update(const scene *s, trs_plan *p, const trs_mat *a)
{
    if (!s->from_device) return trs_plan_update(p, a, NULL);
    trs_mat d = mat_to_device(a);
    trs_exec exec = {.stream = stream_new(s->solver)};
    int rc = trs_plan_update(p, &d, &exec);
    stream_free(exec.stream);
    mat_free_device(&d);
    return rc;
}

static int create(const scene *s, trs_plan **p, const trs_mat *a)
{
    if (!s->from_device) return trs_plan_create(p, a, &s->opt);
    trs_mat d = mat_to_device(a);
    int rc = trs_plan_create(p, &d, &s->opt);
    mat_free_device(&d);
    return rc;
}

/* A plan ready to solve; NULL: refused, as only a GPU solver may. */
static trs_plan *make_plan(scene *s, trs_mat *a)
{
    trs_plan *p = NULL;
    const void *good = a->val;
    void *wrong = s->first_values ? wrong_values(s, a) : NULL;
    if (wrong) a->val = wrong;
    int rc = create(s, &p, a), want = TRS_OK;
    if (!rc) rc = trs_plan_analyse(p);
    if (s->first_values == 2 && s->m.n && !s->f.unit) want = TRS_EPIVOT;
    if (rc == TRS_ESUPPORT && s->solver->place == TRS_ON_CUDA) {
        require(s, trs_message()[0] != '\0', "refused without a sentence");
        trs_plan_destroy(p);
        p = NULL;
    } else {
        if (rc != want) print_error("%s\n", trs_message());
        require(s, rc == want, "create or analyse");
    }
    a->val = good;
    if (p && wrong) require(s, update(s, p, a) == TRS_OK, "update");
    free(wrong);
    return p;
}

typedef struct block { /* B or X with a margin of a known byte around what is used */
    size_t bytes;
    unsigned char *p, *device;
} block;

static int64_t vectors_of(const scene *s)
{
    return s->opt.layout == TRS_ROW_MAJOR ? s->m.n : s->nrhs;
}

static int64_t place_of(const scene *s, int64_t ld, int64_t i, int r)
{
    return s->opt.layout == TRS_ROW_MAJOR ? i * ld + r : i + r * ld;
}

static block block_new(const scene *s, int64_t ld)
{
    block b = {.bytes = (size_t)(ld * vectors_of(s)) * trs_size(s->f.dtype)};
    b.p = malloc(b.bytes + 1);
    assert_non_null(b.p);
    memset(b.p, 0xa5, b.bytes);
    if (s->opt.device > 0)
        assert_int_equal(trs_device_new(s->opt.device, b.bytes + 1, (void **)&b.device), TRS_OK);
    return b;
}

static void block_free(const scene *s, block *b)
{
    free(b->p);
    if (b->device) trs_device_free(s->opt.device, b->device);
}

static void fill_b(scene *s, const block *b)
{
    for (int r = 0; r < s->nrhs; r++)
        for (int64_t i = 0; i < s->m.n; i++) {
            zz v = s->exact ? random_below(&s->r, 9) - 4
                            : random_uniform(&s->r) + random_uniform(&s->r) * I;
            set_number(b->p, s->f.dtype, place_of(s, s->ldb, i, r), v);
        }
}

static int solve(const scene *s, const trs_plan *p, const block *b, const block *x, int threads)
{
    trs_exec exec = {.layout = s->opt.layout, .threads = threads};
    const int d = s->opt.device;
    if (d <= 0) return trs_solve(p, s->op, s->nrhs, b->p, s->ldb, x->p, s->ldx, &exec);
    assert_int_equal(trs_device_put(d, b->device, b->p, b->bytes), TRS_OK);
    assert_int_equal(trs_device_put(d, x->device, x->p, x->bytes), TRS_OK);
    int rc = trs_solve(p, s->op, s->nrhs, b->device, s->ldb, x->device, s->ldx, &exec);
    assert_int_equal(trs_device_get(d, x->p, x->device, x->bytes), TRS_OK);
    assert_int_equal(trs_device_get(d, b->p, b->device, b->bytes), TRS_OK);
    return rc;
}

static void check_padding(const scene *s, const block *x)
{
    const size_t size = trs_size(s->f.dtype);
    const int64_t width = s->opt.layout == TRS_ROW_MAJOR ? s->nrhs : s->m.n;
    for (int64_t vector = 0; vector < vectors_of(s); vector++)
        for (size_t k = (size_t)(vector * s->ldx + width) * size;
             k < (size_t)((vector + 1) * s->ldx) * size; k++)
            require(s, x->p[k] == 0xa5, "wrote between n and ld");
}

static void check_quality(const scene *s, const block *b, const block *x)
{
    const size_t size = trs_size(s->f.dtype);
    for (int r = 0; r < s->nrhs && s->m.n; r++) {
        quality q =
            quality_of(&s->m, s->f.unit, s->op, s->f.dtype,
                       b->p + (size_t)place_of(s, s->ldb, 0, r) * size, place_of(s, s->ldb, 1, 0),
                       x->p + (size_t)place_of(s, s->ldx, 0, r) * size, place_of(s, s->ldx, 1, 0));
        const double eps = epsilon(s->f.dtype);
        const bool careful = s->solver->accuracy == TRS_SUBSTITUTION;
        double bound = careful ? 4 * (q.longest + 1) * eps : 8 * (s->m.n + 1) * eps;
        double error = careful ? q.omega : q.normwise;
        if (s->exact && careful) bound = 0; /* small integers and powers of two */
        if (!(error <= bound))
            print_error("row %d, column %d: %g is not at most %g\n", q.row, r, error, bound);
        require(s, error <= bound, careful ? "omega" : "normwise error");
    }
}

static void check_same_bits(const scene *s, const trs_plan *p, const block *b, const block *x)
{
    for (int threads = 0; threads < 4; threads++) {
        block again = block_new(s, s->ldx);
        if (s->in_place) memcpy(again.p, b->p, b->bytes);
        block from = *b;
        if (s->in_place) from = again;
        require(s, solve(s, p, &from, &again, threads) == TRS_OK, "solving again");
        require(s, !memcmp(again.p, x->p, x->bytes), "other bits");
        block_free(s, &again);
    }
}

static bool must_refuse(const scene *s)
{
    return s->m.n && s->opt.layout == TRS_ROW_MAJOR && (s->ldb > 1 || s->ldx > 1) &&
           !(s->solver->caps & TRS_CAP_ROW_MAJOR);
}

static void run_plan(scene *s, const trs_plan *p)
{
    block b = block_new(s, s->ldb), x = block_new(s, s->ldx), was = block_new(s, s->ldb);
    fill_b(s, &b);
    memcpy(was.p, b.p, b.bytes);
    if (s->in_place) memcpy(x.p, b.p, b.bytes);
    block before = block_new(s, s->ldx);
    memcpy(before.p, x.p, x.bytes);
    int rc = solve(s, p, s->in_place ? &x : &b, &x, 0);
    if (must_refuse(s)) {
        require(s, rc == TRS_ESUPPORT, "B and X by rows");
        require(s, !memcmp(before.p, x.p, x.bytes), "refused, and yet wrote X");
    } else {
        require(s, rc == TRS_OK, "solve");
        if (!s->in_place) require(s, !memcmp(was.p, b.p, b.bytes), "wrote B");
        check_padding(s, &x);
        check_quality(s, &was, &x);
        if (s->solver->caps & TRS_CAP_BITWISE) check_same_bits(s, p, &was, &x);
    }
    block_free(s, &b);
    block_free(s, &x);
    block_free(s, &was);
    block_free(s, &before);
}

/* The rows and columns of the triangle in random orders. */
static void shuffle(scene *s)
{
    int *order = malloc(2 * (size_t)(s->m.n + 1) * sizeof *order);
    assert_non_null(order);
    model_shuffle(&s->m, order, order + s->m.n + 1, &s->r);
    free(order);
    s->permuted = true;
    s->f.unit = s->f.hidden = s->f.garbage = false;
    if (s->f.format == TRS_BSR) s->f.format = TRS_CSR;
    if (s->f.format == TRS_DENSE) s->first_values = 0; /* its zeros are no entries */
}

static bool run_case(const trs_solver *solver, int number, bool permuted)
{
    scene s = draw(solver, number);
    if (permuted) shuffle(&s);
    trs_mat a = show(&s.m, &s.f, &s.r);
    if (permuted) a.kind = TRS_PERMUTED;
    trs_plan *p = make_plan(&s, &a);
    mat_free(&a); /* the plan needs nothing of it any more */
    if (p) run_plan(&s, p);
    trs_plan_destroy(p);
    model_free(&s.m);
    return p != NULL;
}

/* ---- NaN in b ---------------------------------------------------------------------------------------- */

/* A NaN in b(k) reaches every x that depends on it, and with substitution no other one. */
static void run_nan(const trs_solver *solver, int number)
{
    random_t r = {(uint64_t)number + 99};
    form f = {.dtype = (trs_dtype)(number % 4), .format = number & 1 ? TRS_CSC : TRS_CSR};
    f.ptr_bits = 64, f.idx_bits = 32;
    model m = model_new(RANDOM, number & 2, true, trs_is_complex(f.dtype), &r);
    trs_mat a = show(&m, &f, &r);
    trs_options opt = {.solver = solver->name, .ops = 7, .order = (trs_order)(number % 3)};
    trs_plan *p;
    assert_int_equal(trs_plan_create(&p, &a, &opt), TRS_OK);
    assert_status(trs_plan_analyse(p), TRS_OK);
    bool *hit = malloc((size_t)m.n * sizeof *hit);
    void *x = malloc((size_t)m.n * sizeof(zz));
    assert_true(hit && x);
    for (int op = 0; op < 3; op++) {
        int k = random_below(&r, m.n);
        for (int i = 0; i < m.n; i++) set_number(x, f.dtype, i, i == k ? NAN : random_uniform(&r));
        reach(&m, (trs_op)op, k, hit);
        assert_int_equal(trs_solve(p, (trs_op)op, 1, x, m.n, x, m.n, NULL), TRS_OK);
        for (int i = 0; i < m.n; i++) {
            zz v = get_number(x, f.dtype, i);
            bool is_nan = isnan(creal(v)) || isnan(cimag(v));
            if (hit[i] && !is_nan) print_error("%s: row %d hides a NaN\n", solver->name, i);
            assert_false(hit[i] && !is_nan);
            if (solver->accuracy != TRS_SUBSTITUTION) continue;
            if (!hit[i] && is_nan) print_error("%s: NaN spread to row %d\n", solver->name, i);
            assert_false(!hit[i] && is_nan);
        }
    }
    free(hit);
    free(x);
    trs_plan_destroy(p);
    mat_free(&a);
    model_free(&m);
}

/* ---- NaN and Inf in b, and zeros that are stored ------------------------------------------------------- */

/* Beside the diagonal. */
typedef enum zeros { NO_ZEROS, ALL_ZEROS, SOME_ZEROS, MIXED, ZEROS } zeros;

/* The identity, with zeros that are stored; MIXED: with ones among them. */
static model with_zeros(zeros what, int n, bool upper)
{
    model m = {.n = n, .upper = upper};
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i && what != NO_ZEROS; j++) {
            const int k = i * 7 + j * 5;
            if (what != ALL_ZEROS && k % 11) continue;
            const double zero = k % 2 ? 0.0 : -0.0;
            model_add(&m, i, j, what == MIXED && k % 3 == 0 ? 1 : zero);
        }
        model_add(&m, i, i, 1);
    }
    return m;
}

/* stored [n*n], by rows */
static void see(bool *stored, const trs_mat *a, int64_t i, int64_t j)
{
    if (a->kind & TRS_LOWER ? i >= j : i <= j) stored[i * a->n + j] = true;
}

static int64_t index_at(const void *p, int bits, int64_t k)
{
    return bits == 64 ? ((const int64_t *)p)[k] : ((const int32_t *)p)[k];
}

/* The entries of a triangle, read from the arrays that the library is given. */
static bool *entries_of(const trs_mat *a)
{
    const int64_t n = a->n, r = a->format == TRS_BSR ? a->block : 1;
    bool *stored = calloc((size_t)(n * n), sizeof *stored);
    assert_non_null(stored);
    for (int64_t k = 0; k < n * n && a->format == TRS_DENSE; k++) see(stored, a, k / n, k % n);
    for (int64_t major = 0; major < n / r && a->format != TRS_DENSE; major++)
        for (int64_t p = index_at(a->ptr, a->ptr_bits, major) - a->base;
             p < index_at(a->ptr, a->ptr_bits, major + 1) - a->base; p++) {
            const int64_t minor = index_at(a->idx, a->idx_bits, p) - a->base;
            for (int64_t c = 0; c < r * r; c++)
                if (a->format == TRS_CSC) see(stored, a, minor, major);
                else see(stored, a, major * r + c / r, minor * r + c % r);
        }
    return stored;
}

/* What depends on x(k). */
static void reach_through(const bool *entry, int n, trs_op op, int k, bool *out)
{
    memset(out, 0, (size_t)n * sizeof *out);
    out[k] = true;
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n && !out[i]; j++)
                if (out[j] && entry[op == TRS_N ? i * n + j : j * n + i]) more = out[i] = true;
    }
}

/* x(i) is a number exactly where it does not depend on what is none; a solver that inverts may have fewer of them. */
static void check_spread(const trs_plan *p, const trs_mat *a, double special, int k)
{
    const trs_solver *s = p->solver;
    const int n = (int)a->n;
    bool *stored = entries_of(a);
    bool *hit = malloc((size_t)n * sizeof *hit);
    zz *x = malloc(2 * (size_t)n * sizeof *x);
    assert_true(hit && x);
    for (int turn = 0; turn < 6; turn++) {
        const int op = turn / 2, nrhs = 1 + turn % 2; /* in the last column */
        for (int i = 0; i < nrhs * n; i++)
            set_number(x, a->dtype, i, i == (nrhs - 1) * n + k ? special : 1);
        reach_through(stored, n, (trs_op)op, k, hit);
        assert_int_equal(trs_solve(p, (trs_op)op, nrhs, x, n, x, n, NULL), TRS_OK);
        for (int i = 0; i < nrhs * n; i++) {
            const zz v = get_number(x, a->dtype, i);
            const bool finite = isfinite(creal(v)) && isfinite(cimag(v));
            const bool other = i < (nrhs - 1) * n, reached = !other && hit[i % n];
            if (reached != finite || (!finite && !other && s->accuracy == TRS_INVERTING)) continue;
            print_error("%s, n %d, %s, %s, %s, op %s: %g in b(%d) %s x(%d) of column "
                        "%d of %d\n",
                        s->name, n, format_name[a->format], type_name[a->dtype],
                        a->kind & TRS_LOWER ? "lower" : "upper", op_name[op], special, k,
                        finite ? "does not reach" : "reaches", i % n, i / n, nrhs);
            fail();
        }
    }
    free(stored);
    free(hit);
    free(x);
}

/* solver NULL: the choice. */
static void run_zeros(const char *solver, zeros what, int n, int number)
{
    static const trs_format format[] = {TRS_CSR, TRS_CSC, TRS_DENSE, TRS_BSR};
    random_t r = {(uint64_t)number + 1};
    const form f = {.dtype = (trs_dtype)(number % 4),
                    .format = format[number / 4],
                    .base = number % 2,
                    .ptr_bits = 64,
                    .idx_bits = 32,
                    .block = 2 + number % 2,
                    .block_layout = (trs_layout)(number / 2 % 2)};
    const trs_options opt = {.solver = solver, .ops = 7, .order = (trs_order)((number + n) % 3)};
    model m = with_zeros(what, n, number / 2 % 2);
    trs_mat a = show(&m, &f, &r);
    trs_plan *p;
    assert_status(trs_plan_create(&p, &a, &opt), TRS_OK);
    assert_status(trs_plan_analyse(p), TRS_OK);
    const int first = m.upper ? n - 1 : 0; /* row that is solved first */
    for (int k = 0; k < 4; k++) check_spread(p, &a, k % 2 ? INFINITY : NAN, k < 2 ? first : n / 3);
    trs_plan_destroy(p);
    mat_free(&a);
    model_free(&m);
}

/* The same for every size, whichever solver is taken. */
static void test_choice(void **state)
{
    (void)state;
    static const int n[] = {1, 3, 12, 60, 240};
    for (int k = 0; k < 5; k++)
        for (int what = 0; what < ZEROS; what++)
            for (int number = 0; number < 16; number += 3)
                run_zeros(NULL, (zeros)what, n[k], number);
}

/* ---- real matrices ------------------------------------------------------------------------------------ */

/* The triangle of a real matrix; rows whose diagonal is zero or missing have to be named.  false: there is no such file, or
 * it cannot be read without libarchive. */
static bool run_real(const trs_solver *solver, const char *name, unsigned kind)
{
    trs_mm mm;
    trs_mat a;
    trs_plan *p;
    trs_error error;
    trs_mm_options mmo = {.kind = kind};
    trs_options opt = {.solver = solver->name};
    char *path = matrix_file(name);
    if (!path) return false;
    int rc = trs_mm_read(path, &mmo, &mm);
    free(path);
    if (rc == TRS_ESUPPORT) { /* packed, and built without libarchive */
        trs_mm_free(&mm);
        return false;
    }
    if (rc) print_error("%s\n", trs_message());
    assert_int_equal(rc, TRS_OK);
    assert_int_equal(trs_mm_mat(&mm, kind, &a), TRS_OK);
    assert_status(trs_plan_create(&p, &a, &opt), TRS_OK);
    rc = trs_plan_analyse(p);
    if (rc == TRS_EPIVOT) {
        int64_t count, first;
        assert_non_null(strstr(trs_message(), "diagonal is"));
        assert_int_equal(trs_plan_pivots(p, &count, &first), TRS_OK);
        assert_true(count > 0 && first >= mm.base);
    } else {
        assert_status(rc, TRS_OK);
        const size_t bytes = (size_t)a.n * sizeof(zz) + 1;
        void *b = calloc(1, bytes), *x = calloc(1, bytes);
        for (int64_t i = 0; i < a.n; i++) set_number(b, a.dtype, i, 1 + (double)(i % 7));
        assert_int_equal(trs_solve(p, TRS_N, 1, b, a.n, x, a.n, NULL), TRS_OK);
        trs_info info;
        trs_plan_info(p, &info);
        assert_int_equal(trs_backward_error(&a, TRS_N, 1, b, a.n, x, a.n, TRS_COL_MAJOR, &error),
                         TRS_OK);
        if (solver->accuracy == TRS_SUBSTITUTION && isfinite(error.residual))
            assert_at_most(error.omega, 4 * (double)(info.longest + 1) * epsilon(a.dtype));
        free(b);
        free(x);
    }
    trs_plan_destroy(p);
    trs_mm_free(&mm);
    return true;
}

/* ---- one test a solver ---------------------------------------------------------------------------------- */

static void test_solver(void **state)
{
    const trs_solver *s = *state;
    char why[200];
    static const char *const real[] = {"1138_bus.mtx", "bfwa62.mtx",   "bcsstk02.mtx",
                                       "impcol_a.mtx", "rdb3200l.mtx", "qc324.mtx"};
    if (!trs_solver_available(s, 0, why, sizeof why)) {
        print_message("%s: %s\n", s->name, why);
        skip();
    }
    const int step = case_step();
    const int cases = s->place == TRS_ON_CPU ? CPU_CASES : GPU_CASES;
    int done = 0;
    for (int k = 0; k < cases; k += step) done += run_case(s, k, false);
    assert_true(done >= cases / step / 2); /* refusing is no way out */
    for (int k = done = 0; k < cases; k += 3 * step) done += run_case(s, k, true);
    assert_true(done >= cases / step / 6);
    for (int k = 0; k < 12; k += step) run_nan(s, k);
    for (int k = 0; k < ZEROS * 16; k += step)
        run_zeros(s->name, (zeros)(k / 16), k % 5 ? 18 : 150, k % 16);
    if (step > 1) return;
    bool missing = false;
    for (size_t k = 0; k < sizeof real / sizeof real[0]; k++) {
        if (s->full && !strcmp(real[k], "rdb3200l.mtx")) continue;
        missing |= !run_real(s, real[k], TRS_LOWER);
        missing |= !run_real(s, real[k], TRS_UPPER);
    }
    if (missing) skip(); /* though the others are solved */
}

int main(void)
{
    struct CMUnitTest tests[64] = {{"choice", test_choice, NULL, NULL, NULL}};
    int count = 1;
    for (int k = 0; trs_solver_at(k) && count < 64; k++) {
        const trs_solver *s = trs_solver_at(k);
        if (s->family != TRS_TRIANGLE) continue;
        tests[count++] = (struct CMUnitTest){s->name, test_solver, NULL, NULL, (void *)s};
    }
    choose_solvers();
    return _cmocka_run_group_tests("t_sample", tests, (size_t)count, NULL, NULL);
}

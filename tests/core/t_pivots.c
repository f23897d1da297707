/* t_pivots.c: what every solver does about pivots that are zero, missing or not finite, and about those that are
 * so small or so large that their inverses overflow or are subnormal.
 *
 * x must solve with a matrix that the test makes itself: with the bad rows and columns taken out, or the pivots
 * replaced. */
#include "tests/common/model.h"

#include <math.h>

enum { CASES = 60, MOST = 8 };

typedef struct bad { /* the rows whose pivots cannot be divided by */
    int count, row[MOST], first;
} bad;

static bool is_bad(const bad *d, int row)
{
    for (int k = 0; k < d->count; k++)
        if (d->row[k] == row) return true;
    return false;
}

/* edges: the first and the last row are among them. */
static bad draw_bad(int n, bool edges, random_t *r)
{
    bad d = {.first = n};
    while (d.count < MOST && d.count < n / 2) {
        int row = random_below(r, n);
        if (edges && d.count < 2) row = d.count ? n - 1 : 0;
        if (is_bad(&d, row)) continue;
        d.row[d.count++] = row;
        if (row < d.first) d.first = row;
    }
    return d;
}

/* The model as the caller has it: zero, missing, NaN and infinite pivots in turn; what is left out with them may be
 * anything, too. */
static model spoil(const model *m, const bad *d, trs_pivot policy, random_t *r)
{
    static const double values[] = {0, NAN, INFINITY, -0.0};
    model s = {.n = m->n};
    for (int64_t k = 0; k < m->nnz; k++) {
        const int i = m->row[k], j = m->col[k], how = random_below(r, 5);
        const bool pivot = i == j && is_bad(d, i);
        const bool out = policy == TRS_PIVOT_SKIP && (is_bad(d, i) || is_bad(d, j));
        if (pivot && how == 4) continue; /* missing */
        model_add(&s, i, j, how < 4 && (pivot || out) ? values[how] : m->val[k]);
    }
    s.upper = m->upper;
    return s;
}

/* The model that should have been solved. */
static model expected(const model *m, const bad *d, trs_pivot policy, double value)
{
    model e = {.n = m->n};
    for (int64_t k = 0; k < m->nnz; k++) {
        const int i = m->row[k], j = m->col[k];
        const bool skip = policy == TRS_PIVOT_SKIP, here = is_bad(d, i) && i == j;
        if (skip && i != j && (is_bad(d, i) || is_bad(d, j))) continue;
        const double pivot = skip ? 1 : value;
        model_add(&e, i, j, here ? pivot : m->val[k]);
    }
    e.upper = m->upper;
    return e;
}

static void check_x(const trs_solver *s, const model *e, const bad *d, trs_pivot policy, trs_op op,
                    const form *f, const zz *b, const zz *x)
{
    const double eps = epsilon(f->dtype);
    zz *clean = malloc((size_t)e->n * sizeof *clean);
    assert_non_null(clean);
    memcpy(clean, b, (size_t)e->n * sizeof *clean);
    for (int k = 0; k < d->count && policy == TRS_PIVOT_SKIP; k++) {
        zz v = get_number(x, f->dtype, d->row[k]);
        assert_true(creal(v) == 0 && cimag(v) == 0);
        set_number(clean, f->dtype, d->row[k], 0);
    }
    quality q = quality_of(e, false, op, f->dtype, clean, 1, x, 1);
    if (s->accuracy == TRS_SUBSTITUTION) assert_at_most(q.omega, 4 * (q.longest + 1) * eps);
    else assert_at_most(q.normwise, 8 * (e->n + 1) * eps);
    free(clean);
}

/* Solve with every op, in place and not; b of a row that is left out may be anything. */
static void solve_all(const trs_solver *s, const trs_plan *p, const model *e, const bad *d,
                      trs_pivot policy, const form *f, random_t *r)
{
    zz *b = malloc((size_t)e->n * sizeof *b), *x = malloc((size_t)e->n * sizeof *x);
    assert_true(b && x);
    for (int op = 0; op < 3; op++) {
        for (int i = 0; i < e->n; i++)
            set_number(b, f->dtype, i, random_uniform(r) + random_uniform(r) * I);
        if (policy == TRS_PIVOT_SKIP) set_number(b, f->dtype, d->first, op ? NAN : INFINITY);
        memcpy(x, b, (size_t)e->n * sizeof *x);
        assert_int_equal(trs_solve(p, (trs_op)op, 1, op ? x : b, e->n, x, e->n, NULL), TRS_OK);
        check_x(s, e, d, policy, (trs_op)op, f, b, x);
    }
    free(b);
    free(x);
}

/* Analysed with the bad values, or given them by an update; then good ones again. */
static void run_case(const trs_solver *s, int number)
{
    random_t r = {(uint64_t)number * 77 + 5};
    const trs_pivot policy = number % 2 ? TRS_PIVOT_SKIP : TRS_PIVOT_REPLACE;
    const double value = -2.5;
    form f = form_random((trs_dtype)(number / 2 % 4), &r);
    f.unit = f.hidden = f.garbage = f.shuffled = false; /* the entries that update will see again */
    model m = model_new(number % 3 ? RANDOM : TWO_CHAINS, number % 5 < 2, true,
                        trs_is_complex(f.dtype), &r);
    const bad d = draw_bad(m.n, number / 2 % 2, &r);
    model sick = spoil(&m, &d, policy, &r), e = expected(&m, &d, policy, value);
    trs_mat a = show(&sick, &f, &r);
    trs_options opt = {.solver = s->name,
                       .ops = 7,
                       .order = (trs_order)(number % 3),
                       .pivot = policy,
                       .pivot_value = value};
    trs_plan *p;
    int64_t count, first;
    assert_status(trs_plan_create(&p, &a, &opt), TRS_OK);
    assert_status(trs_plan_analyse(p), TRS_OK);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(trs_plan_pivots(p, &count, &first), TRS_OK);
        assert_int_equal(count, d.count);
        assert_int_equal(first, d.first + a.base);
        assert_string_equal(trs_message(), "");
        solve_all(s, p, &e, &d, policy, &f, &r);
        const bool device = s->place == TRS_ON_CUDA && number % 2;
        trs_mat from = device ? mat_to_device(&a) : a;
        assert_status(trs_plan_update(p, &from, NULL), TRS_OK);
        if (device) mat_free_device(&from);
    }
    trs_plan_destroy(p);
    mat_free(&a);
    model_free(&m), model_free(&sick), model_free(&e);
}

/* A plan that has left rows out takes them up again. */
static void recover(const trs_solver *s)
{
    const int32_t ptr[] = {0, 1, 3, 5}, idx[] = {0, 0, 1, 1, 2};
    const double good[] = {2, 4, 4, 8, 8}, zero[] = {2, 4, 0, 8, 8}, b[] = {2, 8, 24};
    trs_mat m = {.n = 3, .nnz = 5, .ptr = ptr, .idx = idx, .val = zero, .ptr_bits = 32};
    trs_options opt = {.solver = s->name, .pivot = TRS_PIVOT_SKIP};
    trs_plan *p;
    double x[3];
    m.kind = TRS_LOWER;
    assert_int_equal(trs_plan_create(&p, &m, &opt), TRS_OK);
    assert_status(trs_plan_analyse(p), TRS_OK);
    assert_int_equal(trs_solve(p, TRS_N, 1, b, 3, x, 3, NULL), TRS_OK);
    assert_true(x[0] == 1 && x[1] == 0 && x[2] == 3);
    m.val = good;
    assert_int_equal(trs_plan_update(p, &m, NULL), TRS_OK);
    assert_int_equal(trs_solve(p, TRS_N, 1, b, 3, x, 3, NULL), TRS_OK);
    assert_true(x[0] == 1 && x[1] == 1 && x[2] == 2);
    trs_plan_destroy(p);
}

/* ---- rows left out, by hand ------------------------------------------------------------------------ */

/* The entries (0,0) (1,0) (1,1) (2,1) (2,2) (3,2) (3,3), and x where b = 1 in the rows that are not left out. */
typedef struct hand {
    double val[7];
    const char *out; /* the rows */
    int levels;
    double x[2][4]; /* of N; of T and H */
} hand;

static const hand by_hand[] = {
    {{2, 1, NAN, NAN, 2, 1, 1}, "1", 2, {{.5, 0, .5, .5}, {.5, 0, 0, 1}}},
    {{2, 1, 0, 1, 2, 1, 1}, "1", 2, {{.5, 0, .5, .5}, {.5, 0, 0, 1}}},
    {{2, 1, 4, INFINITY, 0, NAN, 1}, "2", 2, {{.5, .125, 0, 1}, {.375, .25, 0, 1}}},
    {{2, 1, 4, 1, 2, 1, 1}, "", 4, {{.5, .125, .4375, .5625}, {.375, .25, 0, 1}}},
    {{NAN, INFINITY, 0, NAN, 2, NAN, -0.0}, "013", 1, {{0, 0, .5, 0}, {0, 0, .5, 0}}},
};

enum { HANDS = sizeof by_hand / sizeof by_hand[0] };

typedef struct hand_case {
    const trs_solver *solver;
    form f;
    bool upper; /* the transposes */
    trs_order order;
    trs_plan *plan;
    trs_work *work; /* a caller's */
    int64_t analyses;
} hand_case;

static trs_mat show_hand(const hand_case *c, const hand *h)
{
    static const int row[] = {0, 1, 1, 2, 2, 3, 3}, col[] = {0, 0, 1, 1, 2, 2, 3};
    model m = {.n = 4, .upper = c->upper};
    random_t r = {1};
    for (int k = 0; k < 7; k++) model_add(&m, row[k], col[k], h->val[k]); /* upper: the transpose */
    trs_mat a = show(&m, &c->f, &r);
    model_free(&m);
    return a;
}

static bool is_out(const hand *h, int row)
{
    return strchr(h->out, '0' + row) != NULL;
}

/* With the plan's work space and with the caller's, which is of no use to another analysis. */
static void solve_hand(hand_case *c, const hand *h)
{
    const trs_dtype t = c->f.dtype;
    const trs_exec exec = {.work = c->work};
    trs_info info;
    assert_int_equal(trs_plan_info(c->plan, &info), TRS_OK);
    const bool stale = info.analyses != c->analyses;
    c->analyses = info.analyses;
    for (int k = 0; k < 6; k++) {
        const int op = k / 2;
        const double *want = h->x[c->upper == (op == TRS_N)];
        zz b[4], x[4];
        for (int i = 0; i < 4; i++) set_number(b, t, i, is_out(h, i) ? NAN : 1);
        if (k == 1) {
            const int rc = trs_solve(c->plan, TRS_N, 1, b, 4, x, 4, &exec);
            assert_int_equal(rc, stale ? TRS_ESTATE : TRS_OK);
            assert_int_equal(trs_work_fit(c->work, c->plan, 1), TRS_OK);
        }
        const int rc = trs_solve(c->plan, (trs_op)op, 1, b, 4, x, 4, k % 2 ? &exec : NULL);
        assert_status(rc, TRS_OK);
        for (int i = 0; i < 4; i++) {
            const double error = cabs(get_number(x, t, i) - want[i]);
            if (!(error <= 8 * epsilon(t)))
                print_error("%s: rows \"%s\" left out, %s, %s, op %s: x(%d) = %g\n",
                            c->solver->name, h->out, type_name[t], format_name[c->f.format],
                            op_name[op], i, creal(get_number(x, t, i)));
            assert_at_most(error, is_out(h, i) ? 0 : 8 * epsilon(t));
        }
    }
}

/* What the plan says of itself; blocks and full triangles store zeros, too. */
static void check_facts(const hand_case *c, const hand *h)
{
    const int32_t *topo, *lv;
    int64_t count, first;
    trs_info info;
    assert_int_equal(trs_plan_pivots(c->plan, &count, &first), TRS_OK);
    assert_int_equal(count, strlen(h->out));
    assert_int_equal(first, count ? h->out[0] - '0' + c->f.base : -1);
    assert_int_equal(trs_plan_info(c->plan, &info), TRS_OK);
    assert_int_equal(trs_plan_levels(c->plan, &topo, &lv), TRS_OK);
    if (c->f.format == TRS_CSR || c->f.format == TRS_CSC) assert_int_equal(info.levels, h->levels);
    assert_int_equal(lv[info.levels], 4);
    for (int k = 0; k < 4; k++) assert_true(!is_out(h, topo[k]) || k < lv[1]);
}

static void update_hand(hand_case *c, const hand *h, bool on_device)
{
    trs_mat a = show_hand(c, h), from = on_device ? mat_to_device(&a) : a;
    assert_status(trs_plan_update(c->plan, &from, NULL), TRS_OK);
    if (on_device) mat_free_device(&from);
    mat_free(&a);
    check_facts(c, h);
    solve_hand(c, h);
}

/* Every set of rows after every other one; the analysis of the same set is kept. */
static void run_hand(const trs_solver *s, int number)
{
    static const trs_format format[] = {TRS_CSR, TRS_CSC, TRS_DENSE, TRS_BSR};
    hand_case c = {.solver = s, .upper = number / 2 % 2, .order = (trs_order)(number % 3)};
    c.f = (form){.dtype = (trs_dtype)(number % 4),
                 .format = format[number / 4 % 4],
                 .base = number % 2,
                 .ptr_bits = 64,
                 .idx_bits = 32,
                 .block = 2};
    const trs_options opt = {
        .solver = s->name, .ops = 7, .order = c.order, .pivot = TRS_PIVOT_SKIP};
    for (int first = 0; first < HANDS; first++) {
        trs_mat a = show_hand(&c, &by_hand[first]);
        c.analyses = 1;
        assert_status(trs_plan_create(&c.plan, &a, &opt), TRS_OK);
        assert_status(trs_plan_analyse(c.plan), TRS_OK);
        assert_int_equal(trs_work_create(&c.work, c.plan, 1), TRS_OK);
        mat_free(&a);
        check_facts(&c, &by_hand[first]);
        solve_hand(&c, &by_hand[first]);
        for (int k = 0; k < 2 * HANDS; k++) {
            const int64_t before = c.analyses;
            const bool same = k == 0 || !strcmp(by_hand[(k - 1) / 2].out, by_hand[k / 2].out);
            const bool device = s->place == TRS_ON_CUDA && k % 2;
            update_hand(&c, &by_hand[k / 2], device);
            if (k > 0) assert_int_equal(c.analyses, before + !same);
        }
        trs_work_destroy(c.work);
        trs_plan_destroy(c.plan);
    }
}

/* The row that is left out stands between the row where b is NaN and the others, whose x must not become NaN by it. */
static void run_hidden(const trs_solver *s, int number)
{
    const hand *h = &by_hand[1];
    hand_case c = {.solver = s, .upper = number / 2 % 2};
    c.f = (form){.dtype = (trs_dtype)(number % 4),
                 .format = number / 4 % 2 ? TRS_CSC : TRS_CSR,
                 .ptr_bits = 64,
                 .idx_bits = 32};
    const trs_options opt = {
        .solver = s->name, .ops = 7, .order = (trs_order)(number % 3), .pivot = TRS_PIVOT_SKIP};
    trs_mat a = show_hand(&c, h);
    assert_status(trs_plan_create(&c.plan, &a, &opt), TRS_OK);
    assert_status(trs_plan_analyse(c.plan), TRS_OK);
    for (int op = 0; op < 3; op++) {
        const bool down = c.upper != (op == TRS_N); /* from row 0 to row 3 */
        const int at = down ? 0 : 2;
        zz x[4];
        for (int i = 0; i < 4; i++) set_number(x, c.f.dtype, i, i == at ? NAN : 1);
        assert_int_equal(trs_solve(c.plan, (trs_op)op, 1, x, 4, x, 4, NULL), TRS_OK);
        for (int i = 0; i < 4; i++) {
            const zz v = get_number(x, c.f.dtype, i);
            if (i == at) assert_true(isnan(creal(v)) || isnan(cimag(v)));
            else if (i == 1 || s->accuracy == TRS_SUBSTITUTION) assert_true(v == h->x[!down][i]);
        }
    }
    trs_plan_destroy(c.plan);
    mat_free(&a);
}

/* ---- pivots far from 1 ------------------------------------------------------------------------------ */

enum { FAR_ROWS = 130, FAR_COLUMNS = 9, FAR_CASES = 72 };
/* The powers of two up to which numbers are near 1 (near.h): pivots of the size 2^RIM and 2^-RIM are just near. */
enum { RIM = 500, RIM_SINGLE = 60 };

typedef enum shape { LINE, FEW, ALL, SHAPES } shape; /* entries of a row beside the diagonal */

/* A system op (T) x = b whose x is known and smaller than 1.  Each row, and its b, is multiplied by a power of two, which
 * leaves x as it is, but makes the pivots so large or so small that 1 / pivot may not be a normal number. */
typedef struct far {
    trs_dtype dtype;
    trs_op op;
    int power[FAR_ROWS];
    model m;
    zz b[FAR_ROWS * FAR_COLUMNS], x[FAR_ROWS * FAR_COLUMNS];
} far;

static zz times_power(zz v, int power)
{
    return CMPLX(ldexp(creal(v), power), ldexp(cimag(v), power));
}

/* A random multiple of 1 / of, at most most / of in size. */
static zz fraction(random_t *r, int most, int of, bool is_complex)
{
    const double re = random_below(r, 2 * most + 1) - most;
    const double im = is_complex ? random_below(r, 2 * most + 1) - most : 0;
    return CMPLX(re / of, im / of);
}

/* all: the same power for all rows. */
static void draw_powers(far *c, bool all, random_t *r)
{
    static const int of_double[] = {-1060, -1030, -1023, 1021, 1023, RIM, -RIM, 0};
    static const int of_single[] = {-138, -133, -127, 125, 127, RIM_SINGLE, -RIM_SINGLE, 0};
    const int *of = epsilon(c->dtype) == epsilon(TRS_F32) ? of_single : of_double;
    const int one = of[random_below(r, 7)];
    for (int i = 0; i < FAR_ROWS; i++) c->power[i] = all ? one : of[random_below(r, 8)];
}

/* Complex pivots at the rim have the modulus 1, but for rounding, before they are multiplied by their power. */
static zz far_pivot(const far *c, int row, random_t *r)
{
    static const double pivots[] = {1, -1.5, 1.25};
    const int power = abs(c->power[row]);
    const double re = pivots[random_below(r, 3)], im = random_below(r, 3) - 1;
    if (!trs_is_complex(c->dtype)) return re;
    return power == RIM || power == RIM_SINGLE ? CMPLX(0.6, 0.8) : CMPLX(re, im);
}

static void draw_matrix(far *c, shape s, random_t *r)
{
    const bool is_complex = trs_is_complex(c->dtype);
    for (int i = 0; i < FAR_ROWS; i++) {
        const int near = s == LINE ? i - 1 : i - 40, from = s == ALL ? 0 : near;
        const int step = s == FEW ? 10 + random_below(r, 25) : 1;
        for (int j = from < 0 ? 0 : from; j < i; j += step)
            model_add(&c->m, i, j,
                      times_power(fraction(r, s == ALL ? 1 : 16, 128, is_complex),
                                  c->power[c->op == TRS_N ? i : j]));
        model_add(&c->m, i, i, times_power(far_pivot(c, i, r), c->power[i]));
    }
    c->m.n = FAR_ROWS;
}

/* x, and b = op (T) x: products and sums are exact but for complex pivots at the rim. */
static void draw_x(far *c, random_t *r)
{
    for (int k = 0; k < FAR_ROWS * FAR_COLUMNS; k++)
        c->x[k] = fraction(r, 4, 16, trs_is_complex(c->dtype));
    memset(c->b, 0, sizeof c->b);
    for (int64_t p = 0; p < c->m.nnz; p++) {
        const int i = c->op == TRS_N ? c->m.row[p] : c->m.col[p];
        const int j = c->op == TRS_N ? c->m.col[p] : c->m.row[p];
        const zz a = c->op == TRS_H ? conj(c->m.val[p]) : c->m.val[p];
        for (int k = 0; k < FAR_COLUMNS; k++) {
            const zz x = c->x[k * FAR_ROWS + j];
            c->b[k * FAR_ROWS + i] += CMPLX(creal(a) * creal(x) - cimag(a) * cimag(x),
                                            creal(a) * cimag(x) + cimag(a) * creal(x));
        }
    }
}

/* The largest error of x. */
static double far_error(const far *c, const trs_plan *p, int nrhs)
{
    enum { N = FAR_ROWS * FAR_COLUMNS };
    zz b[N], x[N];
    double error = 0;
    for (int k = 0; k < N; k++) set_number(b, c->dtype, k, c->b[k]);
    assert_int_equal(trs_solve(p, c->op, nrhs, b, FAR_ROWS, x, FAR_ROWS, NULL), TRS_OK);
    for (int k = 0; k < nrhs * FAR_ROWS; k++) {
        const double e = cabs(get_number(x, c->dtype, k) - c->x[k]);
        error = larger(error, e);
        if (isnan(e)) break;
    }
    return error;
}

/* A solver that misses is named.  Only those may that call a vendor's library, which divides in its own way, and
 * cuda-single-block in single precision, whose atomic additions take subnormal numbers for zero. */
static void check_far(const trs_solver *s, const far *c, const trs_plan *p, const char *when)
{
    static const int nrhs[] = {1, 3, FAR_COLUMNS};
    for (int k = 0; k < 3; k++) {
        const double error = far_error(c, p, nrhs[k]), most = 64 * epsilon(c->dtype);
        if (error <= most) continue;
        print_message("%s, %s, op %s, %d columns, %s: error %g\n", s->name, type_name[c->dtype],
                      op_name[c->op], nrhs[k], when, error);
        assert_true(s->library || (!strcmp(s->name, "cuda-single-block") &&
                                   epsilon(c->dtype) == epsilon(TRS_F32)));
    }
}

static void run_far(const trs_solver *s, int number)
{
    random_t r = {(uint64_t)number * 131 + 3};
    far c = {.dtype = (trs_dtype)(number % 4), .op = (trs_op)(number / 4 % 3)};
    draw_powers(&c, number / 36 % 2, &r);
    draw_matrix(&c, (shape)(number / 12 % SHAPES), &r);
    draw_x(&c, &r);
    const form f = {.dtype = c.dtype, .format = TRS_CSR, .ptr_bits = 64, .idx_bits = 32};
    trs_mat a = show(&c.m, &f, &r);
    const trs_options opt = {.solver = s->name, .ops = 1u << c.op};
    trs_plan *p;
    assert_status(trs_plan_create(&p, &a, &opt), TRS_OK);
    assert_status(trs_plan_analyse(p), TRS_OK);
    check_far(s, &c, p, "analysed");
    if (s->place == TRS_ON_CUDA) {
        trs_mat d = mat_to_device(&a);
        assert_status(trs_plan_update(p, &d, NULL), TRS_OK);
        mat_free_device(&d);
        check_far(s, &c, p, "updated on the device");
    }
    trs_plan_destroy(p);
    mat_free(&a);
    model_free(&c.m);
}

static void test_solver(void **state)
{
    const trs_solver *s = *state;
    char why[200];
    if (!trs_solver_available(s, 0, why, sizeof why)) {
        print_message("%s: %s\n", s->name, why);
        skip();
    }
    const int step = case_step();
    for (int k = 0; k < CASES; k += step) run_case(s, k);
    recover(s);
    for (int k = 0; k < 48; k += 5 * step) run_hand(s, k);
    for (int k = 0; k < 24; k += step) run_hidden(s, k);
    for (int k = 0; k < FAR_CASES; k += step) run_far(s, k);
}

static void refuse(trs_options opt, trs_dtype t, unsigned kind, int code)
{
    const double one = 1;
    trs_mat m = {.n = 1, .ld = 1, .val = &one, .format = TRS_DENSE, .kind = kind, .dtype = t};
    trs_plan *p;
    assert_int_equal(trs_plan_create(&p, &m, &opt), code);
    assert_true(trs_message()[0] != '\0');
    trs_plan_destroy(p);
}

static void test_options(void **state)
{
    (void)state;
    refuse((trs_options){.pivot = (trs_pivot)3}, TRS_F64, TRS_LOWER, TRS_EARG);
    refuse((trs_options){.pivot = (trs_pivot)-1}, TRS_F64, TRS_LOWER, TRS_EARG);
    trs_options opt = {.pivot = TRS_PIVOT_REPLACE};
    refuse(opt, TRS_F64, TRS_LOWER, TRS_EARG);
    opt.pivot_value = NAN;
    refuse(opt, TRS_F64, TRS_LOWER, TRS_EARG);
    opt.pivot_value = 1e-60; /* zero in single precision */
    refuse(opt, TRS_F32, TRS_LOWER, TRS_EARG);
    opt.pivot_value = 1e60;
    refuse(opt, TRS_C32, TRS_LOWER, TRS_EARG);
    refuse((trs_options){.pivot = TRS_PIVOT_SKIP}, TRS_F64, 0, TRS_ESUPPORT);
}

int main(void)
{
    struct CMUnitTest tests[64] = {{"options", test_options, NULL, NULL, NULL}};
    int count = 1;
    for (int k = 0; trs_solver_at(k) && count < 64; k++) {
        const trs_solver *s = trs_solver_at(k);
        if (s->family != TRS_TRIANGLE) continue;
        tests[count++] = (struct CMUnitTest){s->name, test_solver, NULL, NULL, (void *)s};
    }
    choose_solvers();
    return _cmocka_run_group_tests("t_pivots", tests, (size_t)count, NULL, NULL);
}

/* t_elimination.c: elimination on a device against the same elimination on the host, row by row in double precision: factors,
 * pivots that are zero, negative, tiny, NaN or shifted, what is said of them, the same bits twice, and a captured run that is
 * replayed with new values. */
#include "tests/common/stream.h"

#include "base/device.h"
#include "elimination/elimination.h"

#include <float.h>
#include <math.h>

/* ---- patterns -------------------------------------------------------------------------------------------- */

typedef enum shape {
    ONLY_DIAGONAL,
    TRIDIAGONAL,
    GRID2,
    GRID3,
    BOX3,  /* 27 points */
    PAIRS, /* a grid with so many unknowns a vertex: rows that have the same columns */
    TRIPLES,
    QUADRUPLES,
    QUINTUPLES,
    BOXES, /* the same with 9 neighbours and three unknowns */
    SPARSE,
    DENSER,
    HUNDRED, /* every entry */
    SHAPES
} shape;

static const struct {
    int n, unknowns, width; /* rows; of a vertex; vertices side by side */
} form_of[SHAPES] = {{70, 1, 1},   {90, 1, 1},   {300, 1, 12}, {340, 1, 6}, {340, 1, 6},
                     {290, 2, 12}, {300, 3, 10}, {280, 4, 8},  {307, 5, 8}, {420, 3, 12},
                     {500, 1, 1},  {300, 1, 1},  {100, 1, 1}};

/* Are they unknowns of one vertex, or of neighbours? */
static bool are_near(shape s, int i, int j)
{
    const int width = form_of[s].width, a = i / form_of[s].unknowns, b = j / form_of[s].unknowns;
    const int dx = abs(a % width - b % width), dy = abs(a / width % width - b / width % width);
    const int dz = abs(a / width / width - b / width / width);
    if (s == BOX3 || s == BOXES) return dx <= 1 && dy <= 1 && dz <= 1;
    return dx + dy + dz <= 1;
}

/* Is (i, j) an entry?  Symmetric but for SPARSE and DENSER. */
static bool has(shape s, int i, int j)
{
    const uint64_t mix = ((uint64_t)i * 1000003u + (uint64_t)j) * 0x9e3779b97f4a7c15u;
    const int chance = (int)(mix >> 40 & 1023);
    if (i == j || s == HUNDRED) return true;
    if (s == ONLY_DIAGONAL) return false;
    if (s == TRIDIAGONAL) return abs(i - j) == 1;
    if (s == SPARSE) return chance < 12;
    if (s == DENSER) return chance < 200;
    return are_near(s, i, j);
}

/* ---- a problem, on the host and on the device ------------------------------------------------------------ */

typedef struct problem {
    int n, values, places; /* rows; numbers of A and of val */
    trs_dtype dtype;
    trs_elimination_pattern p; /* on the host */
    zz *a;                     /* [values] */
    double *scale;
    double shift, boost;
    trs_context ctx;
    trs_elimination_pattern on_device;
    trs_elimination *e;
    void *dev_a, *dev_val;
    trs_elimination_outcome *dev_outcome;
} problem;

static void *taken(size_t bytes)
{
    void *p = calloc(bytes + 1, 1);
    assert_non_null(p);
    return p;
}

static void find_entries(problem *b, shape s)
{
    const int n = b->n;
    int64_t nnz = 0, *ptr = taken(((size_t)n + 1) * sizeof *ptr),
            *diag = taken((size_t)n * sizeof *diag);
    int32_t *idx = taken((size_t)n * (size_t)n * sizeof *idx),
            *level = taken((size_t)n * sizeof *level);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            const bool is = has(s, i, j) || (b->p.cholesky && has(s, j, i));
            if (!is) continue;
            if (j < i && level[i] <= level[j]) level[i] = level[j] + 1;
            if (j == i) diag[i] = nnz;
            idx[nnz++] = j;
        }
        ptr[i + 1] = nnz;
        if (level[i] >= b->p.levels) b->p.levels = level[i] + 1;
    }
    b->p.n = n, b->p.nnz = nnz, b->p.ptr = ptr, b->p.idx = idx, b->p.diag = diag,
    b->p.level = level;
}

/* Where entry (i, j) stands; -1: there is none. */
static int64_t entry_at(const problem *b, int i, int j)
{
    for (int64_t q = b->p.ptr[i]; q < b->p.ptr[i + 1]; q++)
        if (b->p.idx[q] == j) return q;
    return -1;
}

static void shuffle(int64_t *v, int64_t count, random_t *r)
{
    for (int64_t k = count - 1; k > 0; k--) {
        const int other = random_below(r, (int)k + 1);
        const int64_t keep = v[k];
        v[k] = v[other], v[other] = keep;
    }
}

/* The numbers of A are in no order, one entry in 20 off the diagonal has none, and L and U are scattered over val.  Of
 * Cholesky the upper triangle takes the conjugated numbers of the lower one. */
static void find_places(problem *b, random_t *r)
{
    const int64_t nnz = b->p.nnz;
    int64_t *src = taken((size_t)nnz * sizeof *src), *to = taken((size_t)nnz * sizeof *to);
    unsigned char *conjugate = taken((size_t)nnz);
    for (int64_t k = 0; k < nnz; k++) src[k] = to[k] = k;
    shuffle(src, nnz, r);
    shuffle(to, nnz, r);
    for (int i = 0; i < b->n; i++)
        for (int64_t q = b->p.ptr[i]; q < b->p.ptr[i + 1]; q++) {
            const int j = b->p.idx[q];
            to[q] += 7;
            if (i != j && random_below(r, 20) == 0) src[q] = TRS_SRC_MISSING;
            if (b->p.cholesky && j > i) to[q] = -1;
        }
    for (int i = 0; b->p.cholesky && i < b->n; i++)
        for (int64_t q = b->p.ptr[i]; q < b->p.diag[i]; q++) {
            const int64_t mirror = entry_at(b, b->p.idx[q], i);
            src[mirror] = src[q];
            conjugate[mirror] = 1;
        }
    b->values = (int)nnz, b->places = (int)nnz + 9;
    b->p.src = src, b->p.to = to, b->p.conjugate = b->p.cholesky ? conjugate : NULL;
    if (!b->p.cholesky) free(conjugate);
}

static zz random_number(const problem *b, random_t *r)
{
    return random_uniform(r) + (trs_is_complex(b->dtype) ? random_uniform(r) * I : 0);
}

/* Numbers for which the diagonal dominates.  Rounded to the type. */
static void draw_values(problem *b, random_t *r)
{
    for (int i = 0; i < b->n; i++) {
        const double size = (double)(b->p.ptr[i + 1] - b->p.ptr[i]) + 1;
        for (int64_t q = b->p.ptr[i]; q < b->p.ptr[i + 1]; q++) {
            const bool diagonal = q == b->p.diag[i];
            if (b->p.src[q] < 0) continue;
            const zz d =
                size + random_uniform(r) + (b->p.cholesky || !trs_is_complex(b->dtype) ? 0 : I);
            float complex z = (float complex)(diagonal ? d : random_number(b, r));
            b->a[b->p.src[q]] = z;
        }
    }
}

static void *put(problem *b, const void *from, size_t bytes)
{
    void *p = NULL;
    if (!from) return NULL;
    p = trs_gpu_new(&b->ctx, (int64_t)bytes, 1, "a test");
    assert_non_null(p);
    assert_int_equal(trs_gpu_put(&b->ctx, p, from, bytes), TRS_OK);
    return p;
}

static void send_values(problem *b)
{
    char *a = taken((size_t)b->values * trs_size(b->dtype));
    for (int k = 0; k < b->values; k++) set_number(a, b->dtype, k, b->a[k]);
    assert_int_equal(trs_gpu_put(&b->ctx, b->dev_a, a, (size_t)b->values * trs_size(b->dtype)),
                     TRS_OK);
    free(a);
}

static void send(problem *b)
{
    const trs_elimination_pattern *p = &b->p;
    const size_t n = (size_t)p->n, nnz = (size_t)p->nnz;
    trs_elimination_pattern *d = &b->on_device;
    *d = *p;
    assert_int_equal(trs_gpu_use(&b->ctx), TRS_OK);
    d->ptr = put(b, p->ptr, (n + 1) * sizeof *p->ptr);
    d->idx = put(b, p->idx, nnz * sizeof *p->idx);
    d->diag = put(b, p->diag, n * sizeof *p->diag);
    d->level = put(b, p->level, n * sizeof *p->level);
    d->src = put(b, p->src, nnz * sizeof *p->src);
    d->to = put(b, p->to, nnz * sizeof *p->to);
    d->conjugate = put(b, p->conjugate, nnz);
    d->scale = put(b, p->scale, n * sizeof *p->scale);
    b->dev_a = trs_gpu_new(&b->ctx, b->values, trs_size(b->dtype), "a test");
    b->dev_val = trs_gpu_new(&b->ctx, b->places, trs_size(b->dtype), "a test");
    b->dev_outcome = trs_gpu_new(&b->ctx, 1, sizeof *b->dev_outcome, "a test");
    assert_true(b->dev_a && b->dev_val && b->dev_outcome);
    send_values(b);
    assert_status(trs_elimination_create(&b->ctx, d, &b->e), TRS_OK);
}

static problem *problem_new(shape s, int n, trs_dtype dtype, bool cholesky, bool scaled,
                            random_t *r)
{
    problem *b = taken(sizeof *b);
    *b = (problem){.n = n, .dtype = dtype, .ctx = {.threads = 1}};
    b->p.cholesky = cholesky, b->p.dtype = dtype;
    find_entries(b, s);
    find_places(b, r);
    b->a = taken((size_t)b->values * sizeof *b->a);
    draw_values(b, r);
    if (scaled) {
        b->scale = taken((size_t)n * sizeof *b->scale);
        for (int i = 0; i < n; i++) b->scale[i] = ldexp(1, random_below(r, 7) - 3);
        b->p.scale = b->scale;
    }
    return b;
}

static void problem_free(problem *b)
{
    const trs_elimination_pattern *of[] = {&b->p, &b->on_device};
    trs_elimination_destroy(b->e);
    for (int k = 0; k < 2; k++) {
        const void *p[] = {of[k]->ptr, of[k]->idx, of[k]->diag,      of[k]->level,
                           of[k]->src, of[k]->to,  of[k]->conjugate, of[k]->scale};
        for (int m = 0; m < 8; m++)
            if (k) trs_gpu_free(&b->ctx, (void *)p[m]);
            else free((void *)p[m]);
    }
    trs_gpu_free(&b->ctx, b->dev_a);
    trs_gpu_free(&b->ctx, b->dev_val);
    trs_gpu_free(&b->ctx, b->dev_outcome);
    trs_gpu_drop_scratch(&b->ctx);
    trs_gpu_drop_ring(&b->ctx);
    free(b->a);
    free(b);
}

/* ---- the reference --------------------------------------------------------------------------------------- */

typedef struct reference {
    zz *val; /* [places] NaN where nothing is written */
    /* [places] the size of what each number was made of; INFINITY: of a row that a bad pivot has spoilt, where Inf / Inf and
     * the like depend on how complex numbers are divided */
    double *bound;
    trs_elimination_outcome outcome;
} reference;

static double size_of(zz z)
{
    return fabs(creal(z)) + fabs(cimag(z));
}

static void raise_to(double *most, double v)
{
    if (v > *most) *most = v;
}

static trs_ilu_fault finish_pivot(const problem *b, reference *ref, zz *d, double least,
                                  bool finite)
{
    if (!finite) return TRS_ILU_INFINITE;
    if (b->p.cholesky ? b->boost > 0 && creal(*d) < least : size_of(*d) < least) {
        *d = creal(*d) < 0 && !b->p.cholesky ? -least : least;
        ref->outcome.boosted++;
    }
    if (b->p.cholesky && creal(*d) < 0) return TRS_ILU_NEGATIVE;
    return *d == 0 ? TRS_ILU_ZERO : TRS_ILU_GOOD;
}

/* Row i of L + U, kept full: x [n].  size [n]: of each row, what its numbers are made of. */
static void eliminate_row(const problem *b, reference *ref, zz *u, double *size, int i)
{
    const int64_t *ptr = b->p.ptr, *diag = b->p.diag;
    const int n = b->n;
    zz *x = u + (int64_t)i * n;
    for (int64_t q = ptr[i]; q < ptr[i + 1]; q++) {
        const int j = b->p.idx[q];
        const zz a = b->p.src[q] < 0 ? 0 : b->a[b->p.src[q]];
        x[j] = (b->p.conjugate && b->p.conjugate[q] ? conj(a) : a) * (b->scale ? b->scale[i] : 1);
        if (b->p.cholesky && j == i) x[j] = creal(x[j]);
        raise_to(&ref->outcome.largest_a, size_of(x[j]));
        if (j == i) x[j] *= 1 + b->shift;
        raise_to(&size[i], size_of(x[j]));
    }
    for (int64_t q = ptr[i]; q < diag[i]; q++) {
        const int k = b->p.idx[q];
        const zz *w = u + (int64_t)k * n, l = x[k] /= w[k];
        size[i] += isfinite(size[k]) ? size_of(l) * size[k] : INFINITY;
        for (int64_t r = diag[k] + 1; r < ptr[k + 1]; r++) {
            const int j = b->p.idx[r];
            if (entry_at(b, i, j) < 0) continue;
            x[j] -= l * w[j];
            raise_to(&ref->outcome.largest, size_of(l) * size_of(w[j]));
        }
    }
}

/* What is wrong with row i, whose pivot is put in order. */
static trs_ilu_fault finish_row(const problem *b, reference *ref, zz *u, int i)
{
    zz *x = u + (int64_t)i * b->n;
    double least = 0;
    bool finite = true;
    for (int64_t q = b->p.ptr[i]; q < b->p.ptr[i + 1]; q++) {
        const int j = b->p.idx[q];
        const double by = b->scale ? b->scale[i] : 1;
        finite = finite && isfinite(creal(x[j])) && isfinite(cimag(x[j]));
        if ((j <= i || !b->p.cholesky) && b->p.src[q] >= 0)
            raise_to(&least, size_of(b->a[b->p.src[q]]) * by * b->boost);
    }
    if (b->p.cholesky) x[i] = creal(x[i]);
    const trs_ilu_fault f = finish_pivot(b, ref, &x[i], least, finite);
    ref->outcome.bad += f != TRS_ILU_GOOD;
    if (f && ref->outcome.first == UINT64_MAX) ref->outcome.first = 4 * (uint64_t)i + f;
    for (int64_t q = b->p.diag[i]; q < b->p.ptr[i + 1]; q++)
        raise_to(&ref->outcome.largest, size_of(x[b->p.idx[q]]));
    return f;
}

static reference solve(const problem *b)
{
    const int n = b->n;
    reference ref = {.outcome = {.first = UINT64_MAX}};
    zz *u = taken((size_t)n * (size_t)n * sizeof *u);
    double *size = taken((size_t)n * sizeof *size);
    ref.val = taken((size_t)b->places * sizeof *ref.val);
    ref.bound = taken((size_t)b->places * sizeof *ref.bound);
    for (int k = 0; k < b->places; k++) ref.val[k] = NAN;
    for (int i = 0; i < n; i++) {
        eliminate_row(b, &ref, u, size, i);
        if (finish_row(b, &ref, u, i)) size[i] = INFINITY;
        for (int64_t q = b->p.ptr[i]; q < b->p.ptr[i + 1]; q++) {
            const int j = b->p.idx[q];
            if (b->p.to[q] < 0) continue;
            const zz d = u[(int64_t)j * n + j];
            const double root = b->p.cholesky ? sqrt(creal(d)) : 1, made_of = size[i] * root;
            ref.val[b->p.to[q]] = b->p.cholesky && i == j ? root : u[(int64_t)i * n + j] * root;
            ref.bound[b->p.to[q]] = j < i || b->p.cholesky ? made_of / size_of(d) : made_of;
        }
    }
    free(u);
    free(size);
    return ref;
}

static void reference_free(reference *ref)
{
    free(ref->val);
    free(ref->bound);
}

/* ---- runs ------------------------------------------------------------------------------------------------ */

/* Bytes that no run leaves. */
enum { UNTOUCHED = 0x5b };

static void spoil(problem *b)
{
    const size_t bytes = (size_t)b->places * trs_size(b->dtype);
    void *old = taken(bytes);
    memset(old, UNTOUCHED, bytes);
    assert_int_equal(trs_gpu_put(&b->ctx, b->dev_val, old, bytes), TRS_OK);
    assert_int_equal(trs_gpu_put(&b->ctx, b->dev_outcome, old,
                                 sizeof *b->dev_outcome < bytes ? sizeof *b->dev_outcome : bytes),
                     TRS_OK);
    free(old);
}

static trs_elimination_job job_of(const problem *b, void *stream)
{
    return (trs_elimination_job){.a = b->dev_a,
                                 .val = b->dev_val,
                                 .shift = b->shift,
                                 .boost = b->boost,
                                 .outcome = b->dev_outcome,
                                 .stream = stream};
}

static void run(problem *b)
{
    const trs_elimination_job job = job_of(b, NULL);
    spoil(b);
    assert_status(trs_elimination_run(b->e, &job), TRS_OK);
    assert_int_equal(trs_gpu_wait(NULL), TRS_OK);
}

static trs_elimination_outcome outcome_of(problem *b)
{
    trs_elimination_outcome o;
    assert_int_equal(trs_gpu_get(&b->ctx, &o, b->dev_outcome, sizeof o), TRS_OK);
    return o;
}

static void *fetch(problem *b)
{
    const size_t bytes = (size_t)b->places * trs_size(b->dtype);
    void *val = taken(bytes);
    assert_int_equal(trs_gpu_get(&b->ctx, val, b->dev_val, bytes), TRS_OK);
    return val;
}

/* Every number of val, but for rows that are spoilt by a bad pivot. */
static double compare_values(problem *b, const reference *ref)
{
    char *val = fetch(b), untouched[16];
    const size_t size = trs_size(b->dtype);
    double worst = 0;
    memset(untouched, UNTOUCHED, sizeof untouched);
    for (int k = 0; k < b->places; k++) {
        const zz want = ref->val[k], got = get_number(val, b->dtype, k);
        if (ref->bound[k] == 0) assert_memory_equal(val + (size_t)k * size, untouched, size);
        else if (isfinite(creal(want)) && isfinite(cimag(want)) && isfinite(ref->bound[k])) {
            const double e = size_of(got - want) / (epsilon(b->dtype) * ref->bound[k] + DBL_MIN);
            if (!(e <= worst)) worst = isnan(e) ? INFINITY : e;
        }
    }
    free(val);
    return worst;
}

static void assert_near(double a, double b, double relative)
{
    assert_at_most(fabs(a - b), relative * fabs(b));
}

static void compare_outcome(problem *b, const reference *ref)
{
    const trs_elimination_outcome o = outcome_of(b), *w = &ref->outcome;
    const double relative = 2e-6 + 1e3 * epsilon(b->dtype);
    assert_int_equal(o.first, w->first);
    assert_int_equal(o.boosted, w->boosted);
    if (w->first != UINT64_MAX) {
        assert_true(o.bad >= 1);
        return;
    }
    assert_int_equal(o.bad, 0);
    assert_near(o.largest_a, w->largest_a, relative);
    assert_near(o.largest, w->largest, relative);
}

static double run_and_compare(problem *b)
{
    reference ref = solve(b);
    run(b);
    const double worst = compare_values(b, &ref);
    assert_at_most(worst, 40);
    compare_outcome(b, &ref);
    reference_free(&ref);
    return worst;
}

/* ---- tests ----------------------------------------------------------------------------------------------- */

static void test_factors(void **state)
{
    random_t r = {5};
    double worst = 0;
    (void)state;
    for (int number = 0; number < SHAPES * 8; number++) {
        const shape s = (shape)(number / 8);
        const bool cholesky = number & 4;
        problem *b = problem_new(s, form_of[s].n, (trs_dtype)(number % 4), cholesky,
                                 !cholesky && number & 1, &r);
        send(b);
        const double e = run_and_compare(b);
        if (e > worst) worst = e;
        void *once = fetch(b);
        run(b);
        void *twice = fetch(b);
        assert_memory_equal(once, twice, (size_t)b->places * trs_size(b->dtype));
        assert_true(trs_elimination_bytes(b->e) > 0 && *trs_elimination_kernel(b->e));
        free(once);
        free(twice);
        problem_free(b);
    }
    print_message("# largest error %.2f eps\n", worst);
}

/* Other sizes, so that tasks and blocks are filled in all ways. */
static void test_sizes(void **state)
{
    random_t r = {6};
    (void)state;
    for (int n = 0; n < 90; n++) {
        problem *b =
            problem_new((shape)(n % SHAPES), n, (trs_dtype)(n / 2 % 4), n % 3 == 0, false, &r);
        send(b);
        run_and_compare(b);
        problem_free(b);
    }
}

static void set_diagonal(problem *b, int i, zz v)
{
    b->a[b->p.src[b->p.diag[i]]] = v;
    send_values(b);
}

/* No other row changes row i; and with L L^H, where a small pivot makes many negative ones, it changes none. */
static void isolate(problem *b, int i)
{
    for (int64_t q = b->p.ptr[i]; q < (b->p.cholesky ? b->p.ptr[i + 1] : b->p.diag[i]); q++)
        if (b->p.src[q] >= 0) b->a[b->p.src[q]] = 0;
}

static void test_bad_pivots(void **state)
{
    random_t r = {7};
    (void)state;
    for (int number = 0; number < 48; number++) {
        const shape s = number / 8 % 2 ? SPARSE : GRID2;
        const bool cholesky = number & 4;
        const int n = form_of[s].n, i = n / 3;
        const double values[] = {0, NAN, -3};
        problem *b = problem_new(s, n, (trs_dtype)(number % 4), cholesky, false, &r);
        send(b);
        isolate(b, i);
        set_diagonal(b, i, values[number / 16]);
        run_and_compare(b);
        draw_values(b, &r);
        send_values(b);
        run_and_compare(b);
        problem_free(b);
    }
}

static void test_nan_in_a_row(void **state)
{
    random_t r = {8};
    (void)state;
    for (int number = 0; number < 8; number++) {
        problem *b =
            problem_new(GRID3, form_of[GRID3].n, (trs_dtype)(number % 4), false, false, &r);
        const int i = 17 * (number + 1);
        send(b);
        /* the pattern that is reserved for what is not there yet */
        uint64_t bits = UINT64_MAX;
        double nan;
        memcpy(&nan, &bits, sizeof nan);
        const bool infinite = number & 4 && !trs_is_complex(b->dtype);
        b->a[b->p.src[b->p.diag[i]]] = infinite ? INFINITY : nan;
        send_values(b);
        run_and_compare(b);
        assert_int_equal(outcome_of(b).first, 4 * i + TRS_ILU_INFINITE);
        problem_free(b);
    }
}

static void test_boost_and_shift(void **state)
{
    random_t r = {9};
    (void)state;
    for (int number = 0; number < 16; number++) {
        const bool cholesky = number & 4;
        problem *b =
            problem_new(BOX3, form_of[BOX3].n, (trs_dtype)(number % 4), cholesky, false, &r);
        b->shift = 0.25;
        b->boost = number & 8 ? 1e-3 : 0;
        send(b);
        run_and_compare(b);
        b->boost = 1e-3;
        for (int i = 5; i < b->n; i += 90) {
            isolate(b, i);
            set_diagonal(b, i, i % 2 && cholesky ? -1 : -1e-7);
        }
        run_and_compare(b);
        assert_true(outcome_of(b).boosted > 0);
        problem_free(b);
    }
}

/* Pivots of which neither the inverse nor the square is a normal number. */
static void test_far_from_one(void **state)
{
    random_t r = {10};
    (void)state;
    for (int number = 0; number < 16; number++) {
        problem *b =
            problem_new(number & 4 ? BOX3 : SPARSE, 300, (trs_dtype)(number % 4), false, false, &r);
        const bool single = epsilon(b->dtype) > 1e-10;
        const double tiny = single ? 1e-35 : 1e-305, huge = single ? 1e32 : 1e300;
        const double by = number & 8 ? huge : tiny;
        for (int k = 0; k < b->values; k++) b->a[k] *= by;
        if (single)
            for (int k = 0; k < b->values; k++) b->a[k] = (float complex)b->a[k];
        send(b);
        run_and_compare(b);
        problem_free(b);
    }
}

static void test_capture(void **state)
{
    random_t r = {11};
    (void)state;
    for (int number = 0; number < 8; number++) {
        problem *b = problem_new(number & 4 ? GRID2 : TRIPLES, 300, (trs_dtype)(number % 4),
                                 number & 4, false, &r);
        cudaStream_t stream;
        cudaGraph_t graph;
        cudaGraphExec_t exec;
        send(b);
        assert_int_equal(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
        const trs_elimination_job job = job_of(b, stream);
        assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
                         cudaSuccess);
        assert_status(trs_elimination_run(b->e, &job), TRS_OK);
        assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaSuccess);
        assert_int_equal(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
        for (int step = 0; step < 3; step++) {
            draw_values(b, &r);
            send_values(b);
            spoil(b);
            assert_int_equal(cudaGraphLaunch(exec, stream), cudaSuccess);
            assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
            reference ref = solve(b);
            assert_at_most(compare_values(b, &ref), 40);
            compare_outcome(b, &ref);
            reference_free(&ref);
        }
        cudaGraphExecDestroy(exec);
        cudaGraphDestroy(graph);
        cudaStreamDestroy(stream);
        problem_free(b);
    }
}

static void test_without_a_device(void **state)
{
    (void)state;
    skip();
}

int main(void)
{
    const struct CMUnitTest none[] = {cmocka_unit_test(test_without_a_device)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_factors),         cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_bad_pivots),      cmocka_unit_test(test_nan_in_a_row),
        cmocka_unit_test(test_boost_and_shift), cmocka_unit_test(test_far_from_one),
        cmocka_unit_test(test_capture)};
    char why[200];
    if (!trs_gpu_probe(0, why, sizeof why)) return cmocka_run_group_tests(tests, NULL, NULL);
    print_message("%s\n", why);
    return cmocka_run_group_tests(none, NULL, NULL);
}

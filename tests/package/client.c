/* client.c: a program of a stranger, in the common part of C and C++: it knows trisolve-sparse.h and nothing
 * else, makes random triangles in all the shapes that the header names, and compares x with what plain
 * substitution in a full matrix gives.
 *
 *     client [CASES [SEED]]
 *
 * Says in TAP how it went, and on stderr what was wrong and which case it was. */
#include <trisolve-sparse.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 24, MOST_RHS = 5, PAD = 3, BYTES = (MOST + PAD) * (MOST + PAD) * 16 };

typedef struct number {
    long double re, im;
} number;

typedef struct scene { /* one case */
    uint64_t state;    /* of the random numbers */
    int n, nrhs;
    int unit, hidden; /* the diagonal is one; NaN is stored there all the same */
    int garbage;      /* NaN in the other triangle */
    number T[MOST][MOST];
    unsigned char stored[MOST][MOST];
    int turn, step,
        pad; /* the first entry of a row, or column, and the step to the next one; between columns */
    trs_mat mat;
    trs_op op;
    trs_layout layout;
    int64_t ldb, ldx;
    int in_place;
    trs_options opt;
} scene;

static long long live; /* blocks that the callbacks gave away */

static void *give(void *user, size_t bytes)
{
    ++*(long long *)user;
    return malloc(bytes);
}

static void take(void *user, void *p)
{
    if (p) --*(long long *)user;
    free(p);
}

static int below(scene *s, int n)
{
    s->state = s->state * 6364136223846793005u + 1442695040888963407u;
    return (int)((s->state >> 33) % (uint64_t)n);
}

static double real(scene *s) /* a float in -1 .. 1 */
{
    return below(s, 1 << 20) / (double)(1 << 19) - 1;
}

static int is_complex(trs_dtype t)
{
    return t == TRS_C64 || t == TRS_C32;
}

static int is_single(trs_dtype t)
{
    return t == TRS_F32 || t == TRS_C32;
}

static void put(void *a, trs_dtype t, int64_t k, number v)
{
    const int64_t width = is_complex(t) ? 2 : 1;
    for (int64_t part = 0; part < width; part++) {
        const double value = (double)(part ? v.im : v.re);
        if (is_single(t)) ((float *)a)[width * k + part] = (float)value;
        else ((double *)a)[width * k + part] = value;
    }
}

static number get(const void *a, trs_dtype t, int64_t k)
{
    const int64_t width = is_complex(t) ? 2 : 1;
    number v = {0, 0};
    v.re = is_single(t) ? ((const float *)a)[width * k] : ((const double *)a)[width * k];
    if (width == 2)
        v.im = is_single(t) ? ((const float *)a)[2 * k + 1] : ((const double *)a)[2 * k + 1];
    return v;
}

static number random_number(scene *s, double scale)
{
    number v = {0, 0};
    v.re = real(s) * scale;
    if (is_complex(s->mat.dtype)) v.im = real(s) * scale;
    return v;
}

static void *room(size_t bytes)
{
    void *p = calloc(1, bytes + 1);
    if (!p) exit(2);
    return p;
}

/* ---- a triangle, and how it is stored ----------------------------------------------------------- */

static int in_triangle(const scene *s, int i, int j)
{
    return s->mat.kind & TRS_LOWER ? i >= j : i <= j;
}

/* Values; the pattern stays.  The diagonal is 3 or more in size. */
static void draw_values(scene *s)
{
    for (int i = 0; i < s->n; i++)
        for (int j = 0; j < s->n; j++) {
            s->T[i][j] = random_number(s, s->n > 1 ? 2.0 / s->n : 1);
            if (i == j) s->T[i][j].re += below(s, 2) ? 4 : -4;
        }
}

static void draw_shape(scene *s)
{
    static const trs_format format[] = {TRS_CSR, TRS_CSC, TRS_DENSE, TRS_BSR};
    static const int bits[] = {0, 32, 64};
    trs_mat *m = &s->mat;
    memset(m, 0, sizeof *m);
    m->dtype = (trs_dtype)below(s, 4);
    m->kind = below(s, 2) ? TRS_LOWER : TRS_UPPER;
    m->format = format[below(s, 4)];
    m->base = below(s, 2);
    m->ptr_bits = bits[below(s, 3)];
    m->idx_bits = bits[below(s, 3)];
    m->block_layout = (trs_layout)below(s, 2);
    m->block = 1 + below(s, 4);
    s->n = below(s, 20) ? 1 + below(s, MOST) : 0;
    if (m->format == TRS_BSR) s->n -= s->n % m->block;
    m->n = s->n;
    s->unit = !below(s, 3);
    s->hidden = s->unit && below(s, 2);
    s->garbage = !below(s, 3);
    s->turn = below(s, MOST);
    s->step = below(s, 2) ? 1 : -1;
    s->pad = below(s, PAD);
    if (s->unit) m->kind |= TRS_UNIT;
    if (!s->garbage && !below(s, 3)) m->kind |= TRS_STRICT;
}

/* The blocks, of one number or more, that are stored. */
static void draw_pattern(scene *s)
{
    const int r = s->mat.format == TRS_BSR ? s->mat.block : 1, sparse = 1 + below(s, 4);
    memset(s->stored, s->mat.format == TRS_DENSE, sizeof s->stored);
    for (int I = 0; I < s->n && s->mat.format != TRS_DENSE; I += r)
        for (int J = 0; J < s->n; J += r) {
            const int diagonal = I == J && (!s->unit || s->hidden || r > 1);
            const int other = !in_triangle(s, I, J) && I != J;
            int in = diagonal || (I != J && (!other || s->garbage) && !below(s, sparse));
            for (int k = 0; k < r * r; k++) s->stored[I + k / r][J + k % r] = (unsigned char)in;
        }
}

/* What val holds for an entry. */
static number value_of(const scene *s, int i, int j)
{
    number nan_ = {NAN, NAN}, zero = {0, 0};
    if (i == j) return s->hidden || s->unit ? nan_ : s->T[i][j];
    if (in_triangle(s, i, j)) return s->T[i][j];
    return s->garbage || s->mat.format == TRS_BSR ? nan_ : zero;
}

static void set_index(void *a, int bits, int64_t k, int64_t v)
{
    if (bits == 32) ((int32_t *)a)[k] = (int32_t)v;
    else ((int64_t *)a)[k] = v;
}

/* The values of the block that begins at (I, J), at place p. */
static void put_block(const scene *s, void *val, int64_t p, int I, int J)
{
    const int r = s->mat.format == TRS_BSR ? s->mat.block : 1;
    for (int a = 0; a < r; a++)
        for (int c = 0; c < r; c++)
            put(val, s->mat.dtype,
                p * r * r + (s->mat.block_layout == TRS_ROW_MAJOR ? a * r + c : c * r + a),
                value_of(s, I + a, J + c));
}

/* Make ptr, idx and val, by rows or by columns, whose entries begin anywhere and may run backwards. */
static void store_majors(scene *s, void *ptr, void *idx, void *val)
{
    const trs_mat *m = &s->mat;
    const int r = m->format == TRS_BSR ? m->block : 1, majors = s->n / r;
    int64_t p = 0;
    set_index(ptr, m->ptr_bits == 32 ? 32 : 64, 0, m->base);
    for (int l = 0; l < majors; l++) {
        for (int k = 0; k < majors; k++) {
            const int c = (((s->turn + k) * s->step) % majors + majors) % majors;
            const int I = r * (m->format == TRS_CSC ? c : l),
                      J = r * (m->format == TRS_CSC ? l : c);
            if (!s->stored[I][J]) continue;
            set_index(idx, m->idx_bits == 64 ? 64 : 32, p, c + m->base);
            put_block(s, val, p++, I, J);
        }
        set_index(ptr, m->ptr_bits == 32 ? 32 : 64, l + 1, p + m->base);
    }
    s->mat.nnz = p;
}

static void store(scene *s)
{
    trs_mat *m = &s->mat;
    void *val = room(BYTES);
    m->val = val;
    if (m->format == TRS_DENSE) {
        m->ld = s->n + s->pad;
        for (int j = 0; j < s->n; j++)
            for (int i = 0; i < s->n; i++) put(val, m->dtype, i + j * m->ld, value_of(s, i, j));
    } else {
        void *ptr = room(8 * (MOST + 1)), *idx = room(8 * MOST * MOST);
        m->ptr = ptr, m->idx = idx;
        store_majors(s, ptr, idx, val);
    }
}

static void unstore(trs_mat *m)
{
    free((void *)m->ptr);
    free((void *)m->idx);
    free((void *)m->val);
    m->ptr = m->idx = m->val = NULL;
}

/* ---- plain substitution ---------------------------------------------------------------------------- */

/* Element (i, j) of op(T). */
static number element(const scene *s, int i, int j)
{
    const int a = s->op == TRS_N ? i : j, b = s->op == TRS_N ? j : i;
    number v = {0, 0};
    if (!in_triangle(s, a, b)) return v;
    if (a == b && s->unit) v.re = 1;
    else if (s->stored[a][b]) v = s->T[a][b];
    if (is_single(s->mat.dtype)) v.re = (float)v.re, v.im = (float)v.im;
    else v.re = (double)v.re, v.im = (double)v.im;
    if (s->op == TRS_H) v.im = -v.im;
    return v;
}

static number less_product(number x, number a, number b)
{
    x.re -= a.re * b.re - a.im * b.im;
    x.im -= a.re * b.im + a.im * b.re;
    return x;
}

static number quotient(number x, number a)
{
    const long double d = a.re * a.re + a.im * a.im;
    number q;
    q.re = (x.re * a.re + x.im * a.im) / d;
    q.im = (x.im * a.re - x.re * a.im) / d;
    return q;
}

static void substitute(const scene *s, number *x)
{
    const int forward = (s->op == TRS_N) == !!(s->mat.kind & TRS_LOWER);
    for (int k = 0; k < s->n; k++) {
        const int i = forward ? k : s->n - 1 - k;
        for (int j = 0; j < s->n; j++)
            if (forward ? j < i : j > i) x[i] = less_product(x[i], element(s, i, j), x[j]);
        x[i] = quotient(x[i], element(s, i, i));
    }
}

/* ---- a case ------------------------------------------------------------------------------------------ */

static int64_t place(const scene *s, int64_t ld, int i, int r)
{
    return s->layout == TRS_ROW_MAJOR ? i * ld + r : i + r * ld;
}

static int complain(const scene *s, const char *what)
{
    fprintf(
        stderr,
        "%s: n %d nrhs %d type %d format %d kind %u op %d base %d bits %d/%d block %d layout %d "
        "ld %d/%d in place %d solver %s\n",
        what, s->n, s->nrhs, (int)s->mat.dtype, (int)s->mat.format, s->mat.kind, (int)s->op,
        s->mat.base, s->mat.ptr_bits, s->mat.idx_bits, s->mat.block, (int)s->layout, (int)s->ldb,
        (int)s->ldx, s->in_place, s->opt.solver ? s->opt.solver : "chosen");
    return 1;
}

/* Is X what plain substitution makes of B?  Its numbers are then taken out of X, as it was before. */
static int check(const scene *s, const void *B, unsigned char *X, const unsigned char *before)
{
    const trs_dtype t = s->mat.dtype;
    number exact[MOST];
    for (int r = 0; r < s->nrhs; r++) {
        for (int i = 0; i < s->n; i++) exact[i] = get(B, t, place(s, s->ldb, i, r));
        substitute(s, exact);
        for (int i = 0; i < s->n; i++) {
            const int64_t k = place(s, s->ldx, i, r);
            const number x = get(X, t, k);
            const long double d = fabsl(x.re - exact[i].re) + fabsl(x.im - exact[i].im);
            if (!(d <= (is_single(t) ? 2e-5L : 4e-14L))) return complain(s, "x is wrong");
            put(X, t, k, get(before, t, k));
        }
    }
    return memcmp(X, before, BYTES) ? complain(s, "wrote beside X") : 0;
}

static int compare(scene *s, const trs_plan *plan, trs_work *work)
{
    unsigned char *B = (unsigned char *)room(BYTES), *X = (unsigned char *)room(BYTES);
    unsigned char *b = (unsigned char *)room(BYTES), *before = (unsigned char *)room(BYTES);
    trs_exec exec;
    memset(&exec, 0, sizeof exec);
    exec.layout = s->layout;
    exec.work = work;
    exec.threads = below(s, 3);
    for (int r = 0; r < s->nrhs; r++)
        for (int i = 0; i < s->n; i++)
            put(B, s->mat.dtype, place(s, s->ldb, i, r), random_number(s, 1));
    if (s->in_place) memcpy(X, B, BYTES);
    memcpy(b, B, BYTES), memcpy(before, X, BYTES);
    int rc = trs_solve(plan, s->op, s->nrhs, s->in_place ? X : B, s->ldb, X, s->ldx, &exec);
    int bad = rc ? complain(s, trs_strerror(rc)) : check(s, b, X, before);
    if (!bad && memcmp(B, b, BYTES)) bad = complain(s, "B has changed");
    free(B), free(X), free(b), free(before);
    return bad;
}

/* A solver that can run here and takes triangles, or NULL: let the library choose. */
static const char *draw_solver(scene *s, trs_solver_info *info)
{
    int count = 0;
    while (trs_solver_get(count, info) == TRS_OK) count++;
    if (below(s, 2) || trs_solver_get(below(s, count), info) || !info->available || info->general)
        return NULL;
    return info->name;
}

static void draw_call(scene *s, trs_solver_info *info)
{
    trs_options *o = &s->opt;
    memset(o, 0, sizeof *o);
    s->op = (trs_op)below(s, 3);
    s->layout = (trs_layout)below(s, 2);
    s->nrhs = below(s, MOST_RHS + 1);
    s->in_place = below(s, 2);
    o->solver = draw_solver(s, info);
    if (o->solver && !(info->caps & TRS_CAP_ROW_MAJOR)) s->layout = TRS_COL_MAJOR;
    const int64_t width = s->layout == TRS_ROW_MAJOR ? s->nrhs : s->n;
    s->ldb = width + below(s, PAD);
    s->ldx = s->in_place ? s->ldb : width + below(s, PAD);
    o->ops = 1u << s->op | (unsigned)below(s, 8);
    o->nrhs = below(s, 4);
    o->layout = s->layout;
    o->threads = below(s, 3);
    o->order = (trs_order)below(s, 3);
    o->bitwise = !o->solver && !below(s, 4);
    o->measure = !o->solver && !below(s, 8);
    o->memory.alloc = give, o->memory.free = take, o->memory.user = &live;
}

/* y = op(T) x, and then the backward error of x for that y, which must be that of sums of up to n terms. */
static int check_backward_error(scene *s)
{
    const trs_dtype t = s->mat.dtype;
    unsigned char *X = (unsigned char *)room(BYTES), *Y = (unsigned char *)room(BYTES);
    trs_error e;
    int bad = 0;
    for (int r = 0; r < s->nrhs; r++)
        for (int i = 0; i < s->n; i++) put(X, t, place(s, s->ldx, i, r), random_number(s, 1));
    if (trs_multiply(&s->mat, s->op, s->nrhs, X, s->ldx, Y, s->ldb, s->layout) ||
        trs_backward_error(&s->mat, s->op, s->nrhs, Y, s->ldb, X, s->ldx, s->layout, &e) ||
        !(e.omega <= (s->n + 2) * (is_single(t) ? 1.2e-7 : 2.3e-16)))
        bad = complain(s, "op(T) x");
    free(X), free(Y);
    return bad;
}

/* A work space for fewer right-hand sides than are solved at once, or the plan's own. */
static int solve_twice(scene *s, const trs_plan *plan)
{
    trs_work *work = NULL;
    if (below(s, 2) && trs_work_create(&work, plan, 1 + below(s, 3)))
        return complain(s, "no work space");
    int bad = compare(s, plan, work);
    if (!bad) bad = compare(s, plan, work);
    trs_work_destroy(work);
    return bad;
}

static int one_case(uint64_t seed)
{
    scene s;
    trs_plan *plan = NULL;
    trs_solver_info info;
    memset(&s, 0, sizeof s);
    s.state = seed * 2654435761u + 1;
    draw_shape(&s);
    draw_values(&s);
    draw_pattern(&s);
    draw_call(&s, &info);
    store(&s);
    int bad = check_backward_error(&s);
    int rc = trs_plan_create(&plan, &s.mat, &s.opt);
    unstore(&s.mat);
    if (!rc) rc = trs_plan_analyse(plan);
    if (rc) bad = complain(&s, trs_message());
    if (!bad) bad = solve_twice(&s, plan);
    if (!bad && below(&s, 2)) { /* the same pattern, other values */
        draw_values(&s);
        store(&s);
        rc = trs_plan_update(plan, &s.mat, NULL);
        unstore(&s.mat);
        bad = rc ? complain(&s, trs_message()) : compare(&s, plan, NULL);
    }
    trs_plan_destroy(plan);
    if (!bad && live) bad = complain(&s, "memory was kept");
    if (bad) fprintf(stderr, "that was: client 1 %llu\n", (unsigned long long)seed);
    return bad;
}

/* Do the three ways in which the header says its version agree, and with the library? */
static int wrong_version(void)
{
    char text[40];
    snprintf(text, sizeof text, "%d.%d.%d", TRS_VERSION_MAJOR, TRS_VERSION_MINOR,
             TRS_VERSION_PATCH);
    if (!strcmp(text, TRS_VERSION) && !strcmp(text, trs_version())) return 0;
    fprintf(stderr, "versions: %s, %s, %s\n", text, TRS_VERSION, trs_version());
    return 1;
}

int main(int argc, char **argv)
{
    const long cases = argc > 1 ? atol(argv[1]) : 20000;
    const long long seed = argc > 2 ? atoll(argv[2]) : 0;
    int bad = wrong_version();
    for (long k = 0; k < cases && !bad; k++) bad = one_case((uint64_t)(seed + k));
    printf("%sok 1 - %ld cases against plain substitution\n1..1\n", bad ? "not " : "", cases);
    return bad;
}

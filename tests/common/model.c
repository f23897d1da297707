/* model.c: random triangles in every form that a caller may have them, and residuals computed without the library. */
#include "model.h"

#include <float.h>
#include <dirent.h>
#include <math.h>
#include <unistd.h>

/* ---- numbers ---------------------------------------------------------------------------------- */

void *zeroed(int64_t count, size_t size)
{
    void *p = calloc((size_t)count + 1, size);
    assert_non_null(p);
    return p;
}

uint64_t random_bits(random_t *r) /* splitmix64 */
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

int random_below(random_t *r, int n)
{
    return n > 0 ? (int)(random_bits(r) % (uint64_t)n) : 0;
}

double random_uniform(random_t *r)
{
    return (random_below(r, 2097151) - 1048575) / 1048576.0;
}

zz get_number(const void *a, trs_dtype t, int64_t k)
{
    if (t == TRS_F64) return ((const double *)a)[k];
    if (t == TRS_F32) return ((const float *)a)[k];
    if (t == TRS_C64) return ((const zz *)a)[k];
    return ((const float complex *)a)[k];
}

void set_number(void *a, trs_dtype t, int64_t k, zz v)
{
    if (t == TRS_F64) ((double *)a)[k] = creal(v);
    else if (t == TRS_F32) ((float *)a)[k] = (float)creal(v);
    else if (t == TRS_C64) ((zz *)a)[k] = v;
    else ((float complex *)a)[k] = (float complex)v;
}

const char *const type_name[] = {"f64", "f32", "c64", "c32"};
const char *const op_name[] = {"N", "T", "H"};
const char *const layout_name[] = {"by columns", "by rows"};
const char *const order_name[] = {"auto", "natural", "level"};
const char *const format_name[] = {"CSR", "CSC", "DENSE", "COO", "BSR"};

double epsilon(trs_dtype t)
{
    return t == TRS_F32 || t == TRS_C32 ? FLT_EPSILON : DBL_EPSILON;
}

int count_threads(void)
{
    DIR *d = opendir("/proc/self/task");
    int count = 0;
    for (const struct dirent *e; d && (e = readdir(d));) count += e->d_name[0] != '.';
    if (d) closedir(d);
    return count;
}

void assert_at_most_(double a, double b, const char *what, const char *file, int line)
{
    if (a <= b) return;
    print_error("%s = %g is not at most %g\n", what, a, b);
    _fail(file, line);
}

void assert_status_(int rc, int code, const char *file, int line)
{
    if (rc == code) return;
    print_error("%d (%s), not %d: \"%s\"\n", rc, trs_strerror(rc), code, trs_message());
    _fail(file, line);
}

/* ---- triangles ---------------------------------------------------------------------------------- */

const char *const pattern_name[PATTERNS] = {"empty", "one",        "diagonal", "full",
                                            "chain", "two chains", "random",   "long rows",
                                            "arrow", "seed 4x4",   "seed 5x5", "wide"};

void model_add(model *m, int row, int col, zz v)
{
    if ((m->nnz & (m->nnz - 1)) == 0) {
        size_t room = m->nnz ? 2 * (size_t)m->nnz : 1;
        m->row = realloc(m->row, room * sizeof *m->row);
        m->col = realloc(m->col, room * sizeof *m->col);
        m->val = realloc(m->val, room * sizeof *m->val);
        assert_true(m->row && m->col && m->val);
    }
    m->row[m->nnz] = m->upper ? col : row;
    m->col[m->nnz] = m->upper ? row : col;
    m->val[m->nnz++] = v;
}

void model_free(model *m)
{
    free(m->row);
    free(m->col);
    free(m->val);
}

int64_t *random_order(int64_t count, random_t *r)
{
    int64_t *order = zeroed(count, sizeof *order);
    for (int64_t i = 0; i < count; i++) {
        const int k = random_below(r, (int)i + 1);
        order[i] = order[k];
        order[k] = i;
    }
    return order;
}

static void draw_order(int n, int *order, random_t *r)
{
    int64_t *drawn = random_order(n, r);
    for (int i = 0; i < n; i++) order[i] = (int)drawn[i];
    free(drawn);
}

void model_shuffle(model *m, int *p, int *q, random_t *r)
{
    draw_order(m->n, p, r);
    draw_order(m->n, q, r);
    for (int64_t k = 0; k < m->nnz; k++) {
        m->row[k] = p[m->row[k]];
        m->col[k] = q[m->col[k]];
    }
}

static void seed_example(model *m)
{
    static const int four[][3] = {{2, 0, 1}, {3, 0, 1}, {3, 2, 1}};
    static const int five[][3] = {{3, 0, 1}, {3, 1, 1}, {4, 0, 1}};
    static const int diagonal_four[] = {1, 1, 1, 1}, diagonal_five[] = {2, 2, 2, 2, 4};
    const int(*entry)[3] = m->n == 4 ? four : five;
    const int *diagonal = m->n == 4 ? diagonal_four : diagonal_five;
    for (int k = 0; k < 3; k++) model_add(m, entry[k][0], entry[k][1], entry[k][2]);
    for (int i = 0; i < m->n; i++) model_add(m, i, i, diagonal[i]);
}

/* How many entries row i has left of the diagonal; full and arrow rows: all columns in turn. */
static int left_of(pattern p, int n, int i)
{
    switch (p) {
    case FULL:
        return i;
    case CHAIN:
        return i > 0;
    case TWO_CHAINS:
        return i > 1;
    case RANDOM:
        return i < 6 ? i / 2 : i % 7;
    case LONG_ROWS:
        return i >= n - 4 ? n - 100 : i > 1;
    case ARROW:
        return i == n - 1 ? i : i > 0;
    case WIDE:
        return i < 50 ? 0 : 2;
    default:
        return 0;
    }
}

/* The column of entry k of row i: different for different k. */
static int column_of(pattern p, int i, int k, int start)
{
    switch (p) {
    case CHAIN:
        return i - 1;
    case TWO_CHAINS:
        return i - 2;
    case RANDOM:
        return (start + k) % i;
    case WIDE:
        return (start + k) % 50;
    default:
        return k;
    }
}

static int size_of(pattern p, bool small)
{
    static const int size[PATTERNS] = {0, 1, 37, 40, 200, 201, 300, 1600, 300, 4, 5, 5000};
    return small && size[p] > 700 ? 700 : size[p];
}

model model_new(pattern p, bool upper, bool small, bool is_complex, random_t *r)
{
    model m = {.n = size_of(p, small), .upper = upper};
    if (p == SEED4 || p == SEED5) {
        seed_example(&m);
        return m;
    }
    for (int i = 0; i < m.n; i++) {
        const int left = left_of(p, m.n, i), start = random_below(r, i);
        for (int k = 0; k < left; k++) {
            zz v = random_uniform(r) + (is_complex ? random_uniform(r) * I : 0);
            const int shift = left > 8 ? 4 : 1;
            model_add(&m, i, column_of(p, i, k, start), v * ldexp(1, left > 200 ? -8 : -shift));
        }
        zz d = 1.5 + random_uniform(r) / 2 + (is_complex ? random_uniform(r) * I : 0);
        model_add(&m, i, i, random_below(r, 2) ? d : -d);
    }
    return m;
}

/* ---- forms ---------------------------------------------------------------------------------------- */

form form_random(trs_dtype dtype, random_t *r)
{
    static const trs_format format[] = {TRS_CSR, TRS_CSC, TRS_DENSE, TRS_BSR};
    return (form){.dtype = dtype,
                  .format = format[random_below(r, 4)],
                  .unit = random_below(r, 3) == 0,
                  .hidden = random_below(r, 2),
                  .shuffled = random_below(r, 2),
                  .garbage = random_below(r, 2),
                  .base = random_below(r, 2),
                  .ptr_bits = random_below(r, 2) ? 32 : 64,
                  .idx_bits = random_below(r, 2) ? 32 : 64,
                  .pad = random_below(r, 3),
                  .block = 1 + random_below(r, 5),
                  .block_layout = (trs_layout)random_below(r, 2)};
}

static trs_mat show_dense(const model *m, const form *f, trs_mat a)
{
    const int64_t n = m->n, ld = n + f->pad;
    void *val = malloc((size_t)(ld * n + 1) * sizeof(zz));
    assert_non_null(val);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < ld; i++) {
            bool other = i >= n || (m->upper ? i > j : i < j);
            set_number(val, f->dtype, i + j * ld, other && f->garbage ? NAN : 0);
        }
    for (int64_t k = 0; k < m->nnz; k++) {
        bool hide = f->unit && f->hidden && m->row[k] == m->col[k];
        set_number(val, f->dtype, m->row[k] + ld * m->col[k], hide ? NAN : m->val[k]);
    }
    a.val = val;
    a.ld = ld;
    a.nnz = 0;
    return a;
}

typedef struct entry {
    uint64_t key; /* major, then place in it */
    int major, minor, row, col;
    zz val;
} entry;

static int by_key(const void *a, const void *b)
{
    uint64_t x = ((const entry *)a)->key, y = ((const entry *)b)->key;
    return (x > y) - (x < y);
}

/* Of BSR, major and minor are numbers of blocks, and the entries of a block stay together when shuffled. */
static void put(entry *it, const form *f, int row, int col, zz v, random_t *r)
{
    const bool by_rows = f->format != TRS_CSC;
    const int block = f->format == TRS_BSR ? f->block : 1;
    *it = (entry){.major = (by_rows ? row : col) / block,
                  .minor = (by_rows ? col : row) / block,
                  .row = row,
                  .col = col,
                  .val = v};
    uint64_t place = (uint64_t)it->minor;
    if (f->shuffled) place = block > 1 ? place * 0x9e3779b1u & 0x7fffffffu : random_bits(r) >> 33;
    it->key = (uint64_t)it->major << 32 | place;
}

static int64_t list_entries(const model *m, const form *f, entry *it, random_t *r)
{
    int64_t k = 0;
    for (int64_t p = 0; p < m->nnz; p++) {
        const int i = m->row[p], j = m->col[p];
        if (i == j && f->unit && !f->hidden) continue;
        put(&it[k++], f, i, j, i == j && f->unit ? NAN : m->val[p], r);
        if (i != j && f->garbage) put(&it[k++], f, j, i, NAN, r);
    }
    qsort(it, (size_t)k, sizeof *it, by_key);
    return k;
}

static void set_index(void *a, int bits, int64_t k, int64_t v)
{
    if (bits == 64) ((int64_t *)a)[k] = v;
    else ((int32_t *)a)[k] = (int32_t)v;
}

static trs_mat show_sparse(const form *f, const entry *it, int64_t count, trs_mat a)
{
    /* sized to the byte, so that a sanitizer sees every step outside */
    void *ptr = malloc((size_t)(a.n + 1) * (size_t)f->ptr_bits / 8);
    void *idx = malloc((size_t)count * (size_t)f->idx_bits / 8);
    void *val = malloc((size_t)count * trs_size(f->dtype));
    int64_t k = 0;
    for (int major = 0; major <= a.n; major++) {
        while (k < count && it[k].major < major) k++;
        set_index(ptr, f->ptr_bits, major, k + f->base);
    }
    for (k = 0; k < count; k++) {
        set_index(idx, f->idx_bits, k, it[k].minor + f->base);
        set_number(val, f->dtype, k, it[k].val);
    }
    a.nnz = count;
    a.ptr = ptr;
    a.idx = idx;
    a.val = val;
    return a;
}

/* The number that stands in a block where the model has no entry. */
static zz filler(const form *f, bool upper, int64_t i, int64_t j)
{
    if (f->garbage && (upper ? i > j : i < j)) return NAN;
    return f->unit && f->hidden && i == j ? NAN : 0;
}

static trs_mat show_blocks(const form *f, const entry *it, int64_t count, trs_mat a)
{
    const int64_t r = f->block, majors = a.n / r;
    const bool by_rows = f->block_layout == TRS_ROW_MAJOR;
    a.block = f->block;
    a.block_layout = f->block_layout;
    for (int64_t k = 0; k < count; k++) a.nnz += k == 0 || it[k].key != it[k - 1].key;
    void *ptr = malloc((size_t)(majors + 1) * (size_t)f->ptr_bits / 8);
    void *idx = malloc((size_t)a.nnz * (size_t)f->idx_bits / 8);
    void *val = malloc((size_t)(a.nnz * r * r) * trs_size(f->dtype));
    int64_t k = 0, p = 0;
    for (int64_t major = 0; major < majors; major++) {
        set_index(ptr, f->ptr_bits, major, p + f->base);
        for (; k < count && it[k].major == major; p++) {
            const int64_t j0 = it[k].minor * r, i0 = major * r;
            set_index(idx, f->idx_bits, p, it[k].minor + f->base);
            for (int64_t e = 0; e < r * r; e++) {
                int64_t i = i0 + (by_rows ? e / r : e % r), j = j0 + (by_rows ? e % r : e / r);
                set_number(val, f->dtype, p * r * r + e, filler(f, a.kind & TRS_UPPER, i, j));
            }
            for (const uint64_t key = it[k].key; k < count && it[k].key == key; k++) {
                int64_t i = it[k].row - i0, j = it[k].col - j0;
                set_number(val, f->dtype, p * r * r + (by_rows ? i * r + j : j * r + i), it[k].val);
            }
        }
    }
    set_index(ptr, f->ptr_bits, majors, p + f->base);
    a.ptr = ptr;
    a.idx = idx;
    a.val = val;
    return a;
}

trs_mat show(const model *m, const form *wish, random_t *r)
{
    form f = *wish;
    if (f.format == TRS_BSR && m->n % f.block) f.block = 1;
    trs_mat a = {.n = m->n, .dtype = f.dtype, .format = f.format, .base = f.base};
    a.kind = (m->upper ? TRS_UPPER : TRS_LOWER) | (f.unit ? TRS_UNIT : 0);
    a.ptr_bits = f.ptr_bits;
    a.idx_bits = f.idx_bits;
    if (f.format == TRS_DENSE) return show_dense(m, &f, a);
    entry *it = malloc((size_t)(2 * m->nnz + 1) * sizeof *it);
    assert_non_null(it);
    const int64_t count = list_entries(m, &f, it, r);
    a = f.format == TRS_BSR ? show_blocks(&f, it, count, a) : show_sparse(&f, it, count, a);
    free(it);
    return a;
}

void mat_free(trs_mat *a)
{
    free((void *)a->ptr);
    free((void *)a->idx);
    free((void *)a->val);
}

static const void *to_device(const void *from, size_t bytes)
{
    void *p;
    if (!from) return NULL;
    assert_int_equal(trs_device_new(TRS_CUDA(0), bytes, &p), TRS_OK);
    assert_int_equal(trs_device_put(TRS_CUDA(0), p, from, bytes), TRS_OK);
    return p;
}

trs_mat mat_to_device(const trs_mat *a)
{
    trs_mat d = *a;
    d.ptr = to_device(a->ptr, (size_t)(trs_major_count(a) + 1) * (a->ptr_bits == 32 ? 4 : 8));
    d.idx = to_device(a->idx, (size_t)a->nnz * (a->idx_bits == 64 ? 8 : 4));
    d.val = to_device(a->val, (size_t)trs_value_count(a) * trs_size(a->dtype));
    d.device = TRS_CUDA(0);
    return d;
}

void mat_free_device(trs_mat *a)
{
    trs_device_free(TRS_CUDA(0), (void *)a->ptr);
    trs_device_free(TRS_CUDA(0), (void *)a->idx);
    trs_device_free(TRS_CUDA(0), (void *)a->val);
}

/* ---- quality -------------------------------------------------------------------------------------- */

static long double size_of_number(zz v)
{
    return fabsl((long double)creal(v)) + fabsl((long double)cimag(v));
}

typedef struct row_sum {
    long double re, im, size, matrix;
    int entries;
} row_sum;

static void add_entry(row_sum *s, zz a, zz x)
{
    long double ar = creal(a), ai = cimag(a), xr = creal(x), xi = cimag(x);
    s->re += ar * xr - ai * xi;
    s->im += ar * xi + ai * xr;
    s->size += size_of_number(a) * size_of_number(x);
    s->matrix += size_of_number(a);
    s->entries++;
}

quality quality_of(const model *m, bool unit, trs_op op, trs_dtype t, const void *b, int64_t bstep,
                   const void *x, int64_t xstep)
{
    quality q = {0};
    row_sum *s = calloc((size_t)m->n + 1, sizeof *s);
    assert_non_null(s);
    for (int64_t k = 0; k < m->nnz; k++) {
        int i = op == TRS_N ? m->row[k] : m->col[k], j = op == TRS_N ? m->col[k] : m->row[k];
        zz a = i == j && unit ? 1 : m->val[k];
        if (!trs_is_complex(t)) a = creal(a);
        add_entry(&s[i], op == TRS_H ? conj(a) : a, get_number(x, t, j * xstep));
    }
    double rmax = 0, bmax = 0, xmax = 0, amax = 0;
    for (int64_t i = 0; i < m->n; i++) {
        zz bi = get_number(b, t, i * bstep);
        long double r = fabsl(creal(bi) - s[i].re) + fabsl(cimag(bi) - s[i].im);
        long double scale = s[i].size + size_of_number(bi);
        const double before = q.omega;
        q.omega = larger(q.omega, r == 0 && scale == 0 ? 0 : (double)(r / scale));
        if (q.omega != before) q.row = (int)i;
        rmax = larger(rmax, (double)r);
        bmax = larger(bmax, (double)size_of_number(bi));
        xmax = larger(xmax, (double)size_of_number(get_number(x, t, i * xstep)));
        amax = larger(amax, (double)s[i].matrix);
        if (s[i].entries > q.longest) q.longest = s[i].entries;
    }
    q.normwise = rmax == 0 ? 0 : rmax / (amax * xmax + bmax);
    free(s);
    return q;
}

void reach(const model *m, trs_op op, int k, bool *out)
{
    memset(out, 0, (size_t)m->n * sizeof *out);
    out[k] = true;
    for (bool more = true; more;) {
        more = false;
        for (int64_t p = 0; p < m->nnz; p++) {
            int i = op == TRS_N ? m->row[p] : m->col[p], j = op == TRS_N ? m->col[p] : m->row[p];
            if (out[j] && !out[i]) more = out[i] = true;
        }
    }
}

char *matrix_file(const char *name)
{
    const char *top = getenv("TRS_SRCDIR");
    char *path = malloc(4096);
    assert_non_null(path);
    snprintf(path, 4096, "%s/matrices/%s", top ? top : ".", name);
    if (access(path, R_OK) == 0) return path;
    free(path);
    return NULL;
}

/* ---- solvers ------------------------------------------------------------------------------------ */

const char *available_solver(const char *const *names, int count)
{
    char why[200];
    for (int k = 0; k < count; k++) {
        const trs_solver *s = trs_solver_named(names[k]);
        if (s && trs_solver_available(s, 0, why, sizeof why)) return s->name;
    }
    return NULL;
}

/* ---- the triangles of a plan ------------------------------------------------------------------------ */

void model_triangles(trs_context *ctx, const model *m, trs_tri *t, trs_tri *transposed)
{
    random_t r = {1};
    form f = {.format = TRS_CSR, .ptr_bits = 64, .idx_bits = 32, .dtype = TRS_F64};
    trs_mat a = show(m, &f, &r);
    assert_int_equal(trs_tri_import(ctx, &a, t), TRS_OK);
    assert_int_equal(trs_tri_transpose(ctx, t, true, transposed), TRS_OK);
    assert_int_equal(trs_tri_reverse(ctx, m->upper ? t : transposed), TRS_OK);
    mat_free(&a);
}

void check_solved(const trs_tri *L, const double *b, const double *x)
{
    for (int i = 0; i < L->n; i++) {
        double sum = -b[i], size = fabs(b[i]);
        for (int64_t p = L->ptr[i]; p < L->ptr[i + 1]; p++) {
            sum += ((const double *)L->val)[p] * x[L->idx[p]];
            size += fabs(((const double *)L->val)[p] * x[L->idx[p]]);
        }
        assert_at_most(fabs(sum), 1e-13 * size);
    }
}

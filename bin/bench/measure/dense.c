/* dense.c: --dense: every solver of full matrices over a range of sizes.
 *
 * There are two families: triangles, and general matrices by LU or Gauss.  Of each size one matrix
 * is made, the same in every run.  The time to allocate and fill device memory for it is measured
 * apart.  A solver that would take longer than --cell-seconds, judged by how long the last size
 * took, is skipped.  Sources: the documents "Dense Lower Triangular Solver", "Effective
 * GPU Strategies for LU Decomposition" and "Improving Parallel LU Decomposition by ~20x" plot; the
 * block sizes are those of figure 11 of the second. */
#include "config.h"

#include "dense.h"

#include "base/debug.h"
#include "bin/common/message.h"
#include "bin/common/numbers.h"
#include "cell.h"
#include "host.h"
#include "solvers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 32768, COPIES = 5 };

static const int default_sizes[] = {256, 512, 1024, 2048, 4096, 8192};
static const int blocks[] = {16, 32, 64, 128, 256, 512};
static const char with_blocks[] = "lu-column-shared"; /* is run with every block size */

enum { SIZES = sizeof default_sizes / sizeof default_sizes[0] };
enum { BLOCKS = sizeof blocks / sizeof blocks[0] };

bool is_size(const char *text)
{
    char *end;
    const long n = strtol(text, &end, 10);
    return end > text && !*end && n >= 1 && n <= LARGEST;
}

/* ---- matrices -------------------------------------------------------------------------------- */

/* Numbers in [-1, 1) by columns, with n added on the diagonal: that is large enough for any order
 * of elimination. */
static void *make_full(trs_dtype t, int64_t n, bool triangle)
{
    uint64_t state = 20261121u + (uint64_t)n;
    void *A = malloc((size_t)(n * n) * size_of_number(t));
    for (int64_t k = 0; k < n * n && A; k++) {
        const int64_t i = k % n, j = k / n;
        state = state * 6364136223846793005u + 1442695040888963407u;
        double v = (double)(state >> 11) * 0x1p-52 - 1;
        if (i == j) v += (double)n;
        if (triangle && i < j) v = 0;
        set_part(A, t, k, v);
    }
    return A;
}

/* ---- memory of the device -------------------------------------------------------------------- */

/* Allocates A, b and x on the device, copies A and b there, and x back. */
static int move_once(const bed *b, size_t bytes, double *alloc, double *copy)
{
    const int device = b->settings->device;
    void *A = NULL, *B = NULL, *X = NULL;
    const double start = now();
    int rc = trs_device_new(device, bytes, &A);
    if (!rc) rc = trs_device_new(device, b->bytes, &B);
    if (!rc) rc = trs_device_new(device, b->bytes, &X);
    const double made = now();
    if (!rc) rc = trs_device_put(device, A, b->T->val, bytes);
    if (!rc) rc = trs_device_put(device, B, b->B, b->bytes);
    if (!rc) rc = trs_device_get(device, b->X, X, b->bytes);
    *alloc = made - start;
    *copy = now() - made;
    trs_device_free(device, A);
    trs_device_free(device, B);
    trs_device_free(device, X);
    return rc;
}

/* The fastest of some runs counts: the first also starts the driver. */
static void measure_moves(const bed *b, result *r)
{
    const size_t bytes = (size_t)(r->n * r->n) * size_of_number(r->dtype);
    double alloc, copy;
    if (b->settings->device == TRS_HOST) return;
    for (int k = 0; k < COPIES && !move_once(b, bytes, &alloc, &copy); k++) {
        if (k == 0 || alloc < r->alloc) r->alloc = alloc;
        if (k == 0 || copy < r->copy) r->copy = copy;
    }
}

/* ---- cells ----------------------------------------------------------------------------------- */

typedef struct candidate { /* a cell as it is before a size is measured, and how it does */
    cell cell;
    int64_t n;      /* the last size that it solved; 0: none yet */
    double seconds; /* that this took */
} candidate;

typedef struct family {
    const settings *settings;
    bool triangle;
    int count;
    candidate *candidates; /* [count] */
} family;

/* A family has the solvers of full matrices, and triangles have cpu-serial to compare with, and
 * whatever else was asked for by name. */
static bool belongs(const family *f, const trs_solver_info *s)
{
    if (!f->triangle) return s->general;
    return !s->general && (s->full || f->settings->solvers || !strcmp(s->name, "cpu-serial"));
}

static int family_new(family *f, const settings *s, bool triangle)
{
    int all;
    cell *cells = make_cells(s, &all);
    *f = (family){.settings = s, .triangle = triangle};
    f->candidates = calloc((size_t)(all + BLOCKS) + 1, sizeof *f->candidates);
    for (int k = 0; k < all && cells && f->candidates; k++) {
        const int many = strcmp(cells[k].solver.name, with_blocks) ? 0 : BLOCKS;
        if (!belongs(f, &cells[k].solver)) continue;
        for (int b = -1; b < many; b++) {
            cells[k].block = b < 0 ? 0 : blocks[b];
            f->candidates[f->count++].cell = cells[k];
        }
    }
    TRS_ASSERT(f->count <= all + BLOCKS);
    const bool made = cells && f->candidates;
    free(cells);
    return made ? EXIT_GOOD : out_of_memory();
}

/* Solving with a triangle takes of the order of n^2 operations, LU n^3. */
static double expected_seconds(const family *f, const candidate *one, int64_t n)
{
    return one->seconds * pow((double)n / (double)(one->n ? one->n : n), f->triangle ? 2 : 3);
}

/* Measures with TRS_LU_BLOCK as the cell wants it; afterwards it is as it was. */
static void measure_block(const bed *b, cell *c)
{
    static const char name[] = "TRS_LU_BLOCK";
    char text[16];
    const char *was = getenv(name);
    char *saved = was ? strdup(was) : NULL;
    snprintf(text, sizeof text, "%d", c->block);
    if (c->block) setenv(name, text, 1);
    measure_cell(b, c);
    if (saved) setenv(name, saved, 1);
    else if (c->block) unsetenv(name);
    free(saved);
}

static void run_cell(const family *f, const bed *b, candidate *one, cell *c)
{
    const double seconds = expected_seconds(f, one, b->T->n);
    *c = one->cell;
    if (seconds > f->settings->cell_seconds) {
        c->status = TRS_ESUPPORT;
        snprintf(c->message, sizeof c->message,
                 "skipped: a run would take about %.2g s, more than --cell-seconds=%g", seconds,
                 f->settings->cell_seconds);
        return;
    }
    measure_block(b, c);
    /* the analysis does not count: the first of all opens the vendor's library */
    if (!c->status) one->n = b->T->n, one->seconds = c->factor + c->solve.median;
}

/* ---- sizes and families ---------------------------------------------------------------------- */

static int measure_size(const family *f, int64_t n, result *r)
{
    const settings *s = f->settings;
    void *A = make_full(r->dtype, n, f->triangle);
    const trs_mat T = {.n = n,
                       .val = A,
                       .ld = n,
                       .base = 1,
                       .dtype = r->dtype,
                       .format = TRS_DENSE,
                       .kind = r->kind};
    bed b = {.settings = s};
    r->cells = calloc((size_t)f->count + 1, sizeof *r->cells);
    int rc = A && r->cells ? bed_make(&b, s, &T) : TRS_EMEM;
    if (!rc) measure_moves(&b, r);
    for (; r->count < f->count && !rc; r->count++) {
        progress(s, r->name, f->candidates[r->count].cell.solver.name);
        run_cell(f, &b, &f->candidates[r->count], &r->cells[r->count]);
    }
    progress(s, NULL, NULL);
    if (rc) snprintf(r->trouble, sizeof r->trouble, "%s", trs_strerror(rc));
    bed_free(&b);
    free(A);
    return rc;
}

static int run_size(const family *f, int64_t n, taker to)
{
    char name[64];
    snprintf(name, sizeof name, "%s %lld", f->triangle ? "triangle" : "general", (long long)n);
    result r = {.name = name,
                .kind = f->triangle ? TRS_LOWER : 0,
                .dtype = f->settings->retype ? f->settings->dtype : TRS_F64,
                .n = n,
                .nnz = f->triangle ? n * (n + 1) / 2 : n * n,
                .levels = n,
                .widest = 1,
                .longest = n,
                .load = {load_average()}};
    measure_size(f, n, &r);
    r.load[1] = load_average();
    int code = to.take(to.user, &r);
    result_free(&r);
    return code;
}

int run_dense(const settings *s, taker to)
{
    int code = EXIT_GOOD;
    for (int t = 1; t >= 0 && !code; t--) {
        family f;
        code = family_new(&f, s, t == 1);
        for (int k = 0; k < (s->count ? s->count : SIZES) && !code && f.count; k++)
            code = run_size(&f, s->count ? atoi(s->names[k]) : default_sizes[k], to);
        free(f.candidates);
    }
    return code;
}

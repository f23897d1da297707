/* read.c: read a Matrix Market file: trs_mm_read, trs_mm_free, trs_mm_mat. */
#include "config.h"

#include "mm.h"
#include "store.h"
#include "base/noun.h"
#include "base/number/number.h"
#include "base/parallel.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

/* ---- sentences ------------------------------------------------------------------------------ */

int trs_mm_fail(trs_mm_job *job, int code, int64_t line, const char *format, ...)
{
    char what[320];
    const char *name = trs_input_name(job->file);
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (line < 1) return trs_fail(code, "%s: %s", name, what);
    return trs_fail(code, "%s:%lld: %s", name, (long long)line, what);
}

int trs_mm_too_large(trs_mm_job *job, int64_t nnz)
{
    const trs_mm_head *h = &job->head;
    return trs_mm_fail(job, TRS_EMEM, h->line,
                       "out of memory or over the limit of %" PRId64 " bytes: %" PRId64
                       " x %" PRId64 " with %" PRId64 " %s",
                       job->opt.memory_limit, h->rows, h->cols, nnz,
                       trs_noun(nnz, "entry", "entries"));
}

trs_mm_quote trs_mm_show(const char *p, const char *end)
{
    trs_mm_quote q;
    int n = 0;
    q.s[n++] = '\'';
    for (; p < end && n < 41; p++) q.s[n++] = *p >= ' ' && *p < 127 ? *p : '?';
    if (p < end) n += snprintf(q.s + n, 4, "...");
    q.s[n++] = '\'';
    TRS_ASSERT(n < (int)sizeof q.s);
    q.s[n] = '\0';
    return q;
}

/* ---- options ------------------------------------------------------------------------------- */

int64_t trs_mm_default_limit(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || size <= 0) return INT64_MAX / 2;
    return (int64_t)pages / 4 * 3 * size;
}

static int set_options(trs_mm_job *job, const trs_mm_options *opt)
{
    trs_mm_options *o = &job->opt;
    const int rc = TRS_CHECK_RESERVED(opt, "trs_mm_options");
    if (rc) return rc;
    if (opt) *o = *opt;
    job->mm->memory = o->memory;
    if ((o->format != TRS_CSR && o->format != TRS_CSC && o->format != TRS_COO) || o->base < 0 ||
        o->base > 1 || o->threads < 0 || o->memory_limit < 0 || o->kind > TRS_UPPER)
        return trs_mm_fail(job, TRS_EARG, -1, "an option of trs_mm_read is out of range");
    if (!o->memory_limit) o->memory_limit = trs_mm_default_limit();
    job->threads = trs_threads_now(o->threads ? o->threads : trs_default_threads());
    return TRS_OK;
}

enum { MOST_RANGES = 2048, RANGE_BYTES = 1 << 19, FEW = 1 << 16 };

/* Cut the major indices into ranges.  A range should fill half a megabyte of the result, which stays in a core's cache
 * while its entries are placed in any order.  There are more ranges where these make keys of 32 bits wide enough, and
 * four for each thread unless there are few entries. */
static void cut_ranges(trs_mm_job *job, int64_t stored)
{
    const trs_mm_head *h = &job->head;
    int64_t minors = job->by_cols ? h->rows : h->cols;
    const int64_t times = h->symmetry == TRS_GENERAL ? 1 : 2, entry = (4 + 8 * job->parts) * times;
    int64_t most = (int64_t)((double)stored * (double)entry / RANGE_BYTES) + 1;
    if (stored > FEW) most = trs_max(most, 4 * job->threads);
    most = trs_min(most, MOST_RANGES);
    job->majors = job->by_cols ? h->cols : h->rows;
    job->bits = 1;
    while (minors >> job->bits) job->bits++;
    job->shift = 0;
    while ((job->majors - 1) >> job->shift >= most) job->shift++;
    int narrow = 32 - job->bits;
    if (job->shift > narrow && (job->majors - 1) >> narrow < MOST_RANGES && stored > FEW)
        job->shift = narrow;
    job->wide = job->shift > narrow;
    job->ranges = 0;
    if (job->majors) job->ranges = (int)((job->majors - 1) >> job->shift) + 1;
    TRS_ASSERT(job->ranges <= MOST_RANGES && (int64_t)job->ranges << job->shift >= job->majors);
    TRS_ASSERT(job->wide || job->shift + job->bits <= 32);
}

/* Decide how to share the work among threads, once the sizes are known: a thread for each text, which takes half a
 * millisecond (TRS_SHARED_FROM).  An entry has four characters at least. */
static void cut_work(trs_mm_job *job)
{
    const int64_t bytes = trs_input_size(job->in);
    int64_t stored = job->head.stored;
    job->text_bytes = bytes > (int64_t)4 << 30 ? 1 << 20 : 1 << 18;
    if (bytes >= 0) stored = trs_min(stored, bytes / 4);
    const int64_t texts = bytes >= 0 ? bytes / job->text_bytes : stored / (job->text_bytes / 4);
    job->threads = (int)trs_min(job->threads, texts + 1);
    job->by_cols = job->opt.format == TRS_CSC;
    cut_ranges(job, stored);
}

static void describe(trs_mm_job *job)
{
    const trs_mm_head *h = &job->head;
    trs_mm *mm = job->mm;
    mm->rows = h->rows, mm->cols = h->cols, mm->stored = h->stored;
    mm->field = h->field, mm->symmetry = h->symmetry;
    mm->size_line = h->line;
    mm->base = job->opt.base;
    mm->dtype = h->field == TRS_COMPLEX ? TRS_C64 : TRS_F64;
    if (trs_mm_exact(job)) mm->dtype = h->is_unsigned ? TRS_U64 : TRS_I64;
    mm->format = h->array ? TRS_DENSE : job->opt.format;
}

/* ---- public -------------------------------------------------------------------------------- */

static int read_all(trs_mm_job *job)
{
    trs_input_options in = {
        .rhs = job->opt.rhs != 0, .limit = job->opt.memory_limit, .memory = job->opt.memory};
    int rc = trs_input_open(&job->in, job->file, &in);
    if (rc) return rc;
    rc = trs_mm_header(job);
    if (rc) return rc;
    describe(job);
    if (job->opt.header) return TRS_OK;
    cut_work(job);
    double start = trs_now(), parsed;
    rc = trs_mm_parse(job);
    parsed = trs_now();
    if (!rc) rc = trs_step("assembly", -1);
    if (!rc && job->head.array) rc = trs_mm_build_dense(job);
    else if (!rc) rc = trs_mm_build(job);
    job->mm->bytes = job->bytes;
    job->mm->seconds_parse = parsed - start;
    job->mm->seconds_build = trs_now() - parsed;
    job->mm->rounded = job->rounded;
    if (!rc && job->opt.progress) job->opt.progress(job->opt.user, 1.0);
    return rc;
}

static void free_job(trs_mm_job *job)
{
    const trs_memory *mem = &job->opt.memory;
    trs_mm_free_slabs(job);
    trs_free(mem, job->chunk);
    trs_input_close(job->in);
}

static void free_arrays(trs_mm *mm)
{
    trs_free_all(&mm->memory, mm->ptr, mm->idx, mm->row, mm->val);
    mm->ptr = NULL, mm->val = NULL;
    mm->idx = mm->row = NULL;
    mm->nnz = 0;
}

static int mm_read(const char *file, const trs_mm_options *opt, trs_mm *mm)
{
    if (!mm) return trs_fail(TRS_EARG, "mm is NULL");
    *mm = (trs_mm){0};
    if (!file) return trs_fail(TRS_EARG, "file is NULL");
    trs_mm_job job = {.file = file, .mm = mm};
    int rc = set_options(&job, opt);
    if (rc) return rc;
#ifdef _OPENMP
    omp_init_lock(&job.lock);
#endif
    rc = read_all(&job);
#ifdef _OPENMP
    omp_destroy_lock(&job.lock);
#endif
    free_job(&job);
    if (rc) free_arrays(mm);
    return rc;
}

int trs_mm_read(const char *file, const trs_mm_options *opt, trs_mm *mm)
{
    return trs_call(mm_read(file, opt, mm));
}

void trs_mm_free(trs_mm *mm)
{
    if (!mm) return;
    free_arrays(mm);
    *mm = (trs_mm){0};
}

static int mat_of(const trs_mm *mm, unsigned kind, trs_mat *mat)
{
    if (!mm || !mat || !mm->val) return trs_fail(TRS_EARG, "mm or mat is NULL, or mm is empty");
    if (mm->rows != mm->cols)
        return trs_fail(TRS_EARG, "the matrix is not square: %" PRId64 " x %" PRId64, mm->rows,
                        mm->cols);
    const bool complex_symmetric = mm->symmetry == TRS_SYMMETRIC && trs_is_complex(mm->dtype);
    if (kind & TRS_SELFADJOINT && (mm->symmetry == TRS_SKEW || complex_symmetric))
        return trs_fail(TRS_EARG, "TRS_SELFADJOINT: the matrix is skew-symmetric or complex "
                                  "symmetric, not Hermitian");
    if (mm->format == TRS_COO) return trs_fail(TRS_EARG, "TRS_COO cannot be returned as a trs_mat");
    if (mm->dtype > TRS_C32) return trs_fail(TRS_EARG, "integers cannot be returned as a trs_mat");
    *mat = (trs_mat){.n = mm->rows, .nnz = mm->nnz, .ld = mm->rows, .kind = kind};
    mat->ptr = mm->ptr, mat->idx = mm->idx, mat->val = mm->val;
    mat->ptr_bits = 64, mat->idx_bits = 32;
    mat->base = mm->base, mat->dtype = mm->dtype, mat->format = mm->format;
    return TRS_OK;
}

int trs_mm_mat(const trs_mm *mm, unsigned kind, trs_mat *mat)
{
    return trs_call(mat_of(mm, kind, mat));
}

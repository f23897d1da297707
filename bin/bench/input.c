/* input.c: a name becomes triangles: read it or make it, take the triangle that was asked
 * for, or the factors, and give the values the type that was asked for.
 *
 * Files are read with base 1, so that the library's sentences count rows as the file does. */
#include "config.h"

#include "bench.h"
#include "bin/common/files.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int refuse(input *in, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int refuse(input *in, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(in->message, sizeof in->message, format, args);
    va_end(args);
    return status;
}

/* ---- number types ---------------------------------------------------------------------------- */

/* count numbers of one type as another; NULL: no memory. */
static void *convert(const void *from, trs_dtype was, trs_dtype is, int64_t count)
{
    const int step = was == TRS_C64 || was == TRS_C32 ? 2 : 1;
    const int width = is == TRS_C64 || is == TRS_C32 ? 2 : 1;
    const bool was_half = was == TRS_F32 || was == TRS_C32, half = is == TRS_F32 || is == TRS_C32;
    void *to = calloc((size_t)count * (size_t)width + 1, half ? sizeof(float) : sizeof(double));
    for (int64_t k = 0; to && k < count; k++)
        for (int part = 0; part < width && part < step; part++) {
            const int64_t p = k * step + part, q = k * width + part;
            double x = was_half ? (double)((const float *)from)[p] : ((const double *)from)[p];
            if (half) ((float *)to)[q] = (float)x;
            else ((double *)to)[q] = x;
        }
    return to;
}

static int retype(const settings *s, input *in)
{
    for (int k = 0; k < in->count && s->retype; k++) {
        trs_mat *T = &in->T[k];
        const bool is_complex = T->dtype == TRS_C64 || T->dtype == TRS_C32;
        if (T->dtype == s->dtype) continue;
        if (is_complex && (s->dtype == TRS_F64 || s->dtype == TRS_F32))
            return refuse(in, TRS_ESUPPORT, "complex values, and --precision=%s",
                          dtype_name(s->dtype));
        const int64_t count = T->format == TRS_DENSE ? T->ld * T->n : T->nnz;
        T->val = in->converted[k] = convert(T->val, T->dtype, s->dtype, count);
        T->dtype = s->dtype;
        if (!T->val)
            return refuse(in, TRS_EMEM, "out of memory for values as %s", dtype_name(s->dtype));
    }
    return TRS_OK;
}

/* ---- from a name to matrices ----------------------------------------------------------------- */

const char *base_name(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash && slash[1] ? slash + 1 : name;
}

static int see_factors(const trs_mat *A, const char *name, input *in)
{
    static const char *const factor[] = {"L", "U"};
    int rc = factor_matrix(A, in);
    for (int k = 0; k < in->count && !rc; k++)
        snprintf(in->name[k], sizeof in->name[k], "%.500s %s", base_name(name), factor[k]);
    return rc;
}

static int see_triangle(const settings *s, const trs_mat *A, input *in)
{
    unsigned triangle = s->kind & (TRS_LOWER | TRS_UPPER);
    if (!triangle) triangle = file_kind(A);
    if (triangle & TRS_LOWER) triangle = TRS_LOWER; /* also a diagonal matrix */
    if (!triangle && A->format != TRS_DENSE)        /* a full matrix is for the general solvers */
        return refuse(in, TRS_EMATRIX, "not a triangle: see --lower, --upper and --factor");
    in->T[0] = *A;
    in->T[0].kind = triangle | (s->kind & TRS_UNIT);
    in->count = 1;
    return TRS_OK;
}

static int fetch(const settings *s, const char *name, input *in)
{
    const trs_mm_options opt = {.base = 1,
                                .kind = s->factor ? 0 : s->kind & (TRS_LOWER | TRS_UPPER),
                                .threads = s->threads,
                                .low_memory = s->low_memory};
    int rc = is_made(name) ? make_matrix(name, &in->file) : file_read(name, &opt, &in->file);
    in->bad_file = rc != TRS_OK;
    if (rc) return refuse(in, rc, "%s", said());
    if (in->file.rows != in->file.cols)
        return refuse(in, TRS_EMATRIX, "%" PRId64 " x %" PRId64 ", not square", in->file.rows,
                      in->file.cols);
    return TRS_OK;
}

/* By its sizes, which stand at the front of a file: no more of it is read. */
static bool left_out(const settings *s, const char *name)
{
    const trs_mm_options opt = {.header = 1};
    struct stat st;
    trs_mm head;
    if (!s->filter || stat(name, &st) || !S_ISREG(st.st_mode) || is_made(name)) return false;
    const bool known = trs_mm_read(name, &opt, &head) == TRS_OK;
    const bool taken = !known || filter_takes_matrix(s->filter, &head);
    trs_mm_free(&head);
    return !taken;
}

int input_open(const settings *s, const char *name, input *in)
{
    trs_mat A;
    memset(in, 0, sizeof *in);
    snprintf(in->name[0], sizeof in->name[0], "%s", base_name(name));
    in->left_out = left_out(s, name);
    int rc = in->left_out ? TRS_OK : fetch(s, name, in);
    if (rc || in->left_out) return rc;
    in->left_out = !filter_takes_matrix(s->filter, &in->file);
    if (in->left_out) return TRS_OK;
    rc = trs_mm_mat(&in->file, 0, &A);
    if (rc) return refuse(in, rc, "%s", trs_message());
    rc = s->factor ? see_factors(&A, name, in) : see_triangle(s, &A, in);
    return rc ? rc : retype(s, in);
}

void input_close(input *in)
{
    factor_free(in);
    for (int k = 0; k < 2; k++) free(in->converted[k]);
    trs_mm_free(&in->file);
}

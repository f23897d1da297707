/* input.c: a name becomes triangles: the matrix is read or made, the triangle that was asked for is
 * taken, or its factors, and the values are converted to the type that was asked for.
 *
 * Files are read with base 1, so that the library's sentences count rows as the file does. */
#include "config.h"

#include "input.h"

#include "bin/bench/collection/filter.h"
#include "bin/common/files.h"
#include "bin/common/numbers.h"
#include "bin/common/problems/problems.h"
#include "bin/common/sentence.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- number types ---------------------------------------------------------------------------- */

static int retype(const settings *s, input *in)
{
    for (int k = 0; k < in->count && s->retype; k++) {
        trs_mat *T = &in->T[k];
        if (T->dtype == s->dtype) continue;
        if (parts_of(T->dtype) > parts_of(s->dtype))
            return say(TRS_ESUPPORT, "complex values cannot be converted to --precision=%s",
                       dtype_name(s->dtype));
        const int64_t count = T->format == TRS_DENSE ? T->ld * T->n : T->nnz;
        T->val = in->converted[k] = convert_numbers(T->val, T->dtype, s->dtype, count);
        T->dtype = s->dtype;
        if (!T->val)
            return say(TRS_EMEM, "out of memory for the conversion to %s", dtype_name(s->dtype));
    }
    return TRS_OK;
}

/* ---- from a name to matrices ----------------------------------------------------------------- */

static int take_factors(const trs_mat *A, const char *name, input *in)
{
    static const char *const factor[] = {"L", "U"};
    int rc = factor_matrix(A, in);
    for (int k = 0; k < in->count && !rc; k++)
        snprintf(in->name[k], sizeof in->name[k], "%.500s %s", base_name(name), factor[k]);
    return rc;
}

/* A full matrix that is no triangle is for the general solvers. */
static int take_triangle(const wanted *w, const trs_mat *A, input *in)
{
    unsigned triangle = w->kind & (TRS_LOWER | TRS_UPPER);
    if (!triangle) triangle = file_kind(A);
    if (triangle & TRS_LOWER) triangle = TRS_LOWER; /* also of a diagonal matrix */
    if (!triangle && A->format != TRS_DENSE)
        return say(TRS_EMATRIX, "not a triangle; use --lower, --upper or --factor");
    in->T[0] = *A;
    in->T[0].kind = triangle | (w->kind & TRS_UNIT);
    in->count = 1;
    return TRS_OK;
}

static int read_matrix(const settings *s, const wanted *w, const char *name, input *in)
{
    const trs_mm_options opt = {.base = 1,
                                .kind = w->factor ? 0 : w->kind & (TRS_LOWER | TRS_UPPER),
                                .threads = s->threads,
                                .low_memory = s->low_memory};
    int rc =
        problem_is_name(name) ? problem_named(name, &in->file) : file_read(name, &opt, &in->file);
    in->bad_file = rc != TRS_OK;
    if (rc) return rc;
    if (in->file.rows != in->file.cols)
        return say(TRS_EMATRIX, "%" PRId64 " x %" PRId64 ", not square", in->file.rows,
                   in->file.cols);
    return TRS_OK;
}

/* Is the matrix left out by its sizes, which stand at the front of a file?  No more of it is
 * read. */
static bool left_out_by_header(const char *filter, const char *name)
{
    const trs_mm_options opt = {.header = 1};
    struct stat st;
    trs_mm head;
    if (!filter || stat(name, &st) || !S_ISREG(st.st_mode)) return false;
    const bool known = trs_mm_read(name, &opt, &head) == TRS_OK;
    const bool taken = !known || filter_takes_matrix(filter, &head);
    trs_mm_free(&head);
    return !taken;
}

int input_open(const settings *s, const wanted *w, const char *name, input *in)
{
    trs_mat A;
    memset(in, 0, sizeof *in);
    snprintf(in->name[0], sizeof in->name[0], "%s", base_name(name));
    in->left_out = left_out_by_header(w->filter, name);
    int rc = in->left_out ? TRS_OK : read_matrix(s, w, name, in);
    if (rc || in->left_out) return rc;
    in->left_out = !filter_takes_matrix(w->filter, &in->file);
    if (in->left_out) return TRS_OK;
    rc = trs_mm_mat(&in->file, 0, &A);
    if (rc) return say(rc, "%s", trs_message());
    rc = w->factor ? take_factors(&A, name, in) : take_triangle(w, &A, in);
    return rc ? rc : retype(s, in);
}

void input_close(input *in)
{
    factor_free(in);
    for (int k = 0; k < 2; k++) free(in->converted[k]);
    trs_mm_free(&in->file);
}

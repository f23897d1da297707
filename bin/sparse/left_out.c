/* left_out.c: rows whose pivot was left out or replaced, with --pivot: another matrix than A was
 * solved with there, so they must not count in the error. */
#include "config.h"

#include "problem.h"

#include "bin/common/message.h"
#include "bin/common/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Can the diagonal entry v not be divided by? */
static bool is_bad(trs_dtype t, const char *v)
{
    double size = 0;
    for (int k = 0; k < parts_of(t); k++) size += fabs(part_at(v, t, k));
    return size == 0 || !isfinite(size);
}

/* The place of the diagonal entry of row i among the values; -1: it is not stored. */
static int64_t diagonal_of(const trs_mat *A, int64_t i)
{
    const int64_t *ptr = A->ptr;
    if (A->format == TRS_DENSE) return i * A->ld + i;
    for (int64_t p = ptr[i] - A->base; p < ptr[i + 1] - A->base; p++)
        if (((const int32_t *)A->idx)[p] - A->base == i) return p;
    return -1;
}

/* Sets all of the rows and columns that are left out to 0, which may hold NaN. */
static void clear_rows_and_columns(problem *p, const char *out, size_t size)
{
    const trs_mat *A = &p->A;
    const int64_t n = A->n, *ptr = A->ptr;
    const int32_t *idx = A->idx;
    for (int64_t i = 0; i < n; i++) {
        const int64_t begin = ptr ? ptr[i] - A->base : i * A->ld,
                      end = ptr ? ptr[i + 1] - A->base : begin + n;
        for (int64_t at = begin; at < end; at++)
            if (out[i] || out[idx ? idx[at] - A->base : at - begin])
                memset((char *)p->file.val + (size_t)at * size, 0, size);
    }
}

/* Finds the rows without a usable pivot: out [n].  Their diagonal entries become 0, for a NaN would
 * hide the rest. */
static void find_left_out(problem *p, char *out, size_t size)
{
    for (int64_t i = 0; i < p->A.n; i++) {
        const int64_t at = diagonal_of(&p->A, i);
        char *v = at >= 0 ? (char *)p->file.val + (size_t)at * size : NULL;
        out[i] = !v || is_bad(p->A.dtype, v);
        if (v && out[i]) memset(v, 0, size);
    }
}

/* The error is that of the other rows: those that are left out get the B = op(A) X that their X
 * fulfils. */
int leave_out_rows(const arguments *a, problem *p)
{
    const size_t size = size_of_number(p->A.dtype);
    const int64_t n = p->A.n;
    char *out = calloc((size_t)n + 1, 1), *Y = calloc((size_t)(n * p->nrhs) + 1, size);
    int rc = out && Y ? TRS_OK : TRS_EMEM;
    if (rc) complain("out of memory for the rows that are left out");
    if (!rc) find_left_out(p, out, size);
    if (!rc && a->pivot == TRS_PIVOT_SKIP) clear_rows_and_columns(p, out, size);
    if (!rc) rc = trs_multiply(&p->A, a->op, p->nrhs, p->X, n, Y, n, TRS_COL_MAJOR);
    if (rc && out && Y) complain("%s", trs_message());
    for (int64_t k = 0; k < n * p->nrhs && !rc; k++)
        if (out[k % n]) memcpy((char *)p->B + (size_t)k * size, Y + (size_t)k * size, size);
    free(out);
    free(Y);
    return rc;
}

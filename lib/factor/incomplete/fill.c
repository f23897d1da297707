/* fill.c: the pattern of ILU(k) and IC(k).
 *
 * Entries of A have level 0.  Elimination with pivot m makes (i, j) an entry of level
 *
 *     lev(i, j) = min over m < i, j of lev(i, m) + lev(m, j) + 1,
 *
 * and those of level k at most are kept.  Unrolled: lev(i, j) + 1 is the length of the shortest path from i to j in the
 * graph of A whose nodes between the two are all below both.  So row i of U is found by a breadth-first search from i that
 * goes on from nodes below i only, and stops after k + 1 edges: j > i belongs to it if it is met.  Column j of L is row j
 * of U for A'.  The searches are independent of each other, and shared among threads.  Each is done twice, to count and to
 * write; two transpositions sort what was found.
 * A search costs the entries of the rows that it goes through: no more than there are within k edges of row i.
 * Sources: Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., section 10.3.3; Hysom, Pothen, A scalable parallel
 * algorithm for incomplete factor preconditioning, SIAM J. Sci. Comput. 22 (2001) 2194-2215, theorem 3.1. */
#include "config.h"

#include "fill.h"
#include "base/debug.h"
#include "base/parallel.h"
#include "factor/order.h"

#include <string.h>

enum { THREADS = 16, CHUNKS = 8 }; /* chunks for each thread */
/* Operations for each entry that a search finds, with its misses of the cache. */
enum { SEARCH = 256 };

static const char phase[] = "fill";

/* ---- rows of U ------------------------------------------------------------------------------ */

typedef struct searches {
    const trs_tri *g;
    int level;
    trs_tri *u; /* ptr [i+1] = the length of row i at first, then idx too */
    /* [n*threads] the last search that met the node: its row + 1, negative when it writes */
    int32_t *seen;
    int32_t *queue; /* [n*threads] nodes below the row, in the order in which they were met */
    int64_t work;   /* of the first thread, since its last step */
    atomic_bool canceled;
    /* entries so far, and that are allowed */
    _Atomic int64_t count;
    int64_t most;
} searches;

/* Search from row i.  Returns how many columns were found, which are written to found unless that is NULL. */
static int64_t search(const searches *s, int32_t i, int32_t *seen, int32_t *queue, int32_t *found)
{
    const int32_t mark = found ? -i - 1 : i + 1;
    int32_t next = 0, met = 1;
    int64_t count = 0;
    queue[0] = i;
    seen[i] = mark;
    for (int d = 0; d <= s->level && next < met; d++)
        for (const int32_t end = met; next < end; next++)
            for (int64_t p = s->g->ptr[queue[next]]; p < s->g->ptr[queue[next] + 1]; p++) {
                const int32_t j = s->g->idx[p];
                TRS_ASSERT(j >= 0 && j < s->g->n);
                if (seen[j] == mark) continue;
                seen[j] = mark;
                if (j < i) queue[met++] = j;
                else if (found) found[count++] = j;
                else count++;
            }
    return count;
}

static void search_some(void *user, int thread, int32_t begin, int32_t end)
{
    searches *s = user;
    const int64_t offset = (int64_t)s->g->n * thread;
    for (int32_t i = begin; i < end && !atomic_load(&s->canceled); i++) {
        int32_t *found = s->u->idx ? s->u->idx + s->u->ptr[i] : NULL;
        const int64_t count = search(s, i, s->seen + offset, s->queue + offset, found);
        TRS_ASSERT(!found || count == s->u->ptr[i + 1] - s->u->ptr[i]);
        if (!found) s->u->ptr[i + 1] = count;
        if (!found && atomic_fetch_add(&s->count, count) + count > s->most)
            atomic_store(&s->canceled, true);
        if (thread == 0 && trs_is_time(&s->work, SEARCH * (count + 1)) && trs_step(phase, -1))
            atomic_store(&s->canceled, true);
    }
}

static int search_all(searches *s, int threads)
{
    const int32_t n = s->g->n;
    const trs_level_stage stage = {0, n, (int32_t)trs_min(n, CHUNKS * threads)};
    trs_stage_progress progress[2];
    if (n > 0) trs_stages_run(&stage, 1, progress, threads, search_some, s);
    return trs_canceled();
}

/* Count the entries of the rows, which may be too many. */
static int count_all(searches *s, int threads)
{
    const int rc = search_all(s, threads);
    if (rc || atomic_load(&s->count) <= s->most) return rc;
    return trs_fail(TRS_EMEM,
                    "fill of level %d makes more entries than trs_ilu_options.fill_factor, or the "
                    "memory limit, allows",
                    s->level);
}

/* u = the rows of U - I, in no order, of factors of g, with at most so many entries. */
static int upper_rows(trs_context *ctx, const trs_tri *g, int level, int64_t most, trs_tri *u)
{
    const int32_t n = g->n;
    const int threads = (int)trs_min(trs_team(ctx, g->nnz), THREADS);
    searches s = {.g = g, .level = level, .u = u, .most = most};
    *u = (trs_tri){.n = n, .dtype = g->dtype};
    u->ptr = trs_new(ctx, (int64_t)n + 1, sizeof *u->ptr, "row pointers");
    s.queue = trs_new(ctx, (int64_t)n * threads, sizeof *s.queue, "the fill of a row");
    s.seen = trs_alloc_zero(&ctx->mem, (int64_t)n * threads, sizeof *s.seen);
    int rc = u->ptr && s.queue ? TRS_OK : TRS_EMEM;
    if (!s.seen) rc = trs_fail(TRS_EMEM, "out of memory for the fill of a row");
    if (!rc) rc = trs_step(phase, -1);
    if (!rc) rc = count_all(&s, threads);
    if (!rc) {
        u->ptr[0] = 0;
        for (int32_t i = 0; i < n; i++) u->ptr[i + 1] += u->ptr[i];
        u->nnz = u->ptr[n];
        rc = trs_tri_entries(ctx, u, false, false);
    }
    if (!rc) rc = search_all(&s, threads);
    trs_free_all(&ctx->mem, s.queue, s.seen);
    if (rc) trs_tri_free(ctx, u);
    return rc;
}

/* t = u', in the place of u. */
static int turn(trs_context *ctx, trs_tri *u)
{
    trs_tri t;
    int rc = trs_tri_transpose(ctx, u, false, &t);
    trs_tri_free(ctx, u);
    if (!rc) *u = t;
    return rc;
}

/* U - I and L - I by rows, columns ascending. */
static int triangles(trs_context *ctx, const trs_tri *t, int level, int64_t most, trs_tri *L,
                     trs_tri *U)
{
    trs_tri turned = {0};
    int rc = upper_rows(ctx, t, level, most, U);
    if (!rc) rc = turn(ctx, U);
    if (!rc) rc = turn(ctx, U);
    if (!rc) rc = trs_tri_transpose(ctx, t, false, &turned);
    if (!rc) rc = upper_rows(ctx, &turned, level, most - U->nnz, L);
    if (!rc) rc = turn(ctx, L);
    trs_tri_free(ctx, &turned);
    return rc;
}

/* The same for L L', of which t is the lower triangle of A. */
static int one_triangle(trs_context *ctx, const trs_tri *t, int level, int64_t most, trs_tri *L)
{
    trs_tri g = {0};
    int rc = trs_order_join(ctx, t, &g);
    if (!rc) rc = upper_rows(ctx, &g, level, most, L);
    if (!rc) rc = turn(ctx, L);
    trs_tri_free(ctx, &g);
    return rc;
}

/* ---- all rows ------------------------------------------------------------------------------- */

static void append(trs_tri *t, int64_t *q, const trs_tri *from, int32_t i)
{
    const int64_t count = from->n ? from->ptr[i + 1] - from->ptr[i] : 0;
    if (count) memcpy(t->idx + *q, from->idx + from->ptr[i], (size_t)count * sizeof *t->idx);
    *q += count;
}

/* The places of the values of row i in A. */
static void find_places(trs_tri *t, const trs_tri *A, int32_t i)
{
    const int64_t end = A->ptr[i + 1];
    int64_t p = A->ptr[i];
    for (int64_t q = t->ptr[i]; q < t->ptr[i + 1]; q++) {
        while (p < end && A->idx[p] < t->idx[q]) p++;
        t->src[q] = TRS_SRC_MISSING;
        if (p < end && A->idx[p] == t->idx[q]) t->src[q] = A->src ? A->src[p] : p;
    }
}

int trs_fill_assemble(trs_context *ctx, const trs_tri *A, const trs_tri *L, const trs_tri *U,
                      trs_tri *t)
{
    int64_t q = 0;
    *t = (trs_tri){.n = A->n, .nnz = A->n + L->nnz + U->nnz, .dtype = A->dtype};
    t->ptr = trs_new(ctx, (int64_t)t->n + 1, sizeof *t->ptr, "row pointers");
    int rc = TRS_EMEM;
    if (t->ptr) rc = trs_tri_entries(ctx, t, true, true);
    for (int32_t i = 0; i < t->n && !rc; i++) {
        t->ptr[i] = q;
        append(t, &q, L, i);
        t->idx[q++] = i;
        append(t, &q, U, i);
        t->ptr[i + 1] = q;
        find_places(t, A, i);
    }
    TRS_ASSERT(rc || q == t->nnz);
    if (!rc && t->n == 0) t->ptr[0] = 0;
    if (rc) trs_tri_free(ctx, t);
    return rc;
}

int trs_fill(trs_context *ctx, trs_tri *t, int level, bool cholesky, int64_t most)
{
    trs_tri L = {0}, U = {0}, all;
    int rc;
    most -= t->n;
    if (cholesky) rc = one_triangle(ctx, t, level, most, &L);
    else rc = triangles(ctx, t, level, most, &L, &U);
    if (!rc) rc = trs_fill_assemble(ctx, t, &L, &U, &all);
    trs_tri_free(ctx, &L);
    trs_tri_free(ctx, &U);
    if (rc) return rc;
    trs_tri_free(ctx, t);
    *t = all;
    return TRS_OK;
}

/* saved.c: stores the analysis of a plan in a file: levels, permutation, patterns of the operators, the choice.
 *
 * A file is a head, then for each operator its levels, its permutation, and, where the operator is not simply what
 * create imported, its pattern with the places of its entries in that.  It holds no values: they come from the matrix
 * that the loading plan was created with.
 *
 *     | head, checksum | levels | permutation or topo | ptr | idx | places |   the same for T'   | checksum of arrays |
 *
 * The key is a hash of the pattern as create imported it.  The head has one checksum, so that its lengths can be trusted,
 * and the arrays have another.  Loading changes nothing of the plan before both were right.
 *
 * A hash is the sum of the hashes of pieces of the arrays, each seeded with the piece's place, so that threads can take
 * pieces in any order.  A piece that was read is hashed and checked while it is still in the cache. */
#include "config.h"

#include "choice/choice.h"
#include "analysis/level.h"
#include "plan.h"

#ifdef HAVE_XXHASH

#include "io/output.h"
#include "base/parallel.h"
#include "matrix/canonical.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

typedef struct op_head { /* of a side */
    int32_t used, levels, widest;
    int32_t permuted; /* perm is stored in place of topo, which is the identity */
    int32_t stored;   /* ptr, idx and places are stored; else the operator is what was imported */
    int32_t reversed;
} op_head;

typedef struct head { /* without padding, since it is written as it stands */
    char magic[8];
    uint32_t order, version;
    int64_t bytes;    /* of the whole file */
    uint64_t pattern; /* hash */
    int64_t n, nnz, longest;
    double predicted;
    uint32_t dtype, ops;
    op_head op[2]; /* of T, of T' */
    char solver[48];
    char reason[496];
    uint64_t check; /* the hash of all fields before */
} head;

static const char magic[8] = "trsplan";

enum { BYTE_ORDER_MARK = 0x01020304, SAVED_VERSION = 2 };

static uint64_t head_check(const head *h)
{
    return XXH3_64bits(h, offsetof(head, check));
}

static int64_t padded(int64_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

static int64_t file_bytes(const head *h)
{
    int64_t bytes = sizeof *h + sizeof(uint64_t);
    for (int k = 0; k < 2; k++) {
        const op_head *s = &h->op[k];
        if (!s->used) continue;
        bytes += padded(4 * ((int64_t)s->levels + 1)) + padded(4 * h->n);
        if (s->stored) bytes += 8 * (h->n + 1) + padded(4 * h->nnz) + 8 * h->nnz;
    }
    return bytes;
}

/* ---- pieces of arrays -------------------------------------------------------------------------- */

enum { PIECE = 1 << 18 }; /* bytes that a thread reads and hashes at a time, in the second cache */

typedef struct array { /* of numbers of 4 or 8 bytes */
    char *p;
    int64_t bytes;
    int64_t place; /* of the first byte in the file, or in what makes the key */
    int size;      /* bytes of a number */
    int64_t below; /* numbers must be in 0 .. below-1; 0: they may be anything */
} array;

typedef struct batch { /* of arrays that lie one after the other */
    array a[10];
    int count;
    int64_t place; /* where the next array will stand */
    int fd;        /* the file that they are to be read from; -1: they are in memory */
    _Atomic uint64_t sum;
    atomic_bool unread, wrong;
} batch;

static bool read_all(int fd, char *p, int64_t bytes, int64_t place)
{
    while (bytes > 0) {
        const ssize_t k = pread(fd, p, (size_t)bytes, place);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return false;
        p += k, bytes -= k, place += k;
    }
    return true;
}

/* Are count numbers all in 0 .. below-1? */
static bool in_range(const void *p, int64_t count, int size, int64_t below)
{
    const uint32_t *narrow = p;
    const uint64_t *wide = p;
    bool bad = false;
    for (int64_t k = 0; k < count && size == 4; k++) bad |= narrow[k] >= (uint64_t)below;
    for (int64_t k = 0; k < count && size == 8; k++) bad |= wide[k] >= (uint64_t)below;
    return !bad;
}

/* Read a piece, if the batch is in a file, then hash and check it. */
static void hash_piece(batch *b, const array *a, int64_t begin)
{
    char *p = a->p + begin;
    const int64_t left = a->bytes - begin, bytes = left < PIECE ? left : PIECE;
    const int64_t place = a->place + begin;
    if (b->fd >= 0 && !read_all(b->fd, p, bytes, place)) {
        b->unread = true;
        return;
    }
    b->sum += XXH3_64bits_withSeed(p, (size_t)bytes, (uint64_t)place);
    if (a->below && !in_range(p, bytes / a->size, a->size, a->below)) b->wrong = true;
}

static int64_t pieces(const array *a)
{
    return (a->bytes + PIECE - 1) / PIECE;
}

/* Pieces begin..end-1, which are counted over all arrays. */
static void hash_some(void *user, int64_t begin, int64_t end)
{
    batch *b = user;
    const array *a = b->a;
    int64_t first = 0;
    for (int64_t k = begin; k < end; k++) {
        while (k - first >= pieces(a)) first += pieces(a++);
        hash_piece(b, a, (k - first) * PIECE);
    }
}

static void hash_all(const trs_context *ctx, batch *b)
{
    int64_t all = 0;
    for (int k = 0; k < b->count; k++) all += pieces(&b->a[k]);
    trs_share(trs_team(ctx, all * PIECE / 8), all, 1, hash_some, b);
}

static void add(batch *b, const void *p, int64_t count, int size, int64_t below)
{
    TRS_ASSERT(b->count < (int)(sizeof b->a / sizeof b->a[0]) && b->place % 8 == 0);
    b->a[b->count++] = (array){(char *)p, count * size, b->place, size, below};
    b->place += padded(count * size);
}

/* ---- the key ------------------------------------------------------------------------------------ */

static bool is_identity(const trs_tri *t)
{
    for (int64_t p = 0; t->src && p < t->nnz; p++)
        if (t->src[p] != p) return false;
    return true;
}

/* The hash of the pattern as create imported it, with the places of its entries in the caller's val. */
static uint64_t hash(const trs_plan *p, const trs_tri *t)
{
    batch b = {.fd = -1};
    add(&b, t->ptr, (int64_t)t->n + 1, 8, 0);
    add(&b, t->idx, t->nnz, 4, 0);
    if (!is_identity(t)) add(&b, t->src, t->nnz, 8, 0);
    hash_all(&p->ctx, &b);
    const uint64_t all[] = {p->given.kind & (TRS_LOWER | TRS_UPPER | TRS_UNIT | TRS_PERMUTED),
                            p->imported_is_t, b.sum};
    return XXH3_64bits(all, sizeof all);
}

/* ---- save --------------------------------------------------------------------------------------- */

/* Make t, what create imported, from a side; src has places in its operator. */
static int original(const trs_plan *p, trs_context *ctx, const trs_side *side, trs_tri *t)
{
    const trs_operator *s = &side->op;
    trs_tri a = s->tri, b;
    int32_t *inv = NULL;
    int rc = TRS_OK;
    a.src = NULL;
    if (s->perm) {
        inv = trs_new(ctx, a.n, sizeof *inv, "a permutation");
        if (!inv) return TRS_EMEM;
        for (int32_t row = 0; row < a.n; row++) inv[s->perm[row]] = row;
        rc = trs_tri_permute(ctx, &a, inv, t);
        trs_free(&ctx->mem, inv);
    } else {
        rc = trs_tri_copy(ctx, &a, t);
        if (!rc && s->reversed) rc = trs_tri_reverse(ctx, t);
    }
    if (rc || side->transposed == p->imported_is_t) return rc;
    b = *t;
    rc = trs_tri_transpose(ctx, &b, true, t);
    trs_tri_free(ctx, &b);
    return rc;
}

typedef struct saving { /* a side, and what of its operator is to be written */
    const trs_side *side;
    int64_t *from; /* [nnz] places of its entries in the imported matrix; NULL: not stored */
} saving;

/* Find a->from, and the hash of the pattern. */
static int prepare(const trs_plan *p, trs_context *ctx, const trs_side *side, saving *a,
                   uint64_t *pattern)
{
    const trs_operator *s = &side->op;
    trs_tri t;
    int rc = original(p, ctx, side, &t);
    if (rc) return rc;
    a->side = side;
    if (s->perm || side->transposed != p->imported_is_t) {
        a->from = trs_new(ctx, t.nnz, sizeof *a->from, "places of the entries");
        if (!a->from) rc = TRS_EMEM;
        for (int64_t q = 0; q < t.nnz && !rc; q++) a->from[t.src[q]] = q;
    }
    for (int64_t q = 0; q < t.nnz && s->tri.src; q++) t.src[q] = s->tri.src[t.src[q]];
    *pattern = hash(p, &t);
    trs_tri_free(ctx, &t);
    return rc;
}

static head make_head(const trs_plan *p, const saving *a, uint64_t pattern)
{
    head h;
    memset(&h, 0, sizeof h);
    memcpy(h.magic, magic, sizeof h.magic);
    h.order = BYTE_ORDER_MARK;
    h.version = SAVED_VERSION;
    h.pattern = pattern;
    h.n = p->info.n;
    h.nnz = p->info.nnz;
    h.longest = p->info.longest;
    h.predicted = p->info.predicted;
    h.dtype = p->given.dtype;
    h.ops = p->ctx.ops;
    snprintf(h.solver, sizeof h.solver, "%s", p->side[0].instance.solver->name);
    snprintf(h.reason, sizeof h.reason, "%.495s", p->reason);
    for (int k = 0; k < p->sides; k++) {
        const trs_operator *s = &p->side[k].op;
        h.op[p->side[k].transposed] = (op_head){
            true, s->lv.count, s->lv.widest, s->perm != NULL, a[k].from != NULL, s->reversed};
    }
    h.bytes = file_bytes(&h);
    h.check = head_check(&h);
    return h;
}

/* Add the arrays of an operator in the order of the file. */
static void add_operator(batch *b, const saving *a)
{
    const trs_operator *s = &a->side->op;
    const trs_tri *t = &s->tri;
    add(b, s->lv.ptr, (int64_t)s->lv.count + 1, 4, 0);
    add(b, s->perm ? s->perm : s->lv.topo, t->n, 4, 0);
    if (!a->from) return;
    add(b, t->ptr, (int64_t)t->n + 1, 8, 0);
    add(b, t->idx, t->nnz, 4, 0);
    add(b, a->from, t->nnz, 8, 0);
}

static int write_plan(trs_plan *p, const char *file, const head *h, const saving *s)
{
    static const char zero[8];
    trs_output out = {.file = file, .fd = -1};
    batch b = {.fd = -1, .place = sizeof *h};
    for (int k = 0; k < p->sides; k++) add_operator(&b, &s[k]);
    TRS_ASSERT(b.place + (int64_t)sizeof b.sum == h->bytes);
    hash_all(&p->ctx, &b);
    const uint64_t check = b.sum;
    int rc = trs_output_open(&out);
    if (!rc) rc = trs_output_put(&out, h, sizeof *h, 0);
    for (const array *a = b.a; a < b.a + b.count && !rc; a++) {
        rc = trs_output_put(&out, a->p, a->bytes, a->place);
        if (!rc) rc = trs_output_put(&out, zero, padded(a->bytes) - a->bytes, a->place + a->bytes);
    }
    if (!rc) trs_output_put(&out, &check, sizeof check, b.place);
    return trs_output_close(&out);
}

static int save(trs_plan *p, const char *file)
{
    if (!p || !file) return trs_fail(TRS_EARG, "save: plan or file is NULL");
    trs_context *ctx = &p->ctx;
    if (!trs_plan_is_analysed(p) || !trs_plan_is_built(p))
        return trs_fail(TRS_ESTATE, "save: the plan is not analysed");
    if (p->general) return trs_fail(TRS_ESUPPORT, "save: a general matrix has no levels");
    if (p->ctx.sweeps) return trs_fail(TRS_ESUPPORT, "save: plans with sweeps cannot be saved");
    if (p->solver->several)
        return trs_fail(TRS_ESUPPORT, "save: plans on several devices cannot be saved");
    saving a[2] = {{0}, {0}};
    uint64_t pattern = 0;
    int rc = p->state == TRS_READY ? trs_plan_tune(p) : TRS_OK;
    for (int k = 0; k < p->sides && !rc; k++) {
        trs_side *side = &p->side[k];
        rc = trs_plan_find_levels(p, side);
        if (!rc) rc = trs_operator_show(&side->op, TRS_OP_PATTERN | TRS_OP_VALUES | TRS_OP_LEVELS);
        if (!rc) rc = prepare(p, ctx, side, &a[k], &pattern);
    }
    if (!rc) {
        const head h = make_head(p, a, pattern);
        rc = write_plan(p, file, &h, a);
    }
    for (int k = 0; k < 2; k++) trs_free(&ctx->mem, a[k].from);
    return rc;
}

/* ---- load --------------------------------------------------------------------------------------- */

static int refuse(int code, const char *file, const char *why)
{
    return trs_fail(code, "%.150s: %s", file, why);
}

/* Is it a saved plan of this library, as long as its head says? */
static int check_file(const char *file, const head *h, int64_t bytes)
{
    if (memcmp(h->magic, magic, sizeof magic)) return refuse(TRS_EFORMAT, file, "no saved plan");
    if (h->order == 0x04030201)
        return refuse(TRS_ESUPPORT, file, "saved on a machine with another order of bytes");
    if (h->order == BYTE_ORDER_MARK && h->version != SAVED_VERSION)
        return refuse(TRS_ESUPPORT, file, "saved by another version of the library");
    if (h->check != head_check(h) || h->solver[sizeof h->solver - 1] ||
        h->reason[sizeof h->reason - 1])
        return refuse(TRS_EFORMAT, file, "the head is damaged");
    if (bytes < h->bytes) return refuse(TRS_EFORMAT, file, "the file is cut off");
    if (bytes > h->bytes || file_bytes(h) != bytes)
        return refuse(TRS_EFORMAT, file, "the file is not as long as its head says");
    return TRS_OK;
}

/* Does it belong to the matrix and the options of this plan? */
static int check_plan(const trs_plan *p, const char *file, const head *h)
{
    const bool other =
        h->n != p->info.n || h->nnz != p->info.nnz || h->pattern != hash(p, &p->imported);
    if (other && p->skip)
        return refuse(TRS_EMATRIX, file,
                      "saved for a matrix of another pattern, or with other rows left out");
    if (other) return refuse(TRS_EMATRIX, file, "saved for a matrix of another pattern");
    if (h->dtype != (uint32_t)p->given.dtype)
        return refuse(TRS_EMATRIX, file, "saved for numbers of another type");
    for (int k = 0; k < 2; k++) {
        const op_head *one = &h->op[k];
        if (one->levels < 0 || one->levels > h->n)
            return refuse(TRS_EFORMAT, file, "the head is damaged");
        if (one->used != (trs_plan_side(p, k == 1) != NULL))
            return refuse(TRS_EARG, file, "saved for other ops");
        if (one->used && p->order && (p->order == TRS_ORDER_LEVEL) != one->permuted)
            return refuse(TRS_EARG, file, "saved with another order of the rows");
    }
    return TRS_OK;
}

/* Allocate the next array of the file, and add it to the batch that is to be read. */
static int want(trs_context *ctx, batch *b, int64_t count, int size, int64_t below, void *to)
{
    void *p = trs_new(ctx, count, (size_t)size, "a saved plan");
    memcpy(to, &p, sizeof p);
    if (p) add(b, p, count, size, below);
    return p ? TRS_OK : TRS_EMEM;
}

static int want_operator(trs_context *ctx, batch *b, const head *h, const op_head *sh,
                         trs_operator *s)
{
    s->ctx = ctx;
    s->reversed = sh->reversed;
    s->lv.count = sh->levels;
    s->lv.widest = sh->widest;
    int rc = want(ctx, b, (int64_t)sh->levels + 1, 4, h->n + 1, &s->lv.ptr);
    if (!rc) rc = want(ctx, b, h->n, 4, h->n, sh->permuted ? &s->perm : &s->lv.topo);
    if (!rc && sh->permuted) {
        s->lv.topo = trs_new(ctx, h->n, sizeof *s->lv.topo, "topo");
        for (int32_t k = 0; s->lv.topo && k < h->n; k++) s->lv.topo[k] = k;
        if (!s->lv.topo) rc = TRS_EMEM;
    }
    if (rc || !sh->stored) return rc;
    s->tri = (trs_tri){.n = (int32_t)h->n, .nnz = h->nnz, .dtype = (trs_dtype)h->dtype};
    rc = want(ctx, b, h->n + 1, 8, 0, &s->tri.ptr);
    if (!rc) rc = want(ctx, b, h->nnz, 4, 0, &s->tri.idx);
    if (!rc) rc = want(ctx, b, h->nnz, 8, h->nnz, &s->tri.src);
    return rc;
}

/* Is an operator consistent enough that no code reads or writes outside of its arrays, whatever else is wrong? */
static bool is_sound(const trs_context *ctx, const head *h, trs_operator *s)
{
    bool good = s->lv.ptr[0] == 0 && s->lv.ptr[s->lv.count] == h->n;
    for (int32_t l = 0; l < s->lv.count; l++) good &= s->lv.ptr[l] <= s->lv.ptr[l + 1];
    return good && (!s->tri.ptr || trs_is_canonical(ctx, &s->tri));
}

/* src of a stored operator, from places in the imported matrix to places in the caller's val */
typedef struct filling {
    const trs_tri *imported;
    trs_tri *t;
} filling;

static void follow_some(void *user, int64_t begin, int64_t end)
{
    const filling *f = user;
    for (int64_t p = begin; p < end; p++) f->t->src[p] = f->imported->src[f->t->src[p]];
}

static int fill_operator(trs_context *ctx, const trs_tri *imported, trs_tri *t)
{
    filling f = {imported, t};
    t->val = trs_new(ctx, t->nnz, trs_size(t->dtype), "values");
    if (!t->val) return TRS_EMEM;
    trs_tri_read_values(ctx, t, imported->val);
    if (imported->src) trs_share(trs_team(ctx, t->nnz), t->nnz, PIECE, follow_some, &f);
    return TRS_OK;
}

/* Read the batch.  *good: the checksum, the zeros between the arrays and all numbers are right. */
static int read_arrays(trs_context *ctx, batch *b, bool *good)
{
    char pad[8] = {0};
    uint64_t check;
    hash_all(ctx, b);
    *good = !b->wrong;
    if (b->unread || !read_all(b->fd, (char *)&check, sizeof check, b->place)) return TRS_EFILE;
    *good &= check == b->sum;
    for (const array *a = b->a; a < b->a + b->count; a++) {
        const int64_t padding = padded(a->bytes) - a->bytes;
        if (!read_all(b->fd, pad, padding, a->place + a->bytes)) return TRS_EFILE;
        for (int64_t k = 0; k < padding; k++) *good &= !pad[k];
    }
    return TRS_OK;
}

/* What the head has of side k of a plan. */
static const op_head *of_side(const trs_plan *p, const head *h, int k)
{
    return &h->op[p->side[k].transposed];
}

/* op [k] becomes that of side k as it is in the file.  Files whose operators are not sound are refused. */
static int read_sound(trs_plan *p, const char *file, int fd, const head *h, trs_operator *op)
{
    trs_context *ctx = &p->ctx;
    batch b = {.fd = fd, .place = sizeof *h};
    bool good = true;
    int rc = TRS_OK;
    for (int k = 0; k < p->sides && !rc; k++)
        rc = want_operator(ctx, &b, h, of_side(p, h, k), &op[k]);
    if (!rc) rc = read_arrays(ctx, &b, &good);
    if (rc == TRS_EFILE) return refuse(rc, file, "cannot be read");
    for (int k = 0; k < p->sides && !rc && good; k++) good = is_sound(ctx, h, &op[k]);
    return good ? rc : refuse(TRS_EFORMAT, file, "the file is damaged");
}

static int read_operators(trs_plan *p, const char *file, int fd, const head *h, trs_operator *op)
{
    int rc = read_sound(p, file, fd, h, op);
    for (int k = 0; k < p->sides && !rc; k++)
        if (op[k].tri.ptr) rc = fill_operator(&p->ctx, &p->imported, &op[k].tri);
    for (int k = 0; k < p->sides && !rc;
         k++) /* the last step that may fail: it changes p->imported */
        if (!of_side(p, h, k)->stored && op[k].reversed)
            rc = trs_tri_reverse(&p->ctx, &p->imported);
    return rc;
}

/* Use the solver of the file, if this plan can. */
static int use_solver(trs_plan *p, const char *file, const head *h)
{
    const trs_solver *named = p->solver;
    if (named && strcmp(named->name, h->solver))
        return trs_fail(TRS_EARG, "%.100s: saved for %s, not for %s", file, h->solver, named->name);
    const op_head *one = of_side(p, h, 0);
    const trs_prospect prospect = {.ctx = &p->ctx,
                                   .limit = p->ctx.limit,
                                   .shape = {.n = h->n,
                                             .nnz = h->nnz,
                                             .levels = one->levels,
                                             .widest = one->widest,
                                             .longest = h->longest,
                                             .elem = (double)trs_size(p->given.dtype),
                                             .nrhs = p->ctx.nrhs}};
    int rc = trs_plan_find_solver(p, h->solver);
    if (!rc) rc = trs_check_fit(p->solver, &prospect);
    if (rc) p->solver = named;
    return rc;
}

/* The operators become the plan's, and the imported matrix becomes the one that is not stored. */
static void adopt(trs_plan *p, const head *h, trs_operator *op)
{
    for (int k = 0; k < p->sides; k++) {
        if (!of_side(p, h, k)->stored) {
            op[k].tri = p->imported;
            memset(&p->imported, 0, sizeof p->imported);
        }
        TRS_ASSERT(op[k].tri.n == p->info.n && op[k].tri.val);
        trs_tri_drop_identity(&p->ctx, &op[k].tri);
        op[k].transposed = p->side[k].transposed;
        op[k].on_host = TRS_OP_PATTERN | TRS_OP_VALUES | TRS_OP_LEVELS;
        trs_count_levels(&op[k]);
        p->side[k].op = op[k];
    }
    trs_tri_free(&p->ctx, &p->imported);
    p->info.levels = of_side(p, h, 0)->levels;
    p->info.widest = of_side(p, h, 0)->widest;
    p->info.longest = h->longest;
    p->info.predicted = h->predicted;
    p->info.analysis = "from a saved plan";
    memcpy(p->reason, h->reason, sizeof h->reason);
}

static int read_plan(trs_plan *p, const char *file, int fd)
{
    struct stat st;
    head h = {.n = 0};
    trs_operator op[2] = {{0}, {0}};
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) return refuse(TRS_EFILE, file, "no ordinary file");
    if (!read_all(fd, (char *)&h, sizeof h, 0)) {
        const bool known = st.st_size >= 8 && !memcmp(h.magic, magic, sizeof magic);
        return refuse(TRS_EFORMAT, file, known ? "the file is cut off" : "no saved plan");
    }
    int rc = check_file(file, &h, st.st_size);
    if (!rc) rc = check_plan(p, file, &h);
    if (!rc) rc = use_solver(p, file, &h);
    if (!rc) rc = read_operators(p, file, fd, &h, op);
    if (!rc) adopt(p, &h, op);
    for (int k = 0; k < p->sides && rc; k++) trs_operator_free(&op[k]);
    return rc;
}

static int load(trs_plan *p, const char *file)
{
    if (!p || !file) return trs_fail(TRS_EARG, "load: plan or file is NULL");
    if (p->state != TRS_CREATED) return trs_fail(TRS_ESTATE, "load: not a fresh plan");
    if (p->general) return trs_fail(TRS_ESUPPORT, "load: a general matrix has no levels");
    const double start = trs_now();
    const int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* waits for no pipe */
    if (fd < 0) return refuse(TRS_EFILE, file, strerror(errno));
    const trs_solver *named = p->solver;
    int rc = trs_plan_import_to_host(p);
    if (!rc) rc = read_plan(p, file, fd);
    close(fd);
    if (!rc) return trs_plan_finish(p, start);
    p->solver = named;
    return rc;
}

#else

static int save(const trs_plan *p, const char *file)
{
    if (!p || !file) return trs_fail(TRS_EARG, "save: plan or file is NULL");
    return trs_fail(TRS_ESUPPORT, "plans cannot be saved: built without xxhash");
}

static int load(const trs_plan *p, const char *file)
{
    if (!p || !file) return trs_fail(TRS_EARG, "load: plan or file is NULL");
    return trs_fail(TRS_ESUPPORT, "plans cannot be loaded: built without xxhash");
}

#endif

int trs_plan_save(trs_plan *p, const char *file)
{
    trs_enter();
    return trs_leave(save(p, file));
}

int trs_plan_load(trs_plan *p, const char *file)
{
    trs_enter();
    return trs_leave(load(p, file));
}

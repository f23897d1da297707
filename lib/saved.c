/* saved.c: the analysis of a plan in a file: levels, permutation, patterns of the sides, the choice.
 *
 * A file is a head, then for each side its levels, its permutation, and, where the side is not simply
 * what create imported, its pattern with the places of its entries in that.  It holds no values: they
 * come from the matrix that the loading plan was created with.  Its key is a hash of the pattern as
 * create imported it.  The head has a checksum of its own, so that its lengths can be believed, and the
 * rest has another at the end; nothing of the plan is touched before both were right. */
#include "config.h"

#include "internal.h"

#ifdef HAVE_XXHASH

#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#define XXH_INLINE_ALL /* so that its state can live on the stack */
#include <xxhash.h>

typedef struct side_head {
    int32_t used, levels, widest;
    int32_t permuted; /* perm follows topo, and topo is the identity */
    int32_t stored;   /* ptr, idx and from follow; else the side is what was imported */
    int32_t reversed;
} side_head;

typedef struct head { /* no padding: it is written as it stands */
    char magic[8];
    uint32_t order, version;
    int64_t bytes;    /* of the whole file */
    uint64_t pattern; /* hash */
    int64_t n, nnz, longest;
    double predicted;
    uint32_t dtype, ops;
    side_head side[2];
    char solver[48];
    char reason[496];
    uint64_t check; /* hash of all before */
} head;

static const char magic[8] = "trsplan";

enum { BYTE_ORDER_MARK = 0x01020304, SAVED_VERSION = 1 };

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
        const side_head *s = &h->side[k];
        if (!s->used) continue;
        bytes += padded(4 * ((int64_t)s->levels + 1)) + padded(4 * h->n);
        if (s->stored) bytes += 8 * (h->n + 1) + padded(4 * h->nnz) + 8 * h->nnz;
    }
    return bytes;
}

/* ---- the key ------------------------------------------------------------------------------------ */

static bool is_identity(const trs_tri *t)
{
    for (int64_t p = 0; t->src && p < t->nnz; p++)
        if (t->src[p] != p) return false;
    return true;
}

/* The pattern as create imported it, and where its entries stand in the caller's val. */
static uint64_t hash(const trs_plan *p, const trs_tri *t)
{
    const uint32_t shape[2] = {p->shape.kind & (TRS_LOWER | TRS_UPPER | TRS_UNIT),
                               p->imported_is_t};
    XXH3_state_t s;
    XXH3_64bits_reset(&s);
    XXH3_64bits_update(&s, shape, sizeof shape);
    XXH3_64bits_update(&s, t->ptr, ((size_t)t->n + 1) * sizeof *t->ptr);
    XXH3_64bits_update(&s, t->idx, (size_t)t->nnz * sizeof *t->idx);
    if (!is_identity(t)) XXH3_64bits_update(&s, t->src, (size_t)t->nnz * sizeof *t->src);
    return XXH3_64bits_digest(&s);
}

/* ---- save --------------------------------------------------------------------------------------- */

/* What create imported, made again from a side; src: places in the side. */
static int original(const trs_plan *p, trs_context *ctx, int k, trs_tri *t)
{
    const trs_side *s = &p->side[k];
    trs_tri a = s->tri, b;
    int32_t *inv = NULL;
    int rc = TRS_OK;
    a.src = NULL;
    if (s->perm) {
        inv = trs_new(ctx, a.n, sizeof *inv, "a permutation");
        for (int32_t row = 0; inv && row < a.n; row++) inv[s->perm[row]] = row;
        rc = inv ? trs_tri_permute(ctx, &a, inv, t) : TRS_EMEM;
        trs_free(&ctx->mem, inv);
    } else {
        rc = trs_tri_copy(ctx, &a, t);
        if (!rc && s->reversed) rc = trs_tri_reverse(ctx, t);
    }
    if (rc || k == p->imported_is_t) return rc;
    b = *t;
    rc = trs_tri_transpose(ctx, &b, true, t);
    trs_tri_free(ctx, &b);
    return rc;
}

typedef struct saving { /* a side, and what of it is to be written */
    const trs_side *side;
    int64_t *from; /* [nnz] place in the imported matrix; NULL: not stored */
} saving;

/* from, and the hash of the pattern. */
static int prepare(const trs_plan *p, trs_context *ctx, int k, saving *a, uint64_t *pattern)
{
    const trs_side *s = a->side = &p->side[k];
    trs_tri t;
    int rc = original(p, ctx, k, &t);
    if (rc) return rc;
    if (s->perm || k != p->imported_is_t) {
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
    h.dtype = p->shape.dtype;
    h.ops = p->ctx.ops;
    snprintf(h.solver, sizeof h.solver, "%s", p->wanted->name);
    snprintf(h.reason, sizeof h.reason, "%.495s", p->reason);
    for (int k = 0; k < 2; k++) {
        const trs_side *s = a[k].side;
        if (s)
            h.side[k] = (side_head){
                true, s->lv.count, s->lv.widest, s->perm != NULL, a[k].from != NULL, s->reversed};
    }
    h.bytes = file_bytes(&h);
    h.check = head_check(&h);
    return h;
}

typedef struct stream { /* what goes to the file, or comes from it, after the head */
    trs_output out;
    FILE *in;
    XXH3_state_t check;
} stream;

static int put(stream *f, const void *p, int64_t bytes)
{
    static const char zero[8];
    const int64_t pad = padded(bytes) - bytes;
    XXH3_64bits_update(&f->check, p, (size_t)bytes);
    int rc = trs_output_put(&f->out, p, bytes, f->out.offset);
    if (!rc && pad) rc = trs_output_put(&f->out, zero, pad, f->out.offset + bytes);
    f->out.offset += padded(bytes);
    return rc;
}

static int put_side(stream *f, const saving *a)
{
    const trs_side *s = a->side;
    const trs_tri *t = &s->tri;
    int rc = put(f, s->lv.ptr, 4 * ((int64_t)s->lv.count + 1));
    if (!rc) rc = put(f, s->perm ? s->perm : s->lv.topo, 4 * (int64_t)t->n);
    if (rc || !a->from) return rc;
    rc = put(f, t->ptr, 8 * ((int64_t)t->n + 1));
    if (!rc) rc = put(f, t->idx, 4 * t->nnz);
    if (!rc) rc = put(f, a->from, 8 * t->nnz);
    return rc;
}

static int write_plan(trs_context *ctx, const char *file, const head *h, const saving *a)
{
    stream f = {
        .out = {
            .file = file, .fd = -1, .message = ctx->message, .message_size = sizeof ctx->message}};
    int rc = trs_output_open(&f.out);
    XXH3_64bits_reset(&f.check);
    if (!rc) rc = trs_output_put(&f.out, h, sizeof *h, 0);
    f.out.offset = sizeof *h;
    for (int k = 0; k < 2 && !rc; k++)
        if (a[k].side) rc = put_side(&f, &a[k]);
    const uint64_t check = XXH3_64bits_digest(&f.check);
    if (!rc) put(&f, &check, sizeof check);
    return trs_output_close(&f.out);
}

int trs_plan_save(trs_plan *p, const char *file)
{
    if (!p || !file) return TRS_EARG;
    trs_context *ctx = &p->ctx;
    if (p->state != TRS_ANALYSED && p->state != TRS_READY)
        return trs_fail(ctx, TRS_ESTATE, "save: the plan is not analysed");
    if (p->general) return trs_fail(ctx, TRS_ESUPPORT, "save: a general matrix has no levels");
    saving a[2] = {{0}, {0}};
    uint64_t pattern = 0;
    int rc = TRS_OK;
    for (int k = 0; k < 2 && !rc; k++)
        if (p->side[k].used) rc = prepare(p, ctx, k, &a[k], &pattern);
    if (!rc) {
        const head h = make_head(p, a, pattern);
        rc = write_plan(ctx, file, &h, a);
    }
    for (int k = 0; k < 2; k++) trs_free(&ctx->mem, a[k].from);
    return rc;
}

/* ---- load --------------------------------------------------------------------------------------- */

static int refuse(trs_plan *p, int code, const char *file, const char *why)
{
    return trs_fail(&p->ctx, code, "%.150s: %s", file, why);
}

/* The head can be believed, and belongs to this plan. */
static int check_head(trs_plan *p, const char *file, const head *h, int64_t bytes)
{
    if (memcmp(h->magic, magic, sizeof magic)) return refuse(p, TRS_EFORMAT, file, "no saved plan");
    if (h->order == 0x04030201)
        return refuse(p, TRS_ESUPPORT, file, "saved on a machine with another order of bytes");
    if (h->order == BYTE_ORDER_MARK && h->version != SAVED_VERSION)
        return refuse(p, TRS_ESUPPORT, file, "saved by another version of the library");
    if (h->check != head_check(h) || h->solver[sizeof h->solver - 1] ||
        h->reason[sizeof h->reason - 1])
        return refuse(p, TRS_EFORMAT, file, "the head is damaged");
    if (bytes < h->bytes) return refuse(p, TRS_EFORMAT, file, "the file is cut off");
    if (bytes > h->bytes || file_bytes(h) != bytes)
        return refuse(p, TRS_EFORMAT, file, "the file is not as long as its head says");
    if (h->n != p->info.n || h->nnz != p->info.nnz || h->pattern != hash(p, &p->imported))
        return refuse(p, TRS_EMATRIX, file, "saved for a matrix of another pattern");
    if (h->dtype != (uint32_t)p->shape.dtype)
        return refuse(p, TRS_EMATRIX, file, "saved for numbers of another type");
    for (int k = 0; k < 2; k++) {
        if (h->side[k].levels < 0 || h->side[k].levels > h->n)
            return refuse(p, TRS_EFORMAT, file, "the head is damaged");
        if (h->side[k].used != (int32_t)p->side[k].used)
            return refuse(p, TRS_EARG, file, "saved for other ops");
        if (h->side[k].used && p->order && (p->order == TRS_ORDER_LEVEL) != h->side[k].permuted)
            return refuse(p, TRS_EARG, file, "saved with another order of the rows");
    }
    return TRS_OK;
}

static int get(stream *f, void *p, int64_t bytes)
{
    char pad[8];
    const size_t rest = (size_t)(padded(bytes) - bytes);
    if (fread(p, 1, (size_t)bytes, f->in) != (size_t)bytes || fread(pad, 1, rest, f->in) != rest)
        return TRS_EFILE;
    XXH3_64bits_update(&f->check, p, (size_t)bytes);
    return TRS_OK;
}

/* count elements in fresh memory of the plan */
static int get_new(stream *f, trs_context *ctx, int64_t count, int64_t size, void *to)
{
    void *p = trs_new(ctx, count, (size_t)size, "a saved plan");
    memcpy(to, &p, sizeof p);
    return p ? get(f, p, count * size) : TRS_EMEM;
}

static int get_side(stream *f, trs_context *ctx, const head *h, const side_head *sh, trs_side *s)
{
    s->used = true;
    s->reversed = sh->reversed;
    s->lv.count = sh->levels;
    s->lv.widest = sh->widest;
    int rc = get_new(f, ctx, (int64_t)sh->levels + 1, 4, &s->lv.ptr);
    if (!rc) rc = get_new(f, ctx, h->n, 4, sh->permuted ? &s->perm : &s->lv.topo);
    if (!rc && sh->permuted) {
        s->lv.topo = trs_new(ctx, h->n, sizeof *s->lv.topo, "topo");
        for (int32_t k = 0; s->lv.topo && k < h->n; k++) s->lv.topo[k] = k;
        if (!s->lv.topo) rc = TRS_EMEM;
    }
    if (rc || !sh->stored) return rc;
    s->tri = (trs_tri){.n = (int32_t)h->n, .nnz = h->nnz, .dtype = (trs_dtype)h->dtype};
    rc = get_new(f, ctx, h->n + 1, 8, &s->tri.ptr);
    if (!rc) rc = get_new(f, ctx, h->nnz, 4, &s->tri.idx);
    if (!rc) rc = get_new(f, ctx, h->nnz, 8, &s->tri.src);
    return rc;
}

/* Whatever is wrong with a side, nothing will be read or written outside arrays because of it. */
static bool is_sound(const head *h, const side_head *sh, const trs_side *s)
{
    const int32_t *rows = sh->permuted ? s->perm : s->lv.topo;
    const trs_tri *t = &s->tri;
    bool good = s->lv.ptr[0] == 0 && s->lv.ptr[sh->levels] == h->n;
    for (int32_t l = 0; l < sh->levels; l++) good &= s->lv.ptr[l] <= s->lv.ptr[l + 1];
    for (int64_t k = 0; k < h->n; k++) good &= rows[k] >= 0 && rows[k] < h->n;
    if (!t->ptr || !good) return good;
    good = t->ptr[0] == 0 && t->ptr[t->n] == t->nnz;
    for (int32_t i = 0; i < t->n; i++) good &= t->ptr[i] < t->ptr[i + 1];
    for (int32_t i = 0; i < t->n && good; i++)
        for (int64_t p = t->ptr[i]; p < t->ptr[i + 1]; p++)
            good &= t->idx[p] >= 0 && (t->idx[p] < i) == (p < t->ptr[i + 1] - 1) && t->idx[p] <= i;
    for (int64_t p = 0; p < t->nnz; p++) good &= t->src[p] >= 0 && t->src[p] < t->nnz;
    return good;
}

/* The values of a stored side, and their places in the caller's val. */
static int fill_side(trs_context *ctx, const trs_tri *imported, trs_tri *t)
{
    t->val = trs_new(ctx, t->nnz, trs_size(t->dtype), "values");
    if (!t->val) return TRS_EMEM;
    trs_tri_read_values(ctx, t, imported->val);
    for (int64_t p = 0; p < t->nnz && imported->src; p++) t->src[p] = imported->src[t->src[p]];
    return TRS_OK;
}

static int read_sides(trs_plan *p, const char *file, stream *f, const head *h, trs_side *side)
{
    int rc = TRS_OK;
    uint64_t check = 0;
    XXH3_64bits_reset(&f->check);
    for (int k = 0; k < 2 && !rc; k++)
        if (h->side[k].used) rc = get_side(f, &p->ctx, h, &h->side[k], &side[k]);
    const uint64_t found = XXH3_64bits_digest(&f->check);
    if (!rc) rc = get(f, &check, sizeof check);
    if (rc == TRS_EFILE) return refuse(p, rc, file, "cannot be read");
    bool good = rc || check == found;
    for (int k = 0; k < 2 && !rc && good; k++)
        if (h->side[k].used) good = is_sound(h, &h->side[k], &side[k]);
    if (!good) return refuse(p, TRS_EFORMAT, file, "the file is damaged");
    for (int k = 0; k < 2 && !rc; k++)
        if (side[k].tri.ptr) rc = fill_side(&p->ctx, &p->imported, &side[k].tri);
    for (int k = 0; k < 2 && !rc; k++) /* the last that may fail, for it changes the imported one */
        if (h->side[k].used && !h->side[k].stored && side[k].reversed)
            rc = trs_tri_reverse(&p->ctx, &p->imported);
    return rc;
}

/* The solver of the file, if this plan may have it. */
static int take_solver(trs_plan *p, const char *file, const head *h)
{
    const trs_solver *named = p->wanted;
    if (named && strcmp(named->name, h->solver))
        return trs_fail(&p->ctx, TRS_EARG, "%.100s: saved for %s, not for %s", file, h->solver,
                        named->name);
    const trs_shape shape = {.n = h->n,
                             .nnz = h->nnz,
                             .levels = h->side[!h->side[0].used].levels,
                             .widest = h->side[!h->side[0].used].widest,
                             .longest = h->longest,
                             .elem = (double)trs_size(p->shape.dtype),
                             .nrhs = p->ctx.nrhs};
    int rc = trs_plan_find_solver(p, h->solver);
    if (!rc && !trs_fits(p->wanted, &shape, p->ctx.limit))
        rc = trs_fail(&p->ctx, TRS_EMEM, "%s would need more memory than the limit", h->solver);
    if (rc) p->wanted = named;
    return rc;
}

/* All is well: the plan takes the sides over, and the imported matrix becomes the one not stored. */
static void adopt(trs_plan *p, const head *h, trs_side *side)
{
    for (int k = 0; k < 2; k++) {
        if (!side[k].used) continue;
        if (!h->side[k].stored) {
            side[k].tri = p->imported;
            memset(&p->imported, 0, sizeof p->imported);
        }
        trs_tri_drop_identity(&p->ctx, &side[k].tri);
        p->side[k] = side[k];
    }
    trs_tri_free(&p->ctx, &p->imported);
    p->info.levels = h->side[!h->side[0].used].levels;
    p->info.widest = h->side[!h->side[0].used].widest;
    p->info.longest = h->longest;
    p->info.predicted = h->predicted;
    memcpy(p->reason, h->reason, sizeof h->reason);
}

static int read_plan(trs_plan *p, const char *file, FILE *in)
{
    struct stat st;
    head h;
    trs_side side[2] = {{0}, {0}};
    stream f = {.in = in};
    if (fstat(fileno(in), &st) || !S_ISREG(st.st_mode))
        return refuse(p, TRS_EFILE, file, "no ordinary file");
    if (fread(&h, 1, sizeof h, in) != sizeof h) {
        const bool known = st.st_size >= 8 && !memcmp(h.magic, magic, sizeof magic);
        return refuse(p, TRS_EFORMAT, file, known ? "the file is cut off" : "no saved plan");
    }
    int rc = check_head(p, file, &h, st.st_size);
    if (!rc) rc = take_solver(p, file, &h);
    if (rc) return rc;
    rc = read_sides(p, file, &f, &h, side);
    if (!rc) adopt(p, &h, side);
    else
        for (int k = 0; k < 2; k++) trs_side_free(&p->ctx, &side[k]);
    return rc;
}

int trs_plan_load(trs_plan *p, const char *file)
{
    if (!p || !file) return TRS_EARG;
    if (p->state != TRS_CREATED) return trs_fail(&p->ctx, TRS_ESTATE, "load: not a fresh plan");
    if (p->general) return trs_fail(&p->ctx, TRS_ESUPPORT, "load: a general matrix has no levels");
    const double start = trs_now();
    FILE *in = fopen(file, "rb");
    if (!in) return refuse(p, TRS_EFILE, file, strerror(errno));
    const trs_solver *named = p->wanted;
    int rc = read_plan(p, file, in);
    fclose(in);
    if (!rc) return trs_plan_finish(p, start);
    p->wanted = named;
    return rc;
}

#else

int trs_plan_save(trs_plan *p, const char *file)
{
    if (!p || !file) return TRS_EARG;
    return trs_fail(&p->ctx, TRS_ESUPPORT, "plans cannot be saved: built without xxhash");
}

int trs_plan_load(trs_plan *p, const char *file)
{
    if (!p || !file) return TRS_EARG;
    return trs_fail(&p->ctx, TRS_ESUPPORT, "plans cannot be loaded: built without xxhash");
}

#endif

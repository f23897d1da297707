/* context.c: gives version and codes as text, allocates with a sentence, and copies by several threads. */
#include "config.h"

#include "device.h"
#include "context.h"
#include "parallel.h"

#include <string.h>

const char *trs_version(void)
{
    return TRS_VERSION;
}

const char *trs_strerror(int status)
{
    static const char *const text[] = {
        [-TRS_OK] = "no error",
        [-TRS_EARG] = "an argument is NULL, out of range, or contradicts another",
        [-TRS_ESTATE] = "called out of order",
        [-TRS_EMEM] = "out of memory, or over the limit that was set",
        [-TRS_ESUPPORT] = "this solver or this build cannot do that",
        [-TRS_EMATRIX] = "the matrix is not well-formed",
        [-TRS_EPIVOT] = "a pivot is missing, zero, or not finite",
        [-TRS_EFILE] = "a file cannot be opened, read, or written",
        [-TRS_EFORMAT] = "what the file holds is not well-formed",
        [-TRS_EDEVICE] = "no usable GPU, or CUDA reported an error",
        [-TRS_ELIBRARY] = "a library failed",
        [-TRS_EGROWTH] = "rounding errors grew too much",
        [-TRS_ECANCELED] = "canceled by the caller",
    };
    return status > 0 || status < TRS_ECANCELED ? "unknown status" : text[-status];
}

void *trs_new(trs_context *ctx, int64_t count, size_t size, const char *what)
{
    void *p = trs_alloc(&ctx->mem, count, size);
    if (!p)
        trs_fail(TRS_EMEM, "out of memory: %.3g bytes for %s", (double)count * (double)size, what);
    return p;
}

int trs_check_threads(const char *call, int threads)
{
    if (threads >= 0 && threads <= TRS_MOST_THREADS) return TRS_OK;
    return trs_fail(TRS_EARG, "%s: %d threads are out of range", call, threads);
}

int trs_team(const trs_context *ctx, int64_t entries)
{
    return entries < TRS_SHARED_FROM || ctx->threads < 1 ? 1 : ctx->threads;
}

int trs_team_with_memory(const trs_context *ctx, int64_t entries)
{
    return ctx->mem.alloc ? 1 : trs_team(ctx, entries);
}

enum {
    COPY_RANGE = 1 << 18, /* bytes that a thread copies at a time */
    TOUCH_RANGE = 8 * COPY_RANGE,
    PAGE = 4096,
    COPIERS = 8 /* threads: more of them are slower */
};

typedef struct copying {
    char *to;
    const char *from;
} copying;

static void copy_range(void *user, int64_t begin, int64_t end)
{
    const copying *c = user;
    memcpy(c->to + begin, c->from + begin, (size_t)(end - begin));
}

void trs_copy(const trs_context *ctx, void *to, const void *from, size_t bytes)
{
    copying c = {to, from};
    const int team = trs_team(ctx, (int64_t)bytes / 4);
    trs_share(team < COPIERS ? team : COPIERS, (int64_t)bytes, COPY_RANGE, copy_range, &c);
}

static void touch_range(void *user, int64_t begin, int64_t end)
{
    for (int64_t k = begin; k < end; k += PAGE) ((volatile char *)user)[k] = 0;
}

void trs_touch(const trs_context *ctx, void *p, size_t bytes)
{
    trs_share(trs_team(ctx, (int64_t)bytes / 4), (int64_t)bytes, TOUCH_RANGE, touch_range, p);
}

void *trs_new_touched(trs_context *ctx, int64_t count, size_t size, const char *what)
{
    void *p = trs_new(ctx, count, size, what);
    if (p && ctx->threads > 1) trs_touch(ctx, p, (size_t)count * size);
    return p;
}

int trs_check_device(int device)
{
    char why[200];
    if (device <= 0 || !trs_gpu_probe(device - 1, why, sizeof why)) return TRS_OK;
    return trs_fail(TRS_EDEVICE, "device %d cannot be used: %s", device - 1, why);
}

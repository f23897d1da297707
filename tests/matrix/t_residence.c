/* t_residence.c: pattern, values and levels of an operator are copied to the device and back as they are needed, and each
 * step of it may fail once.
 *
 * The device is memory of the host: the functions that the operator calls are replaced (-Wl,--wrap), so that this needs no
 * GPU.  What a kernel does is done here by the plainest loop.  A life of an operator is lived once for each call that can
 * fail, of the device and of malloc, and each time the step that failed is repeated: it succeeds, the numbers are right,
 * and nothing is left at the end. */
#include "tests/common/counter.h"
#include "tests/common/model.h"

#include "base/device.h"
#include "matrix/on_device.h"

enum { ALL = TRS_OP_PATTERN | TRS_OP_VALUES | TRS_OP_LEVELS, N = 300 };

/* ---- the device ------------------------------------------------------------------------------------------ */

static struct {
    long calls, fail_at, live;
    void *scratch;
} device;

static int fails(void)
{
    if (device.calls++ != device.fail_at) return TRS_OK;
    return trs_fail(TRS_EDEVICE, "the device fails");
}

int __wrap_trs_gpu_use(trs_context *ctx);
int __wrap_trs_gpu_use(trs_context *ctx)
{
    (void)ctx;
    return fails();
}

void *__wrap_trs_gpu_new(trs_context *ctx, int64_t count, size_t size, const char *what);
void *__wrap_trs_gpu_new(trs_context *ctx, int64_t count, size_t size, const char *what)
{
    (void)ctx;
    if (fails()) return NULL;
    device.live++;
    assert_true(what && *what);
    return zeroed(count, size);
}

void __wrap_trs_gpu_free(trs_context *ctx, void *p);
void __wrap_trs_gpu_free(trs_context *ctx, void *p)
{
    (void)ctx;
    device.live -= p != NULL;
    free(p);
}

void *__wrap_trs_gpu_scratch(trs_context *ctx, int64_t bytes, const char *what);
void *__wrap_trs_gpu_scratch(trs_context *ctx, int64_t bytes, const char *what)
{
    if (!device.scratch) device.scratch = __wrap_trs_gpu_new(ctx, bytes, 1, what);
    return device.scratch;
}

void __wrap_trs_gpu_drop_scratch(trs_context *ctx);
void __wrap_trs_gpu_drop_scratch(trs_context *ctx)
{
    __wrap_trs_gpu_free(ctx, device.scratch);
    device.scratch = NULL;
}

static int copy(void *to, const void *from, size_t bytes)
{
    if (!fails()) memcpy(to, from, bytes);
    else return TRS_EDEVICE;
    return TRS_OK;
}

int __wrap_trs_gpu_put(trs_context *ctx, void *to, const void *from, size_t bytes);
int __wrap_trs_gpu_put(trs_context *ctx, void *to, const void *from, size_t bytes)
{
    (void)ctx;
    return copy(to, from, bytes);
}

int __wrap_trs_gpu_get(trs_context *ctx, void *to, const void *from, size_t bytes);
int __wrap_trs_gpu_get(trs_context *ctx, void *to, const void *from, size_t bytes)
{
    (void)ctx;
    return copy(to, from, bytes);
}

int __wrap_trs_gpu_wait(void *stream);
int __wrap_trs_gpu_wait(void *stream)
{
    (void)stream;
    return fails();
}

static void gather(trs_dtype t, int64_t nnz, const int64_t *src, const void *from, void *to)
{
    const size_t size = trs_size(t);
    for (int64_t p = 0; p < nnz; p++)
        memcpy((char *)to + (size_t)p * size,
               (const char *)from + (size_t)(src ? src[p] : p) * size, size);
}

int __wrap_trs_gpu_take_values(trs_dtype t, int64_t nnz, const void *src, const void *from,
                               void *to, void *stream);
int __wrap_trs_gpu_take_values(trs_dtype t, int64_t nnz, const void *src, const void *from,
                               void *to, void *stream)
{
    (void)stream;
    if (fails()) return TRS_EDEVICE;
    gather(t, nnz, src, from, to);
    return TRS_OK;
}

/* From op->lv. */
static void note_levels(const trs_operator *op, int32_t *level)
{
    for (int32_t l = 0; l < op->lv.count; l++)
        for (int32_t k = op->lv.ptr[l]; k < op->lv.ptr[l + 1]; k++) level[op->lv.topo[k]] = l;
}

int __wrap_trs_gpu_put_levels(const trs_operator *op);
int __wrap_trs_gpu_put_levels(const trs_operator *op)
{
    if (fails()) return TRS_EDEVICE;
    note_levels(op, op->device.level);
    return TRS_OK;
}

/* A level is one more than the deepest level of the columns of a row. */
int __wrap_trs_gpu_search_levels(trs_operator *op);
int __wrap_trs_gpu_search_levels(trs_operator *op)
{
    trs_device_view *d = &op->device;
    assert_true(d->found && !d->level);
    d->level = __wrap_trs_gpu_new(op->ctx, op->tri.n, sizeof *d->level, "levels");
    if (!d->level || fails()) return TRS_EDEVICE;
    for (int32_t i = 0; i < op->tri.n; i++) {
        for (int64_t p = d->ptr[i]; p < d->ptr[i + 1] - 1; p++)
            if (d->level[d->idx[p]] >= d->level[i]) d->level[i] = d->level[d->idx[p]] + 1;
        if (d->level[i] >= op->lv.count) op->lv.count = d->level[i] + 1;
    }
    return TRS_OK;
}

int __wrap_trs_gpu_order_levels(trs_operator *op);
int __wrap_trs_gpu_order_levels(trs_operator *op)
{
    trs_device_view *d = &op->device;
    int32_t count = 0;
    d->topo = __wrap_trs_gpu_new(op->ctx, op->tri.n, sizeof *d->topo, "topo");
    if (!d->topo || fails()) return TRS_EDEVICE;
    op->lv.ptr = trs_new(op->ctx, (int64_t)op->lv.count + 1, sizeof *op->lv.ptr, "levels");
    if (!op->lv.ptr) return TRS_EMEM;
    for (int32_t l = 0; l < op->lv.count; l++) {
        op->lv.ptr[l] = count;
        for (int32_t i = 0; i < op->tri.n; i++)
            if (d->level[i] == l) d->topo[count++] = i;
    }
    op->lv.ptr[op->lv.count] = count;
    return TRS_OK;
}

/* ---- a life -------------------------------------------------------------------------------------------------- */

typedef struct life {
    trs_context ctx;
    counter host;
    trs_operator reference; /* on the host, made without a failure */
    double *val;            /* new numbers in the caller's order: [3 * nnz] */
    trs_operator op;
    int failures;
} life;

/* A step that must succeed when it is called again. */
static int twice(life *l, int rc)
{
    if (!rc) return 0;
    l->failures++;
    assert_true(rc == TRS_EDEVICE || rc == TRS_EMEM);
    assert_true(*trs_message() && strcmp(trs_message(), trs_strerror(rc)) != 0);
    return 1;
}

#define TWICE(l, call)                                                                             \
    do                                                                                             \
        if (twice(l, call)) assert_status(call, TRS_OK);                                           \
    while (0)

static size_t bytes_of(const trs_tri *t)
{
    return (size_t)t->nnz * trs_size(t->dtype);
}

/* What these values are, entry by entry. */
static void assert_values(const life *l, const void *val, const double *from)
{
    const trs_tri *t = &l->reference.tri;
    double *want = zeroed(t->nnz, sizeof *want);
    if (from) gather(t->dtype, t->nnz, l->reference.tri.src, from, want);
    else memcpy(want, t->val, bytes_of(t));
    assert_memory_equal(val, want, bytes_of(t));
    free(want);
}

static void assert_pattern(const life *l, const int64_t *ptr, const int32_t *idx)
{
    const trs_tri *t = &l->reference.tri;
    assert_memory_equal(ptr, t->ptr, ((size_t)t->n + 1) * sizeof *ptr);
    assert_memory_equal(idx, t->idx, (size_t)t->nnz * sizeof *idx);
}

static void assert_levels(const life *l, const int32_t *level)
{
    int32_t want[N];
    note_levels(&l->reference, want);
    assert_memory_equal(level, want, sizeof want);
}

/* From the host to the device, and new values of either side. */
static void begins_on_the_host(life *l)
{
    trs_tri copy_of;
    trs_operator *op = &l->op;
    TWICE(l, trs_tri_copy(&l->ctx, &l->reference.tri, &copy_of));
    trs_operator_from_host(op, &l->ctx, &copy_of);
    TWICE(l, trs_find_levels(op));
    op->on_host |= TRS_OP_LEVELS;
    TWICE(l, trs_operator_device(op, ALL));
    assert_pattern(l, op->device.ptr, op->device.idx);
    assert_values(l, op->device.val, NULL);
    assert_levels(l, op->device.level);
    trs_operator_hold(op, TRS_OP_PATTERN);
    trs_operator_drop(op, ALL);
    assert_int_equal(op->on_device, TRS_OP_PATTERN);
    assert_true(op->device.idx && !op->device.val && !op->device.level);
    for (int64_t p = 0; p < op->tri.nnz; p++)
        ((double *)op->tri.val)[p] = l->val[l->reference.tri.src[p]];
    trs_operator_changed_on_host(op);
    TWICE(l, trs_operator_device(op, ALL));
    assert_values(l, op->device.val, l->val);
    double *next = l->val + op->tri.nnz, *last = next + op->tri.nnz;
    TWICE(l, trs_operator_take_values(op, next, false, NULL));
    assert_int_equal(op->on_device & TRS_OP_VALUES, 0);
    TWICE(l, trs_operator_device(op, TRS_OP_VALUES));
    assert_values(l, op->device.val, next);
    TWICE(l, trs_operator_take_values(op, last, true, NULL));
    assert_int_equal(op->on_host & TRS_OP_VALUES, 0);
    TWICE(l, trs_operator_host(op, ALL));
    assert_values(l, op->tri.val, last);
}

/* The matrix came from the device, where an entry has another place. */
static void begins_on_the_device(life *l)
{
    const trs_tri *t = &l->reference.tri;
    trs_operator *op = &l->op;
    trs_device_view *d = &op->device;
    op->ctx = &l->ctx;
    op->tri = (trs_tri){.n = t->n, .nnz = t->nnz, .dtype = t->dtype};
    TWICE(l, trs_operator_new_resident(op, t->nnz, true));
    assert_int_equal(device.live, 1);
    memcpy(d->ptr, t->ptr, ((size_t)t->n + 1) * sizeof *t->ptr);
    memcpy(d->idx, t->idx, (size_t)t->nnz * sizeof *t->idx);
    memcpy(d->src, t->src, (size_t)t->nnz * sizeof *t->src);
    memcpy(d->val, t->val, bytes_of(t));
    op->on_device = TRS_OP_PATTERN | TRS_OP_VALUES;
    TWICE(l, trs_find_levels_on_device(op));
    assert_levels(l, d->level);
    trs_operator_drop(op, TRS_OP_PATTERN | TRS_OP_VALUES); /* there is no other copy */
    assert_int_equal(op->on_device, ALL);
    TWICE(l, trs_operator_take_values(op, l->val, false, NULL));
    assert_values(l, d->val, l->val);
    TWICE(l, trs_operator_show(op, ALL));
    assert_pattern(l, op->tri.ptr, op->tri.idx);
    assert_values(l, op->tri.val, l->val);
    assert_memory_equal(op->tri.src, t->src, (size_t)t->nnz * sizeof *t->src);
    assert_memory_equal(op->lv.topo, l->reference.lv.topo, N * sizeof(int32_t));
    assert_null(d->topo);
}

/* The levels of a matrix that the host has, found on the device. */
static void finds_levels_there(life *l)
{
    trs_tri copy_of;
    trs_operator *op = &l->op;
    TWICE(l, trs_tri_copy(&l->ctx, &l->reference.tri, &copy_of));
    trs_operator_from_host(op, &l->ctx, &copy_of);
    TWICE(l, trs_find_levels_on_device(op));
    assert_int_equal(op->lv.count, l->reference.lv.count);
    assert_memory_equal(op->lv.topo, l->reference.lv.topo, N * sizeof(int32_t));
    assert_memory_equal(op->lv.ptr, l->reference.lv.ptr,
                        ((size_t)op->lv.count + 1) * sizeof(int32_t));
}

/* ---- every call fails --------------------------------------------------------------------------------------- */

static int live(life *l, void (*once)(life *), long of_device, long of_host)
{
    device.calls = 0, device.fail_at = of_device;
    l->host = (counter){.fail_at = of_host};
    l->failures = 0;
    l->op = (trs_operator){0};
    once(l);
    trs_operator_free(&l->op);
    __wrap_trs_gpu_drop_scratch(&l->ctx);
    assert_int_equal(device.live, 0);
    assert_int_equal(l->host.live, 0);
    return l->failures;
}

static void every_call_fails(void (*once)(life *))
{
    random_t r = {8};
    const form f = {.format = TRS_CSR, .ptr_bits = 64, .idx_bits = 32, .shuffled = true};
    model m = {.n = N};
    for (int i = 0; i < N; i++) {
        for (int k = i % 4; k > 0 && i > 4; k--) model_add(&m, i, i - 1 - k, random_uniform(&r));
        model_add(&m, i, i, 2);
    }
    trs_mat a = show(&m, &f, &r);
    life l = {.ctx = {.threads = 1}};
    trs_tri t;
    assert_status(trs_tri_import(&l.ctx, &a, &t), TRS_OK);
    assert_non_null(t.src); /* the rows were in no order */
    trs_operator_from_host(&l.reference, &l.ctx, &t);
    assert_status(trs_find_levels(&l.reference), TRS_OK);
    l.val = zeroed(3 * a.nnz, sizeof *l.val);
    for (int64_t k = 0; k < 3 * a.nnz; k++) l.val[k] = (double)k + 1;
    l.ctx.mem = counted_memory(&l.host);
    assert_int_equal(live(&l, once, -1, -1), 0);
    const long calls = device.calls, blocks = l.host.calls;
    assert_true(calls > 0 && blocks > 0);
    int noticed = 0;
    for (long k = 0; k < calls; k++) noticed += live(&l, once, k, -1);
    print_message("%ld calls of the device, %d noticed; %ld allocations\n", calls, noticed, blocks);
    assert_true(noticed >= calls - 1); /* without scratch memory the analysis gets along */
    for (long k = 0; k < blocks; k++) assert_int_equal(live(&l, once, -1, k), 1);
    l.ctx.mem = (trs_memory){0};
    trs_operator_free(&l.reference);
    free(l.val);
    mat_free(&a);
    model_free(&m);
}

static void test_from_the_host(void **state)
{
    (void)state;
    every_call_fails(begins_on_the_host);
}

static void test_from_the_device(void **state)
{
    (void)state;
    every_call_fails(begins_on_the_device);
}

static void test_levels(void **state)
{
    (void)state;
    every_call_fails(finds_levels_there);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_from_the_host),
                                       cmocka_unit_test(test_from_the_device),
                                       cmocka_unit_test(test_levels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

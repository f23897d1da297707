/* there.h: matrices and vectors of tests on CUDA device 0. */
#ifndef TRS_TESTS_THERE_H
#define TRS_TESTS_THERE_H

#include "tests/common/device.h"
#include "tests/common/full.h"

static inline void *array_there(const void *from, size_t bytes)
{
    void *p = NULL;
    assert_int_equal(trs_device_new(TRS_CUDA(0), bytes + 1, &p), TRS_OK);
    if (bytes) assert_int_equal(trs_device_put(TRS_CUDA(0), p, from, bytes), TRS_OK);
    return p;
}

static inline void free_there(const void *p)
{
    trs_device_free(TRS_CUDA(0), (void *)p);
}

static inline size_t value_bytes(const trs_mat *m)
{
    int64_t count = m->nnz;
    if (m->format == TRS_DENSE) count = m->n * m->ld;
    if (m->format == TRS_BSR) count *= (int64_t)m->block * m->block;
    return (size_t)count * size_of(m->dtype);
}

/* The same matrix with its arrays there; free it by away. */
static inline trs_mat there(const trs_mat *m)
{
    trs_mat d = *m;
    const int64_t lines = m->format == TRS_BSR ? m->n / m->block : m->n;
    d.device = TRS_CUDA(0);
    d.val = array_there(m->val, value_bytes(m));
    if (m->format == TRS_DENSE) return d;
    d.ptr = array_there(m->ptr, (size_t)(lines + 1) * (m->ptr_bits == 32 ? 4 : 8));
    d.idx = array_there(m->idx, (size_t)m->nnz * (m->idx_bits == 64 ? 8 : 4));
    return d;
}

static inline void away(trs_mat *d)
{
    free_there(d->ptr);
    free_there(d->idx);
    free_there(d->val);
}

/* Other values into the same array. */
static inline void send_values(const trs_mat *d, const trs_mat *m)
{
    assert_int_equal(trs_device_put(TRS_CUDA(0), (void *)d->val, m->val, value_bytes(m)), TRS_OK);
}

/* A matrix that is kept full, and is shown on the host and there. */
typedef struct twin {
    full A;
    form f;
    trs_mat m, d;
} twin;

static inline twin twin_new(full A, const form *f) /* takes A */
{
    twin t = {.A = A, .f = *f, .m = show_full(&A, f)};
    t.d = there(&t.m);
    return t;
}

/* A has other values, none of which became zero. */
static inline void twin_renew(twin *t)
{
    hide(&t->m);
    t->m = show_full(&t->A, &t->f);
    send_values(&t->d, &t->m);
}

static inline void twin_free(twin *t)
{
    away(&t->d);
    hide(&t->m);
    free(t->A.a);
}

#endif

/* pass.h: one pass over the vectors of a Krylov method: updates, inner products of what they made, and a step of scalars.
 *
 * A pass reads and writes each vector once.  The vectors are cut into ranges, of TRS_RANGE numbers on the host.  In each range the
 * updates are done one after the other, and then the inner products are summed; the sums of the ranges are added in their
 * order.  So neither the number of threads nor that of thread blocks changes a bit.  Sums are in double precision. */
#ifndef TRS_KRYLOV_PASS_H
#define TRS_KRYLOV_PASS_H

#include "scalars.h"

#include <stdbool.h>
#include <stdint.h>

enum { TRS_RANGE = 2048, TRS_UPDATES = 4, TRS_DOTS = 2 };

/* y = s[b] y + s[a] x, or with count > 1, y = s[b] y + s[a] x(0) + ... + s[a+count-1] x(count-1), where x(k) = x + k ld.
 * b = ZERO: y is not read.  x = NULL: there is no such term. */
typedef struct trs_update {
    void *y;
    int b;
    const void *x;
    int a;
    /* the sum is subtracted */
    bool minus;
    /* 0: 1 */
    int count;
} trs_update;

/* s[a] = x'y, or with count > 1, s[a+k] = x(k)'y */
typedef struct trs_dot {
    const void *x, *y;
    int a;
    /* 0: 1 */
    int count;
} trs_dot;

/* Updates end at the first y that is NULL, inner products at the first x that is.  Two inner products with the same x and count
 * read x once. */
typedef struct trs_pass {
    trs_update update[TRS_UPDATES];
    trs_dot dot[TRS_DOTS];
    trs_scalar_step step;
    /* done only if the scalars say twice */
    bool twice;
} trs_pass;

/* Where passes are done, and with what. */
typedef struct trs_space {
    trs_dtype dtype;
    int64_t n;
    /* distance of the vectors x(k), in numbers */
    int64_t ld;
    /* on the host */
    int threads;
    /* on a device */
    void *stream;
    /* on the host, or on the device */
    trs_scalars *scalars;
    /* the sums of the ranges: [ranges * most inner products] */
    trs_z *sums;
    /* on a device: how many thread blocks have ended */
    unsigned *ended;
} trs_space;

static inline int64_t trs_ranges(int64_t n)
{
    return (n + TRS_RANGE - 1) / TRS_RANGE;
}

TRS_ANYWHERE int trs_count(int count)
{
    return count ? count : 1;
}

static inline int trs_dots(const trs_pass *p)
{
    int count = 0;
    for (int d = 0; d < TRS_DOTS && p->dot[d].x; d++) count += trs_count(p->dot[d].count);
    return count;
}

/* Two inner products of many vectors that read these once? */
TRS_ANYWHERE bool trs_read_once(const trs_pass *p)
{
    const trs_dot *a = &p->dot[0], *b = &p->dot[1];
    return a->x == b->x && a->count > 1 && a->count == b->count;
}

/* Do the scalars leave a pass out?  always: stop is no reason. */
TRS_ANYWHERE bool trs_pass_over(const trs_scalars *s, const trs_pass *p, bool always)
{
    return (s->stop && !always) || (p->twice && !s->twice);
}

/* Do a pass on the host.  always: also if the scalars say stop. */
void trs_pass_here(const trs_space *v, const trs_pass *p, bool always);

#endif

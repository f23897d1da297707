/* block_kernels.h: solves and elimination by blocks of B x B numbers of the type T, for block_rows.c. */

/* ---- columns ---------------------------------------------------------------------------------- */

#if IS_COMPLEX || B == 1
#define UNROLL /* the code would be too long */
#define UNROLL_OUTER

typedef struct BN(column) {
    T x[B];
} BN(column);

TRS_INLINE BN(column) BN(load)(const T *p, int64_t stride)
{
    BN(column) v;
    for (int r = 0; r < B; r++) v.x[r] = p[r * stride];
    return v;
}

TRS_INLINE BN(column) BN(minus)(BN(column) s, BN(column) a, T x, bool conj)
{
    UNROLL
    for (int r = 0; r < B; r++) s.x[r] = FN(minus)(s.x[r], a.x[r], x, conj);
    return s;
}

TRS_INLINE BN(column) BN(add)(BN(column) s, BN(column) t)
{
    UNROLL
    for (int r = 0; r < B; r++) s.x[r] += t.x[r];
    return s;
}

#define PART(v, r)    (v).x[r]
#define LOAD_WIDE(p)  BN(load)(p, 1)
#define LOAD_OF(p, c) BN(load)(p, 1)

TRS_INLINE void BN(store)(T *p, BN(column) v)
{
    memcpy(p, &v, sizeof v);
}

#else

#define UNROLL _Pragma("GCC unroll 8")
#if B <= 4
#define UNROLL_OUTER UNROLL
#else
#define UNROLL_OUTER
#endif

/* Vectors of 32 bytes at most: compilers keep longer ones in memory where registers are not as long. */
#if B == 2
#define LANES 2
#define GATHER(p, s, left)                                                                         \
    {                                                                                              \
        (p)[0], (p)[s]                                                                             \
    }
#else
#define LANES 4
#define GATHER(p, s, left)                                                                         \
    {                                                                                              \
        (p)[0], left > 1 ? (p)[s] : 0, left > 2 ? (p)[2 * (s)] : 0, left > 3 ? (p)[3 * (s)] : 0    \
    }
#endif
#define PARTS ((B + LANES - 1) / LANES)

typedef REAL BN(part)
    __attribute__((vector_size(LANES * sizeof(REAL)), aligned(sizeof(REAL)), may_alias));

typedef struct BN(column) {
    BN(part) part[PARTS];
} BN(column);

#define PART(v, r) (v).part[(r) / LANES][(r) % LANES]

/* B numbers; nothing else is read. */
TRS_INLINE BN(column) BN(load)(const T *p, int64_t stride)
{
    BN(column) v = {.part[0] = GATHER(p, stride, B)};
#if B > LANES /* not a loop: gcc would warn of parts that are not set */
    v.part[1] = (BN(part))GATHER(p + LANES * stride, stride, (B - LANES));
#endif
    return v;
}

TRS_INLINE BN(column) BN(load_wide)(const T *p)
{
    BN(column) v;
    UNROLL
    for (int k = 0; k < PARTS; k++) v.part[k] = *(const BN(part) *)(p + k * LANES);
    return v;
}

TRS_INLINE void BN(store)(T *p, BN(column) v)
{
    UNROLL
    for (int k = 0; k < B / LANES; k++) *(BN(part) *)(p + k * LANES) = v.part[k];
    UNROLL
    for (int r = B / LANES * LANES; r < B; r++) p[r] = PART(v, r);
}

TRS_INLINE BN(column) BN(minus)(BN(column) s, BN(column) a, T x, bool conj)
{
    (void)conj;
    UNROLL
    for (int k = 0; k < PARTS; k++) s.part[k] -= a.part[k] * x;
    return s;
}

TRS_INLINE BN(column) BN(add)(BN(column) s, BN(column) t)
{
    UNROLL
    for (int k = 0; k < PARTS; k++) s.part[k] += t.part[k];
    return s;
}

#define LOAD_WIDE(p)  BN(load_wide)(p)
/* of column c of a block: nothing behind the block is read */
#define LOAD_OF(p, c) (B * (c) + PARTS * LANES <= B * B ? BN(load_wide)(p) : BN(load)(p, 1))

#endif

/* ---- solves ----------------------------------------------------------------------------------- */

TRS_INLINE void BN(put)(T *p, int64_t stride, BN(column) v)
{
    UNROLL
    for (int r = 0; r < B; r++) p[r * stride] = PART(v, r);
}

/* s - d v */
TRS_INLINE BN(column) BN(minus_product)(BN(column) s, const T *d, BN(column) v, bool conj)
{
    UNROLL
    for (int c = 0; c < B; c++) s = BN(minus)(s, LOAD_WIDE(d + c * B), PART(v, c), conj);
    return s;
}

/* Row i of `count` right-hand sides. */
TRS_INLINE void BN(row)(const trs_ilu_block_sweep *w, int32_t i, const T *b, int64_t bs, T *x,
                        int64_t xs, const int count)
{
    const trs_ilu_block_side *m = w->side;
    const T *val = m->val;
    const int64_t *ptr = m->begin[w->upper];
    const BN(column) zero = {0};
    BN(column) s[4][2]; /* two sums each, which do not wait for one another */
    const bool add = w->end == TRS_BLOCK_ADD, cj = IS_COMPLEX && w->conj;
    const int ahead = w->upper ? -AHEAD : AHEAD; /* bytes */
    enum { LINES = (B * B * sizeof(T) + 63) / 64 };
    UNROLL
    for (int r = 0; r < count; r++) {
        s[r][0] = s[r][1] = zero;
        if (!add) s[r][0] = BN(load)(b + (int64_t)i * B * bs + r * w->b.cs, bs);
    }
    for (int64_t p = ptr[i]; p < ptr[i + 1]; p++) {
        const T *a = val + p * (B * B), *y = x + (int64_t)m->idx[p] * B * xs;
        UNROLL
        for (int k = 0; k < LINES; k++) TRS_PREFETCH((const char *)a + ahead + 64 * k);
        UNROLL
        for (int c = 0; c < B; c++) {
            const BN(column) v = LOAD_WIDE(a + c * B);
            UNROLL
            for (int r = 0; r < count; r++)
                s[r][c & 1] = BN(minus)(s[r][c & 1], v, y[c * xs + r * w->x.cs], cj);
        }
    }
    const T *d = val + (m->begin[0][w->m->n] + i) * (B * B);
    UNROLL
    for (int r = 0; r < count; r++) {
        BN(column) t = BN(add)(s[r][0], s[r][1]);
        if (w->end != TRS_BLOCK_PLAIN) {
            BN(column) from = zero;
            if (add) from = BN(load)(b + (int64_t)i * B * bs + r * w->b.cs, bs);
            t = BN(minus_product)(from, d, BN(minus)(zero, t, 1, false), cj);
        }
        BN(put)(x + (int64_t)i * B * xs + r * w->x.cs, xs, t);
    }
}

TRS_INLINE void BN(range)(const trs_ilu_block_sweep *w, int32_t begin, int32_t end, int64_t bs,
                          int64_t xs, int first, const int count)
{
    const T *b = (const T *)w->b.p + first * w->b.cs;
    T *x = (T *)w->x.p + first * w->x.cs;
    const int32_t last = w->m->n - 1;
    for (int32_t k = begin; k < end; k++) {
        int32_t i = w->upper ? last - k : k;
        if (w->order) i = w->order[k];
        BN(row)(w, i, b, bs, x, xs, count);
    }
}

TRS_FMA_CLONES static void BN(rows)(const trs_ilu_block_sweep *w, int32_t begin, int32_t end)
{
    int r = 0;
    for (; B <= 4 && r + 4 <= w->nrhs; r += 4) BN(range)(w, begin, end, w->b.rs, w->x.rs, r, 4);
    for (; r < w->nrhs; r++)
        if (w->b.rs == 1 && w->x.rs == 1) BN(range)(w, begin, end, 1, 1, r, 1);
        else BN(range)(w, begin, end, w->b.rs, w->x.rs, r, 1);
}

/* ---- elimination ------------------------------------------------------------------------------ */

typedef struct BN(block) {
    BN(column) c[B];
} BN(block);

TRS_INLINE BN(block) BN(load_block)(const T *a)
{
    BN(block) v;
    UNROLL
    for (int c = 0; c < B; c++) v.c[c] = LOAD_OF(a + c * B, c);
    return v;
}

/* x = s - a y for blocks, or a y if s is NULL; x may be s. */
TRS_INLINE void BN(multiply)(T *x, const T *s, const BN(block) * a, const T *y)
{
    UNROLL_OUTER
    for (int j = 0; j < B; j++, x += B, y += B) {
        BN(column) sum = {0};
        if (s) sum = LOAD_OF(s + j * B, j);
        UNROLL
        for (int c = 0; c < B; c++) sum = BN(minus)(sum, a->c[c], s ? y[c] : -y[c], false);
        BN(store)(x, sum);
    }
}

/* l(i, k) = a(i, k) d(k)^-1, and a(i, j) -= l(i, k) u(k, j), where p is the place of a(i, k). */
TRS_INLINE void BN(eliminate)(const trs_ilu_blocks *m, int64_t p, int32_t i, const int64_t *where)
{
    const trs_ilu_block_side *f = &m->side[0];
    const int32_t k = f->idx[p];
    const int64_t begin = f->begin[1][k], end = f->begin[1][k + 1], last = f->begin[1][i + 1];
    T *val = f->val, *a = val + p * (B * B);
    BN(block) l = BN(load_block)(a);
    BN(multiply)(a, NULL, &l, val + (f->begin[0][m->n] + k) * (B * B));
    l = BN(load_block)(a);
    const bool searched = is_searched(f, i, end - begin);
    for (int64_t r = searched ? next_block(m, i, p) : begin; r < (searched ? last : end);) {
        int64_t at = r, q = r; /* a(i, j) and u(k, j); at = -1: there is no such pair */
        if (searched) {
            q = trs_first_from(f->idx, begin, end, f->idx[r]);
            if (q == end || f->idx[q] != f->idx[r]) at = -1;
            r = next_block(m, i, r);
        } else at = where[f->idx[r++]] - 1;
        if (at >= 0) BN(multiply)(val + at * (B * B), val + at * (B * B), &l, val + q * (B * B));
    }
}

/* d(i) -= a(i, k) d(k)^-1 a(k, i), where p is the place of a(i, k) and d that of d(i). */
TRS_INLINE void BN(subtract_term)(const trs_ilu_blocks *m, int64_t p, int32_t i, T *d)
{
    const trs_ilu_block_side *f = &m->side[0];
    const int32_t k = f->idx[p];
    const T *val = f->val;
    const int64_t end = f->begin[1][k + 1], q = trs_first_from(f->idx, f->begin[1][k], end, i);
    T t[B * B];
    if (q == end || f->idx[q] != i) return;
    BN(block) a = BN(load_block)(val + (f->begin[0][m->n] + k) * (B * B));
    BN(multiply)(t, NULL, &a, val + q * (B * B));
    a = BN(load_block)(val + p * (B * B));
    BN(multiply)(d, d, &a, t);
}

/* Set where for row i, or clear it. */
TRS_INLINE void BN(mark)(const trs_ilu_blocks *m, int64_t *where, int32_t i, bool set)
{
    const trs_ilu_block_side *f = &m->side[0];
    for (int h = 0; h < 2; h++)
        for (int64_t p = f->begin[h][i]; p < f->begin[h][i + 1]; p++)
            where[f->idx[p]] = set ? p + 1 : 0;
    where[i] = set ? f->begin[0][m->n] + i + 1 : 0;
}

/* The largest number of row i. */
static double BN(largest)(const trs_ilu_blocks *m, int32_t i)
{
    const trs_ilu_block_side *f = &m->side[0];
    const T *val = f->val, *d = val + (f->begin[0][m->n] + i) * (B * B);
    double most = 0;
    for (int k = 0; k < B * B; k++) most = fmax(most, FN(size)(d[k]));
    for (int h = 0; h < 2; h++)
        for (int64_t k = f->begin[h][i] * (B * B); k < f->begin[h][i + 1] * (B * B); k++)
            most = fmax(most, FN(size)(val[k]));
    return most;
}

TRS_INLINE bool BN(row_is_finite)(const trs_ilu_blocks *m, int32_t i)
{
    const trs_ilu_block_side *f = &m->side[0];
    const T *val = f->val;
    bool good = FN(finite)(val + (f->begin[0][m->n] + i) * (B * B), B * B);
    for (int h = 0; h < 2; h++)
        good &= FN(finite)(val + f->begin[h][i] * (B * B),
                           (f->begin[h][i + 1] - f->begin[h][i]) * (B * B));
    return good;
}

TRS_FMA_CLONES static trs_ilu_fault BN(factor_row)(const trs_ilu_blocks *m, int64_t *where,
                                                   int32_t i, int64_t *boosted)
{
    const trs_ilu_block_side *f = &m->side[0];
    T *d = (T *)f->val + (f->begin[0][m->n] + i) * (B * B);
    const double least = m->boost > 0 ? m->boost * BN(largest)(m, i) : 0;
    for (int c = 0; c < B; c++) d[c + B * c] *= (T)(1 + m->shift);
    if (!m->diagonal_only) BN(mark)(m, where, i, true);
    for (int64_t p = f->begin[0][i]; p < f->begin[0][i + 1]; p++)
        if (m->diagonal_only) BN(subtract_term)(m, p, i, d);
        else BN(eliminate)(m, p, i, where);
    if (!m->diagonal_only) BN(mark)(m, where, i, false);
    if (!BN(row_is_finite)(m, i)) return TRS_ILU_INFINITE;
    const trs_ilu_fault fault = FN(invert)(d, B, least, boosted);
    return fault || FN(finite)(d, B * B) ? fault : TRS_ILU_INFINITE;
}

#undef UNROLL
#undef UNROLL_OUTER
#undef PART
#undef LOAD_WIDE
#undef LOAD_OF
#undef LANES
#undef PARTS
#undef GATHER

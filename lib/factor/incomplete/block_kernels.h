/* block_kernels.h: solves and elimination by blocks of B x B numbers of the type T, for block_rows.c. */

/* ---- columns ---------------------------------------------------------------------------------- */

/* Vectors of 32 bytes at most: compilers keep longer ones in memory where registers are not as long. */
#define WIDTH (B * (IS_COMPLEX + 1)) /* of a column, in real numbers */
#if WIDTH == 1
#define LANES 1
#elif WIDTH == 2
#define LANES 2
#else
#define LANES 4
#endif
#define PARTS ((WIDTH + LANES - 1) / LANES)

#define UNROLL _Pragma("GCC unroll 8")
#if WIDTH <= 8 /* else the code would be too long */
#define UNROLL_COLUMNS UNROLL
#else
#define UNROLL_COLUMNS
#endif
#if WIDTH <= 4
#define UNROLL_OUTER UNROLL_COLUMNS
#else
#define UNROLL_OUTER
#endif

typedef REAL BN(part)
    __attribute__((vector_size(LANES * sizeof(REAL)), aligned(sizeof(REAL)), may_alias));

/* Of complex numbers, which are pairs in part and turned, the column is part + i turned.  So a multiple of a column needs no
 * exchange of real and imaginary parts: a x = a re (x) + i a im (x).  A column that was loaded has turned = 0. */
typedef struct BN(column) {
    BN(part) part[PARTS];
#if IS_COMPLEX
    BN(part) turned[PARTS];
#endif
} BN(column);

#define REAL_PART(v, k) (v)[(k) / LANES][(k) % LANES]
#if IS_COMPLEX
#define PART(v, r)                                                                                 \
    (T) CMPLX(REAL_PART((v).part, 2 * (r)) - REAL_PART((v).turned, 2 * (r) + 1),                   \
              REAL_PART((v).part, 2 * (r) + 1) + REAL_PART((v).turned, 2 * (r)))
#else
#define PART(v, r) REAL_PART((v).part, r)
#endif

/* Real number k of B numbers at p; nothing else is read. */
#define REAL_AT(p, stride, k)                                                                      \
    ((k) < WIDTH                                                                                   \
         ? ((const REAL *)((p) + (k) / (IS_COMPLEX + 1) * (stride)))[(k) % (IS_COMPLEX + 1)]       \
         : 0)

#if LANES == 1
#define GATHER(p, stride, k)                                                                       \
    (BN(part))                                                                                     \
    {                                                                                              \
        REAL_AT(p, stride, k)                                                                      \
    }
#elif LANES == 2
#define GATHER(p, stride, k)                                                                       \
    (BN(part))                                                                                     \
    {                                                                                              \
        REAL_AT(p, stride, k), REAL_AT(p, stride, (k) + 1)                                         \
    }
#else
#define GATHER(p, stride, k)                                                                       \
    (BN(part))                                                                                     \
    {                                                                                              \
        REAL_AT(p, stride, k), REAL_AT(p, stride, (k) + 1), REAL_AT(p, stride, (k) + 2),           \
            REAL_AT(p, stride, (k) + 3)                                                            \
    }
#endif

TRS_INLINE BN(column) BN(load)(const T *p, int64_t stride)
{
    BN(column) v = {.part[0] = GATHER(p, stride, 0)};
#if PARTS > 1 /* not a loop: gcc would warn of parts that are not set */
    v.part[1] = GATHER(p, stride, LANES);
#endif
#if PARTS > 2
    v.part[2] = GATHER(p, stride, 2 * LANES);
#endif
#if PARTS > 3
    v.part[3] = GATHER(p, stride, 3 * LANES);
#endif
    return v;
}

/* The conjugates of a column that was loaded, or itself. */
TRS_INLINE BN(column) BN(mirror_if)(bool mirror, BN(column) v)
{
#if IS_COMPLEX && LANES == 2
    const BN(part) signs = {1, -1};
#elif IS_COMPLEX
    const BN(part) signs = {1, -1, 1, -1};
#endif
#if IS_COMPLEX
    if (!mirror) return v;
    UNROLL
    for (int k = 0; k < PARTS; k++) v.part[k] *= signs;
#endif
    (void)mirror;
    return v;
}

TRS_INLINE BN(column) BN(load_wide)(const T *p)
{
    BN(column) v = {0};
    UNROLL
    for (int k = 0; k < PARTS; k++) v.part[k] = *(const BN(part) *)((const REAL *)p + k * LANES);
    return v;
}

TRS_INLINE void BN(put)(T *p, int64_t stride, BN(column) v, bool mirror)
{
    UNROLL
    for (int r = 0; r < B; r++) p[r * stride] = mirror ? CONJ(PART(v, r)) : PART(v, r);
}

TRS_INLINE void BN(store)(T *p, BN(column) v)
{
#if !IS_COMPLEX
    UNROLL
    for (int k = 0; k < B / LANES; k++) *(BN(part) *)(p + k * LANES) = v.part[k];
#endif
    UNROLL
    for (int r = IS_COMPLEX ? 0 : B / LANES * LANES; r < B; r++) p[r] = PART(v, r);
}

/* s - a x; a was loaded */
TRS_INLINE BN(column) BN(minus)(BN(column) s, BN(column) a, T x)
{
    UNROLL
    for (int k = 0; k < PARTS; k++) {
#if IS_COMPLEX
        s.part[k] -= a.part[k] * (REAL)creal(x);
        s.turned[k] -= a.part[k] * (REAL)cimag(x);
#else
        s.part[k] -= a.part[k] * x;
#endif
    }
    return s;
}

TRS_INLINE BN(column) BN(add)(BN(column) s, BN(column) t)
{
    UNROLL
    for (int k = 0; k < PARTS; k++) {
        s.part[k] += t.part[k];
#if IS_COMPLEX
        s.turned[k] += t.turned[k];
#endif
    }
    return s;
}

/* of column c of a block: nothing behind the block is read */
#define LOAD_OF(p, c) (WIDTH * (c) + PARTS * LANES <= WIDTH * B ? BN(load_wide)(p) : BN(load)(p, 1))

/* ---- solves ----------------------------------------------------------------------------------- */

/* s + d v */
TRS_INLINE BN(column) BN(plus_product)(BN(column) s, const T *d, BN(column) v)
{
    UNROLL_COLUMNS
    for (int c = 0; c < B; c++) s = BN(minus)(s, BN(load_wide)(d + c * B), -PART(v, c));
    return s;
}

/* Row i of `count` right-hand sides.  With conj (M) it computes the conjugates of all of them. */
TRS_INLINE void BN(row)(const trs_ilu_block_sweep *w, int32_t i, const T *b, T *x, const int count)
{
    const int64_t bs = w->b.rs, xs = w->x.rs;
    const trs_ilu_block_side *m = w->side;
    const T *val = m->val;
    const int64_t *ptr = m->begin[w->upper];
    const BN(column) zero = {0};
    enum { SUMS = 2 - IS_COMPLEX }; /* at a time, besides those that turned has */
    BN(column) s[4][SUMS];
    const bool add = w->end == TRS_BLOCK_ADD, cj = IS_COMPLEX && w->conj;
    const int ahead = w->upper ? -AHEAD : AHEAD; /* bytes */
    enum { LINES = (B * B * sizeof(T) + TRS_LINE - 1) / TRS_LINE };
    UNROLL
    for (int r = 0; r < count; r++) {
        for (int q = 0; q < SUMS; q++) s[r][q] = zero;
        if (!add) s[r][0] = BN(mirror_if)(cj, BN(load)(b + (int64_t)i * B * bs + r * w->b.cs, bs));
    }
    for (int64_t p = ptr[i]; p < ptr[i + 1]; p++) {
        const T *a = val + p * (B * B), *y = x + (int64_t)m->idx[p] * B * xs;
        UNROLL
        for (int k = 0; k < LINES; k++) TRS_PREFETCH((const char *)a + ahead + TRS_LINE * k);
        UNROLL_COLUMNS
        for (int c = 0; c < B; c++) {
            const BN(column) v = BN(load_wide)(a + c * B);
            UNROLL
            for (int r = 0; r < count; r++) {
                const T z = y[c * xs + r * w->x.cs];
                s[r][c % SUMS] = BN(minus)(s[r][c % SUMS], v, cj ? CONJ(z) : z);
            }
        }
    }
    const T *d = val + (m->begin[0][w->m->n] + i) * (B * B);
    UNROLL
    for (int r = 0; r < count; r++) {
        BN(column) t = SUMS == 2 ? BN(add)(s[r][0], s[r][SUMS - 1]) : s[r][0];
        if (w->end != TRS_BLOCK_PLAIN) {
            BN(column) from = zero;
            if (add) from = BN(mirror_if)(cj, BN(load)(b + (int64_t)i * B * bs + r * w->b.cs, bs));
            t = BN(plus_product)(from, d, t);
        }
        BN(put)(x + (int64_t)i * B * xs + r * w->x.cs, xs, t, cj);
    }
}

TRS_INLINE void BN(range)(const trs_ilu_block_sweep *w, int32_t begin, int32_t end, int first,
                          const int count)
{
    const T *b = (const T *)w->b.p + first * w->b.cs;
    T *x = (T *)w->x.p + first * w->x.cs;
    const int32_t last = w->m->n - 1;
    for (int32_t k = begin; k < end; k++) {
        int32_t i = w->upper ? last - k : k;
        if (w->order) i = w->order[k];
        BN(row)(w, i, b, x, count);
    }
}

TRS_FMA_CLONES static void BN(rows)(const trs_ilu_block_sweep *w, int32_t begin, int32_t end)
{
    int r = 0;
    for (; WIDTH <= 4 && r + 4 <= w->nrhs; r += 4) BN(range)(w, begin, end, r, 4);
    for (; r < w->nrhs; r++) BN(range)(w, begin, end, r, 1);
}

/* ---- elimination ------------------------------------------------------------------------------ */

typedef struct BN(block) {
    BN(column) c[B];
} BN(block);

TRS_INLINE BN(block) BN(load_block)(const T *a)
{
    BN(block) v;
    UNROLL_COLUMNS
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
        UNROLL_COLUMNS
        for (int c = 0; c < B; c++) sum = BN(minus)(sum, a->c[c], s ? y[c] : -y[c]);
        BN(store)(x, sum);
    }
}

/* x = a^H */
TRS_INLINE void BN(turn)(T *x, const T *a)
{
    for (int c = 0; c < B; c++)
        for (int r = 0; r < B; r++) x[c + B * r] = CONJ(a[r + B * c]);
}

/* Row i of D and U has the numbers of conj (A), and d(i) only those on and above its diagonal: make them those of A. */
TRS_INLINE void BN(enter)(const trs_ilu_blocks *m, int32_t i, T *d)
{
    const trs_ilu_block_side *f = &m->side[0];
    T *u = (T *)f->val + f->begin[1][i] * (B * B);
    const int64_t count = (f->begin[1][i + 1] - f->begin[1][i]) * (B * B);
    for (int64_t k = 0; k < count && IS_COMPLEX; k++) u[k] = CONJ(u[k]);
    for (int c = 0; c < B; c++) {
        d[c + B * c] = creal(d[c + B * c]);
        for (int r = c + 1; r < B; r++) {
            d[r + B * c] = d[c + B * r];
            d[c + B * r] = CONJ(d[c + B * r]);
        }
    }
}

/* l(i, k) = a(i, k) d(k)^-1, and a(i, j) -= l(i, k) u(k, j), where p is the place of a(i, k). */
TRS_INLINE void BN(eliminate)(const trs_ilu_blocks *m, int64_t p, int32_t i, const int64_t *where)
{
    const trs_ilu_block_side *f = &m->side[0];
    const int32_t k = f->idx[p];
    const int64_t begin = m->cholesky ? m->twin[p] : f->begin[1][k], end = f->begin[1][k + 1];
    const int64_t last = f->begin[1][i + 1];
    T *val = f->val, *a = val + p * (B * B);
    if (m->cholesky) BN(turn)(a, val + begin * (B * B));
    BN(block) l = BN(load_block)(a);
    BN(multiply)(a, NULL, &l, val + (f->begin[0][m->n] + k) * (B * B));
    l = BN(load_block)(a);
    const bool searched = is_searched(m, i, end - begin);
    for (int64_t r = searched ? first_target(m, i, p) : begin; r < (searched ? last : end);) {
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

/* The largest number of A in row i of the blocks that are read. */
TRS_INLINE double BN(largest)(const trs_ilu_blocks *m, int32_t i)
{
    const trs_ilu_block_side *f = &m->side[0];
    const T *val = f->val, *d = val + (f->begin[0][m->n] + i) * (B * B);
    double most = 0;
    for (int k = 0; k < B * B; k++) most = fmax(most, FN(size)(d[k]));
    for (int h = m->cholesky; h < 2; h++)
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
    if (m->cholesky) BN(enter)(m, i, d);
    const double least = m->boost > 0 ? m->boost * BN(largest)(m, i) : 0;
    for (int c = 0; c < B; c++) d[c + B * c] *= (T)(1 + m->shift);
    if (!m->diagonal_only) BN(mark)(m, where, i, true);
    for (int64_t p = f->begin[0][i]; p < f->begin[0][i + 1]; p++)
        if (m->diagonal_only) BN(subtract_term)(m, p, i, d);
        else BN(eliminate)(m, p, i, where);
    if (!m->diagonal_only) BN(mark)(m, where, i, false);
    if (!BN(row_is_finite)(m, i)) return TRS_ILU_INFINITE;
    const trs_ilu_fault fault = FN(invert)(d, B, m->cholesky, least, boosted);
    return fault || FN(finite)(d, B * B) ? fault : TRS_ILU_INFINITE;
}

#undef WIDTH
#undef LANES
#undef PARTS
#undef UNROLL
#undef UNROLL_COLUMNS
#undef UNROLL_OUTER
#undef REAL_PART
#undef PART
#undef REAL_AT
#undef GATHER
#undef LOAD_OF

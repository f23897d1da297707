/* cpu_row.h: one row of forward substitution, for the type that each_type.h has set.
 *
 *     x(i) = (b(i) - L(i, 1:i-1) x(1:i-1)) / L(i, i),  row i being stored as row k of L */
static inline void FN(row)(const trs_tri *L, int32_t k, int32_t i, const T *b, int64_t bs, T *x,
                           int64_t xs, bool cj)
{
    const int32_t *Li = L->idx;
    const T *Lx = L->val;
    int64_t p = L->ptr[k], diagonal = L->ptr[k + 1] - 1;
    T s = b[i * bs];
    if (cj) {
        for (; p < diagonal; p++) s -= CONJ(Lx[p]) * x[Li[p] * xs];
        x[i * xs] = s / CONJ(Lx[p]);
    } else {
        for (; p < diagonal; p++) s -= Lx[p] * x[Li[p] * xs];
        x[i * xs] = s / Lx[p];
    }
}

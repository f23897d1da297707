/* made.c: triangles that are made to find what a single step costs. */
#include "config.h"

#include "made.h"

#include <stdlib.h>

bool make(made *m, int32_t n, int32_t (*length)(int32_t), int32_t (*column)(int32_t, int32_t))
{
    int64_t nnz = 0;
    for (int32_t i = 0; i < n; i++) nnz += length(i);
    m->ptr = malloc(((size_t)n + 1) * sizeof *m->ptr);
    m->idx = malloc((size_t)nnz * sizeof *m->idx);
    m->val = malloc((size_t)nnz * sizeof *m->val);
    if (!m->ptr || !m->idx || !m->val) return false;
    int64_t p = 0;
    for (int32_t i = 0; i < n; i++) {
        const int32_t before = length(i) - 1;
        m->ptr[i] = p;
        for (int32_t k = 0; k <= before; k++, p++) {
            m->idx[p] = k < before ? column(i, k) : i;
            m->val[p] = k < before ? 1.0 / before : 2;
        }
    }
    m->ptr[n] = p;
    m->T = (trs_mat){
        .n = n, .nnz = nnz, .ptr = m->ptr, .idx = m->idx, .val = m->val, .kind = TRS_LOWER};
    return true;
}

void made_free(made *m)
{
    free(m->ptr);
    free(m->idx);
    free(m->val);
}

int32_t length_one(int32_t i)
{
    return i < 0 ? 0 : 1;
}

int32_t length_two(int32_t i)
{
    return i > 0 ? 2 : 1;
}

int32_t length_all(int32_t i)
{
    return i + 1;
}

int32_t column_before(int32_t i, int32_t k)
{
    return i - 1 - k;
}

int32_t column_count(int32_t i, int32_t k)
{
    (void)i;
    return k;
}

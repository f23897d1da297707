/* large.h: lower triangles with more than TRS_SHARED_FROM entries: smaller ones are left to one thread. */
#ifndef TRS_TESTS_LARGE_H
#define TRS_TESTS_LARGE_H

#include "tests/common/model.h"

enum { LARGE_PATTERNS = 4 };
extern const char *const large_name[LARGE_PATTERNS];

typedef struct large { /* CSR, columns ascending, the diagonal last */
    int64_t n, nnz;
    int64_t *ptr;
    int32_t *idx;
} large;

large large_new(int shape);
void large_free(large *t);

#endif

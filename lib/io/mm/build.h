/* build.h: chunks into CSR, CSC or COO, shared by the files that do so.
 *
 *     build.c         counts and places the entries of each range, and closes the gaps between ranges
 *     sort.c          minor indices in ascending order
 *     duplicates.c    entries that are given twice are summed, or refused */
#ifndef TRS_MM_BUILD_H
#define TRS_MM_BUILD_H

#include "mm.h"
#include "store.h"

typedef struct trs_mm_build_state {
    trs_mm_job *job;
    int64_t *start; /* [ranges+1]: where the entries of each range begin, as they are placed */
    int64_t *end;   /* [ranges]: where they end after duplicates were summed */
    int64_t *ptr;   /* [majors+1] */
    int32_t *idx;   /* [nnz] minor indices */
    double *val;    /* [parts*nnz] */
    int64_t duplicate[2]; /* major and minor index of the first duplicate, -1: none */
    int64_t overflow[2];  /* the same of the first sum of integers that does not fit */
    bool failed;          /* out of memory */
} trs_mm_build_state;

/* ---- sort.c ---------------------------------------------------------------------------------- */

typedef struct trs_mm_sorter { /* memory of one thread to sort the entries of a major index in */
    trs_mm_job *job;
    int32_t *idx; /* [room] */
    double *val;  /* [parts*room] */
    int64_t room;
} trs_mm_sorter;

/* Both take some consecutive major indices: the first one's entries begin at `begin`, and those of number k end at
 * end [k].  Do the minor indices of each ascend, none of them twice? */
bool trs_mm_all_ascend(const int32_t *idx, int64_t begin, const int64_t *end, int64_t majors);
/* Sort the minor indices of each, with their values; equal ones keep their order.  false: out of memory. */
bool trs_mm_sort(trs_mm_sorter *s, int32_t *idx, double *val, int64_t begin, const int64_t *end,
                 int64_t majors);
void trs_mm_free_sorter(trs_mm_sorter *s);

/* ---- duplicates.c ---------------------------------------------------------------------------- */

/* Sum the duplicates of so many sorted major indices, of which `major` is the first; its entries begin at `begin` and move
 * to `to` <= begin.  Returns where the last ones end then. */
int64_t trs_mm_sum_duplicates(trs_mm_build_state *b, int64_t major, int64_t begin, int64_t to,
                              int64_t majors);
/* The sentence and the code for the first entry that is given twice. */
int trs_mm_refuse_duplicates(trs_mm_build_state *b);
/* The same for the first sum that does not fit. */
int trs_mm_refuse_sum(trs_mm_build_state *b);

#endif

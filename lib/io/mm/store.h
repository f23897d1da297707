/* store.h: memory while a file is read, within the limit that the caller set. */
#ifndef TRS_MM_STORE_H
#define TRS_MM_STORE_H

#include "mm.h"

/* trs_alloc that counts the bytes; threads may call it.  NULL: out of memory, or over the limit. */
void *trs_mm_new(trs_mm_job *job, int64_t count, size_t size);
void trs_mm_delete(trs_mm_job *job, void *p, int64_t count, size_t size);

/* Ask for huge pages under a large array. */
void trs_mm_large_pages(void *p, int64_t bytes);

typedef struct trs_mm_space { /* what is left of the latest pages of a range */
    char *at;
    int64_t left;
} trs_mm_space;

typedef struct trs_mm_store { /* memory of one thread for its chunks */
    trs_mm_job *job;
    char *at; /* what is left of its latest slab */
    int64_t left;
    trs_mm_space *space; /* [ranges] with low_memory; else NULL */
} trs_mm_store;

/* Bytes that live until trs_mm_free_slabs; NULL: out of memory, or over the limit. */
void *trs_mm_carve(trs_mm_store *s, int64_t bytes);
/* The same for entries of range r, on pages that trs_mm_give_back can return early. */
char *trs_mm_carve_range(trs_mm_store *s, int r, int64_t bytes);
void trs_mm_give_back(trs_mm_job *job, int r);
void trs_mm_free_slabs(trs_mm_job *job);

#endif

/* arena.h: records of unknown length, one after the other, that stay where they are; for one thread. */
#ifndef TRS_NOTES_H
#define TRS_NOTES_H

#include "memory.h"

typedef struct trs_notes {
    const trs_memory *mem;
    size_t size;             /* of an element */
    int64_t most;            /* elements in all, for small pieces when there are few */
    struct trs_piece *piece; /* the latest */
    char *at;                /* where the record begins that is being written */
    int64_t room;            /* elements from there on */
} trs_notes;

void *trs_notes_grow(trs_notes *n, int64_t count);
void trs_notes_free(trs_notes *n);

/* Where a record of count elements begins, with room for one more; NULL: out of memory. */
static inline void *trs_notes_more(trs_notes *n, int64_t count)
{
    return count < n->room ? n->at : trs_notes_grow(n, count);
}

/* The record, of that many elements, is complete. */
static inline void *trs_notes_keep(trs_notes *n, int64_t count)
{
    char *record = n->at;
    n->at += (size_t)count * n->size;
    n->room -= count;
    return record;
}

#endif

/* arena.h: an arena, where one thread writes records whose lengths it does not know beforehand.
 *
 *     element = trs_arena_more (a, count)   the record that is being written has count elements so far: where it
 *                                           begins, with room for one more; it may have moved since the last call
 *     record = trs_arena_keep (a, count)    the record is complete and stays where it is until trs_arena_free
 *
 *     block   [ record | record | record being written . . . . . . ]
 *                               ^ record                  room elements from here to the end
 *
 * The arena allocates memory in blocks of some megabytes.  Only a record that outgrows its block is copied, to
 * the front of the next block; all other records retain their addresses. */
#ifndef TRS_ARENA_H
#define TRS_ARENA_H

#include "debug.h"
#include "memory.h"

typedef struct trs_arena {
    const trs_memory *mem;
    size_t size; /* bytes of an element */
    /* all records together have at most so many elements; a block need not be larger */
    int64_t most;
    struct trs_arena_block *block; /* the latest one, which leads to those before it */
    char *record;                  /* where the record begins that is being written */
    int64_t room;                  /* elements from there to the end of the block */
} trs_arena;

/* Begin a new block with the count elements of the record in the making.  Returns NULL if there is no memory. */
void *trs_arena_grow(trs_arena *a, int64_t count);
void trs_arena_free(trs_arena *a);

/* Returns where a record of count elements begins, with room for one more, or NULL if there is no memory. */
static inline void *trs_arena_more(trs_arena *a, int64_t count)
{
    TRS_ASSERT(count >= 0 && count <= a->room);
    return count < a->room ? a->record : trs_arena_grow(a, count);
}

/* The record is complete with count elements; returns where it is. */
static inline void *trs_arena_keep(trs_arena *a, int64_t count)
{
    char *record = a->record;
    TRS_ASSERT(count >= 0 && count <= a->room);
    a->record += (size_t)count * a->size;
    a->room -= count;
    return record;
}

#endif

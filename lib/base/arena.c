/* arena.c: allocates the blocks of an arena; see arena.h. */
#include "config.h"

#include "arena.h"

#include <stddef.h>
#include <string.h>

struct trs_arena_block {
    struct trs_arena_block *before;
    max_align_t elements[];
};

enum { BLOCK = (4 << 20) - 64 }; /* bytes; with the block's head they fit in two huge pages */

void *trs_arena_grow(trs_arena *a, int64_t count)
{
    int64_t room = BLOCK / (int64_t)a->size;
    if (room > a->most) room = a->most;
    if (room < 2 * count + 1) room = 2 * count + 1;
    struct trs_arena_block *b =
        trs_alloc(a->mem, room * (int64_t)a->size + (int64_t)sizeof *b, sizeof(char));
    if (!b) return NULL;
    if (count) memcpy(b->elements, a->record, (size_t)count * a->size);
    b->before = a->block;
    a->block = b;
    a->record = (char *)b->elements;
    a->room = room;
    return a->record;
}

void trs_arena_free(trs_arena *a)
{
    for (struct trs_arena_block *b = a->block, *before; b; b = before) {
        before = b->before;
        trs_free(a->mem, b);
    }
    a->block = NULL;
}

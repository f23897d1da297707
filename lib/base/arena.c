/* arena.c: pieces of memory, each with many records; a record that outgrows its piece moves to the next. */
#include "config.h"

#include "arena.h"

#include <stddef.h>
#include <string.h>

struct trs_piece {
    struct trs_piece *before;
    max_align_t at[];
};

enum { PIECE = (4 << 20) - 64 }; /* bytes */

void *trs_notes_grow(trs_notes *n, int64_t count)
{
    int64_t room = PIECE / (int64_t)n->size;
    if (room > n->most) room = n->most;
    if (room < 2 * count + 1) room = 2 * count + 1;
    struct trs_piece *p =
        trs_alloc(n->mem, room * (int64_t)n->size + (int64_t)sizeof *p, sizeof(char));
    if (!p) return NULL;
    if (count) memcpy(p->at, n->at, (size_t)count * n->size);
    p->before = n->piece;
    n->piece = p;
    n->at = (char *)p->at;
    n->room = room;
    return n->at;
}

void trs_notes_free(trs_notes *n)
{
    for (struct trs_piece *p = n->piece, *before; p; p = before) {
        before = p->before;
        trs_free(n->mem, p);
    }
    n->piece = NULL;
}

/* wire.c: results as bytes, from a child process to its parent and into the file of --resume.
 *
 * Both ends are the same program with the same options, so structures are sent as they are; what
 * points to constants of the program (names of solvers) the receiver puts in again. */
#include "config.h"

#include "bin/bench/bench.h"

#include <stdlib.h>
#include <string.h>

enum { RESULT = 1, END };

typedef struct record {
    int what;
    result r; /* END: only its count, 1: the file was bad, 2: it was left out */
    char name[sizeof((input *)0)->name[0]];
} record; /* then [r.count] cells */

/* ---- sending --------------------------------------------------------------------------------- */

int parcel_add(parcel *b, const void *p, size_t size)
{
    if (b->size + size > b->room) {
        size_t room = 2 * (b->size + size);
        char *more = realloc(b->p, room);
        if (!more) return out_of_memory();
        b->p = more;
        b->room = room;
    }
    memcpy(b->p + b->size, p, size);
    b->size += size;
    return EXIT_GOOD;
}

int wire_result(parcel *b, const result *r)
{
    record head;
    memset(&head, 0, sizeof head);
    head.what = RESULT;
    head.r = *r;
    if (*r->trouble) head.r.count = 0;
    snprintf(head.name, sizeof head.name, "%s", r->name);
    int code = parcel_add(b, &head, sizeof head);
    if (code || !head.r.count) return code;
    return parcel_add(b, r->cells, (size_t)head.r.count * sizeof *r->cells);
}

int wire_end(parcel *b, bool bad_file, bool left_out)
{
    record head;
    memset(&head, 0, sizeof head);
    head.what = END;
    head.r.count = bad_file ? 1 : left_out ? 2 : 0;
    return parcel_add(b, &head, sizeof head);
}

/* ---- receiving ------------------------------------------------------------------------------- */

/* The cells as they were sent, with the solvers of this process. */
static cell *take_cells(const settings *s, const char *p, int sent)
{
    int count;
    cell *cells = make_cells(s, &count);
    for (int k = 0; cells && k < count && k < sent; k++) {
        const trs_solver_info solver = cells[k].solver;
        memcpy(&cells[k], p + (size_t)k * sizeof *cells, sizeof *cells);
        cells[k].solver = solver;
    }
    if (cells && count == sent) return cells;
    free(cells);
    return NULL;
}

int wire_take(const settings *s, const char *file, const parcel *b, wire *w,
              int (*take)(void *user, const result *), void *user)
{
    size_t at = 0;
    int code = EXIT_GOOD;
    *w = (wire){0};
    while (!code && !w->ended && b->size - at >= sizeof(record)) {
        record head;
        memcpy(&head, b->p + at, sizeof head);
        at += sizeof head;
        w->ended = head.what == END;
        if (w->ended) w->bad_file = head.r.count == 1, w->left_out = head.r.count == 2;
        if (w->ended) w->whole = at;
        if (head.what != RESULT) continue;
        const size_t size = (size_t)head.r.count * sizeof(cell);
        if (b->size - at < size) break;
        head.r.name = head.name;
        head.r.file = file;
        head.r.cells = head.r.count ? take_cells(s, b->p + at, head.r.count) : NULL;
        if (head.r.count && !head.r.cells) return out_of_memory();
        w->whole = at += size;
        code = take(user, &head.r);
        result_free(&head.r);
    }
    return code;
}

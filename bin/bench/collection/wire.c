/* wire.c: results as bytes, from a child process to its parent and in the file of --resume.
 *
 * Both ends are the same program with the same options, so structures are sent as they lie in
 * memory.  Pointers to constants of the program, such as names of solvers, mean nothing to the
 * receiver, which puts in its own.
 *
 *     record: head of a result | cells [count]     one for each result
 *     record: head of the end                      once */
#include "config.h"

#include "wire.h"

#include "base/debug.h"
#include "bin/bench/measure/solvers.h"
#include "bin/common/message.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RESULT = 1, END };

typedef struct record { /* followed by [r.count] cells */
    int what;
    bool bad_file, left_out; /* of END; all else of RESULT */
    result r;
    char name[NAME_SIZE];
} record;

/* ---- sending --------------------------------------------------------------------------------- */

int buffer_add(buffer *b, const void *p, size_t size)
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

int wire_result(buffer *b, const result *r)
{
    record head;
    memset(&head, 0, sizeof head);
    head.what = RESULT;
    head.r = *r;
    if (*r->trouble) head.r.count = 0;
    snprintf(head.name, sizeof head.name, "%s", r->name);
    int code = buffer_add(b, &head, sizeof head);
    if (code || !head.r.count) return code;
    return buffer_add(b, r->cells, (size_t)head.r.count * sizeof *r->cells);
}

int wire_end(buffer *b, bool bad_file, bool left_out)
{
    record head;
    memset(&head, 0, sizeof head);
    head.what = END;
    head.bad_file = bad_file;
    head.left_out = left_out && !bad_file;
    return buffer_add(b, &head, sizeof head);
}

int wire_send(int fd, const buffer *b)
{
    for (size_t at = 0; at < b->size;) {
        const ssize_t n = write(fd, b->p + at, b->size - at);
        if (n < 0 && errno != EINTR) return EXIT_USAGE; /* nobody listens */
        if (n > 0) at += (size_t)n;
    }
    return EXIT_GOOD;
}

/* ---- receiving ------------------------------------------------------------------------------- */

/* The cells that were sent, with the solvers of this process; NULL: no memory, or other cells than
 * those of its settings. */
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

/* Hands out the result behind its head, which was read up to *at. */
static int receive_result(const settings *s, record *head, const buffer *b, size_t *at, taker to)
{
    result *r = &head->r;
    r->name = head->name;
    r->cells = r->count ? take_cells(s, b->p + *at, r->count) : NULL;
    if (r->count && !r->cells) return out_of_memory();
    *at += (size_t)r->count * sizeof(cell);
    TRS_ASSERT(*at <= b->size);
    const int code = to.take(to.user, r);
    result_free(r);
    return code;
}

int wire_receive(const settings *s, const char *file, const buffer *b, taker to, ending *e)
{
    size_t at = 0;
    int code = EXIT_GOOD;
    *e = (ending){.whole = 0};
    while (!code && !e->ended && b->size - at >= sizeof(record)) {
        record head;
        memcpy(&head, b->p + at, sizeof head);
        at += sizeof head;
        if (head.what == END) {
            *e = (ending){.ended = true, .bad_file = head.bad_file, .left_out = head.left_out};
        } else {
            if (b->size - at < (size_t)head.r.count * sizeof(cell)) break;
            head.r.file = file;
            code = receive_result(s, &head, b, &at, to);
        }
        e->whole = at;
    }
    return code;
}

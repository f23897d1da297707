/* wire.c: results as bytes, from a child process to its parent and in the file of --resume.
 *
 * Both ends are the same program with the same options, so structures are written as they lie in
 * memory.  Pointers to constants of the program, such as names of solvers, mean nothing to the
 * reader, which puts in its own.
 *
 *     record | name of the matrix
 *     record | cells of a result      one for each result
 *     record                          of the end */
#include "config.h"

#include "wire.h"

#include "bin/bench/measure/solvers.h"
#include "bin/common/exits.h"
#include "bin/common/message.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct record {
    enum { MATRIX, RESULT, END } what;
    bool bad_file, left_out; /* of END */
    size_t size;             /* of what follows */
    result r;                /* of RESULT, whose name is: */
    char name[NAME_SIZE];
} record;

/* ---- writing --------------------------------------------------------------------------------- */

static int put(FILE *f, const record *head, const void *follows)
{
    const bool bad = fwrite(head, sizeof *head, 1, f) != 1 ||
                     fwrite(follows, 1, head->size, f) != head->size || fflush(f);
    return bad ? (complain("cannot write the results"), EXIT_USAGE) : EXIT_GOOD;
}

int wire_matrix(FILE *f, const char *name)
{
    return put(f, &(record){.what = MATRIX, .size = strlen(name)}, name);
}

int wire_result(FILE *f, const result *r)
{
    record head = {.what = RESULT, .r = *r};
    if (*r->trouble) head.r.count = 0;
    head.size = (size_t)head.r.count * sizeof *r->cells;
    snprintf(head.name, sizeof head.name, "%s", r->name);
    return put(f, &head, head.size ? r->cells : (const void *)"");
}

int wire_end(FILE *f, bool bad_file, bool left_out)
{
    return put(f, &(record){.what = END, .bad_file = bad_file, .left_out = left_out && !bad_file},
               "");
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Takes the next record off, and what follows it; false: not all of it is there. */
static bool take(bytes *b, record *head, const char **follows)
{
    const size_t left = (size_t)(b->end - b->p);
    if (left < sizeof *head) return false;
    memcpy(head, b->p, sizeof *head);
    if (left - sizeof *head < head->size) return false;
    *follows = b->p + sizeof *head;
    b->p = *follows + head->size;
    return true;
}

/* The cells that were written, with the solvers of this process; NULL: no memory, or other cells
 * than those of its settings. */
static cell *take_cells(const settings *s, const char *p, int written)
{
    int count;
    cell *cells = make_cells(s, &count);
    for (int k = 0; cells && k < count && k < written; k++) {
        const trs_solver_info solver = cells[k].solver;
        memcpy(&cells[k], p + (size_t)k * sizeof *cells, sizeof *cells);
        cells[k].solver = solver;
    }
    if (cells && count == written) return cells;
    free(cells);
    return NULL;
}

static int hand_out(const settings *s, const char *file, record *head, const char *cells, taker to)
{
    result *r = &head->r;
    r->name = head->name;
    r->file = file;
    r->cells = r->count ? take_cells(s, cells, r->count) : NULL;
    if (r->count && !r->cells) return out_of_memory();
    const int code = to.take(to.user, r);
    result_free(r);
    return code;
}

int wire_receive(const settings *s, const char *file, bytes b, taker to, ending *e)
{
    record head;
    const char *follows;
    int code = EXIT_GOOD;
    *e = (ending){.ended = false};
    while (!code && !e->ended && take(&b, &head, &follows)) {
        *e = (ending){head.what == END, head.bad_file, head.left_out};
        if (!e->ended) code = hand_out(s, file, &head, follows, to);
    }
    return code;
}

bool wire_next(bytes *b, bytes *name)
{
    record head;
    const char *follows;
    if (!take(b, &head, &follows)) return false;
    *name = (bytes){follows, b->p};
    do
        if (!take(b, &head, &follows)) return false;
    while (head.what != END);
    return true;
}

/* json.c: --json: an object for each cell, with the columns of CSV; of a run that fails, what was measured before. */
#include "config.h"

#include "columns.h"

#include "bin/common/message.h"
#include "bin/common/output/document.h"

#ifdef HAVE_JANSSON

#include <math.h>
#include <string.h>

/* Columns that are called differently in the JSON of the other programs. */
static const char *member_of(const char *column)
{
    static const char *const other[][2] = {{"nnz", "entries"},
                                           {"longest", "longest_row"},
                                           {"omega", "backward_error"},
                                           {"normwise", "normwise_error"}};
    for (size_t k = 0; k < sizeof other / sizeof *other; k++)
        if (!strcmp(column, other[k][0])) return other[k][1];
    return column;
}

static json_t *value_of(const field *one)
{
    if (one->text) return document_text(one->text);
    return one->is_whole ? json_integer(one->whole) : document_number(one->real);
}

static json_t *make_cell(const row *line)
{
    json_t *o = json_object();
    for (int k = 0; k < line->count; k++)
        json_object_set_new(o, member_of(line->field[k].column), value_of(&line->field[k]));
    return o;
}

static int end(const report *p)
{
    json_t *j = document_new(p->status, p->status ? complaint() : NULL), *cells = json_array();
    for (const result *r = p->all->r; r < p->all->r + p->all->count; r++)
        for (int k = 0; k < rows_of(r); k++) {
            row line;
            make_row(p->session, r, k, &line);
            json_array_append_new(cells, make_cell(&line));
        }
    json_object_set_new(j, "cells", cells);
    return document_write(j, p->f);
}

const reporter reporter_json = {NULL, NULL, end};

#else

static int begin(const report *p)
{
    (void)p;
    return complain("--json: built without jansson"), EXIT_USAGE;
}

const reporter reporter_json = {begin, NULL, NULL};

#endif

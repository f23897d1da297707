/* json.c: --json: an array with one object for each cell, with the columns of CSV. */
#include "config.h"

#include "columns.h"

#include "bin/common/message.h"

#ifdef HAVE_JANSSON

#include <jansson.h>
#include <math.h>

static json_t *value_of(const field *one)
{
    if (one->text) return json_string(one->text);
    if (one->is_whole) return json_integer(one->whole);
    return isfinite(one->real) ? json_real(one->real) : NULL;
}

/* Of what has no value, or is not UTF-8, the value is null. */
static json_t *make_object(const row *line)
{
    json_t *o = json_object();
    for (int k = 0; k < line->count; k++) {
        json_t *value = value_of(&line->field[k]);
        json_object_set_new(o, line->field[k].column, value ? value : json_null());
    }
    return o;
}

static int end(const report *p)
{
    json_t *cells = json_array();
    bool bad = false;
    for (const result *r = p->all->r; r < p->all->r + p->all->count; r++)
        for (int k = 0; k < rows_of(r); k++) {
            row line;
            make_row(p->session, r, k, &line);
            bad = json_array_append_new(cells, make_object(&line)) || bad;
        }
    bad = bad || json_dumpf(cells, p->f, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
    fputc('\n', p->f);
    json_decref(cells);
    return bad ? (complain("%s: cannot write", p->out.to.file), EXIT_USAGE) : EXIT_GOOD;
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

/* json.c: --json: an array with one object for each cell, with the columns of CSV. */
#include "config.h"

#include "columns.h"
#include "output.h"

#include "bin/common/message.h"

static bool wanted(const session *s)
{
    return s->outputs.json != NULL;
}

#ifdef HAVE_JANSSON

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

typedef struct json {
    output out;
    json_t *cells;
} json;

static void put_text(void *user, const char *column, const char *value)
{
    json_t *text = json_string(value);
    json_object_set_new(user, column, text ? text : json_null()); /* NULL: it is not UTF-8 */
}

static void put_whole(void *user, const char *column, int64_t value)
{
    json_object_set_new(user, column, json_integer(value));
}

static void put_real(void *user, const char *column, double value)
{
    json_object_set_new(user, column, isfinite(value) ? json_real(value) : json_null());
}

static int begin(const session *s, void **data)
{
    json *j = calloc(1, sizeof *j);
    if (!j) return out_of_memory();
    const int code = file_open(&j->out, s->outputs.json);
    if (code) {
        free(j);
        return code;
    }
    j->cells = json_array();
    *data = j;
    return EXIT_GOOD;
}

static int add(const session *s, void *data, const result *r)
{
    json *j = data;
    for (int k = 0; k < rows_of(r); k++) {
        json_t *o = json_object();
        const sink to = {put_text, put_whole, put_real, o};
        put_row(s, r, k, &to);
        if (json_array_append_new(j->cells, o)) return out_of_memory();
    }
    return EXIT_GOOD;
}

static int end(const session *s, void *data, bool complete)
{
    json *j = data;
    (void)s;
    const bool bad = json_dumpf(j->cells, j->out.f, JSON_INDENT(1) | JSON_PRESERVE_ORDER) != 0;
    fputc('\n', j->out.f);
    int code = file_close(&j->out, complete && !bad);
    if (bad && !code) complain("%s: cannot write", j->out.name), code = EXIT_USAGE;
    json_decref(j->cells);
    free(j);
    return code;
}

const reporter reporter_json = {wanted, begin, add, end};

#else

static int begin(const session *s, void **data)
{
    (void)s, (void)data;
    return complain("--json: built without jansson"), EXIT_USAGE;
}

const reporter reporter_json = {wanted, begin, NULL, NULL};

#endif

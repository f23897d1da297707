/* json.c: --json: an array with one object a cell, the same columns as CSV. */
#include "config.h"

#include "bin/bench/bench.h"

#ifdef HAVE_JANSSON

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

typedef struct json {
    const settings *settings;
    const host *host;
    output out;
    json_t *cells;
} json;

static void put_text(void *user, const char *column, const char *value)
{
    json_t *text = json_string(value);
    json_object_set_new(user, column, text ? text : json_null()); /* NULL: not UTF-8 */
}

static void put_whole(void *user, const char *column, int64_t value)
{
    json_object_set_new(user, column, json_integer(value));
}

static void put_real(void *user, const char *column, double value)
{
    json_object_set_new(user, column, isfinite(value) ? json_real(value) : json_null());
}

static int begin(const settings *s, const host *h, void **data)
{
    if (!s->json) return EXIT_GOOD;
    json *j = *data = calloc(1, sizeof *j);
    if (!j) return out_of_memory();
    j->settings = s;
    j->host = h;
    j->cells = json_array();
    return file_open(&j->out, s->json);
}

static int add(void *data, const result *r)
{
    static const cell no_cell = {0};
    json *j = data;
    const int count = *r->trouble ? 1 : r->count;
    for (int k = 0; k < count; k++) {
        json_t *o = json_object();
        const sink to = {put_text, put_whole, put_real, o};
        put_columns(j->settings, j->host, r, *r->trouble ? &no_cell : &r->cells[k], &to);
        if (json_array_append_new(j->cells, o)) return out_of_memory();
    }
    return EXIT_GOOD;
}

static int end(void *data, bool complete)
{
    json *j = data;
    int code = EXIT_GOOD;
    if (j->out.f) {
        bool bad = json_dumpf(j->cells, j->out.f, JSON_INDENT(1) | JSON_PRESERVE_ORDER) != 0;
        fputc('\n', j->out.f);
        code = file_close(&j->out, complete && !bad);
        if (bad && !code) complain("%s: cannot write", j->out.name), code = EXIT_USAGE;
    }
    json_decref(j->cells);
    free(j);
    return code;
}

#else

static int begin(const settings *s, const host *h, void **data)
{
    (void)h, (void)data;
    if (!s->json) return EXIT_GOOD;
    return complain("--json: built without jansson"), EXIT_USAGE;
}

static int add(void *data, const result *r)
{
    (void)data, (void)r;
    return EXIT_GOOD;
}

static int end(void *data, bool complete)
{
    (void)data, (void)complete;
    return EXIT_GOOD;
}

#endif

const report report_json = {begin, add, end};

/* document.c: what the JSON documents of all programs have in common. */
#include "config.h"

#include "document.h"

#include "bin/common/message.h"
#include "trisolve-sparse.h"

#ifdef HAVE_JANSSON

#include <math.h>
#include <string.h>

json_t *document_number(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

json_t *document_text(const char *s)
{
    json_t *j = s ? json_string(s) : json_null();
    char *ascii = j ? NULL : strdup(s);
    for (char *c = ascii; c && *c; c++)
        if ((unsigned char)*c > 127) *c = '?';
    if (ascii) j = json_string(ascii);
    free(ascii);
    return j;
}

json_t *document_new(int status, const char *message)
{
    char schema[64];
    snprintf(schema, sizeof schema, "%s 1", program_name);
    return json_pack("{s:s, s:s, s:i, s:o}", "schema", schema, "version", trs_version(), "status",
                     status, "message", document_text(message && *message ? message : NULL));
}

int document_write(json_t *j, FILE *f)
{
    const bool bad =
        !j || json_dumpf(j, f, JSON_INDENT(2) | JSON_PRESERVE_ORDER) || fputc('\n', f) == EOF;
    json_decref(j);
    return bad ? (complain("cannot write the JSON document"), EXIT_USAGE) : EXIT_GOOD;
}

static void write_wrong_use(void)
{
    (void)document_write(document_new(EXIT_USAGE, complaint()), stdout);
}

void document_for_wrong_use(int argc, char **argv, const char *option)
{
    for (int k = 1; k < argc; k++)
        if (!strcmp(argv[k], option)) after_wrong = write_wrong_use;
}

#else

void document_for_wrong_use(int argc, char **argv, const char *option)
{
    (void)argc, (void)argv, (void)option;
}

#endif

/* document.h: what the JSON documents of all programs have in common.  doc/trisolve-1.schema.json describes them. */
#ifndef TRS_BIN_DOCUMENT_H
#define TRS_BIN_DOCUMENT_H

#ifdef HAVE_JANSSON

#include <jansson.h>
#include <stdio.h>

/* An object with schema, version, status and message.  message NULL or "": null.  NULL: out of memory. */
json_t *document_new(int status, const char *message);

/* Writes j, which it frees; NULL: out of memory.  Returns an exit code, with a sentence. */
int document_write(json_t *j, FILE *f);

/* null if v is not finite */
json_t *document_number(double v);

/* A name or a sentence, with ? for bytes that are not UTF-8; null for NULL. */
json_t *document_text(const char *s);

#endif

/* If this option is among the arguments, wrong () writes a document to standard output before it leaves. */
void document_for_wrong_use(int argc, char **argv, const char *option);

#endif

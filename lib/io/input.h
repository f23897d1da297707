/* input.h: the text of a file, whatever it is packed in, as pieces of whole lines. */
#ifndef TRS_INPUT_H
#define TRS_INPUT_H

#include "base/call.h"
#include "base/memory.h"

#include <stdbool.h>

typedef struct trs_input trs_input;

typedef struct trs_input_options {
    bool rhs;           /* of a .tar.gz: the right-hand side, not the matrix */
    const char *suffix; /* of the members of a .tar.gz; NULL: ".mtx" */
    int64_t limit;      /* bytes of unpacked text */
    trs_memory memory;
} trs_input_options;

/* A piece of text: whole lines, a '\n' at the very end, TRS_TEXT_PAD readable bytes after that. */
typedef struct trs_text {
    const char *begin, *end;
    bool cut;     /* the last '\n' is not in the file */
    char *buffer; /* [room] of the thread that asks; trs_input_text_free */
    int64_t room;
} trs_text;

/* "-" is standard input.  On failure *in = NULL.
 * Returns TRS_OK, TRS_EFILE, TRS_EMEM, TRS_ESUPPORT, with a sentence. */
int trs_input_open(trs_input **in, const char *file, const trs_input_options *opt);
void trs_input_close(trs_input *in);

/* Both give 1, or 0 at the end, or a negative status and trs_input_message.  One call at a time. */
int trs_input_line(trs_input *in, const char **line, int64_t *length); /* without its '\n' */
int trs_input_next(trs_input *in, int64_t bytes, trs_text *text);      /* about so many bytes */
void trs_input_text_free(trs_input *in, trs_text *text);

const char *trs_input_message(const trs_input *in);
const char *trs_input_name(const char *file); /* to be used in sentences, at most 150 characters */
bool trs_input_cut(const trs_input *in);      /* the last line given has no '\n' */
int64_t trs_input_size(const trs_input *in);  /* bytes left when they are known; else -1 */
double trs_input_done(const trs_input *in);   /* part of the file that has been read, 0..1 */

#endif

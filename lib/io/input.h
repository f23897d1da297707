/* input.h: the text of a file, packed or not, as texts of whole lines.
 *
 * Texts are taken one at a time.  Several threads may then read at once, one text each. */
#ifndef TRS_INPUT_H
#define TRS_INPUT_H

#include "base/call.h"
#include "base/memory.h"

#include <stdbool.h>

typedef struct trs_input trs_input;

typedef struct trs_input_options {
    bool rhs;           /* the right-hand side in an archive is wanted, not the matrix */
    const char *suffix; /* of the archive member that is wanted; NULL: ".mtx" */
    int64_t limit;      /* bytes of unpacked text */
    trs_memory memory;
} trs_input_options;

/* A text: whole lines, with a '\n' at the very end and TRS_TEXT_PAD readable bytes after that. */
typedef struct trs_text {
    const char *begin, *end;
    bool cut;     /* the last '\n' is not in the file, but was added */
    char *buffer; /* [room], kept from text to text until trs_input_text_free */
    int64_t room;
} trs_text;

/* Open a file; "-" is standard input.  Returns TRS_OK, or TRS_EFILE, TRS_EMEM or TRS_ESUPPORT with a sentence; then
 * *in = NULL. */
int trs_input_open(trs_input **in, const char *file, const trs_input_options *opt);
void trs_input_close(trs_input *in);

/* The next line without its '\n', or the next text of about so many bytes.  Both return 1, 0 at the end, or a negative
 * status, which trs_input_message explains.  One thread may call at a time. */
int trs_input_line(trs_input *in, const char **line, int64_t *length);
int trs_input_next(trs_input *in, int64_t bytes, trs_text *text);
void trs_input_text_free(trs_input *in, trs_text *text);

const char *trs_input_message(const trs_input *in);
const char *trs_input_name(const char *file); /* for sentences, at most 150 characters */
bool trs_input_cut(const trs_input *in);      /* Has the last line given no '\n'? */
int64_t trs_input_size(const trs_input *in);  /* bytes of text left; -1: unknown */
double trs_input_done(
    const trs_input *in); /* how much of the file has been read, 0..1; -1: its size is not known */

#endif

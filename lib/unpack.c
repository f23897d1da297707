/* unpack.c: the text of a packed file for readers of other formats: trs_unpack. */
#include "config.h"

#include "mm.h"

#include <stdio.h>

enum { PIECE = 1 << 18 };

int trs_unpack(const char *file, const char *member, int64_t limit,
               int (*put)(void *user, const char *text, int64_t bytes), void *user, char *message,
               size_t message_size)
{
    char none[1];
    if (!message || !message_size) message = none, message_size = 1;
    *message = '\0';
    if (!file || !put || limit < 0) return TRS_EARG;
    trs_input_options opt = {.suffix = member, .limit = limit ? limit : trs_mm_default_limit()};
    trs_input *in;
    trs_text text = {0};
    int rc = trs_input_open(&in, file, &opt, message, message_size);
    if (rc) return rc;
    while ((rc = trs_input_next(in, PIECE, &text)) == 1)
        if (put(user, text.begin, text.end - text.begin - text.cut)) break;
    if (rc < 0) snprintf(message, message_size, "%s", trs_input_message(in));
    trs_input_text_free(in, &text);
    trs_input_close(in);
    return rc < 0 ? rc : TRS_OK;
}

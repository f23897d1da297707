/* unpack.c: trs_unpack gives the text of a packed file to readers of other formats. */
#include "config.h"

#include "mm/mm.h"
#include "base/number/number.h"

enum { TEXT_BYTES = 1 << 18, UNPACKING = 10 }; /* operations for a byte, about */

int trs_unpack(const char *file, const char *member, int64_t limit,
               int (*put)(void *user, const char *text, int64_t bytes), void *user)
{
    trs_input *in;
    trs_text text = {0};
    int64_t work = 0;
    trs_enter();
    if (!file || !put || limit < 0)
        return trs_leave(trs_fail(TRS_EARG, "unpack: file or put is NULL, or limit is negative"));
    const trs_input_options opt = {.suffix = member,
                                   .limit = limit ? limit : trs_mm_default_limit()};
    int rc = trs_input_open(&in, file, &opt);
    if (rc) return trs_leave(rc);
    while ((rc = trs_input_next(in, TEXT_BYTES, &text)) == 1) {
        rc = TRS_OK;
        if (trs_is_time(&work, UNPACKING * TEXT_BYTES))
            rc = trs_step("reading", trs_input_done(in));
        if (rc || put(user, text.begin, text.end - text.begin - text.cut)) break;
    }
    if (rc < 0) trs_fail(rc, "%s", trs_input_message(in));
    trs_input_text_free(in, &text);
    trs_input_close(in);
    return trs_leave((int)trs_min(rc, TRS_OK));
}

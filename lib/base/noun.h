/* noun.h: singular or plural after a number, in the messages of the library and the programs. */
#ifndef TRS_NOUN_H
#define TRS_NOUN_H

#include <stdint.h>

/* "1 row", "2 rows": printf ("%d %s", n, trs_noun (n, "row", "rows")) */
static inline const char *trs_noun(int64_t count, const char *one, const char *many)
{
    return count == 1 ? one : many;
}

#endif

/* nearest.h: the known word that a mistyped one is nearest to, in the messages of the library and the programs.
 * Source: Damerau, A technique for computer detection and correction of spelling errors, CACM 7 (1964). */
#ifndef TRS_NEAREST_H
#define TRS_NEAREST_H

#include "number/number.h"

#include <string.h>

enum { TRS_WORD = 40 }; /* longer words are near to none */

/* How many characters are to be inserted, left out, changed, or swapped with the next one, to get b from a. */
static inline int trs_distance(const char *a, const char *b)
{
    const int n = (int)strlen(a), m = (int)strlen(b);
    int d[TRS_WORD + 1][TRS_WORD + 1];
    if (n > TRS_WORD || m > TRS_WORD) return TRS_WORD;
    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= m; j++) {
            d[i][j] = i + j;
            if (i == 0 || j == 0) continue;
            const int changed = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            d[i][j] = (int)trs_min(changed, 1 + trs_min(d[i - 1][j], d[i][j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = (int)trs_min(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[n][m];
}

/* Is word nearer to what was typed than *best, and near enough to be meant?  Then it becomes *best, which begins as
 * NULL. */
static inline void trs_nearer(const char *typed, const char *word, const char **best)
{
    const int d = trs_distance(typed, word);
    const int64_t most = trs_min(3, (int64_t)strlen(word) / 2);
    if (d <= most && (!*best || d < trs_distance(typed, *best))) *best = word;
}

#endif

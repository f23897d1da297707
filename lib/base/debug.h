/* debug.h: TRS_ASSERT, for invariants in host and device code.
 *
 * It is checked in builds made by `configure --enable-debug` only; other builds compile the condition and never
 * evaluate it, so it must have no side effects.  It does not check a caller's mistakes: these give an error code
 * with a sentence.  Include config.h first. */
#ifndef TRS_DEBUG_H
#define TRS_DEBUG_H

#ifdef TRS_DEBUG
#include <assert.h>
#define TRS_ASSERT(condition) assert(condition)
#else
#define TRS_ASSERT(condition) ((void)sizeof((condition) ? 1 : 0))
#endif

#endif

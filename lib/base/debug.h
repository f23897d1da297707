/* debug.h: TRS_ASSERT, for invariants in host and device code.
 *
 * It is checked in builds made by `configure --enable-debug` only; elsewhere the condition is compiled and never
 * evaluated, so it must have no side effects.  What a caller may do wrong is no matter for it: that is an error
 * code with a sentence.  config.h must have been included before. */
#ifndef TRS_DEBUG_H
#define TRS_DEBUG_H

#ifdef TRS_DEBUG
#include <assert.h>
#define TRS_ASSERT(condition) assert(condition)
#else
#define TRS_ASSERT(condition) ((void)sizeof((condition) ? 1 : 0))
#endif

#endif

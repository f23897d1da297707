/* call.h: the first and last step of every public function, and the message for a failure.
 *
 * Each thread has one sentence, the reason why its last public call failed.  trs_message () returns
 * it. */
#ifndef TRS_CALL_H
#define TRS_CALL_H

#include "trisolve-sparse.h"

#include <stdbool.h>

/* A public function calls trs_enter first and ends with `return trs_leave (code)`.  Public functions may
 * call each other: only the outermost call takes effect.
 * trs_leave restores the CUDA device that was current, and clears the thread's sentence if the code is
 * TRS_OK; a failure that left no sentence gets that of trs_strerror.  Returns the code. */
void trs_enter(void);
int trs_leave(int code);
/* `return trs_call (f (...))` is a public function that consists of the call of one other function. */
#define trs_call(expression) (trs_enter(), trs_leave(expression))
/* The same for a function that cannot fail or only reports facts, and so leaves the sentence as it is. */
void trs_leave_silently(void);

/* Write the calling thread's sentence and return the code.  The arguments may be trs_message (). */
int trs_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Are the reserved members of a structure that the caller has filled in zero?  A new member takes the place of some of
 * them, so that a library which does not know it must not ignore what a newer program says there.
 * Returns TRS_OK, also for a structure that is NULL, or TRS_EARG. */
#define TRS_CHECK_RESERVED(s, name)                                                                \
    ((s) ? trs_check_reserved((s)->reserved, (int)(sizeof(s)->reserved / sizeof *(s)->reserved),   \
                              name)                                                                \
         : TRS_OK)
int trs_check_reserved(const int64_t *reserved, int count, const char *name);

/* The caller has found a way around the error: its sentence is not to be kept. */
void trs_forget(void);

/* The call begins a phase, or has done this fraction of it (negative: not known): tell the caller, unless this thread is one
 * of a team that the caller's thread has made.  Once the caller has canceled, each step returns TRS_ECANCELED, with a
 * sentence, until the call ends. */
int trs_step(const char *phase, double done);
/* Has the caller canceled?  For steps whose result is lost, because it is in a loop or an attempt that may fail. */
int trs_canceled(void);
/* A solve that lets its plan grow tells nobody. */
void trs_mute(bool muted);

/* For a loop of many iterations: is it time for a step?  *work counts what was done since the last one. */
static inline bool trs_is_time(int64_t *work, int64_t more)
{
    enum { OFTEN = 1 << 26 }; /* operations: some hundredths of a second */
    *work += more;
    if (*work < OFTEN) return false;
    *work = 0;
    return true;
}

/* Where the outermost call keeps the CUDA device that trs_leave restores; negative while that one is current. */
int *trs_device_to_restore(void);

#endif

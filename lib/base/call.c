/* call.c: the state of the calling thread's public call: its sentence, the CUDA device to restore, and whom it reports its
 * progress to.
 *
 * This is the only thread-local variable of the library.  A sentence belongs to the thread and not to a plan, because
 * a plan is const while several threads solve with it.  So does the function that progress is reported to, because some
 * functions that take long have neither a plan nor options. */
#include "config.h"

#include "call.h"
#include "debug.h"
#include "device.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local struct {
    int depth;  /* how many public functions are running, one called by the other */
    int device; /* CUDA device to restore at the end of the outermost one; -1: it is still current */
    bool fresh; /* the sentence was written during this call */
    int code;   /* of the sentence */
    char sentence[512];
    /* trs_set_progress */
    int (*progress)(const trs_phase *phase);
    void *user;
    bool muted;           /* this part of the call reports nothing */
    const char *canceled; /* the phase that the caller has canceled; NULL: none */
} call;

void trs_enter(void)
{
    if (call.depth++ > 0) return;
    call.device = -1;
    call.fresh = false;
    call.canceled = NULL;
}

void trs_leave_silently(void)
{
    TRS_ASSERT(call.depth > 0);
    if (--call.depth == 0 && call.device >= 0) trs_gpu_restore(call.device);
}

int trs_leave(int code)
{
    trs_leave_silently();
    if (call.depth > 0) return code;
    if (code && call.canceled) code = trs_canceled(); /* whatever that has become on its way */
    if (code == TRS_OK) call.sentence[0] = '\0';
    else if (!call.fresh) trs_fail(code, "%s", trs_strerror(code));
    /* who makes an array on a device says by NULL that there is none, and the sentence says why */
    return code == TRS_EMEM && call.code == TRS_EDEVICE ? TRS_EDEVICE : code;
}

int trs_fail(int code, const char *format, ...)
{
    char sentence[sizeof call.sentence];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    memcpy(call.sentence, sentence, sizeof sentence);
    call.fresh = true;
    call.code = code;
    return code;
}

int trs_check_reserved(const int64_t *reserved, int count, const char *name)
{
    for (int k = 0; k < count; k++)
        if (reserved[k])
            return trs_fail(TRS_EARG,
                            "%s: reserved is not zero: it was not cleared, or the program is newer "
                            "than this library (%s)",
                            name, trs_version());
    return TRS_OK;
}

void trs_set_progress(int (*progress)(const trs_phase *phase), void *user)
{
    call.progress = progress;
    call.user = user;
}

void trs_mute(bool muted)
{
    call.muted = muted;
}

int trs_step(const char *phase, double done)
{
    if (!call.progress || call.depth == 0 || call.muted) return TRS_OK;
    const trs_phase now = {.name = phase, .done = done, .user = call.user};
    if (!call.canceled && call.progress(&now)) call.canceled = phase;
    return trs_canceled();
}

int trs_canceled(void)
{
    if (!call.canceled) return TRS_OK;
    return trs_fail(TRS_ECANCELED, "canceled by the caller: %s", call.canceled);
}

void trs_forget(void)
{
    call.fresh = false;
}

const char *trs_message(void)
{
    return call.sentence;
}

int *trs_device_to_restore(void)
{
    return &call.device;
}

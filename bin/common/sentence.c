/* sentence.c: what went wrong last in a program's own functions; they all run in one thread. */
#include "config.h"

#include "sentence.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static char sentence[512];

int say(int code, const char *format, ...)
{
    char text[sizeof sentence];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    memcpy(sentence, text, sizeof text);
    return code;
}

const char *said(void)
{
    return sentence;
}

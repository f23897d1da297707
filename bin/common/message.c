/* message.c: sentences on the standard error stream. */
#include "config.h"

#include "message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s: ", program_name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

_Noreturn void wrong(const char *what, const char *value)
{
    complain("%s%s%s", what, value ? ": " : "", value ? value : "");
    fprintf(stderr, "Try '%s --help'.\n", program_name);
    exit(EXIT_USAGE);
}

int out_of_memory(void)
{
    complain("out of memory");
    return EXIT_USAGE;
}

/* message.c: sentences on the standard error stream, and what becomes of standard output. */
#include "config.h"

#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool (*before_complaint)(void);
void (*after_wrong)(void);
static char last[4096];

void complain(const char *format, ...)
{
    va_list args;
    if (before_complaint && !before_complaint()) return;
    va_start(args, format);
    vsnprintf(last, sizeof last, format, args);
    va_end(args);
    fprintf(stderr, "%s: %s\n", program_name, last);
}

const char *complaint(void)
{
    return last;
}

static _Noreturn void leave_after_wrong_use(void)
{
    fprintf(stderr, "Try '%s --help'.\n", program_name);
    if (after_wrong) after_wrong();
    exit(EXIT_USAGE);
}

_Noreturn void wrong(const char *what, const char *value)
{
    complain("%s%s%s", what, value ? ": " : "", value ? value : "");
    leave_after_wrong_use();
}

_Noreturn void wrong_word(const char *what, const char *word, const char *nearest)
{
    if (!nearest) wrong(what, word);
    complain("%s: %s; did you mean %s?", what, word, nearest);
    leave_after_wrong_use();
}

int out_of_memory(void)
{
    complain("out of memory");
    return EXIT_USAGE;
}

/* A descriptor that is open in the wrong direction: reading or writing fails with EBADF.  The lowest
 * that is free is opened, and those below are open. */
void open_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int flush_output(int code)
{
    errno = 0;
    if (!fflush(stdout) && !ferror(stdout)) return code;
    complain("cannot write to standard output%s%s", errno ? ": " : "",
             errno ? strerror(errno) : "");
    return code ? code : EXIT_USAGE;
}

/* output.c: files that appear as a whole or not at all. */
#include "config.h"

#include "output.h"

#include "bin/common/message.h"

#include <errno.h>
#include <string.h>

int file_open(output *o, const char *name)
{
    o->name = name;
    int length = snprintf(o->temporary, sizeof o->temporary, "%s.part", name);
    if (length < 0 || (size_t)length >= sizeof o->temporary)
        return complain("%s: the name is too long", name), EXIT_USAGE;
    o->f = fopen(o->temporary, "w");
    if (!o->f) return complain("%s: %s", o->temporary, strerror(errno)), EXIT_USAGE;
    return EXIT_GOOD;
}

int file_close(output *o, bool complete)
{
    bool bad = ferror(o->f) != 0;
    if (fclose(o->f)) bad = true;
    if (bad) complain("%s: cannot write", o->temporary);
    if (!bad && complete && rename(o->temporary, o->name)) {
        complain("%s: %s", o->name, strerror(errno));
        bad = true;
    }
    if (bad || !complete) remove(o->temporary);
    return bad ? EXIT_USAGE : EXIT_GOOD;
}

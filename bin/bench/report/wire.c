/* wire.c: the results of a child process go to its parent. */
#include "config.h"

#include "report.h"

#include "bin/bench/collection/wire.h"

#include <stdlib.h>

static bool wanted(const session *s)
{
    return s->outputs.child > 0;
}

static int add(const session *s, void *data, const result *r)
{
    buffer b = {0};
    (void)data;
    int code = wire_result(&b, r);
    if (!code) code = wire_send(s->outputs.child, &b);
    free(b.p);
    return code;
}

const reporter reporter_wire = {wanted, NULL, add, NULL};

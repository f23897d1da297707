/* bench.c: trisolve-bench: every solver on every triangle, into every report. */
#include "config.h"

#include "args.h"
#include "calibrate/calibrate.h"

#include "bin/common/message.h"

const char program_name[] = "trisolve-bench";

int main(int argc, char **argv)
{
    arguments a;
    session *s = &a.session;
    parse_arguments(argc, argv, &a);
    find_host(&s->settings, &s->host);
    return a.calibrate ? calibrate(&s->settings, &s->host) : run(&a);
}

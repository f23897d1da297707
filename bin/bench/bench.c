/* bench.c: trisolve-bench: every solver on every triangle, into every report. */
#include "config.h"

#include "args.h"
#include "calibrate/calibrate.h"

#include "bin/common/message.h"
#include "bin/common/output/document.h"
#include "bin/costs/first_use.h"

const char program_name[] = "trisolve-bench";

/* Is there a choice among solvers, which the costs of this CPU are needed for? */
static bool is_choosing(const arguments *a)
{
    const settings *s = &a->session.settings;
    return !a->calibrate && !a->no_calibrate && !s->io && !s->dense;
}

int main(int argc, char **argv)
{
    arguments a;
    session *s = &a.session;
    open_standard_streams();
    document_for_wrong_use(argc, argv, "--json=-");
    parse_arguments(argc, argv, &a);
    find_host(&s->settings, argv, &s->host);
    if (is_choosing(&a)) know_this_cpu();
    return a.calibrate ? calibrate(&s->settings, &s->host) : run(&a);
}

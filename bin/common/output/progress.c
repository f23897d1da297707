/* progress.c: what a program is doing, on the terminal while it takes long; and Ctrl-C: see progress.h.
 *
 * A thread draws the line, since libraries that factor report nothing for minutes. */
#include "config.h"

#include "progress.h"

#include "bin/common/message.h"
#include "bin/common/timing.h"
#include "trisolve-sparse.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { PHASES = 30 };                 /* the last one stands for all further ones */
static const double PATIENCE = 1;     /* seconds of a phase without a line */
static const long EVERY = 200000000L; /* ns between two lines */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    pthread_t thread;
    bool has_thread, ends, drawn;
    int count, at; /* phases so far, and the current one */
    struct {
        const char *name;
        double seconds;
    } phase[PHASES];
    double began, done; /* of the current phase */
} p = {.lock = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};

static volatile sig_atomic_t interrupted;

bool is_interrupted(void)
{
    return interrupted;
}

/* ---- phases ---------------------------------------------------------------------------------- */

/* The time since the last call belongs to the current phase. */
static void count_time(void)
{
    const double t = now();
    if (p.count) p.phase[p.at].seconds += t - p.began;
    p.began = t;
}

static void enter(const char *name, double done)
{
    p.done = done;
    if (p.count && !strcmp(p.phase[p.at].name, name)) return;
    count_time();
    for (p.at = 0; p.at < p.count && strcmp(p.phase[p.at].name, name); p.at++) continue;
    if (p.at == PHASES) p.at--;
    if (p.at < p.count) return;
    p.phase[p.count].name = name;
    p.phase[p.count++].seconds = 0;
}

static int take_phase(const trs_phase *phase)
{
    pthread_mutex_lock(&p.lock);
    enter(phase->name, phase->done);
    pthread_mutex_unlock(&p.lock);
    return is_interrupted();
}

void progress_phase(const char *name)
{
    (void)take_phase(&(trs_phase){.name = name, .done = -1});
}

void progress_print(FILE *out)
{
    pthread_mutex_lock(&p.lock);
    count_time();
    for (int k = 0; k < p.count; k++)
        fprintf(out, "%s%s %.3g s", k ? ", " : "", p.phase[k].name, p.phase[k].seconds);
    pthread_mutex_unlock(&p.lock);
}

/* ---- the line -------------------------------------------------------------------------------- */

static void wipe(void)
{
    if (p.drawn) fputs("\r\033[K", stderr);
    p.drawn = false;
}

/* The most memory that the process has had, in GB. */
static double peak(void)
{
    struct rusage r;
    if (getrusage(RUSAGE_SELF, &r)) return 0;
#ifdef __APPLE__
    return (double)r.ru_maxrss / 1e9;
#else
    return (double)r.ru_maxrss * 1024 / 1e9;
#endif
}

static void draw(void)
{
    const double seconds = now() - p.began;
    wipe();
    if (!p.count || seconds < PATIENCE) return;
    fprintf(stderr, "%s%s", interrupted ? "interrupting: " : "", p.phase[p.at].name);
    if (p.done >= 0) fprintf(stderr, " %.0f %%", 100 * p.done);
    fprintf(stderr, ", %.0f s, %.2f GB", seconds, peak());
    if (interrupted) fputs("; Ctrl-C again ends the program at once", stderr);
    fflush(stderr);
    p.drawn = true;
}

static void *draw_lines(void *unused)
{
    struct timespec t;
    pthread_mutex_lock(&p.lock);
    while (!p.ends) {
        clock_gettime(CLOCK_REALTIME, &t);
        t.tv_sec += (t.tv_nsec + EVERY) / 1000000000L;
        t.tv_nsec = (t.tv_nsec + EVERY) % 1000000000L;
        (void)pthread_cond_timedwait(&p.ended, &p.lock, &t);
        draw();
    }
    wipe();
    pthread_mutex_unlock(&p.lock);
    return unused;
}

/* Before a sentence. */
static bool make_way(void)
{
    pthread_mutex_lock(&p.lock);
    wipe();
    pthread_mutex_unlock(&p.lock);
    return !is_interrupted();
}

/* A thread in which Ctrl-C does not arrive, so that it ends what the first thread waits for. */
static void start_thread(void)
{
    sigset_t all, before;
    sigfillset(&all);
    p.ends = false;
    if (pthread_sigmask(SIG_SETMASK, &all, &before)) return;
    p.has_thread = !pthread_create(&p.thread, NULL, draw_lines, NULL);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void progress_begin(bool quiet)
{
    p.count = p.at = 0;
    before_complaint = make_way;
    trs_set_progress(take_phase, NULL);
    if (!quiet && isatty(STDERR_FILENO)) start_thread();
}

void progress_end(void)
{
    trs_set_progress(NULL, NULL);
    if (!p.has_thread) return;
    pthread_mutex_lock(&p.lock);
    p.ends = true;
    pthread_cond_signal(&p.ended);
    pthread_mutex_unlock(&p.lock);
    (void)pthread_join(p.thread, NULL);
    p.has_thread = false;
}

/* ---- Ctrl-C ---------------------------------------------------------------------------------- */

static void interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

/* Without SA_RESTART: a read that waits for a pipe returns. */
void catch_interrupts(void)
{
    struct sigaction a = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND}, before;
    if (sigaction(SIGINT, NULL, &before) || before.sa_handler == SIG_IGN) return;
    (void)sigaction(SIGINT, &a, NULL);
}

_Noreturn void end_interrupted(void)
{
    (void)flush_output(EXIT_INTERRUPTED);
    (void)signal(SIGINT, SIG_DFL);
    (void)raise(SIGINT);
    exit(EXIT_INTERRUPTED);
}

/* figures.c: --html and --plot: the script trisolve-report makes the page and the figures from the CSV.
 *
 * The CSV is in a temporary file without a name, so that --csv need not be given. */
#include "config.h"

#include "columns.h"

#include "bin/common/message.h"
#include "bin/report/script.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int draw(const report *p, const char *option, const char *value, FILE *out)
{
    FILE *csv = tmpfile();
    if (!csv) return complain("%s: %s", option, strerror(errno)), EXIT_USAGE;
    csv_write(p, csv);
    const int code = script_run(option, value, csv, out);
    fclose(csv);
    return code;
}

static int begin_html(const report *p)
{
    (void)p;
    return script_check("--html");
}

static int end_html(const report *p)
{
    return draw(p, "--html", "-", p->f);
}

static int begin_plot(const report *p)
{
    const char *folder = p->session->outputs.plot;
    struct stat st;
    int error = mkdir(folder, 0777) ? errno : 0;
    if (error == EEXIST && !stat(folder, &st)) error = S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
    if (!error && access(folder, W_OK | X_OK)) error = errno;
    if (error) return complain("%s: %s", folder, strerror(error)), EXIT_USAGE;
    return script_check("--plot");
}

static int end_plot(const report *p)
{
    return draw(p, "--plot", p->session->outputs.plot, NULL);
}

const reporter reporter_html = {begin_html, NULL, end_html};
const reporter reporter_plot = {begin_plot, NULL, end_plot};

/* page.c: --html: one page that needs no other file: where it was measured, a summary, the figures
 * where gnuplot is installed, and a table for each matrix.  What a visitor wants first stands
 * first, so the page is written when all results are there. */
#include "config.h"

#include "page.h"

#include "base/debug.h"
#include "base/noun.h"
#include "bin/bench/figures/figures.h"
#include "bin/bench/report/output.h"
#include "bin/bench/report/text.h"
#include "bin/common/message.h"

#include <string.h>

/* A table that is wider than the window scrolls by itself, with its first column in sight; the page
 * never does.  Figures are drawn on white; on a dark page their lightness is inverted. */
static const char style[] =
    ":root{color-scheme:light dark;--ink:#1c1e21;--paper:#fff;--faint:#5f6670;--line:#d8dce1;"
    "--shade:#f3f5f7;--link:#0b57a4;--bad:#b3261e}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e3e5e8;--paper:#16181b;--faint:#9aa2ac;"
    "--line:#363b42;--shade:#1f2327;--link:#7fb8f5;--bad:#ff8a80}"
    "figure svg{filter:invert(.91) hue-rotate(180deg)}}\n"
    "body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);"
    "max-width:68rem;margin:0 auto;padding:1rem}\n"
    "h1{font-size:1.5rem;margin:.3em 0}\n"
    "h2{font-size:1.25rem;margin:2em 0 .5em;border-bottom:1px solid var(--line)}\n"
    "h3{font-size:1rem;margin:1.8em 0 0;overflow-wrap:anywhere}p{margin:.4em 0}\n"
    "a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}\n"
    ".why,small,figcaption{color:var(--faint)}.bad,.bad td{color:var(--bad)}\n"
    "nav ul,.facts{list-style:none;padding:0;margin:.8em 0;display:flex;flex-wrap:wrap;"
    "gap:.4em 1.2em}\n"
    ".facts{gap:.6em}.facts li{background:var(--shade);border-radius:6px;padding:.4em .8em}"
    ".facts b{font-size:1.25rem;margin-right:.2em}\n"
    ".wide{overflow-x:auto;margin:.5em 0}figure div{overflow:auto;max-height:90vh}\n"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}\n"
    "td,th{padding:.15em .7em;text-align:right;vertical-align:top;white-space:nowrap}\n"
    "th{font-weight:600;box-shadow:inset 0 -1px var(--faint)}\n"
    "tr:nth-child(2n+3) td{background:var(--shade)}\n"
    "td:first-child,th:first-child{text-align:left;position:sticky;left:0;"
    "background:var(--paper)}\n"
    "td.why,th.why,.word{text-align:left}td.why{white-space:normal;min-width:16em}\n"
    "tr.best td{font-weight:600}td small{font-weight:400;margin-left:.4em}\n"
    "tr:target td,:target>h3{background:#fd05}\n"
    "figure{margin:1.5em 0}figure svg{display:block;width:100%;max-width:860px;min-width:520px;"
    "height:auto}figcaption{max-width:54rem}\n"
    "@media(max-width:40rem){body{padding:.7rem}td,th{padding:.15em .45em;font-size:14px}"
    "td:first-child{min-width:9em;max-width:11em;white-space:normal;overflow-wrap:anywhere}"
    "td small{display:block;margin:0}}\n";

html_text escaped(const char *text)
{
    html_text t = {""};
    FILE *f = fmemopen(t.s, sizeof t.s - 1, "w");
    for (; f && *text; text++)
        if (*text == '<') fputs("&lt;", f);
        else if (*text == '&') fputs("&amp;", f);
        else if (*text == '"') fputs("&quot;", f);
        else fputc((unsigned char)*text < ' ' ? ' ' : *text, f);
    if (f) fclose(f);
    return t;
}

void put_number(FILE *f, double v)
{
    fprintf(f, "<td>%s</td>", number(v).s);
}

void put_word(FILE *f, const char *word)
{
    fprintf(f, "<td class=\"word\">%s</td>", word ? word : "-");
}

int number_of(const report *p, const result *r)
{
    TRS_ASSERT(r >= p->all->r && r < p->all->r + p->all->count);
    return (int)(r - p->all->r) + 1;
}

void put_link(const report *p, const result *r)
{
    fprintf(p->f, "<tr><td><a href=\"#m%d\">%s</a></td>", number_of(p, r), escaped(r->name).s);
}

/* ---- figures --------------------------------------------------------------------------------- */

/* Writes the svg element, without what stands before it in a file of its own, and with the title of
 * the figure, which is read to those who cannot see it. */
static void put_svg(FILE *f, const figure *one)
{
    const char *svg = strstr(one->svg, "<svg"), *title = strstr(svg, "<title>");
    const char *behind = title ? strstr(title, "</title>") : NULL;
    if (behind) fprintf(f, "%.*s<title>%s", (int)(title - svg), svg, escaped(one->title).s);
    fputs(behind ? behind : svg, f);
}

static void put_figure(FILE *f, const figure *one)
{
    fprintf(f, "<figure id=\"figure-%s\"><div>\n", one->file);
    put_svg(f, one);
    fputs("</div>", f);
    if (*one->caption) fprintf(f, "<figcaption>%s</figcaption>", escaped(one->caption).s);
    fputs("</figure>\n", f);
}

static void put_figures(FILE *f, const figure_list *l, bool drawn)
{
    if (!l->count) return;
    fputs("<section id=\"figures\"><h2>Figures</h2>\n", f);
    if (!drawn) fputs("<p>gnuplot is not here, or failed: no figures.</p>\n", f);
    for (int k = 0; k < l->count && drawn; k++) put_figure(f, &l->figure[k]);
    fputs("</section>\n", f);
}

/* ---- the page -------------------------------------------------------------------------------- */

/* Where the solvers found B and X. */
static const char *where(const settings *s)
{
    if (s->on_host || s->device == TRS_HOST) return "B and X on the host";
    return "GPU solvers find B and X in device memory";
}

static void put_head(const report *p)
{
    const host *h = &p->session->host;
    FILE *f = p->f;
    fprintf(f,
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<title>trisolve-bench, %s</title>\n<style>%s</style></head><body>\n"
            "<h1>trisolve-bench</h1>\n<p>Version %s, %s<br>GPU: %s<br>CPU: %s, %d %s</p>\n",
            h->date, style, trs_version(), h->date, escaped(h->gpu).s, escaped(h->cpu).s,
            h->threads, trs_noun(h->threads, "thread", "threads"));
    fprintf(f,
            "<p>Times in ms, medians, warm; %s. Bold: the fastest solve. A ratio below 1 is "
            "faster.</p>\n",
            where(p->settings));
}

/* --dense has no sections on choices: its two families have different solvers, and nothing is
 * chosen. */
static bool has_choices(const report *p)
{
    return first_solved(p->all) && !p->settings->dense;
}

static void put_contents(const report *p, const figure_list *l, bool drawn)
{
    FILE *f = p->f;
    fputs("<nav><ul><li><a href=\"#summary\">Summary</a></li>", f);
    if (has_choices(p)) fputs("<li><a href=\"#solvers\">Solvers</a></li>", f);
    if (l->count) fputs("<li><a href=\"#figures\">Figures</a>", f);
    for (int k = 0; k < l->count && drawn; k++)
        fprintf(f, "%s <a href=\"#figure-%s\">%s</a>", k ? "," : ":", l->figure[k].file,
                l->figure[k].file);
    if (l->count) fputs("</li>", f);
    if (has_choices(p)) fputs("<li><a href=\"#slow\">Where the choice is slow</a></li>", f);
    if (has_failed(p)) fputs("<li><a href=\"#failed\">Refused or inaccurate</a></li>", f);
    fputs("<li><a href=\"#matrices\">Matrices</a></li></ul></nav>\n", f);
}

static int end(const report *p)
{
    figure_list l;
    int code = make_figures(p->settings, p->all, &l);
    const bool drawn = !code && draw(&l);
    if (!code && !drawn) complain("--html: gnuplot is not here, or failed: no figures");
    put_head(p);
    put_contents(p, &l, drawn);
    put_summary(p);
    if (has_choices(p)) put_solvers(p);
    put_figures(p->f, &l, drawn);
    if (has_choices(p)) put_slow(p);
    put_failed(p);
    put_every_line(p);
    for (int i = 0; i < p->all->count; i++)
        if (p->all->r[i].count) put_section(p, &p->all->r[i]);
    fputs("</body></html>\n", p->f);
    figures_free(&l);
    return code;
}

const reporter reporter_html = {NULL, NULL, end};

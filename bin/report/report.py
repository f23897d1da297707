#!/usr/bin/env python3
"""Show results of the programs: a page, figures, or what each solver is worth.

It reads the CSV that `trisolve-bench --csv=FILE` writes.  A row of that file is a Cell: one solver on
one triangle.  The JSON of trisolve-sparse becomes figures too.  A Result is a triangle with its cells.  Lines that begin with # are left out.
"""

import argparse
import csv
import html
import json
import math
import os
import re
import sys
import tempfile
import textwrap
from collections import namedtuple

NAN = float("nan")
BOUNDS = (1.1, 1.3)  # the choice is good within the first of them, and slow beyond the last
SOLVES = [s * 10 ** d for d in range(4) for s in (1, 2, 5)] + [10 ** 4]  # for which total times are drawn
VENDOR = re.compile("cusparse|cublas|cusolver|lapack")
BASELINE = re.compile("cuda-(naive|single-block|multiblock)$|lu-|gauss-"
                      "|dense-(serial|simple|pair|doubling|doubling-tiled)$")


# ---- results -------------------------------------------------------------------------------------

class Cell:
    """A solver on a triangle."""
    def __init__(self, row):
        self.name, self.row = row["solver"], row
        self.block = int(row.get("block") or 0)
        on_cpu = re.match("cpu-|lapack|(dense|lu)-serial", self.name)  # of files without the column
        self.needs = row.get("needs") or ("cpu" if on_cpu else "cuda")
        self.place = row.get("place") or ("host" if self.needs == "cpu" else "device")
        self.full = (row.get("full") or str(int("dense" in self.name))) == "1"
        self.ran = row["outcome"] != "refused"
        self.good = row["outcome"] == "good"
        self.solve = self.number("solve")
        general = row.get("triangle") == "general"
        factor = self.number("factor", 0) if general else 0
        self.seconds = self.solve + factor
        self.judged = self.number("solve_first", self.solve) + factor
        self.steady = row.get("steady") != "0" or not self.ran
        again = "measured again" if self.steady else "unsteady"
        self.note = again if row.get("passes") == "2" else ""
        self.normwise = row.get("accuracy") == "inverting"
        self.error = self.number("normwise" if self.normwise else "omega")

    def number(self, column, none=NAN):
        return float(self.row.get(column) or none)


class Result:
    """A triangle, with a cell for each solver, or the reason why there are none."""
    def __init__(self, row):
        self.row, self.name, self.cells = row, row["matrix"], {}
        self.levels = int(row.get("levels") or 0)
        self.trouble = "" if row["solver"] else row["message"]
        self.dense = not row.get("file", "?")
        self.best = self.taken = None

    def find(self, solver, block=0):
        cell = self.cells.get((solver, block))
        return cell if cell and cell.ran else None

    def over(self, cell, reference):
        """The solve time of a cell over that of the reference solver."""
        other = self.find(reference)
        return ratio(cell.solve, other.solve) if other and cell.ran else NAN

    def choose(self, on_device):
        """Find the fastest solver and the automatic choice, where B and X are.  Which one is the fastest is
        judged by other solves than those that are reported, so that it is not faster by chance."""
        auto = "auto_device" if on_device else "auto_host"
        for cell in self.cells.values():
            cell.competes = self.dense or not on_device or cell.needs != "cpu"
            cell.chosen = cell.competes and cell.row.get(auto) == "1"
            if cell.ran and cell.chosen:
                self.taken = cell
            if cell.good and cell.competes and (not self.best or cell.judged < self.best.judged):
                self.best = cell
        both = self.taken and self.best
        self.ratio = ratio(self.taken.solve, self.best.solve) if both else NAN


# What a peer prepares: these columns.  A plain loop over the rows needs no preparation, and of cusparse only
# its own analysis counts.
PREPARATION = {"cpu-serial": (), "cusparse": ("analysis",)}


class Total:
    """The total time of k solves by a plan with default options, which grows, and by its peers."""
    def __init__(self, result):
        at, prepare, first, growth, grown = (float(result.row.get("plan_" + column) or 0) for column in
                                             ("grows_at", "prepare", "first", "growth", "grown"))
        self.pieces = [(1, prepare, first)] if prepare else []  # from k on: seconds, and for each solve
        if at:
            self.pieces.append((at, prepare + (at - 1) * (first - grown) + growth, grown))
        self.peers = {c.name: (sum(c.number(column, 0) for column in
                                   PREPARATION.get(c.name, ("analysis", "setup"))), c.solve)
                      for c in result.cells.values() if c.good and self.pieces and
                      (c.name == "cpu-serial" or VENDOR.match(c.name))}

    def ours(self, k):
        return next(fixed + k * each for begin, fixed, each in reversed(self.pieces) if k >= begin)

    def over(self, peer, k):
        """The total time of the peer over ours."""
        prepare, solve = self.peers[peer]
        return (prepare + k * solve) / self.ours(k)

    def solves(self):
        """The k for which curves have points: also around the solve in which the plan grows."""
        around = {k for begin, *_ in self.pieces[1:] for k in (begin - 1, begin) if 1 <= k <= SOLVES[-1]}
        return sorted(around.union(SOLVES))

    def break_even(self, peer):
        """The number of solves from which on we take no longer in total than the peer; NaN: never."""
        if peer not in self.peers:
            return NAN
        prepare, solve = self.peers[peer]
        end = math.inf
        for begin, fixed, each in reversed(self.pieces):
            a, b = fixed - prepare, each - solve  # we take a + b k seconds more
            if (b, a) > (0, 0) if end == math.inf else a + b * end > 0:
                return end + 1 if end < math.inf else NAN
            if b < 0 and -a / b > begin:
                return math.ceil(-a / b)
            end = begin - 1
        return 1


def ratio(a, b):
    return a / b if b else NAN


def mean(ratios):
    """The geometric mean of the ratios that are not NaN."""
    known = [math.log(r) for r in ratios if r > 0]
    return math.exp(sum(known) / len(known)) if known else NAN


def read(files):
    results, last = [], None
    for file in files:
        with open(0 if file == "-" else file, newline="", encoding="utf-8", errors="replace") as stream:
            for row in csv.DictReader(line for line in stream if not line.startswith("#")):
                columns = "file", "matrix", "triangle", "type", "op", "nrhs", "n"
                key = [file] + [row.get(c) for c in columns]
                cell = Cell(row)
                if key != last or (cell.name, cell.block) in results[-1].cells:
                    results.append(Result(row))
                    last = key
                if cell.name:
                    results[-1].cells[cell.name, cell.block] = cell
    return results


class Run:
    """All results, and what they have in common."""
    def __init__(self, files):
        self.results = read(files)
        self.solved = [r for r in self.results if r.cells]
        cells = [c for r in self.solved for c in r.cells.values()]
        self.solvers = {c.name: c for c in reversed(cells)}  # the first cell of each solver
        self.solvers = {c.name: self.solvers[c.name] for c in cells}
        self.dense = any(r.dense for r in self.solved)
        self.on_device = any(c.place == "device" and c.ran for c in cells) and not self.dense
        for result in self.solved:
            result.choose(self.on_device)
        self.choices = [r for r in self.solved if not math.isnan(r.ratio)]
        # colours go to solvers in this order: those that are drawn most have different ones
        self.order = sorted(self.solvers, key=lambda name: self.solvers[name].full)


# ---- drawing -------------------------------------------------------------------------------------

Figure = namedtuple("Figure", "name caption svg")
Axis = namedtuple("Axis", "low high start end log")
COLOURS = ("#4e79a7 #f28e2b #e15759 #59a14f #b07aa1 #9c755f #76b7b2 #d4a017 #ff9da7 #79706e #1f3b57 "
           "#a65200 #8c1d20 #24571b #6b3d63 #4d3627 #2f6f6b #7a5c00 #c2185b #b9b9b9").split()
MARKS = ("m-3-3h6v6h-6z", "m0-4l4 4l-4 4l-4-4z", "m0-4l4 7h-8z", "m0 4l4-7h-8z", "m-4 0h8m-4-4v8",
         "m-3-3l6 6m0-6l-6 6")
DASHES = tuple(f'stroke-dasharray="{d}"' for d in ("none", "8 3", "2 2", "9 3 2 3", "5 5", "14 3"))
WIDTH, LEFT, RIGHT = 420, 70, 24  # legible on a phone, where it is scaled to 390 or less
MOST_DRAWN = 300  # triangles that are drawn one by one


def at(axis, value):
    """The place of a value on an axis; beyond it, the end."""
    scale = math.log if axis.log else float
    low, high = (axis.low, axis.high) if axis.low < axis.high else (axis.low / 2, axis.low * 2)
    share = (scale(max(low, min(high, value))) - scale(low)) / (scale(high) - scale(low))
    return round(axis.start + share * (axis.end - axis.start), 1)


def ticks(axis):
    if not axis.log or axis.low < axis.high < 5 * axis.low:
        span = axis.high - axis.low
        decade = 10.0 ** math.floor(math.log10(span / 5))
        step = next(s * decade for s in (1, 2, 5, 10) if span / (s * decade) <= 7)
        first = math.ceil(axis.low / step)
        return [k * step for k in range(first, math.floor(axis.high / step + 1e-9) + 1)]
    decades = range(math.floor(math.log10(axis.low)), math.ceil(math.log10(axis.high)) + 1)
    steps = (1, 2, 5) if len(decades) < 4 else (1,)
    every = [s * 10.0 ** d for d in decades[::len(decades) // 8 + 1] for s in steps]
    return [t for t in every if axis.low * 0.999 <= t <= axis.high * 1.001]


def text(x, y, words, more=""):
    return f'<text x="{x}" y="{y}" {more}>{html.escape(str(words))}</text>\n'


def shorten(words, most):
    return words if len(words) <= most else words[:most - 3] + "..."


def head(title, entries):
    """The title, and below it the names of what is drawn: (sample, name) of each.  Where they end, and they."""
    out, top = "", 24
    for words in textwrap.wrap(title, 50):
        out += text(WIDTH / 2, top, words, 'text-anchor="middle" font-size="15"')
        top += 20
    names = [shorten(name, 46) for _, name in entries]
    wide = 50 + 8 * max(map(len, names), default=0)
    columns = max(1, (WIDTH - 30) // wide)
    for k, ((sample, _), name) in enumerate(zip(entries, names)):
        x, y = 16 + k % columns * wide, top + 6 + k // columns * 20
        out += f'<g transform="translate({x} {y})">{sample}</g>' + text(x + 34, y + 4, name)
    return top + 22 + (len(entries) - 1) // columns * 20, out


def svg(title, height, body):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            f'width="{WIDTH}" font-family="sans-serif" font-size="13">'
            f"<title>{html.escape(title)}</title>\n"
            f'<rect width="100%" height="100%" fill="#fff"/>\n{body}</svg>\n')


def line(d, colour, about, style="", fill="none"):
    return (f'<path fill="{fill}" stroke="{colour}" {style} d="{d}">'
            f"<title>{html.escape(about)}</title></path>\n")


class Plot:
    """A figure: its title, a key, and a grid between the ranges (low, high, logarithmic) of two axes.
    Rows, and not an axis, may be on the left: then y is None."""
    def __init__(self, title, entries, x, y, labels=("", ""), left=LEFT, height=320):
        top, self.body = head(title, entries)
        self.title, self.top, self.bottom = title, top, top + height
        self.x = x = Axis(*x[:2], left, WIDTH - RIGHT, x[2])
        self.body += (f'<path fill="none" stroke="#bbb" d="M{x.start} {top}H{x.end}V{self.bottom}'
                      f'H{x.start}Z"/>\n')
        for t in ticks(x):
            self.body += f'<path stroke="#ddd" d="M{at(x, t)} {top}v{height}"/>\n'
            self.body += text(at(x, t), self.bottom + 18, f"{t:g}", 'text-anchor="middle"')
        self.y = Axis(*y[:2], self.bottom, top, y[2]) if y else None
        for t in ticks(self.y) if y else []:
            self.body += f'<path stroke="#ddd" d="M{x.start} {at(self.y, t)}H{x.end}"/>\n'
            self.body += text(x.start - 6, at(self.y, t) + 4, f"{t:g}", 'text-anchor="end"')
        middle = top + height / 2
        self.body += text((x.start + x.end) / 2, self.bottom + 38, labels[0], 'text-anchor="middle"')
        self.body += text(18, middle, labels[1],
                          f'text-anchor="middle" transform="rotate(-90 18 {middle})"')

    def point(self, x, y):
        return f"{at(self.x, x)} {at(self.y, y)}"

    def figure(self, name, caption=""):
        return Figure(name, caption, svg(self.title, self.bottom + 50, self.body))


# ---- figures of triangles ------------------------------------------------------------------------

def profile(run):
    """The performance profile of E. D. Dolan and J. J. More, Mathematical Programming 91 (2002):
    rho (s, x) is the share of the problems that solver s solves in at most x times the time of the
    fastest solver."""
    problems = [r for r in run.solved if r.best]
    counted = [[c for c in r.cells.values() if c.good and c.competes] for r in problems]
    pairs = [(c, ratio(c.solve, r.best.solve)) for r, cells in zip(problems, counted) for c in cells]
    ratios = {name: sorted(r for c, r in pairs if c.name == name) for name in run.solvers}
    end = min(100, max([2] + [1.05 * r[-1] for r in ratios.values() if r]))
    drawn = [n for n in run.solvers if ratios[n] and ratios[n][0] <= end]
    if len(drawn) < 2 or len(problems) < 2:
        return []
    chosen = sorted(r for c, r in pairs if c.chosen)
    styles = [(n, ratios[n], COLOURS[run.order.index(n) % 20],
               'stroke-width="2" ' + DASHES[run.order.index(n) % 6])
              for n in drawn]
    if chosen:
        styles.append(("automatic choice", chosen, "#000", 'stroke-width="4" stroke-opacity="0.5"'))
    plot = Plot("Performance profile of the solves",
                [(line("M0 0h28", colour, n, style), n) for n, _, colour, style in styles],
                (1, end, True), (0, 1, False), ("times as long as the fastest", "share of the triangles"))
    for name, found, colour, style in styles:
        d = "M" + plot.point(1, 0)
        for k, r in enumerate(r for r in found if r <= end):
            d += f"H{at(plot.x, r)}V{at(plot.y, (k + 1) / len(problems))}"
        shares = sum(r <= 1 for r in found) / len(problems), len(found) / len(problems)
        about = "{}: fastest on {:.1%}, solves {:.1%}".format(name, *shares)
        plot.body += line(f"{d}H{plot.x.end}", colour, about, style)
    caption = (f"For each solver the share of the {len(problems)} triangles that it solves in at most "
               "so many times the time of the fastest (Dolan and Mor\u00e9, 2002). At 1 that is the "
               "share on which it is the fastest; a curve that stays below 1 belongs to a solver that "
               f"cannot solve them all, or takes on some more than {end:.3g} times as long. Solvers "
               "that always do are not drawn.")
    if run.on_device:
        caption += " Those on the CPU take no part: their B and X are elsewhere."
    return [plot.figure("profile", caption)]


class Comparison:
    """Solve times over those of a reference: which solvers are drawn, and how far the axis reaches.

    Solvers that store a full matrix are left out when there are others: on sparse triangles they may
    take thousands of times as long.  The axis reaches at most from 1/100 to 100."""
    def __init__(self, run):
        vendor = any(r.find("cusparse") for r in run.solved)
        self.reference = "cusparse" if vendor else "cpu-serial"
        self.points = {}  # of a solver: (result, ratio) of each triangle
        for name in run.solvers:
            found = [(r, r.over(r.find(name), self.reference)) for r in run.solved if r.find(name)]
            found = [(r, v) for r, v in found if not math.isnan(v)]
            if found and name != self.reference:
                self.points[name] = found
        full = [name for name in self.points if run.solvers[name].full]
        out = full if len(full) < len(self.points) else []
        self.points = {n: p for n, p in self.points.items() if n not in out}
        every = [v for p in self.points.values() for _, v in p]
        self.low = max(0.01, min([0.5] + [v / 1.1 for v in every]))
        self.high = min(100, max([2] + [v * 1.1 for v in every]))
        self.left_out = ""
        if out:
            self.left_out = (f" Not drawn: {', '.join(out)}, which store{'s' * (len(out) == 1)} the "
                             "triangle as a full matrix.")


def levels(run, c):
    """Ratios over the number of levels, which shows what few levels gain and many cost."""
    if max((len(p) for p in c.points.values()), default=0) < 2:
        return []
    looks = {n: (MARKS[run.order.index(n) % 6], COLOURS[run.order.index(n) % 20]) for n in c.points}
    every = [max(1, r.levels) for p in c.points.values() for r, _ in p]
    plot = Plot(f"Solve time over that of {c.reference}, by levels (below 1: faster)",
                [(line("M14 0" + m, colour, n, fill=colour), n) for n, (m, colour) in looks.items()],
                (min(every), max(every), True), (c.low, c.high, True),
                ("levels", f"times as long as {c.reference}"))
    plot.body += f'<path stroke="#000" d="M{plot.x.start} {at(plot.y, 1)}H{plot.x.end}"/>\n'
    for name, points in c.points.items():
        mark, colour = looks[name]
        d = "".join("M" + plot.point(r.levels, v) + mark for r, v in points)
        plot.body += line(d, colour, name, 'fill-opacity="0.6"', fill=colour)
    caption = ("A point is a triangle. The levels are the rows on its longest path of dependencies: "
               "the fewer there are, the more rows can be solved side by side. What lies beyond the "
               "axis is drawn at its end." + c.left_out)
    return [plot.figure("levels", caption)]


def roofline(run):
    """Rates over the memory's bandwidth, by how long the bytes take over how long the levels do."""
    points = {}
    for r in run.solved:
        for cell in (c for c in r.cells.values() if c.good and c.competes):
            memory, wait = cell.number("floor_memory"), cell.number("floor_levels")
            if memory > 0 and wait > 0 and cell.solve > 0 and (cell is r.best or cell.chosen):
                name = "fastest solver" if cell is r.best else "automatic choice, if another"
                points.setdefault(name, []).append((memory / wait, memory / cell.solve))
    if max(map(len, points.values()), default=0) < 2:
        return []
    xs, ys = zip(*(p for found in points.values() for p in found))
    low, high = min(xs + (0.5,)) / 1.2, max(xs + (2,)) * 1.2
    looks = dict(zip(sorted(points, reverse=True), zip(MARKS[1::-1], ("#1f3b57", "#f28e2b"))))
    plot = Plot("Roofline of the solves",
                [(line("M0 0h28", "#000", "roof", 'stroke-width="2"'), "roof: memory, and levels one after the other")] +
                [(line("M14 0" + m, c, n, fill=c), n) for n, (m, c) in looks.items()],
                (low, high, True), (min(ys + (low,)) / 1.2, max(ys + (1,)) * 2, True),
                ("time for the bytes / time for the levels", "share of the memory's bandwidth"))
    plot.body += line("M" + "L".join(plot.point(x, min(1, x)) for x in (low, 1, high)), "#000", "roof", 'stroke-width="2"')
    for name, (mark, colour) in looks.items():
        plot.body += line("".join(f"M{plot.point(x, y)}{mark}" for x, y in points[name]), colour, name,
                          'fill-opacity="0.6"', fill=colour)
    caption = ("A point is a triangle. On the right the bytes of the matrix, B and X take longer than its levels wait "
               "for each other, and the bandwidth is the limit; on the left the levels are. Solvers that rewrite "
               "levels, and several threads, can be above the roof, which is that of one core; so can all if costs were measured "
               "on a busy machine.")
    return [plot.figure("roofline", caption)]


def bars(run, c):
    """Ratios matrix by matrix.  A bar reaches from 1 to its ratio, so that twice as fast and half as
    fast look alike.  Of very many triangles nothing is drawn."""
    if not c.points or len(run.solved) > MOST_DRAWN:
        return []
    colour = {n: COLOURS[run.order.index(n) % 20] for n in c.points}
    ratios = {name: dict(points) for name, points in c.points.items()}
    row = 8 * len(c.points) + 8
    left = 16 + 6 * min(24, max(len(r.name) for r in run.solved))
    plot = Plot(f"Solve time over that of {c.reference} (below 1: faster)",
                [(f'<rect y="-5" width="28" height="10" fill="{colour[n]}"/>', n) for n in c.points],
                (c.low, c.high, True), None, left=left, height=row * len(run.solved))
    x = plot.x
    for k, r in enumerate(run.solved):
        y = plot.top + k * row
        plot.body += text(left - 8, y + row / 2 + 4, r.name[-24:], 'font-size="11" text-anchor="end"')
        for j, name in enumerate(n for n in c.points if r in ratios[n]):
            v = ratios[name][r]
            ends = sorted((at(x, v), at(x, 1)))
            plot.body += (f'<rect x="{ends[0]}" y="{y + 4 + 8 * j}" width="{ends[1] - ends[0]:.1f}" '
                          f'height="7" fill="{colour[name]}">'
                          f"<title>{html.escape(r.name)}, {name}: {v:.4g}</title></rect>\n")
            if not c.low <= v <= c.high:
                plot.body += text(at(x, v) + 4, y + 11 + 8 * j, f"{v:.4g}", 'font-size="9"')
    plot.body += f'<path stroke="#000" d="M{at(x, 1)} {plot.top}V{plot.bottom}"/>\n'
    caption = (f"Bars begin at 1, {c.reference}: to the left a solver is faster, to the right it is "
               "slower. They are in the order of the key. A bar that is longer than the axis is cut off, and its ratio is written at "
               "its end." + c.left_out)
    return [plot.figure("solve", caption)]


def draw_curves(name, title, points, labels, caption=""):
    """A curve through the points (x, y) of each name, on logarithmic axes."""
    looks = [(MARKS[k % 6], COLOURS[k % 20]) for k in range(len(points))]
    xs, ys = zip(*(p for found in points.values() for p in found))
    plot = Plot(title, [(line("M0 0h28m-14 0" + m, c, n), n) for n, (m, c) in zip(points, looks)],
                (min(xs), max(xs), True), (min(ys), max(ys), True), labels)
    for (n, found), (mark, colour) in zip(points.items(), looks):
        places = [plot.point(x, y) for x, y in found]
        d = "M" + "L".join(places) + "".join(f"M{place}{mark}" for place in places)
        about = n + ": " + ", ".join(f"{x:g} {y:.9g}" for x, y in found)
        plot.body += line(d, colour, about, 'stroke-width="1.5"')
    return plot.figure(name, caption)


def total_of(r):
    """Total times of a triangle, and from how many solves on a plan takes no longer than each peer."""
    t = Total(r)
    if not t.peers:
        return []
    points = {"a plan that grows": [(k, 1e3 * t.ours(k)) for k in t.solves()]}
    if r.taken:
        fixed = sum(r.taken.number(column, 0) for column in ("create", "analysis", "setup"))
        points[r.taken.name + ", the choice"] = [(k, 1e3 * (fixed + k * r.taken.solve)) for k in SOLVES]
    for name, (fixed, each) in t.peers.items():
        points[name] = [(k, 1e3 * (fixed + k * each)) for k in SOLVES]
    even = ", ".join(f"{name}: " + ("never" if math.isnan(k) else f"from {k:.0f} solves on")
                     for name, k in ((name, t.break_even(name)) for name in t.peers))
    return [draw_curves("total", f"Preparation and k solves: {r.name}", points, ("k", "ms"),
                   f"The plan that grows takes no longer than {even}.")]


def totals(run):
    """Total times of the peers over ours, on all triangles."""
    if len(run.solved) == 1:
        return total_of(run.solved[0])
    every = [Total(r) for r in run.solved]
    peers = dict.fromkeys(name for t in every for name in t.peers)
    points = {name: [(k, mean(t.over(name, k) for t in every if name in t.peers)) for k in SOLVES]
              for name in peers}
    return [draw_curves("total", "Preparation and k solves: time over that of a plan that grows", points,
                   ("k", "times as long"), "Geometric means over the triangles that both solve; above 1 the "
                   "plan is faster.")] if points else []


# ---- figures of one kind of matrix at several sizes ------------------------------------------------

def kinds_of(run):
    """For each generated kind, KIND:SIZE, its triangles by entries, if there are three sizes or more."""
    kinds = {}
    for r in run.solved:
        named = re.fullmatch(r"(\w+):\d+", r.name)
        if named and r.taken:
            kinds.setdefault(named[1], []).append(r)
    return {kind: sorted(found, key=lambda r: int(r.row["nnz"])) for kind, found in kinds.items()
            if len({r.row["nnz"] for r in found}) > 2}


def floor(r):
    """Seconds that memory takes for the bytes, or the levels for waiting for each other, whichever is longer."""
    return max(r.taken.number("floor_memory", 0), r.taken.number("floor_levels", 0))


def growth(run, reference):
    """Times, ratios and rates against the entries of the triangle."""
    kinds = kinds_of(run)

    def curves(value):
        found = {kind: [(int(r.row["nnz"]), value(r)) for r in rs] for kind, rs in kinds.items()}
        found = {kind: [(x, y) for x, y in points if y > 0] for kind, points in found.items()}
        return {kind: points for kind, points in found.items() if points}

    figures = []
    for kind, rs in kinds.items():
        drawn = {"automatic choice": lambda r: r.taken.solve, "floor": floor,
                 reference: lambda r: r.find(reference).solve if r.find(reference) else NAN}
        points = {name: [(int(r.row["nnz"]), 1e3 * value(r)) for r in rs if value(r) > 0] for name, value in drawn.items()}
        figures.append(draw_curves(f"growth-{kind}", f"{kind}: time of a solve by size",
                                   {name: p for name, p in points.items() if p}, ("entries", "ms")))
    for name, title, label, value in (
            ("growth-ratio", f"Solve time of {reference} over that of the choice, by size", "times as fast",
             lambda r: 1 / r.over(r.taken, reference) if r.over(r.taken, reference) > 0 else NAN),
            ("growth-floor", "Solve time over the floor, by size", "times the floor",
             lambda r: ratio(r.taken.solve, floor(r))),
            ("growth-rate", "Matrix, B and X over the time of a solve, by size", "GB/s",
             lambda r: 1e-9 * r.taken.number("rate"))):
        points = curves(value)
        if points:
            figures.append(draw_curves(name, title, points, ("entries", label)))
    return figures


# ---- the levels of a matrix, for trisolve-info ---------------------------------------------------

def widths(file, title):
    """The rows of every level, as steps.  A row of the CSV says where one begins, or the last ends."""
    steps = {}
    for row in csv.DictReader(file):
        steps.setdefault(row["triangle"], []).append((float(row["level"]), int(row["rows"])))
    every = [p for points in steps.values() for p in points]
    looks = {name: (COLOURS[k], f'stroke-width="{3 if k == 0 and len(steps) > 1 else 1.5}" ' + DASHES[k])
             for k, name in enumerate(steps)}  # the second one is drawn over the first
    end = max(level for level, _ in every)
    margin = 0.02 * (end + 0.5)
    plot = Plot(title, [(line("M0 0h28", *look[:1], n, look[1]), n) for n, look in looks.items()],
                (-0.5 - margin, end + margin, False), (0.8, 2 * max(rows for _, rows in every), True),
                ("level", "rows that can be solved in parallel"))
    for name, points in steps.items():
        d = "M" + plot.point(*points[0])
        d += "".join(f"H{at(plot.x, level)}V{at(plot.y, rows)}" for level, rows in points[1:])
        plot.body += line(d, looks[name][0], name, looks[name][1])
    return plot.figure("widths").svg


RAMP = "#fde725 #a0da39 #4ac16d #1fa187 #277f8e #365c8d #46327e #2d0b45".split()  # from light to dark


def spy(file, title):
    """The pattern of each triangle, in the order of the file and by levels.  A row of the CSV is a cell with entries."""
    panels = {}
    for row in csv.DictReader(file):
        panels.setdefault((row["triangle"], row["order"]), []).append(row)
    top, body = head(title, [])
    for k, colour in enumerate(RAMP):
        body += f'<rect x="{128 + 20 * k}" y="{top}" width="20" height="12" fill="{colour}"/>\n'
    body += text(120, top + 11, "first level", 'text-anchor="end"') + text(296, top + 11, "last level")
    top += 38
    side = (WIDTH - 52) // 2
    for k, ((name, order), cells) in enumerate(panels.items()):
        x, y = 16 + k % 2 * (side + 20), top + k // 2 * (side + 56)
        count, last = int(cells[0]["cells"]), int(cells[0]["levels"]) - 1
        body += text(x, y, name) + text(x, y + 16, order, 'font-size="12"')
        shades = {}
        for c in cells:
            shade = int(float(c["level"]) / last * (len(RAMP) - 0.01)) if last else 0
            shades.setdefault(shade, []).append(f'M{c["column"]} {c["row"]}h1v1h-1z')
        body += (f'<g transform="translate({x} {y + 24}) scale({side / count:.5g})">'
                 f'<rect width="{count}" height="{count}" fill="#f4f4f4" stroke="#bbb" stroke-width="{count / side:.3g}"/>\n'
                 + "".join(f'<path fill="{RAMP[s]}" d="{"".join(d)}"/>\n' for s, d in sorted(shades.items())) + "</g>\n")
    return svg(title, top + (len(panels) + 1) // 2 * (side + 56), body)


# ---- documents of trisolve-sparse --json --------------------------------------------------------

def label_of(document):
    k = document.get("krylov")
    how = [k["method"]] if k else []
    if "factor" in document:
        how += [document["factor"]["library"], document["factor"]["ordering"]]
    return ", ".join([os.path.basename(document["matrix"]["file"])] + how)


def read_documents(files):
    """What trisolve-sparse --json has written; []: the files are CSV."""
    if not all(f.endswith(".json") for f in files):
        return []
    return [json.load(open(f, encoding="utf-8")) for f in files]


def residuals(documents):
    found = [d for d in documents if d.get("krylov")]
    curves = {label_of(d): [(k, v) for k, v in enumerate(d["krylov"]["history"]) if v] for d in found}
    if not curves:
        return []
    styles = [(n, COLOURS[k % 20], 'stroke-width="2" ' + DASHES[k % 6]) for k, n in enumerate(curves)]
    xs, ys = zip(*(p for points in curves.values() for p in points))
    target = min(d["krylov"]["rtol"] for d in found)
    plot = Plot("Residuals", [(line("M0 0h28", c, n, style), n) for n, c, style in styles],
                (0, max(1, *xs), False), (min(ys + (target,)) / 2, max(ys) * 2, True), ("iteration", "|b - A x| / |b|"))
    plot.body += f'<path stroke="#000" d="M{plot.x.start} {at(plot.y, target)}H{plot.x.end}"/>\n'
    for name, colour, style in styles:
        plot.body += line("M" + "L".join(plot.point(*p) for p in curves[name]), colour, name, style)
    return [plot.figure("residuals", "The line across is the tolerance.")]


PARTS = {"read": "#d9d9d9", "factor": "#f28e2b", "analysis": "#4e79a7", "solve": "#1c1e21"}


def times(documents):
    """Where the time went, a bar for each document."""
    split = [(label_of(d), {**d["seconds"], "solve": d["seconds"]["solve"]["median"]})
             for d in documents if d.get("seconds", {}).get("solve")]
    if not split:
        return []
    plot = Plot("Time from the file to x", [(f'<rect y="-5" width="28" height="10" stroke="#000" fill="{c}"/>', p)
                                            for p, c in PARTS.items()],
                (0, 100, False), None, ("% of the time", ""), left=16, height=44 * len(split) + 8)
    for k, (name, seconds) in enumerate(split):
        y, done = plot.top + 44 * k + 18, 0.0
        about = ", ".join(f"{p} {1e3 * seconds[p]:.3g} ms" for p in PARTS)
        total = sum(seconds[p] for p in PARTS)
        plot.body += text(plot.x.start + 4, y - 2, f"{shorten(name, 44)}: {1e3 * total:.3g} ms", 'font-size="12"')
        for part, colour in PARTS.items():
            begin, done = done, done + 100 * seconds[part] / total
            plot.body += (f'<rect x="{at(plot.x, begin)}" y="{y + 3}" width="{at(plot.x, done) - at(plot.x, begin):.1f}" '
                          f'height="18" stroke="#000" stroke-width="0.5" fill="{colour}"><title>{html.escape(about)}</title></rect>\n')
    return [plot.figure("times", "From left to right: reading, factors, analysis, and one solve.")]


# ---- figures of --dense: those of the documents, and both families whole -------------------------

MOVES, SUBMATRIX = "allocate_and_copy", "lu-fullgrid/lu-submatrix"
# The name of a figure, what is drawn over n, the curves (SOLVER/N: with blocks of N; *: all), the title
DENSE_FIGURES = f"""
dense-kernels|ms|dense-serial dense-simple dense-pair dense-doubling dense-doubling-tiled dense-blocked \
cublas-dense|Dense Lower Triangular Solver, first figure: kernels
dense-copies|ms|{MOVES} dense-serial dense-blocked\
|Dense Lower Triangular Solver, second figure: allocation and copies against the CPU
lu-figure7|ms to factor|lu-serial lu-simple|LU, figure 7: CPU and simple (without blocking) GPU
lu-figure8|ms to factor|lu-row-global lu-row-shared|LU, figure 8: update through rows, global and shared memory
lu-figure9|ms to factor|lu-column-global lu-column-shared\
|LU, figure 9: update through columns, global and shared memory
lu-figure10|ms to factor|lu-row-shared lu-column-shared lu-element|LU, figure 10: rows, columns, elements
lu-figure11|ms to factor|{" ".join(f"lu-column-shared/{2 ** k}" for k in range(4, 10))}\
|LU, figure 11: block size of the update through columns, shared memory
lu-submatrix|times as long|{SUBMATRIX}|LU: the full grid over the sub-matrix (the document has 23)
all-triangles|ms|*|Triangles: every solver
all-general|ms|*|LU and Gauss, to factor and to solve
"""


def dense_value(result, curve, what):
    if curve == MOVES:
        return 1e3 * sum(float(result.row.get(c) or NAN) for c in ("alloc", "copy"))
    if curve == SUBMATRIX:
        cells = [result.find(name) for name in curve.split("/")]
        return ratio(*(c.number("factor") for c in cells)) if all(cells) else NAN
    solver, _, block = curve.partition("/")
    cell = result.find(solver, int(block or 0))
    if not cell:
        return NAN
    return 1e3 * (cell.number("factor") if what == "ms to factor" else cell.seconds)


def dense_figure(run, name, what, curves, title):
    general = name.startswith("lu-") or name == "all-general"
    family = [r for r in run.solved if (r.row["triangle"] == "general") == general]
    every = dict.fromkeys(c.name for r in family for c in r.cells.values() if not c.block)
    curves = list(every) if curves == "*" else curves.split()
    points = {c: [(int(r.row["n"]), dense_value(r, c, what)) for r in family] for c in curves}
    points = {c: [(n, v) for n, v in p if v > 0] for c, p in points.items()}
    points = {c: p for c, p in points.items() if p}
    if not points:
        return []
    points = {re.sub(r".*/(\d+)$", r"block \1", c).replace("_", " "): p for c, p in points.items()}
    return [draw_curves(name, title, points, ("n", what))]


def make_figures(run):
    if run.dense:
        return [f for one in DENSE_FIGURES.split("\n")[1:-1] for f in dense_figure(run, *one.split("|"))]
    c = Comparison(run)
    return (profile(run) + levels(run, c) + roofline(run) + bars(run, c) + totals(run)
            + growth(run, c.reference))


# ---- the page ------------------------------------------------------------------------------------

# A table that is wider than the window scrolls by itself, with its first column in sight; the page
# never does.  Figures are drawn on white; on a dark page their lightness is inverted.
STYLE = """:root{color-scheme:light dark;--ink:#1c1e21;--paper:#fff;--faint:#5f6670;--line:#d8dce1;--shade:#f3f5f7;
--link:#0b57a4;--bad:#b3261e}@media(prefers-color-scheme:dark){:root{--ink:#e3e5e8;--paper:#16181b;
--faint:#9aa2ac;--line:#363b42;--shade:#1f2327;--link:#7fb8f5;--bad:#ff8a80}
figure svg{filter:invert(.91) hue-rotate(180deg)}}body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);
background:var(--paper);max-width:68rem;margin:0 auto;padding:1rem}h1{font-size:1.5rem;margin:.3em 0}
h2{font-size:1.25rem;margin:2em 0 .5em;border-bottom:1px solid var(--line)}h3{font-size:1rem;margin:1.8em 0 0;
overflow-wrap:anywhere}p{margin:.4em 0}a{color:var(--link);text-decoration:none}
a:hover{text-decoration:underline}.why,small,figcaption{color:var(--faint)}.bad,.bad td{color:var(--bad)}nav ul,
.facts{list-style:none;padding:0;margin:.8em 0;display:flex;flex-wrap:wrap;gap:.4em 1.2em}.facts{gap:.6em}
.facts li{background:var(--shade);border-radius:6px;padding:.4em .8em}.facts b{font-size:1.25rem;
margin-right:.2em}.wide{overflow-x:auto;margin:.5em 0}figure div{overflow:auto;max-height:90vh}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}td,th{padding:.15em .7em;text-align:right;
vertical-align:top;white-space:nowrap}th{font-weight:600;box-shadow:inset 0 -1px var(--faint)}
tr:nth-child(2n+3) td{background:var(--shade)}td:first-child,th:first-child{text-align:left;position:sticky;
left:0;background:var(--paper)}td.why,th.why,.word{text-align:left}td.why{white-space:normal;min-width:16em}
tr.best td{font-weight:600}td small{font-weight:400;margin-left:.4em}tr:target td,:target>h3{background:#fd05}
figure{margin:1.5em 0}figure svg{display:block;width:100%;max-width:600px;height:auto}
figcaption{max-width:54rem}@media(max-width:40rem){body{padding:.7rem}td,th{padding:.15em .45em;font-size:14px}
td:first-child{min-width:9em;max-width:11em;white-space:normal;overflow-wrap:anywhere}td small{display:block;
margin:0}}
"""
WORD, WHY, BAD = 'class="word"', 'class="why"', 'class="why bad"'
SLOW_SHOWN = 25


def number(v):
    """Four digits; a dash for a NaN."""
    if math.isnan(v):
        return "-"
    return f"{v:.0f}" if v >= 1000 else f"{v:.{4 if v >= 0.01 else 3}g}"


def ms(seconds):
    return number(1e3 * seconds)


def count(n, one, many):
    return f"{n} {one if n == 1 else many}"


def table(heads, rows):
    """heads and cells: words, or attributes and words.  rows: attributes, cells.  The last cell of a
    row that is too short spans the rest.  A column that would hold dashes alone is left out."""
    def tag(name, cell, more=""):
        attributes, words = cell if isinstance(cell, tuple) else ("", cell)
        return f"<{name} {attributes} {more}".rstrip() + f">{words}</{name}>"
    full = [cells for _, cells in rows if len(cells) == len(heads)]
    keep = [k for k in range(len(heads))
            if not k or not full or any(c[k] not in ("-", (WORD, "-")) for c in full)]
    out = '<div class="wide"><table><tr>' + "".join(tag("th", heads[k]) for k in keep) + "</tr>\n"
    for attributes, cells in rows:
        if len(cells) == len(heads):
            shown = "".join(tag("td", cells[k]) for k in keep)
        else:
            span = f'colspan="{len(keep) - len(cells) + 1}"'
            shown = "".join(tag("td", c) for c in cells[:-1]) + tag("td", cells[-1], span)
        out += f"<tr {attributes}".rstrip() + f">{shown}</tr>\n"
    return out + "</table></div>\n"


def section(place, heading, *content):
    return f'<section id="{place}"><h2>{heading}</h2>\n{"".join(content)}</section>\n'


def link(run, result):
    return f'<a href="#m{run.results.index(result) + 1}">{html.escape(result.name)}</a>'


def summary(run):
    files = [r.row.get("file") or k for k, r in enumerate(run.results)]
    matrices = sum(k == 0 or files[k] != files[k - 1] for k in range(len(files)))
    refused = len(run.results) - len(run.solved)
    inaccurate = sum(c.ran and not c.good for r in run.solved for c in r.cells.values())
    per_file = len(run.solved) == matrices - refused
    facts = [f"{matrices}</b> matri{'x' if matrices == 1 else 'ces'}",
             f"{len(run.solved)}</b> " + ("solved" if per_file else "triangles of them solved")]
    if refused:
        facts.append(f'{refused}</b> <a href="#failed">refused</a>')
    if inaccurate:
        facts.append(f'{inaccurate}</b> <a href="#failed">solves too inaccurate</a>')
    unsteady = sum(not c.steady for r in run.solved for c in r.cells.values())
    if unsteady:
        facts.append(f"{unsteady}</b> solves on a busy machine: unsteady when measured again")
    if run.solved and not run.dense:
        facts.append(f"{len(run.solvers)}</b> solvers")
    ratios = [r.ratio for r in run.choices]
    if ratios:
        share = 100 / len(ratios)
        fastest = sum(r.taken is r.best for r in run.choices)
        facts.append(f"{share * fastest:.0f} %</b> of the choices are the fastest solver")
        for bound in BOUNDS:
            facts.append(f"{share * sum(r <= bound for r in ratios):.0f} %</b> are within {bound} of it")
        facts += [f"{mean(ratios):.3f}</b> geometric mean of choice over fastest",
                  f"{number(max(ratios))}</b> at worst"]
    items = "".join(f"<li><b>{fact}</li>\n" for fact in facts)
    return section("summary", "Summary", f'<ul class="facts">\n{items}</ul>\n')


FACTS = """version commit date command os cpu threads clock load_before load_after gpu driver compiler blas costs
seed""".split()


def facts(run):
    """With what, where and when it was measured: the same in all rows, but for the load of the machine."""
    row = dict(run.results[0].row if run.results else {})
    row["load_after"] = run.results[-1].row.get("load_after") if run.results else ""
    return section("run", "Run", table(["fact", (WHY, "")], [
        ("", [f.replace("_", " "), (WHY, html.escape(row[f]))]) for f in FACTS if row.get(f)]))


HEADINGS = """solved|triangles that it solved accurately
inaccurate|triangles on which its backward error is too large
refused|triangles that it cannot solve
chosen|triangles on which it is the automatic choice
fastest|triangles on which it is the fastest
/fastest|solve time over that of the fastest solver
/cusparse|solve time over that of cusparse
/cpu-serial|solve time over that of cpu-serial"""


def solvers(run):
    pairs = [line.split("|") for line in HEADINGS.split("\n")]
    heads = ["solver"] + [(f'title="{about}"', name) for name, about in pairs]
    rows = []
    for name in run.solvers:
        found = [(r, r.cells[name, 0]) for r in run.solved if (name, 0) in r.cells]
        good = [(r, c) for r, c in found if c.good]
        competes = any(c.competes for _, c in found)
        counts = (len(good), sum(c.ran and not c.good for _, c in found),
                  sum(not c.ran for _, c in found), sum(c.chosen for _, c in found),
                  sum(c is r.best for r, c in found) if competes else NAN)
        means = (mean(ratio(c.solve, r.best.solve) for r, c in good if c.competes),
                 mean(r.over(c, "cusparse") for r, c in good),
                 mean(r.over(c, "cpu-serial") for r, c in good))
        rows.append(("", [name] + [number(v) for v in counts + means]))
    return section(
        "solvers", "Solvers", "<p>Counts of triangles; then geometric means, over the triangles that "
        "both solve, of the solve time over that of the fastest solver, of cusparse and of cpu-serial.",
        " Solvers on the CPU take no part in the choice, nor in what is fastest: their B and X are on "
        "the host." if run.on_device else "", "</p>\n", table(heads, rows))


def slow_choices(run):
    bound = BOUNDS[-1]
    slow = sorted((r for r in run.choices if r.ratio > bound), key=lambda r: -r.ratio)
    if not slow:
        return section("slow", "Where the choice is slow",
                       f"<p>Nowhere more than {bound} times the fastest.</p>\n")
    rows = [("", [link(run, r), str(r.levels), (WORD, r.taken.name), ms(r.taken.solve),
                  (WORD, r.best.name), ms(r.best.solve), number(r.ratio)]) for r in slow[:SLOW_SHOWN]]
    return section(
        "slow", "Where the choice is slow",
        f"<p>On {count(len(slow), 'triangle', 'triangles')} it takes more than {bound} times as long as "
        f"the fastest{'; the worst' if len(slow) > SLOW_SHOWN else ''}.</p>\n",
        table(["matrix", "levels", (WORD, "choice"), "ms", (WORD, "fastest"), "ms", "/fastest"], rows))


def failed(run):
    rows = []
    for k, r in enumerate(run.results):
        for c in r.cells.values():
            if c.ran and not c.good:
                rows.append(("", [link(run, r), (BAD, f"{c.name}: backward error {c.error:.1e}")]))
        if r.trouble:
            rows.append((f'id="m{k + 1}"', [html.escape(r.name), (WHY, html.escape(r.trouble))]))
    return section("failed", "Refused or inaccurate", table(["matrix", (WHY, "why")], rows)) \
        if rows else ""


def matrices(run):
    rows = []
    for r in run.results:
        if r.trouble:
            rows.append(("", [link(run, r), (WHY, "refused")]))
            continue
        best, taken = (c.name if c else "-" for c in (r.best, r.taken))
        rows.append(("", [link(run, r), r.row["n"], r.row["nnz"], str(r.levels), (WORD, best),
                          ms(r.best.seconds if r.best else NAN), (WORD, taken), number(r.ratio)]))
    return section("matrices", "Matrices", table(
        ["matrix", "n", "nnz", "levels", (WORD, "fastest"), "ms", (WORD, "choice"), "/fastest"], rows))


def levels_mark(cell):
    """The analysis that found the levels: by rows, by columns, on the device."""
    by = cell.row.get("levels_by") or ""
    if not by or VENDOR.match(cell.name):
        return ""
    return " C" if "CSC" in by else " D" if "device" in by else " R"


def solver_row(result, cell, total):
    name = cell.name + (f"/{cell.block}" if cell.block else "")
    places = [place for place in ("host", "device") if cell.row.get("auto_" + place) == "1"]
    if places:
        name += f" <small>choice for {', '.join('the ' + place for place in places)}</small>"
    best = 'class="best"' if cell is result.best else ""
    if not cell.ran:
        return best, [name, (WHY, "refused: " + html.escape(cell.row["message"]))]
    times = [ms(cell.number(c)) for c in ("analysis", "setup", "update", "factor", "solve")]
    times[0] += levels_mark(cell)
    spread = [cell.row.get("solves") or "-", number(100 * cell.number("solve_spread"))]
    ratios = [number(result.over(cell, other)) for other in ("cusparse", "cpu-serial")]
    ratios += [number(1e-9 * cell.number("rate")), number(cell.number("solve_over_floor")),
               number(total.break_even(cell.name))]
    error = f"{cell.error:.1e}{' N' * cell.normwise}{' inaccurate' * (not cell.good)}"
    return best, [name + f" <small>{cell.note}</small>" * bool(cell.note)] + times + spread + ratios + [error]


def matrix_section(run, k, r):
    row = r.row
    facts = [row["triangle"]] + [f"{c} {row[c]}" for c in ("n", "nnz")]
    facts += [count(r.levels, "level", "levels"), f"widest {row['widest']}",
              f"longest row {row['longest']}; {row['type']}", f"op {row['op']}",
              count(int(row["nrhs"]), "right-hand side", "right-hand sides")]
    about = (html.escape(row["kind"]) + "; " if row["kind"] else "") + ", ".join(facts)
    if row.get("levels_by_rows"):
        about += "; levels by rows (R) {} ms, by columns (C) {} ms".format(
            *(ms(float(row.get(c) or NAN)) for c in ("levels_by_rows", "levels_by_columns")))
    heads = ("solver analysis setup update factor solve of &plusmn;% /cusparse /cpu-serial GB/s /floor break-even "
             "error").split()
    total = Total(r)
    drawn = total_of(r) if 1 < len(run.solved) <= MOST_DRAWN else []
    return (f'<section id="m{k + 1}"><h3>{html.escape(r.name)}</h3>\n<p>{about}</p>\n'
            + table(heads, [solver_row(r, c, total) for c in r.cells.values()])
            + "".join(shown(f) for f in drawn) + "</section>\n")


def shown(figure, attributes=""):
    return (f"<figure{attributes}><div>\n{figure.svg}</div><figcaption>{html.escape(figure.caption)}</figcaption>"
            "</figure>\n")


def make_page(run):
    row = {k: html.escape(v or "") for k, v in run.results[0].row.items()} if run.results else {}
    parts = [summary(run), facts(run)]
    figures = make_figures(run)
    links = [f'<a href="#figure-{f.name}">{f.name}</a>' for f in figures]
    if run.solved and not run.dense:
        parts.append(solvers(run))
    if figures:
        parts.append(section("figures", "Figures", *(
            shown(f, f' id="figure-{f.name}"') for f in figures)))
    if run.solved and not run.dense:
        parts.append(slow_choices(run))
    parts += [failed(run), matrices(run)]
    contents = re.findall('<section id="(.*)"><h2>(.*)</h2>', "".join(p[:200] for p in parts))
    items = "".join(f'<li><a href="#{place}">{name}</a>' + (": " + ", ".join(links)) *
                    (place == "figures") + "</li>" for place, name in contents)
    parts += [matrix_section(run, k, r) for k, r in enumerate(run.results) if r.cells]
    where = "GPU solvers find B and X in device memory" if run.on_device else "B and X on the host"
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n<meta name="viewport" '
            f'content="width=device-width, initial-scale=1">\n<title>trisolve-bench, '
            f"{row.get('date', '')}</title>\n<style>{STYLE}</style></head><body>\n"
            f"<h1>trisolve-bench</h1>\n<p>{row.get('cpu', '')}; {row.get('gpu', '')}; {row.get('date', '')}</p>\n"
            f"<p>Times in ms, medians, warm; {where}. Bold: the fastest solve. A ratio below 1 is "
            "faster. &plusmn;%: the distance of the quartiles over the median. GB/s: matrix, B and X over the "
            "solve. /floor: the solve over the time that memory takes for these bytes, or that all levels "
            "wait for each other. break-even: the number of solves from which on a plan with default options "
            f"takes no longer in total.</p>\n<nav><ul>{items}</ul></nav>\n{''.join(parts)}</body></html>\n")


# ---- what each solver is worth -------------------------------------------------------------------

def regret(run, solves):
    """For each solver, the total time of the best of the others over that of the best of all."""
    problems = {}  # (a triangle, cpu or cuda): seconds of each solver
    for r in run.solved:
        for c in r.cells.values():
            if c.good:
                place = [r.row.get(k) for k in ("file", "matrix", "triangle", "type", "op", "nrhs")]
                times = problems.setdefault((*place, c.needs), {})
                total = c.number("analysis", 0) + c.number("setup", 0) + solves * c.solve
                times[c.name] = min(total, times.get(c.name, total))
    out = (f"Total time (analysis, setup, {solves} solves) without a solver over that with all of them\n"
           f"{'on':5}{'solver':22}{'triangles':>10}{'alone':>7}{'worst':>9}{'mean':>9}  worst on\n")
    rows = []
    for name, needs in {(c.name, c.needs) for c in run.solvers.values()}:
        if VENDOR.match(name) or BASELINE.match(name):
            continue
        group = [(key[1], times) for key, times in problems.items() if key[-1] == needs]
        others = [(m, times, [t for n, t in times.items() if n != name]) for m, times in group]
        ratios = [(min(rest) / min(times.values()), m) for m, times, rest in others if rest]
        worst, where = max(ratios, default=(NAN, "-"))
        rows.append((needs, -worst, f"{needs:5}{name:22}{len(group):10}{len(group) - len(ratios):7}"
                     f"{worst:9.3f}{mean(v for v, _ in ratios):9.4f}  {where}\n"))
    return out + "".join(row[-1] for row in sorted(rows))


# ---- the command line ----------------------------------------------------------------------------

def write(name, words):
    """The file appears complete or not at all.  A link is followed; what is no regular file is written directly."""
    if name == "-":
        if sys.stdout is None:
            raise OSError("standard output is closed")
        sys.stdout.reconfigure(encoding="utf-8")
        sys.stdout.write(words)
        sys.stdout.flush()
        return
    target = os.path.realpath(name)
    is_open = re.match("/dev/(std|fd/)|/proc/", os.path.abspath(name))
    if is_open or (os.path.exists(target) and not os.path.isfile(target)):
        with open(name, "w", encoding="utf-8") as f:
            f.write(words)
        return
    mode = os.stat(target).st_mode & 0o7777 if os.path.exists(target) else 0o666 & ~umask()
    fd, part = tempfile.mkstemp(prefix=os.path.basename(target) + ".part-", dir=os.path.dirname(target))
    try:
        with open(fd, "w", encoding="utf-8") as f:
            f.write(words)
            f.flush()
            os.fchmod(fd, mode)
            os.fsync(fd)
        os.replace(part, target)
    except BaseException:
        os.unlink(part)
        raise


def umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


class Parser(argparse.ArgumentParser):
    def print_help(self, file=None):
        """The one of argparse ignores that it cannot be written."""
        write("-", self.format_help())


def main():
    p = Parser(prog="trisolve-report", description="Show results of trisolve-bench.")
    p.add_argument("file", nargs="+", help="CSV of trisolve-bench, or with --plot documents of "
                   "trisolve-sparse --json; -: standard input")
    p.add_argument("-o", "--html", metavar="FILE", help="write a page; -: to standard output")
    p.add_argument("--plot", metavar="DIR", help="write each figure to DIR/NAME.svg")
    p.add_argument("--widths", metavar="TITLE", help="write a figure of the levels that the CSV of "
                   "trisolve-info has to standard output")
    p.add_argument("--spy", metavar="TITLE", help="the same for a pattern")
    p.add_argument("--regret", action="store_true", help="print how much longer the systems take "
                   "without each solver that is neither a baseline nor a vendor's")
    p.add_argument("--solves", metavar="K", type=int, default=300,
                   help="with --regret: solves for each analysis (default %(default)s)")
    args = p.parse_args()
    if not (args.html or args.plot or args.widths or args.spy or args.regret):
        p.error("one of -o, --plot, --widths, --spy and --regret is needed")
    if args.widths or args.spy:
        draw = widths if args.widths else spy
        write("-", draw(open(0, encoding="utf-8"), args.widths or args.spy))
        return
    documents = read_documents(args.file) if args.plot else []
    run = None if documents else Run(args.file)
    if args.html:
        write(args.html, make_page(run))
    if args.plot:
        figures = residuals(documents) + times(documents) if documents else make_figures(run)
        os.makedirs(args.plot, exist_ok=True)
        for f in figures:
            write(os.path.join(args.plot, f.name + ".svg"), f.svg)
        if not figures:
            print("trisolve-report: nothing to draw", file=sys.stderr)
    if args.regret:
        write("-", regret(run, args.solves))


if __name__ == "__main__":
    try:
        main()
    except (OSError, KeyError, ValueError) as error:
        sys.exit(f"trisolve-report: {type(error).__name__}: {error}")

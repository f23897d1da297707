#!/usr/bin/env python3
"""Draws structure.svg and solve.svg, the figures of ../README.md, beside this file."""

import os

CONSUMERS, WARP = 6, 32
INK, GREY, LOCAL, HALO, LATE, LOAD = "#222", "#999", "#9ec5e8", "#f4b183", "#4a86c5", "#b7d7a8"


class Drawing:
    def __init__(self, width, height):
        self.size, self.parts = (width, height), []

    def rect(self, x, y, w, h, fill="none", stroke=INK, width=1):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" '
                          f'fill="{fill}" stroke="{stroke}" stroke-width="{width}"/>')

    def polygon(self, points, fill):
        at = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polygon points="{at}" fill="{fill}" stroke="{INK}"/>')

    def line(self, x1, y1, x2, y2, stroke=INK, arrow=False, dash=""):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{stroke}"'
                          + (' marker-end="url(#head)"' if arrow else "")
                          + (f' stroke-dasharray="{dash}"' if dash else "") + "/>")

    def text(self, x, y, s, size=12, anchor="start", fill=INK, bold=False):
        weight = ' font-weight="bold"' if bold else ""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
                          f'fill="{fill}"{weight}>{s}</text>')

    def write(self, name):
        w, h = self.size
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), "w") as f:
            f.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" '
                    f'viewBox="0 0 {w} {h}" font-family="Helvetica, Arial, sans-serif">\n'
                    '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
                    f'markerHeight="7" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="{INK}"/></marker></defs>\n'
                    f'<rect width="{w}" height="{h}" fill="#fff"/>\n' + "\n".join(self.parts) + "\n</svg>\n")


def draw_triangle(d, x, y, size, tiles):
    d.text(x, y - 12, "T, cut into row tiles", bold=True)
    step = size / tiles
    for k in range(tiles):
        top = y + k * step
        if k:
            d.rect(x, top, k * step, step, HALO)
        d.polygon([(x + k * step, top), (x + k * step, top + step), (x + (k + 1) * step, top + step)], LOCAL)
        d.text(x - 6, top + step / 2 + 4, f"{k}", anchor="end")
    d.text(x + 1.35 * step, y + 3.55 * step, "halo x", anchor="middle")
    d.text(x + 3.08 * step, y + 3.87 * step, "local", size=11)
    d.text(x, y + size + 18, "a tile is solved by one block of threads;", size=11)
    d.text(x, y + size + 33, "on a grid it is a strip of the grid", size=11)


def draw_tasks(d, x, y):
    d.text(x, y - 12, "a tile, level by level", bold=True)
    rows = [(0, 0, 32), (1, 0, 11), (2, 1, 32), (3, 1, 32), (4, 1, 5), (5, 2, 32), (6, 2, 20), (7, 3, 28)]
    for k, (task, level, count) in enumerate(rows):
        top = y + 22 * k
        d.text(x, top + 12, f"task {task}", size=11)
        d.text(x + 46, top + 12, f"level {level}", size=11, fill="#666")
        d.rect(x + 92, top, 4 * WARP, 15, "#fff", GREY)
        d.rect(x + 92, top, 4 * count, 15, LOCAL)
    top = y + 22 * len(rows)
    d.text(x + 92, top + 14, "lane 0", size=11)
    d.text(x + 92 + 4 * WARP, top + 14, "lane 31", size=11, anchor="end")
    d.text(x, top + 33, "a task has up to 32 rows of one level;", size=11)
    d.text(x, top + 48, "task t goes to consumer warp t mod 6", size=11)


def draw_ells(d, x, y):
    d.text(x, y - 12, "a task: sliced ELLPACK", bold=True)
    columns = [("early", "halo or older local x", [HALO, LOCAL, HALO, HALO, LOCAL, HALO, None, HALO]),
               ("early", "", [LOCAL, LOCAL, None, HALO, LOCAL, None, None, LOCAL]),
               ("late", "x of the 5 tasks before", [LATE, LATE, LATE, LATE, LATE, LATE, LATE, LATE]),
               ("late", "", [None, LATE, LATE, None, LATE, None, LATE, None]),
               ("carry", "-1: a partial sum", ["#ddd"] * 8)]
    for k, (kind, what, cells) in enumerate(columns):
        top = y + 22 * k
        d.text(x, top + 12, f"ELL {k}", size=11)
        for lane, fill in enumerate(cells):
            d.rect(x + 40 + 15 * lane, top, 15, 15, fill or "#fff", GREY)
            if not fill:
                d.text(x + 47.5 + 15 * lane, top + 12, "0", size=10, anchor="middle", fill=GREY)
        d.text(x + 168, top + 12, kind, size=11)
        d.text(x + 204, top + 12, what, size=11, fill="#666")
    top = y + 22 * len(columns)
    d.text(x, top + 14, "a cell is a value and a slot code, not a column;", size=11)
    d.text(x, top + 29, "its slot holds a halo x (orange) or a local x (blue)", size=11)


def draw_packet(d, x, y):
    d.text(x, y - 12, "a packet: up to 6 tasks and 16 ELL columns, one bulk copy", bold=True)
    for name, size, w, fill in [("head", "32 bytes", 60, "#eee"), ("values", "ells x 32 x elem", 170, LOCAL),
                                ("1 / d", "tasks x 32 x elem", 110, LOCAL), ("rows", "tasks x 32 x 4", 90, LOAD),
                                ("slot codes", "ells x 32 x 2", 100, HALO)]:
        d.rect(x, y, w, 24, fill)
        d.text(x + w / 2, y + 16, name, size=11, anchor="middle")
        d.text(x + w / 2, y + 39, size, size=10, anchor="middle", fill="#666")
        x += w


def draw_rings(d, x, y):
    d.text(x, y - 12, "shared memory of a block", bold=True)
    for k in range(32):  # tasks of the local ring; the consumers are at tasks 24 to 29
        past, window = k < 8, 8 <= k < 24
        d.rect(x + 80 + 14 * k, y, 14, 20, "#fff" if past or k >= 30 else LOCAL if window else LATE)
    d.text(x, y + 14, "local ring", size=11)
    d.text(x + 80, y + 34, "emptied", size=10, fill="#666")
    d.text(x + 80 + 14 * 16, y + 34, "window: 16 tasks, done", size=10, anchor="middle", fill="#666")
    d.text(x + 80 + 14 * 27, y + 34, "6 under way", size=10, anchor="middle", fill="#666")
    d.text(x + 80 + 14 * 32 + 6, y + 14, "32 tasks x 32 slots", size=10, fill="#666")
    y += 50
    for k in range(32):
        d.rect(x + 80 + 14 * k, y, 14, 20, HALO if 5 <= k < 26 else "#fff")
    d.text(x, y + 14, "halo ring", size=11)
    d.text(x + 80 + 14 * 15.5, y + 34, "fetched, some task will read it", size=10, anchor="middle", fill="#666")
    d.text(x + 80 + 14 * 32 + 6, y + 14, "2048 slots", size=10, fill="#666")
    y += 50
    for k in range(12):
        d.rect(x + 80 + 37.3 * k, y, 37.3, 20, LOAD if 2 <= k < 9 else "#fff")
    d.text(x, y + 14, "stages", size=11)
    d.text(x + 80 + 37.3 * 5.5, y + 34, "packets that have arrived or are on the way", size=10, anchor="middle",
           fill="#666")
    d.text(x + 80 + 14 * 32 + 6, y + 14, "up to 12 packets", size=10, fill="#666")


def draw_structure():
    d = Drawing(900, 555)
    draw_triangle(d, 40, 40, 190, 5)
    draw_tasks(d, 275, 40)
    draw_ells(d, 530, 40)
    draw_packet(d, 40, 325)
    draw_rings(d, 40, 405)
    d.write("structure.svg")


def times(tasks, ready):
    """Of each task of a tile: when it begins, when its x is there, and when it is done.  Each needs x of the one
    before it; ready (t): when its halo x are in their slots."""
    begin, there, done = [], [], []
    for t in range(tasks):
        before = max(done[: t - CONSUMERS + 1], default=0) if t >= CONSUMERS else 0
        own = done[t - CONSUMERS] if t >= CONSUMERS else 0
        begin.append(max(before, own))
        there.append(max(begin[t] + 2.2, ready(t) + 1.3, (there[t - 1] if t else 0) + 1))
        done.append(there[t] + 0.8)
    return begin, there, done


def draw_block(d, x, y, unit, name, tasks, when, fetched):
    begin, there, done = when
    d.text(x - 110, y - 8, name, bold=True)
    d.text(x - 8, y + 11, "loader", size=11, anchor="end")
    for p in range((tasks + 2) // 3):
        d.rect(x + unit * 1.25 * p, y, unit * 1.15, 14, LOAD)
        d.text(x + unit * (1.25 * p + 0.55), y + 11, f"{p}", size=10, anchor="middle")
    d.text(x - 8, y + 29, "fetchers", size=11, anchor="end")
    for at, label in fetched:
        d.rect(x + unit * at, y + 18, unit * 0.35, 14, HALO)
        d.text(x + unit * at + unit * 0.17, y + 29, label, size=8, anchor="middle")
    for k in range(CONSUMERS):
        top = y + 36 + 16 * k
        d.text(x - 8, top + 11, f"consumer {k}", size=11, anchor="end")
        for t in range(k, tasks, CONSUMERS):
            ready = max(begin[t], there[t] - 0.9)
            d.rect(x + unit * begin[t], top, unit * (ready - begin[t]), 13, "#fff", GREY)
            d.rect(x + unit * ready, top, unit * (there[t] - ready), 13, LATE)
            d.rect(x + unit * there[t], top, unit * (done[t] - there[t]), 13, LOCAL)
            d.text(x + unit * (begin[t] + 0.15), top + 10, f"{t}", size=9)


def draw_solve():
    tasks, unit, x = 18, 33, 120
    d = Drawing(900, 475)
    first = times(tasks, lambda t: 0)
    halo = {t: first[1][t + 2] + 1.4 for t in range(tasks - 3)}  # when a fetcher has it
    second = times(tasks - 3, lambda t: halo[t])
    draw_block(d, x, 40, unit, "block 0, tile 0", tasks, first, [])
    draw_block(d, x, 230, unit, "block 1, tile 1", tasks - 3, second, [(halo[t] - 0.35, f"{t}") for t in halo])
    for t in (0, 4, 8):
        row = 40 + 36 + 16 * ((t + 2) % CONSUMERS)
        d.line(x + unit * first[1][t + 2], row + 7, x + unit * (halo[t] - 0.2), 230 + 18, arrow=True, dash="3,2")
        row = 230 + 36 + 16 * (t % CONSUMERS)
        d.line(x + unit * halo[t] - 4, 230 + 32, x + unit * (second[1][t] - 0.8), row + 1, arrow=True, dash="3,2")
    y = 415
    d.line(x, y - 18, x + unit * 22, y - 18, arrow=True)
    d.text(x + unit * 22 + 8, y - 14, "time", size=11)
    for fill, what in [("#fff", "x of early ELL columns, or late x, are waited for"),
                       (LATE, "late ELL columns"), (LOCAL, "x is published, task done"),
                       (LOAD, "bulk copy of a packet"), (HALO, "halo x to its slot")]:
        d.rect(x, y, 14, 12, fill, GREY)
        d.text(x + 19, y + 10, what, size=10)
        x += 30 + 4.9 * len(what)
    d.text(120, y + 32, "A task begins when all tasks up to 6 before it are done.  Each bar is a task; "
           "x of one task to x of the next is the latency of a level.", size=11)
    d.text(120, y + 48, "Tile 1 follows tile 0 by as many levels as lie between them, and by one crossing "
           "(dashed) through global memory.", size=11)
    d.write("solve.svg")


draw_structure()
draw_solve()

#!/usr/bin/env python3
"""figures.py: writes pass.svg and solve.svg, the figures of README.md.  The pass is that of a real triangle: the lower
part of a 5-point grid, of which the odd levels are merged."""

SIDE = 4  # of the grid
CELL = 15  # pixels of an entry
INK, LIGHT, KEPT, FILL, GONE = "#222222", "#e4e9f0", "#3b6ea5", "#d9822b", "#c0392b"


def triangle():
    """Rows as sets of columns, and the level of each row."""
    rows = [set() for _ in range(SIDE * SIDE)]
    for i in range(SIDE * SIDE):
        if i % SIDE:
            rows[i].add(i - 1)
        if i >= SIDE:
            rows[i].add(i - SIDE)
    return rows, [i % SIDE + i // SIDE for i in range(SIDE * SIDE)]


def rewrite(rows, level):
    """T' and N: into rows of odd levels the rows of the level before are substituted."""
    new, n = [], []
    for i, row in enumerate(rows):
        out = {j for j in row if level[i] % 2 and level[j] == level[i] - 1}
        new.append((row - out).union(*[rows[j] for j in out]))
        n.append(out)
    return new, n, [l // 2 for l in level]


class Svg:
    def __init__(self, width, height):
        self.size, self.body = (width, height), []

    def rect(self, x, y, w, h, fill, stroke="none"):
        self.body.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" fill="{fill}" '
                         f'stroke="{stroke}"/>')

    def line(self, x, y, u, v, color=INK, dash=""):
        self.body.append(f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{u:.1f}" y2="{v:.1f}" stroke="{color}" '
                         f'stroke-width="1.2" stroke-dasharray="{dash}"/>')

    def text(self, x, y, what, anchor="start", size=13):
        self.body.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
                         f'fill="{INK}">{what}</text>')

    def write(self, name):
        w, h = self.size
        with open(name, "w", encoding="utf-8") as f:
            f.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" '
                    f'font-family="sans-serif">\n<rect width="{w}" height="{h}" fill="white"/>\n')
            f.write("\n".join(self.body) + "\n</svg>\n")


def bands(level, order):
    """The first place and the number of rows of each level, in this order of the rows."""
    for l in sorted(set(level)):
        places = [k for k, i in enumerate(order) if level[i] == l]
        yield l, places[0], len(places)


def draw_matrix(svg, x, y, title, order, level, color_of):
    n = len(order)
    svg.text(x, y - 12, title)
    for l, first, count in bands(level, order):
        if l % 2 == 0:
            svg.rect(x, y + first * CELL, n * CELL, count * CELL, LIGHT)
        svg.text(x - 8, y + (first + count / 2) * CELL + 4, str(l), "end", 11)
    svg.text(x - 8, y - 4, "level", "end", 11)
    for a, i in enumerate(order):
        for b, j in enumerate(order):
            color = color_of(i, j)
            if color == GONE:
                u, v, w = x + b * CELL + 3, y + a * CELL + 3, CELL - 6
                svg.line(u, v, u + w, v + w, GONE)
                svg.line(u, v + w, u + w, v, GONE)
            elif color:
                svg.rect(x + b * CELL + 2, y + a * CELL + 2, CELL - 4, CELL - 4, color)
    svg.rect(x, y, n * CELL, n * CELL, "none", INK)


def draw_pass():
    rows, level = triangle()
    new, out, new_level = rewrite(rows, level)
    order = sorted(range(len(rows)), key=lambda i: (level[i], i))
    size = len(rows) * CELL
    svg = Svg(2 * size + 190, size + 110)

    def before(i, j):
        if j in out[i]:
            return GONE
        return INK if i == j else KEPT if j in rows[i] else None

    def after(i, j):
        if i == j or j not in new[i]:
            return INK if i == j else None
        return KEPT if j in rows[i] else FILL

    draw_matrix(svg, 60, 50, "T, rows in level order", order, level, before)
    draw_matrix(svg, 130 + size, 50, "T' = (I - N) T", order, new_level, after)
    svg.text(95 + size, 50 + size / 2, "&#8594;", "middle", 24)
    y, x = size + 85, 60
    for color, what in ((KEPT, "entry"), (INK, "diagonal"), (FILL, "entry that T does not have")):
        svg.rect(x, y - 11, 11, 11, color)
        svg.text(x + 17, y, what)
        x += 40 + 8 * len(what)
    svg.line(x, y - 10, x + 10, y, GONE)
    svg.line(x, y, x + 10, y - 10, GONE)
    svg.text(x + 17, y, "eliminated: entry of N")
    svg.write("pass.svg")
    return len(set(level)), len(set(new_level))


def draw_solve(before, after):
    """Time goes from left to right; a latency of T' is a little longer, and a product with M takes some of them."""
    step, longer, product = 62, 74, 100
    svg = Svg(190 + before * step, 205)
    x, y = 140, 45

    def levels(x, y, count, width):
        for l in range(count):
            svg.rect(x + l * width, y, width * 0.3, 34, KEPT)
            if l + 1 < count:
                svg.line(x + (l + 0.3) * width, y + 17, x + (l + 1) * width, y + 17, INK, "3,3")
            svg.text(x + (l + 0.15) * width, y + 50, str(l), "middle", 11)
        svg.line(x + (count - 0.6) * width, y - 6, x + (count - 0.6) * width, y + 40)

    svg.text(10, y + 15, "cuda-dataflow")
    svg.text(10, y + 31, "on T")
    levels(x, y, before, step)
    y += 90
    svg.text(10, y + 15, "cuda-merged,")
    svg.text(10, y + 31, "one pass")
    svg.rect(x, y, product - 8, 34, FILL)
    svg.text(x + product / 2 - 4, y + 22, "M b", "middle")
    levels(x + product, y, after, longer)
    svg.line(x, y + 60, x + before * step, y + 60)
    svg.text(x + before * step + 8, y + 64, "time")
    svg.text(x, 25, "box: the rows of a level are computed; dashes: a dependency latency", size=12)
    svg.write("solve.svg")


draw_solve(*draw_pass())

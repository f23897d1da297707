#!/usr/bin/env python3
"""design.py: writes design.svg, the way of a matrix through the library, which design.md explains."""

WIDTH, HEIGHT = 940, 790
HOST, DEVICE = (150, 400), (590, 330)  # left edge and width of the two columns
BLUE, GREEN, GREY = ("#e3edf7", "#1f4e79"), ("#e3f1df", "#38761d"), ("#f2f2f2", "#777777")

body = []


def text(x, y, what, size=13, anchor="start", extra=""):
    body.append(f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}" {extra}>{what}</text>')


def box(x, y, width, height, colours, title, *lines, module=""):
    fill, stroke = colours
    body.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="4" fill="{fill}" stroke="{stroke}"/>')
    text(x + 10, y + 18, title, extra='font-weight="bold"')
    for k, line in enumerate(lines):
        text(x + 10, y + 36 + 16 * k, line, 12)
    text(x + width - 8, y + 18, module, 11, "end", 'font-family="monospace" fill="#555555"')


def arrow(x, y, u, v, what="", both=False, dashed=False, at=(6, -5)):
    start = ' marker-start="url(#head)"' if both else ""
    dash = ' stroke-dasharray="5 4"' if dashed else ""
    body.append(f'<path d="M{x} {y} L{u} {v}" stroke="#333333" fill="none" marker-end="url(#head)"{start}{dash}/>')
    text((x + u) / 2 + at[0], (y + v) / 2 + at[1], what, 11, extra='fill="#333333"')


def call(y, *names):
    for k, name in enumerate(names):
        text(8, y + 16 * k, name, 11.5, extra='font-family="monospace"')


def host(y, height, title, *lines, module=""):
    box(HOST[0], y, HOST[1], height, BLUE, title, *lines, module=module)


def device(y, height, title, *lines, module=""):
    box(DEVICE[0], y, DEVICE[1], height, GREEN, title, *lines, module=module)


def down(y, v, columns=(HOST, DEVICE)):
    for x, width in columns:
        arrow(x + width / 2, y, x + width / 2, v)


text(HOST[0] + HOST[1] / 2, 20, "host", 14, "middle")
text(DEVICE[0] + DEVICE[1] / 2, 20, "device", 14, "middle")
body.append(f'<path d="M570 30 L570 {HEIGHT - 10}" stroke="#aaaaaa" stroke-dasharray="2 4"/>')

call(50, "trs_mm_read", "trs_rb_read")
host(30, 44, "file", "Matrix Market or Harwell-Boeing, packed or not", module="lib/io")
down(74, 92, [HOST])

host(92, 44, "trs_mat: the caller's arrays", "CSR, CSC, BSR or dense, of either triangle")
device(92, 44, "trs_mat on the device", "CSR or CSC")
down(136, 158)

call(178, "trs_plan_create")
host(158, 60, "import", "check; to rows, sorted, diagonal last; a permuted triangle:", "P and Q are found", module="lib/matrix")
device(158, 60, "import", "check; taken over if it is canonical already", module="cuda/matrix")
arrow(590, 200, 550, 200, "else", dashed=True, at=(-12, -5))
down(218, 252)

box(HOST[0], 252, DEVICE[0] + DEVICE[1] - HOST[0], 84, GREY, "operator op(T): a canonical lower triangle",
    module="lib/matrix/operator.h")
for (x, width), ask in ((HOST, "trs_operator_host"), (DEVICE, "trs_operator_device")):
    text(x + 10, 294, ask, 11.5, extra='font-family="monospace"')
    text(x + 10, 312, "pattern | values | levels", 12)
    text(x + 10, 328, "there on first demand, then kept", 11, extra='fill="#555555"')
arrow(440, 308, 584, 308, "copied on demand", both=True, at=(-46, -6))
down(336, 368)

call(388, "trs_plan_analyse", "trs_plan_load")
host(368, 60, "levels and analyses", "levels: one sweep over the rows; supernodes; row tiles;", "a two-way cut: each made when a solver asks for it",
     module="lib/analysis, cuda/*")
device(368, 60, "levels", "a search by all rows at once;", "statistics of the levels", module="cuda/matrix")
arrow(350, 428, 350, 456)
arrow(755, 428, 535, 456, "features", at=(70, 12))

host(456, 60, "estimate and choice", "every solver predicts its seconds from the features and the", "costs of the machine; the least is taken",
     module="lib/select")
box(590, 470, 330, 44, GREY, "wisdom, or costs of the machine", "measured for this pattern; calibrated or built in")
arrow(590, 492, 552, 492)
down(516, 548, [HOST])
arrow(550, 516, 600, 546)

call(568, "trs_plan_update")
host(548, 60, "instance of a CPU solver", "build: pattern to the solver's own data", "update: new values into it", module="lib/solvers")
device(548, 60, "instance of a CUDA solver", "build and update, in the same way;", "each algorithm has its own module", module="cuda/*")
body.append('<path d="M150 578 L136 578 L136 486 L148 486" stroke="#333333" fill="none" stroke-dasharray="5 4" '
            'marker-end="url(#head)"/>')
text(132, 536, "estimate again", 11, "end", 'fill="#333333"')
down(608, 640)

call(660, "trs_solve")
host(640, 60, "solve", "B and X are seen through strides; only a permutation, or", "the memory of the other column, makes a copy", module="lib/core")
device(640, 60, "solve", "the same views; all of it is enqueued on a stream", module="lib/core, cuda/runtime")
text(DEVICE[0] + 10, 692, "what changes is in a work space", 12)

call(742, "trs_factor, trs_ilu", "trs_refine, ...")
box(HOST[0], 722, 375, 44, GREY, "A x = b", "factors of A, and a plan for each of L and U", module="lib/factor")
box(545, 722, 375, 44, GREY, "how good is x", "residual, refinement, condition: solves again", module="lib/accuracy")
arrow(337, 722, 337, 702)
arrow(700, 722, 700, 702)

with open("design.svg", "w", encoding="utf-8") as f:
    f.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
            'font-family="sans-serif" fill="#222222">\n<defs><marker id="head" markerWidth="9" markerHeight="9" refX="7" '
            'refY="4" orient="auto-start-reverse"><path d="M0 0 L8 4 L0 8 Z" fill="#333333"/></marker></defs>\n'
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>\n' + "\n".join(body) + "\n</svg>\n")

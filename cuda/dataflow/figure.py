#!/usr/bin/env python3
"""figure.py: draws dataflow.svg: the schedule of a small triangle, and one solve in time.

The schedule is made as flow.cu makes it, with a warp of 4 lanes that have one entry each in flight, rows of more than
4 entries being cut into partial sums of 3.  In time, a task is ready one latency after the last of its operands.

    python3 figure.py >dataflow.svg"""

WARP, BATCH, PARTIAL, WARPS = 4, 1, 3, 3
COLUMNS = [[], [], [0], [1], [0, 1], [2, 3], [4], [3, 4], [0, 1, 2, 3, 5, 6], [7]]
COLOUR = ["#cfe2f3", "#d9ead3", "#fff2cc", "#f4cccc", "#ead1dc", "#d9d2e9", "#e0e0e0", "#fce5cd"]
LATENCY, WORK, READ = 46, 20, 14

# ---- the schedule ----------------------------------------------------------------------------------------------

level = []
for columns in COLUMNS:
    level.append(1 + max((level[j] for j in columns), default=-1))


def nodes_of(i):
    """(key, lanes, row, partial, entries, partial sums among its operands), the row last"""
    entries = sorted(COLUMNS[i], key=lambda j: (level[j], j))
    cuts = len(entries) // PARTIAL - 1 if len(entries) > WARP * BATCH else 0
    for c in range(cuts):
        part = entries[c * PARTIAL:(c + 1) * PARTIAL]
        yield [2 * level[part[-1]] + 1, lanes_of(PARTIAL), i, True, part, 0]
    own = entries[cuts * PARTIAL:]
    yield [2 * level[i], lanes_of(len(own) + cuts), i, False, own, cuts]


def lanes_of(length):
    lanes = 1
    while lanes < WARP and lanes * BATCH < length:
        lanes *= 2
    return lanes


nodes = sorted((v for i in range(len(COLUMNS)) for v in nodes_of(i)), key=lambda v: v[:3])
row_node = {v[2]: k for k, v in enumerate(nodes) if not v[3]}
partials = {i: [k for k, v in enumerate(nodes) if v[3] and v[2] == i] for i in range(len(COLUMNS))}
operands = [(partials[v[2]] if v[5] else []) + [row_node[j] for j in v[4]] for v in nodes]
tasks = []
for k, v in enumerate(nodes):
    if tasks and nodes[k - 1][:2] == v[:2] and (len(tasks[-1]) + 1) * v[1] <= WARP:
        tasks[-1].append(k)
    else:
        tasks.append([k])

# ---- one solve ---------------------------------------------------------------------------------------------------

free, published, boxes = [0] * WARPS, {}, []
for t, task in enumerate(tasks):
    warp = t % WARPS
    begin = free[warp]
    ends = []
    for k in task:
        there = max((published[o] + LATENCY for o in operands[k]), default=begin + READ)
        ends.append(max(there, begin + READ) + WORK)
        published[k] = ends[-1]
    boxes.append((t, warp, begin, ends))
    free[warp] = max(ends)

# ---- drawing -----------------------------------------------------------------------------------------------------

out = []


def text(x, y, s, size=12, anchor="middle", **style):
    more = "".join(f' {k.replace("_", "-")}="{v}"' for k, v in style.items())
    out.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"{more}>{s}</text>')


def box(x, y, w, h, fill, stroke="#444"):
    out.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" fill="{fill}" stroke="{stroke}"/>')


def line(x1, y1, x2, y2, stroke="#444", more=""):
    out.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{stroke}" {more}/>')


def name(k):
    return ("s" if nodes[k][3] else "") + str(nodes[k][2])


def draw_triangle(x0, y0, cell):
    text(x0 + 5 * cell, y0 - 14, "a lower triangle, coloured by level", 13, font_weight="bold")
    for i, columns in enumerate(COLUMNS):
        text(x0 - 10, y0 + (i + .7) * cell, i, 11)
        for j in columns + [i]:
            box(x0 + j * cell, y0 + i * cell, cell, cell, COLOUR[2 * level[i]] if j == i else "#fff")
            text(x0 + (j + .5) * cell, y0 + (i + .7) * cell, "d" if j == i else "x", 11)
    box(x0, y0, 10 * cell, 10 * cell, "none")


def draw_schedule(x0, y0, cell):
    text(x0, y0 - 14, "its schedule", 13, "start", font_weight="bold")
    rows = ["node k", "row [k]", "key (level)", "lanes", "operands"]
    for r, label in enumerate(rows):
        text(x0, y0 + (r + .7) * 26, label, 12, "start")
    x0 += 84
    for k, v in enumerate(nodes):
        x = x0 + k * cell
        text(x + cell / 2, y0 + 18, k, 12)
        box(x, y0 + 26, cell, 26, COLOUR[v[0]])
        text(x + cell / 2, y0 + 44, f"-1 ({name(k)})" if v[3] else v[2], 11)
        text(x + cell / 2, y0 + 70, v[0], 12)
        text(x + cell / 2, y0 + 96, v[1], 12)
        for q, o in enumerate(operands[k]):
            text(x + cell / 2, y0 + 122 + 15 * q, o, 11)
    for t, task in enumerate(tasks):
        x1, x2, y = x0 + task[0] * cell + 3, x0 + (task[-1] + 1) * cell - 3, y0 + 192
        out.append(f'<path d="M{x1:.1f} {y - 6} v6 H{x2:.1f} v-6" fill="none" stroke="#444"/>')
        text((x1 + x2) / 2, y + 15, f"t{t}", 12)
    text(x0 - 84, y0 + 207, "task", 12, "start")
    text(x0 - 84, y0 + 236, f"s{8}: a partial sum of row 8, the first operand of that row.  "
         "Every operand has a smaller number than its node.", 11, "start", fill="#555")


def draw_time(x0, y0, height):
    at, scale = {}, 2.45
    text(x0 - 74, y0 - 20, "one solve in time: of three warps of 4 lanes, warp w takes the tasks t(w), t(w+3), t(w+6), ... in this order", 13, "start",
         font_weight="bold")
    for w in range(WARPS):
        text(x0 - 74, y0 + w * height + 26, f"warp {w}", 12, "start")
        line(x0, y0 + w * height + 48, x0 + 345 * scale, y0 + w * height + 48, "#ddd")
    for t, warp, begin, ends in boxes:
        y = y0 + warp * height + 8
        end = max(ends)
        box(x0 + begin * scale, y, (end - begin) * scale - 2, 30, "#f6f6f6", "#999")
        text(x0 + begin * scale + 4, y + 12, f"t{t}", 11, "start", fill="#333")
        for k, e in zip(tasks[t], ends):
            same = [m for m, f in zip(tasks[t], ends) if f == e]
            h = 30 / len(same)
            top = y + h * same.index(k)
            box(x0 + (e - WORK) * scale, top, WORK * scale - 2, h, COLOUR[nodes[k][0]])
            text(x0 + (e - WORK / 2) * scale - 1, top + h / 2 + 4, name(k), 10 if h > 12 else 9)
            at[k] = (x0 + e * scale - 2, top + h / 2)
    for t, warp, begin, ends in boxes:
        for k, e in zip(tasks[t], ends):
            last = max(operands[k], key=lambda o: published[o], default=None)
            if last is None or e - WORK > published[last] + LATENCY + 1:
                continue
            x, y = at[k]
            line(*at[last], x - WORK * scale + 2, y, "#c0392b", 'marker-end="url(#to)"')
    y = y0 + WARPS * height + 26
    box(x0, y - 11, 24, 14, "#f6f6f6", "#999")
    text(x0 + 30, y, "has read entries and b, looks for y", 11, "start")
    box(x0 + 250, y - 11, 24, 14, COLOUR[2])
    text(x0 + 280, y, "adds up, publishes y(k)", 11, "start")
    line(x0 + 440, y - 4, x0 + 480, y - 4, "#c0392b", 'marker-end="url(#to)"')
    text(x0 + 488, y, "the operand that came last: one dependency latency", 11, "start")


draw_triangle(46, 62, 19)
draw_schedule(290, 62, 52)
draw_time(100, 346, 58)
print('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 980 570" font-family="Helvetica, Arial, sans-serif">')
print('<defs><marker id="to" markerWidth="8" markerHeight="8" refX="7" refY="3" orient="auto">'
      '<path d="M0 0 L7 3 L0 6 z" fill="#c0392b"/></marker></defs>')
print('<rect width="980" height="570" fill="#fff"/>')
print("\n".join(out))
print("</svg>")

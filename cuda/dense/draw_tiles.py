#!/usr/bin/env python3
"""draw_tiles.py: writes tiles.svg, the figure of README.md: 11 rows of tiles, and when each of them is solved."""
import os

TILE, ROWS, PANEL = 26, 11, 4  # pixels of a tile
LEFT, TOP, RIGHT = 50, 40, 440  # where the triangle begins, where time begins
STEP, LINE = 13, 24  # pixels of a product with a tile, of a row of tiles in time

HEAD = '''<svg xmlns="http://www.w3.org/2000/svg" width="800" height="380" viewBox="0 0 800 380" font-family="sans-serif" font-size="13">
<style>
.m { fill: #cfe2f3; stroke: #1f4e79; } .d { fill: #9fc5e8; stroke: #1f4e79; } .s { fill: #fce5cd; stroke: #b45f06; }
.w { fill: #eeeeee; stroke: #888888; } .c { text-anchor: middle; font-size: 11px; } .n { font-size: 11px; fill: #444; }
.t { stroke: #555; fill: none; } .x { fill: #38761d; }
</style>
<rect width="800" height="380" fill="white"/>'''


def first_of_panel(t):
    return t // PANEL * PANEL


def kind(t, s):
    if s == t:
        return 'd'
    return 'm' if s >= first_of_panel(t) else 's'


def rect(kind, x, y, width, height):
    return f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}"/>'


def text(kind, x, y, words):
    return f'<text class="{kind}" x="{x}" y="{y}">{words}</text>'


def triangle():
    yield text('', LEFT - 10, 24, 'Tiles of 64x64; four rows of tiles are a panel')
    for t in range(ROWS):
        for s in range(t + 1):
            yield rect(kind(t, s), LEFT + s * TILE, TOP + t * TILE, TILE, TILE)
    for t, s, name in (6, 2, 'S'), (7, 5, 'M'):
        yield text('c', LEFT + (s + 0.5) * TILE, TOP + (t + 0.65) * TILE, name)
    for t in PANEL, 2 * PANEL:
        yield f'<path class="t" stroke-width="2" d="M{LEFT} {TOP + t * TILE} h{min(t + PANEL, ROWS) * TILE}"/>'
    bottom = TOP + ROWS * TILE
    yield text('n', LEFT, bottom + 18, 'blue: M = D⁻¹, times b; orange: S = M L, times x')
    yield text('n', LEFT, bottom + 34, 'Rows 4 .. 7 wait for panel 0 (rows 0 .. 3), not for one another.')


def row_in_time(t, y, there):
    """The products of row t; there [panel]: when x of a panel has been published.  Returns lines and the end."""
    x, lines = RIGHT, [text('n', RIGHT - 40, y + 14, f't = {t}')]
    for s in range(first_of_panel(t), t + 1):
        lines.append(rect(kind(t, s), x, y, STEP, 18))
        x += STEP
    for panel in range(t // PANEL):
        if x < there[panel]:
            lines.append(rect('w', x, y, there[panel] - x, 18))
            x = there[panel]
        for _ in range(PANEL):
            lines.append(rect('s', x, y, STEP, 18))
            x += STEP
    lines.append(f'<circle class="x" cx="{x + 7}" cy="{y + 9}" r="5"/>')
    return lines, x + 14


def one_solve():
    yield text('', RIGHT - 40, 24, 'One solve: a block of threads a row, by tickets')
    there, end, y = [], 0, TOP
    for t in range(ROWS):
        lines, last = row_in_time(t, y, there)
        yield from lines
        end, y = max(end, last), y + LINE
        if t % PANEL == PANEL - 1:
            there.append(end + 6)
    yield f'<path class="t" d="M{RIGHT} {y + 8} H770 m-6 -4 l6 4 l-6 4"/>'
    yield text('n', 742, y + 24, 'time')
    yield rect('w', RIGHT, y + 22, 2 * STEP, 14) + text('n', RIGHT + 34, y + 33, 'waits for x of a panel')
    yield f'<circle class="x" cx="{RIGHT + 180}" cy="{y + 29}" r="5"/>' + text('n', RIGHT + 192, y + 33, 'publishes its x')


with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'tiles.svg'), 'w') as out:
    out.write('\n'.join([HEAD, *triangle(), *one_solve(), '</svg>']) + '\n')

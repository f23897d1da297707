"""What notebooks show of plans and factors: the rows of each level as a small picture, and the choice of the solver."""

from __future__ import annotations

from ctypes import POINTER, c_int32
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._library import C, Error, check
from ._solver import copy_array, plan_info

WIDTH, HEIGHT, BARS = 300, 60, 100


def rows_of_levels(plan: Any, levels: int) -> NDArray[np.int64] | None:
    """How many rows each level has; None: op N is not among the ops, or there are no levels."""
    rows, starts = POINTER(c_int32)(), POINTER(c_int32)()
    try:
        check(C.trs_plan_levels(plan, rows, starts))
    except Error:
        return None
    return np.diff(copy_array(starts, levels + 1, "i4").astype(np.int64)) if levels else None


def picture(rows: NDArray[np.int64]) -> str:
    """Bars of the mean number of rows in up to BARS groups of neighbouring levels."""
    means = [float(group.mean()) for group in np.array_split(rows, min(len(rows), BARS))]
    step, top = WIDTH / len(means), max(means)
    heights = [max(HEIGHT * mean / top, 0.5) for mean in means]
    bars = "".join(f'<rect x="{k * step:.1f}" y="{HEIGHT - height:.1f}" width="{max(step - 0.5, 0.5):.1f}" '
                   f'height="{height:.1f}"/>' for k, height in enumerate(heights))
    label = f"rows by level: {len(rows)} levels, at most {rows.max()} rows"
    return (f'<svg width="{WIDTH}" height="{HEIGHT + 16}" viewBox="0 0 {WIDTH} {HEIGHT + 16}" role="img" '
            f'aria-label="{label}" fill="currentColor">{bars}'
            f'<text x="0" y="{HEIGHT + 13}" font-size="11">{label}</text></svg>')


def html(head: str, plans: list[Any]) -> str:
    """A paragraph, and the picture, solver and reason of each plan."""
    parts = [f"<p>{escape(head)}</p>"]
    for plan in plans:
        info = plan_info(plan)
        rows = rows_of_levels(plan, info.levels)
        parts.append((picture(rows) if rows is not None else "")
                     + f"<p><b>{escape(info.solver or '')}</b>: {escape(info.reason or '')}</p>")
    return "<div>" + "".join(parts) + "</div>"

"""Tables as aligned text."""

from __future__ import annotations

import math
from collections.abc import Sequence

from core.commands.terminal import Block, visible
from core.estimates import Estimate
from core.sweep import Spread


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> Block:
    """Return a table with its first `left` columns flush left and the others flush right."""
    header, rows = [visible(cell) for cell in header], [[visible(cell) for cell in row] for row in rows]
    widths = [max(len(line[i]) for line in (header, *rows)) for i in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        set_ = [c.ljust(w) if i < left else c.rjust(w) for i, (c, w) in enumerate(zip(cells, widths, strict=True))]
        return "  ".join(set_).rstrip()

    return Block("\n".join([line(header), "  ".join("-" * width for width in widths), *map(line, rows)]))


def spread_words(spread: Spread | None, *, signed: bool = False, percent: bool = True) -> str:
    """Return a number with its interval, such as "76.3 [75.6, 77.0]"; "none" where there is nothing."""
    return "none" if spread is None else _words(spread.mean, spread.low, spread.high, signed=signed, percent=percent)


def estimate_words(estimate: Estimate, *, signed: bool = False, percent: bool = True) -> str:
    """Return an estimate with its interval in the same form; "none" where nothing was measured."""
    if math.isnan(estimate.value):
        return "none"
    return _words(estimate.value, estimate.low, estimate.high, signed=signed, percent=percent)


def _words(value: float, low: float, high: float, *, signed: bool, percent: bool) -> str:
    scale, digits = (100, 1) if percent else (1, 4)
    sign = "+" if signed else ""

    def told(number: float) -> str:
        return f"{scale * number:{sign}.{digits}f}"

    return told(value) if math.isnan(low) else f"{told(value)} [{told(low)}, {told(high)}]"

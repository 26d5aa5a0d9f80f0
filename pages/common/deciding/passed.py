"""The tests of FairLeak itself under each other, in words that wrap: nothing is cut, however narrow the screen."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from core.decision import SelfTest
from core.estimates import Estimate
from core.wording import count, interval, percent

__all__ = ["board"]

_COLUMNS = ("Attack, and what was planted", "Called leaking without a leak", "Planted leaks caught", "Result")


def board(tests: Sequence[SelfTest]) -> str:
    """Return the tests as HTML; its style sheet is the board's of the checks."""
    head = "".join(f"<div role='columnheader'>{name}</div>" for name in _COLUMNS)
    body = "".join(_row(test) for test in tests)
    return (
        "<div class='fl-tested' role='table' aria-label='FairLeak, tested on itself'>"
        f"<div class='row top' role='row'>{head}</div>{body}</div>"
    )


def _row(test: SelfTest) -> str:
    kind, result = ("pass", "✓ passed") if test.passed else ("fail", "✕ failed")
    named = f"<div class='name'>{escape(test.attack)}</div><div class='small'>{escape(test.told)}</div>"
    cells = (
        f"<div role='cell'>{named}</div>",
        _rate(_COLUMNS[1], test.false_alarms),
        _rate(_COLUMNS[2], test.detected),
        f"<div role='cell' class='word {kind}'>{result}</div>",
    )
    return f"<div class='row' role='row'>{''.join(cells)}</div>"


def _rate(name: str, rate: Estimate) -> str:
    told = f"<b>{percent(rate)}</b> ({interval(rate)}) of {count(rate.n)}"
    return f"<div role='cell'><span class='term'>{name}: </span>{told}</div>"

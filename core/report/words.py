"""What stands beside a verdict in a report: icon and colour; and the words for what a number rests on."""

from __future__ import annotations

INK, PAPER = "#22262D", "#FEFDFB"

COLOURS = {
    "fail": "#A01A13",
    "inconclusive": "#8F6400",
    "not_run": "#5B626D",
    "pass": "#1B7F4B",
    "not_asked": "#5B626D",
}
"""Verdict -> colour on paper; always beside its icon and its word."""

GLYPHS = {
    "fail": "M7 7l6 6M13 7l-6 6",
    "inconclusive": "M7.6 7.9c.2-3.3 5-3.1 4.8-.1-.1 1.8-2.4 1.8-2.4 3.5M10 14v.1",
    "not_run": "M6.5 10h7",
    "pass": "M6 10.4l2.8 2.8L14 7.4",
    "not_asked": "M7 10v.1M10 10v.1M13 10v.1",
}
"""Verdict -> path of its icon in a square of 20."""

BASIS_WORDS = {
    "measured": ("Measured", "an attack was run, or the model's answers were counted"),
    "combined": ("Combined", "rests on measurements and on what was declared"),
    "declared": ("Declared", "follows from what was declared; nothing was attacked"),
}
"""Basis -> its word, and what it means."""

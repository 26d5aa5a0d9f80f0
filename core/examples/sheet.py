"""An example as an exercise sheet: one HTML file to print or to hand on, with or without the solution.

It needs nothing else: no script, no font, no picture from elsewhere. Whatever is inserted is escaped.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from core.examples.example import Example

if TYPE_CHECKING:
    from jinja2 import Environment


def sheet(example: Example, *, solution: bool) -> str:
    """Return an example as a page of HTML.

    Parameters
    ----------
    solution : bool
        With every number; otherwise the steps' titles, words and formulas with room to write.
    """
    return _environment().get_template("sheet.html").render(example=example, solution=solution)


@cache
def _environment() -> Environment:
    from importlib.resources import files

    from jinja2 import DictLoader, Environment, StrictUndefined

    source = (files("core.examples") / "sheet.html").read_text(encoding="utf-8")
    made = Environment(loader=DictLoader({"sheet.html": source}), autoescape=True, undefined=StrictUndefined)
    made.trim_blocks = True
    return made

"""All examples by name, in the order in which they are taught, and their exercise sheets.

An example as an exercise sheet: one HTML file to print or to hand on, with or without the solution.

It needs nothing else: no script, no font, no picture from elsewhere. Whatever is inserted is escaped.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from core.errors import InputError
from core.examples.attriguard import guard_budget, guard_noise
from core.examples.correction import correction_gains, correction_impossible, correction_loses
from core.examples.example import Example
from core.examples.membership import fairpick_deletes, private_split, two_gaps
from core.examples.queries import flip_everybody, flip_one, noisy_answer

if TYPE_CHECKING:
    from jinja2 import Environment

_MADE: dict[str, tuple[str, Callable[[str, str], Example]]] = {
    "correction": ("A promise that gives people away", correction_gains),
    "correction-loses": ("The same promise, and the attacker loses", correction_loses),
    "correction-impossible": ("A promise nobody can keep", correction_impossible),
    "flip": ("Two answers, one person", flip_one),
    "flips": ("One question a person", flip_everybody),
    "noise": ("An answer with noise", noisy_answer),
    "panda": ("Read as somebody from elsewhere", guard_noise),
    "budget": ("A budget of one change", guard_budget),
    "gaps": ("Who is more exposed?", two_gaps),
    "split": ("A question asked through noise", private_split),
    "fairpick": ("Leaving people out", fairpick_deletes),
}

EXAMPLES: dict[str, str] = {name: title for name, (title, _) in _MADE.items()}
"""Title of each example by its name."""


def example(name: str) -> Example:
    """Return an example, computed.

    Raises
    ------
    InputError
        If there is none of this name.
    """
    if name not in _MADE:
        raise InputError(f"example must be one of {', '.join(_MADE)}, got {name!r}.")
    title, made = _MADE[name]
    return made(name, title)


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

"""Worked examples: small cases, computed by the package's own methods, and a lesson that uses them.

Here are all examples by name, in the order in which they are taught, and their printable exercise sheets. A sheet is
one HTML file, with or without the solution. It needs nothing else: no script, no font, no picture from elsewhere;
formulas are MathML. All text put into it is escaped.
"""

from __future__ import annotations

from collections.abc import Callable
from html import unescape
from importlib.resources import files
from typing import Any
from xml.etree.ElementTree import tostring

from ..glossary import GLOSSARY
from .attriguard import guard_budget, guard_noise
from .correction import correction_case, correction_impossible, imputation, proportions
from .example import Example, ExampleTable, Step, texts
from .membership import fairpick_deletes, likelihood_ratio, private_split, two_gaps
from .queries import card, flip_everybody, noisy_answer, single_flip

__all__ = [
    "EXAMPLES",
    "LESSON",
    "Example",
    "ExampleTable",
    "Step",
    "example",
    "lesson",
    "sheet",
    "texts",
]

_BUILDERS: dict[str, Callable[[str], Example]] = {
    "correction": correction_case,
    "correction-loses": correction_case,
    "correction-impossible": correction_impossible,
    "proportions": proportions,
    "imputation": imputation,
    "flip": single_flip,
    "flips": flip_everybody,
    "noise": noisy_answer,
    "gaps": two_gaps,
    "lira": likelihood_ratio,
    "split": private_split,
    "fairpick": fairpick_deletes,
    "card": card,
    "panda": guard_noise,
    "budget": guard_budget,
}

EXAMPLES: dict[str, str] = {name: texts(name)["title"] for name in _BUILDERS}
"""Title of each example by its name."""


LESSON = ("correction", "correction-loses", "imputation", "flip")
"""The examples of the lesson of 45 minutes, in its order."""


def lesson() -> str:
    """Return the lesson of 45 minutes as Markdown: its title, its goal, and chapters."""
    return (files(__package__) / "lesson.md").read_text(encoding="utf-8")


def example(name: str) -> Example:
    """Return the example of a name in `EXAMPLES`, computed."""
    return _BUILDERS[name](name)


def sheet(example: Example, *, solution: bool) -> str:
    """Return an example as a page of HTML: its solution with every number, or else its steps with room to write."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.filters["mathml"] = _mathml
    source = (files(__package__) / "sheet.html").read_text(encoding="utf-8")
    meanings = {term: meaning for chapter in GLOSSARY.values() for term, meaning in chapter.items()}
    terms = {term: meanings[term] for term in example.terms}
    return environment.from_string(source).render(example=example, solution=solution, terms=terms)


def _mathml(latex: str) -> Any:
    """Return a formula as MathML, which browsers set and print by themselves.

    latex2mathml writes signs as entities into the text of its elements: they are read first, and escaped as a whole.
    """
    from latex2mathml.converter import convert_to_element
    from markupsafe import Markup

    element = convert_to_element(latex, display="block")
    for part in element.iter():
        part.text = unescape(part.text or "")
    return Markup(tostring(element, encoding="unicode"))

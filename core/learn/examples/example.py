"""Worked example: a small case with a question and steps, composed of its texts and computed numbers.

The texts lie in ``texts/NAME.toml``, with places for numbers: {x} is written as "0.375", {x:+} with its sign, {x:2} or
{x:+2} with two decimals at most, and {x:1%} in per cent with one decimal. A formula is LaTeX, one formula a line, and
has no places.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ...base.serialize import Result

if TYPE_CHECKING:
    import pandas

Cell = str | int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleTable(Result):
    """A table small enough to check by hand."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    """One cell a column: text as it is to be read, or a whole number."""
    marked: tuple[int, ...] = ()
    """Rows to highlight, counted from 0."""

    def to_frame(self) -> pandas.DataFrame:
        """Return the table as it is read."""
        import pandas as pd

        return pd.DataFrame(list(self.rows), columns=list(self.columns))


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(Result):
    """One step of the solution."""

    title: str
    text: str
    """What is done, and why."""
    formula: str = ""
    source: str = ""
    """The same in LaTeX, one formula a line, and where it is published; may be empty."""
    computation: str = ""
    result: str = ""
    """The numbers put in, and what comes out."""
    task: str = ""
    """What an exercise sheet needs besides, so that the step can be done by hand; may be empty."""
    table: ExampleTable | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Example(Result):
    """One case, from the story to what it teaches."""

    name: str
    """As it stands in an address."""
    topic: str
    page: str
    """The page of the same topic, by its address."""
    title: str
    goal: str
    """What students can do afterwards; said with the solution, because it may reveal the answer."""
    minutes: int
    needs: str
    """What one must know before."""
    terms: tuple[str, ...]
    """Terms of the glossary that its sheet explains."""
    story: str
    """Who knows what, and what happens."""
    table: ExampleTable
    """What everybody sees before the question."""
    question: str
    right: str | float
    """The right answer: one of `choices`, or a number where there are none."""
    choices: tuple[str, ...] = ()
    within: float = 0.0
    """How far from `right` a number still counts."""
    why: str
    hint: str
    """Shown after the right answer, and after a wrong one."""
    steps: tuple[Step, ...]
    lesson: str
    """What to remember, with its limit."""
    discuss: str
    """A question to discuss."""
    source: str
    """Where the method is published."""
    numbers: Mapping[str, float | str] = field(repr=False)
    """What is put into the texts, as core computed it."""

    def accepts(self, answer: str | float) -> bool:
        """Return whether an answer, one of the choices or else a number, is right."""
        if self.choices:
            return answer == self.right
        return abs(float(answer) - float(self.right)) <= self.within * (1 + 1e-9)

    @property
    def answer(self) -> str:
        """Return the right answer as it is read."""
        if isinstance(self.right, str):
            return self.right
        return f"{self.right:g}".replace("-", "−")


def texts(name: str) -> dict[str, Any]:
    """Return the texts of an example as they lie there; what one leaves out is in the one it is `like`."""
    content = tomllib.loads(
        (files(__package__) / "texts" / f"{name}.toml").read_text(encoding="utf-8")
    )
    like = content.pop("like", None)
    if like is None:
        return content
    return texts(like) | content


Columns = tuple[tuple[str, ...], Iterable[tuple[Cell, ...]]]
"""Names of a table's columns, and its rows."""


def compose(
    name: str,
    numbers: Mapping[str, float | str],
    *,
    right: str | float,
    within: float = 0.0,
    table: Columns,
    tables: Mapping[int, Columns] | None = None,
    marked: Iterable[int] = (),
) -> Example:
    """Return an example with its numbers put in for each {name} of its texts.

    The steps with tables count from 1; `marked` are the rows to highlight in the last of these tables.
    """
    put_in: dict[str, str | float] = {}
    for key, value in numbers.items():
        put_in[key] = value if isinstance(value, str) else _FormattedNumber(value)
    content = texts(name)
    step_tables = tables or {}

    def filled(part: Mapping[str, Any]) -> dict[str, str]:
        strings = {key: value for key, value in part.items() if isinstance(value, str)}
        formula = {key: strings.pop(key) for key in ("formula",) if key in strings}
        return formula | {key: value.format(**put_in) for key, value in strings.items()}

    def tabled(caption: str, columns: Columns, rows: Iterable[int] = ()) -> ExampleTable:
        return ExampleTable(
            caption=caption, columns=columns[0], rows=tuple(columns[1]), marked=tuple(rows)
        )

    filled_texts = filled(content)
    steps = []
    for i, entry in enumerate(content["step"], start=1):
        step = filled(entry)
        caption = step.pop("caption", "")
        step_table = None
        if i in step_tables:
            highlighted = marked if i == max(step_tables) else ()
            step_table = tabled(caption, step_tables[i], highlighted)
        steps.append(Step(**step, table=step_table))
    return Example(
        name=name,
        minutes=content["minutes"],
        terms=tuple(content["terms"]),
        numbers=numbers,
        table=tabled(filled_texts.pop("caption"), table),
        right=right,
        within=within,
        choices=tuple(content.get("choices", ())),
        steps=tuple(steps),
        **filled_texts,
    )


class _FormattedNumber(float):
    """A number written as its place in a text asks."""

    __slots__ = ()

    def __format__(self, how: str) -> str:
        if how.endswith("%"):
            return f"{100 * float(self):.{how[:-1]}f}%"
        write = signed if how.startswith("+") else number
        places = how.removeprefix("+") or "4"
        return write(float(self), int(places))


def decision(accepted: Any) -> str:
    """Write a model's answer about a person."""
    if accepted:
        return "accepted"
    return "refused"


def number(value: float, places: int = 4) -> str:
    """Write a number as "0.375", "−0.0833" or "2"."""
    text = f"{value:.{places}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    if text in ("-0", ""):
        return "0"
    return text.replace("-", "−")


def signed(value: float, places: int = 4) -> str:
    """Write a number with its sign, 0 without."""
    text = number(value, places)
    if text == "0" or text.startswith("−"):
        return text
    return f"+{text}"


def numbers(values: Iterable[float], places: int = 4) -> str:
    """Write numbers as "1, −1, 2"."""
    return ", ".join(number(value, places) for value in values)


def total(values: Iterable[float], places: int = 4) -> str:
    """Write a sum as "0.52 + 0.55"."""
    return " + ".join(number(value, places) for value in values)

"""What an example is: a small case with a question and steps; how numbers are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from core.errors import InputError
from core.serialize import Result

if TYPE_CHECKING:
    import pandas

Cell = str | int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleTable(Result):
    """A table small enough to check by hand.

    Attributes
    ----------
    rows : tuple of tuples
        One cell a column: text as it is to be read, or a whole number.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def to_frame(self) -> pandas.DataFrame:
        """Return the table as it is read."""
        import pandas as pd

        return pd.DataFrame(list(self.rows), columns=list(self.columns))


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(Result):
    """One step of the solution.

    Attributes
    ----------
    title, words : str
        What is done, and why.
    formula, source : str
        The same in symbols, and where it is published; may be empty.
    computation, result : str
        The numbers put in, and what comes out.
    task : str
        What an exercise sheet must tell besides, so that the step can be done by hand; may be empty.
    values : mapping of str to float
        The numbers behind the text, as core computed them.
    """

    title: str
    words: str
    formula: str = ""
    source: str = ""
    computation: str = ""
    result: str = ""
    task: str = ""
    values: Mapping[str, float] = field(default_factory=dict)
    table: ExampleTable | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Result):
    """What is right, and what to say to whoever answered.

    Attributes
    ----------
    right : str or float
        One of `choices`, or a number where there are none.
    within : float
        How far from `right` a number still counts.
    why, hint : str
        Said after the right answer, and after a wrong one.
    """

    right: str | float
    choices: tuple[str, ...] = ()
    within: float = 0.0
    why: str
    hint: str

    def accepts(self, given: str | float) -> bool:
        """Return whether an answer is right.

        Raises
        ------
        InputError
            If it is not one of the choices, or not a number where one is asked for.
        """
        if self.choices:
            if given not in self.choices:
                raise InputError(f"The answer must be one of {', '.join(self.choices)}, got {given!r}.")
            return given == self.right
        if isinstance(given, (str, bool)) or not abs(given) < float("inf"):
            raise InputError(f"The answer must be a number, got {given!r}.")
        return abs(given - float(self.right)) <= self.within * (1 + 1e-9)

    @property
    def text(self) -> str:
        """Return the right answer as it is read."""
        return self.right if isinstance(self.right, str) else f"{self.right:g}".replace("-", "−")


@dataclass(frozen=True, slots=True, kw_only=True)
class Example(Result):
    """One case, from the story to what it teaches.

    Attributes
    ----------
    name : str
        As it stands in an address.
    story : str
        Who knows what, and what happens.
    table : ExampleTable
        What everybody sees before the question.
    steps : tuple of Step
    lesson : str
        What to remember, with its limit.
    source : str
        Where the method is published.
    """

    name: str
    method: str
    title: str
    story: str
    table: ExampleTable
    question: str
    answer: Answer
    steps: tuple[Step, ...]
    lesson: str
    source: str


def number(value: float, places: int = 4) -> str:
    """Write a number as "0.375", "−0.0833" or "2"."""
    text = f"{value:.{places}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text.replace("-", "−")


def signed(value: float, places: int = 4) -> str:
    """Write a number with its sign, 0 without."""
    text = number(value, places)
    return text if text == "0" or text.startswith("−") else f"+{text}"


def numbers(values: Iterable[float], places: int = 4) -> str:
    """Write numbers as "1, −1, 2"."""
    return ", ".join(number(value, places) for value in values)


def total(values: Iterable[float], places: int = 4) -> str:
    """Write a sum as "0.52 + 0.55"."""
    return " + ".join(number(value, places) for value in values)

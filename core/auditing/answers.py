"""The input check as a plan, a terminal and an audit write it: which key answers a fact, and what blocks an audit.

The facts themselves are those of `core.datasets.input_check`; the Data page draws them with a button a repair.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from ..base.errors import InputError
from ..base.settings import toml_value
from ..datasets.input_check import Fact, Repair, Severity, check_input

if TYPE_CHECKING:
    from ..datasets.dataset import Table
    from ..datasets.roles import Roles

TITLES: Mapping[Severity, str] = {
    Severity.BLOCKING: "Blocking",
    Severity.QUESTION: "Question",
    Severity.NOTE: "Note",
}
"""What a fact is called, by its severity."""

FAVOURABLE = "data.favourable"
"""The key of the only answer that has no default."""

_ELSEWHERE = {"threshold": "model.threshold"}
"""Fields of `core.datasets.Roles` that a plan writes in another table than [data]."""

_MOST_REPAIRS = 4
"""Repairs of a fact that one line lists."""


class MissingAnswers(InputError):
    """Facts that block an audit until a plan answers them; `details` has a line for each where there are several."""

    def __init__(self, facts: tuple[Fact, ...]) -> None:
        self.facts = facts
        lines = tuple(map(answer_line, facts))
        if len(lines) == 1:
            super().__init__(lines[0], key=facts[0].key)
            return
        super().__init__(f"Answers missing before an audit: {len(lines)}.", key=facts[0].key)
        self.details = lines

    def __str__(self) -> str:
        """Return everything, a line for each answer where there are several."""
        return "\n".join((super().__str__(), *self.details))


def plan_key(name: str) -> str:
    """Return the key of a plan that holds a field of the roles."""
    return _ELSEWHERE.get(name, f"data.{name}")


def plan_lines(repair: Repair) -> Iterator[str]:
    """Yield what a repair writes into a plan: 'data.positive = "no"'."""
    for name, value in repair.changes.items():
        yield f"{plan_key(name)} = {toml_value(value)}"


def answer_line(fact: Fact) -> str:
    """Return a fact with its key, and what can be written into a plan to answer it."""
    answers = [f"{' and '.join(plan_lines(repair))} ({repair.title})" for repair in fact.repairs[:_MOST_REPAIRS]]
    key = f"{fact.key}: " if fact.key else ""
    if not answers:
        return f"{key}{fact.text}"
    return f"{key}{fact.text} Write {' or '.join(answers)}."


def terminal_line(fact: Fact) -> str:
    """Return a fact as a terminal prints it, with the key that answers it where something is asked."""
    if fact.severity == Severity.NOTE or not fact.key:
        return f"{TITLES[fact.severity]}: {fact.text}"
    return f"{TITLES[fact.severity]}: {fact.text} ({fact.key})"


def plan_comments(facts: Iterable[Fact]) -> dict[str, str]:
    """Return key of a plan -> comment, of the facts that ask something; of `FAVOURABLE` its last line is the key."""
    comments: dict[str, list[str]] = {}
    for fact in facts:
        if fact.severity == Severity.NOTE:
            continue
        lines = comments.setdefault(fact.key or "data", [])
        lines.append(f"{TITLES[fact.severity]}: {fact.text}")
        if fact.key == FAVOURABLE:
            lines.append("favourable =   (required)")
            continue
        for repair in fact.repairs:
            lines += [f"{line.removeprefix('data.')}   ({repair.title})" for line in plan_lines(repair)]
    return {key: "\n".join(map(_one_line, lines)) for key, lines in comments.items()}


def _one_line(text: str) -> str:
    """Return a text with U+FFFD for characters that are not shown: a comment must not end in its middle."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


def refuse_blocking(facts: Iterable[Fact]) -> None:
    """Raise `MissingAnswers` if any of the facts blocks an audit."""
    unanswered = tuple(fact for fact in facts if fact.severity == Severity.BLOCKING)
    if unanswered:
        raise MissingAnswers(unanswered)


def require_answers(table: Table, roles: Roles, *, guesses: Collection[str] = ()) -> tuple[Fact, ...]:
    """Return the facts of a table with its roles, none of which blocks an audit.

    Parameters
    ----------
    table : Table
        With a model file's answers as columns, where there is one.
    guesses : collection of str
        Roles that nobody has confirmed, as of `core.datasets.input_check.check_input`.

    Raises
    ------
    MissingAnswers
        If a fact blocks an audit: neither repaired by the roles nor confirmed by them.
    """
    facts = check_input(table.frame, roles, guesses=guesses)
    refuse_blocking(facts)
    return facts

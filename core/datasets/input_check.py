"""What a table must be asked before it is audited: facts with evidence, a severity and repairs.

A verdict is only as good as the answers it builds on: which value a score predicts, which outcome is good for a person,
which columns a model wrote, who is who. Each of these is measured here where it can be, and asked where it cannot. The
Data page, ``fairleak init``, ``fairleak audit`` and the notebook read this one function.

Blocking facts, by `Fact.kind`:

- ``too_many_values``: a label, a prediction, sets or an attribute with more values than it can have; said alone.
- ``label_missing``, ``label_is_attribute``, ``label_one_value``, ``favourable``: without an answer there is no audit.
- ``label_equals_attribute``, ``label_is_prediction``: the label says what the attribute or the model says.
- ``inverted_predictions``: less accurate than always guessing the majority *and* than the opposite of each prediction.
- ``contradiction``: with the best threshold for each group, over 5% of the predictions do not follow from the scores.
- ``reversed_score``: the area under the ROC curve lies below one half with its 99% interval.
- ``copy``: a feature that tells score or predictions by itself, and not the label (see `core.datasets.score_copies`).

Questions have a default: ``positive``, ``possible_answers``, ``sets``, ``possible_sets``, ``person``,
``possible_person``, ``possible_weight``, ``spellings``, ``labels_together``. Everything else is a note.

Somebody who takes the data to be right confirms a fact by its name, "contradiction" or "copy:income"; it is a note from
then on. Rules that `core.datasets.build_dataset` refuses a table for are said there, and never raise here.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from .checked_table import CheckedTable
from .column_questions import column_questions
from .copy_facts import copy_facts
from .direction_facts import direction_facts
from .input_facts import Fact, Repair, Severity
from .label_facts import label_facts, label_questions
from .output_facts import output_facts, repeated_records
from .roles import Roles, crossed_columns, value_problems, with_crossed

if TYPE_CHECKING:
    import pandas

__all__ = ["Fact", "Repair", "Severity", "check_input"]


def check_input(frame: pandas.DataFrame, roles: Roles, *, guesses: Collection[str] = ()) -> tuple[Fact, ...]:
    """Return what to confirm, answer or know before an audit with these roles: blocking facts first.

    Parameters
    ----------
    frame : DataFrame
        As it was read; with a model file's answers as columns where there is one.
    roles : Roles
        `favourable` may be empty, which is a blocking fact; facts whose kind is in `roles.confirmed` are notes.
    guesses : collection of str
        Roles that were guessed and that nobody has answered yet, by name, as `core.datasets.Suggestion.questions` has
        them: a question each.
    """
    if not frame.columns.is_unique or not len(frame):
        return ()
    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    problems = tuple(
        Fact(kind="too_many_values", severity=Severity.BLOCKING, text=text, key=f"data.{role}", columns=(column,))
        for role, column, text in value_problems(frame, roles)
    )
    if problems:
        return problems
    table = CheckedTable(
        frame=with_crossed(frame, roles.sensitive),
        input_roles=roles,
        crossed=crossed_columns(frame, roles.sensitive),
        guesses=tuple(guesses),
    )
    facts = [
        *label_facts(table),
        *direction_facts(table),
        *copy_facts(table),
        *column_questions(table),
        *label_questions(table),
        *output_facts(table),
        *repeated_records(table),
    ]
    order = list(Severity)
    return tuple(sorted(facts, key=lambda fact: order.index(fact.severity)))

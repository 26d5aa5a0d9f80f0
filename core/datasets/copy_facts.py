"""Facts about features that are copies of a model's answers."""

from __future__ import annotations

from collections.abc import Iterable

from .checked_table import CheckedTable
from .columns import text_of
from .input_facts import Fact, Repair, Severity
from .score_copies import find_copies


def copy_facts(table: CheckedTable) -> Iterable[Fact]:
    """Say which features tell score or predictions by themselves."""
    if not table.label[1] or (table.scores is None and table.predictions is None):
        return
    rows = table.rows
    roles = table.roles
    scores = None if table.scores is None else table.scores[rows]
    predictions = None if table.predictions is None else table.predictions[rows]
    sample = table.frame[list(table.features)].iloc[rows]
    for copy in find_copies(sample, scores=scores, predictions=predictions, positive=table.positive[rows]):
        name = text_of(copy.column)
        answer = text_of(roles.score if copy.of_score else roles.prediction or roles.score)
        evidence = f"{copy.evidence}{table.sampled}"
        if copy.honest:
            text = f"{name} almost decides {answer}: {evidence}. Other features decide the rest."
            yield table.fact("strong_feature", Severity.NOTE, text, key="", columns=(copy.column,))
            continue
        yield table.fact(
            "copy",
            Severity.BLOCKING,
            f"{name} tells {answer} by itself and not the label: {evidence}. As a feature it counts as known without "
            "the model, which hides leaks.",
            key="data.excluded",
            columns=(copy.column,),
            repairs=[
                Repair(
                    title=f"Leave {name} out",
                    changes={"excluded": (*table.input_roles.excluded, copy.column)},
                )
            ],
            confirm="It is a feature of the person",
            by_column=True,
        )

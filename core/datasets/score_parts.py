"""Features that give a model's score together: its points, or a total and what was taken from it.

A score that is the sum of two columns hides a leak as a copy of it does: what it says counts as known without the
model. No single column is near it. Looked for are two or three numbers of which the score, or its log-odds, is a linear
function. A model that reads no more than these is honest. It differs in that the other features do not tell the score:
where they do, the score was computed from them, and the numbers from the score. Where the function is exact, a share of
0.3 is enough; else a model may read other features besides, and they must tell nearly all.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from ..base.validation import Floats, Ints, Mask
from ..stats.estimates import percent
from .checked_table import (
    CheckedTable,
    Fact,
    Repair,
    Severity,
    filled_with_median,
    mean_ranks,
    numbers_or_codes,
    rank_correlation,
)
from .columns import finite_numbers, is_numeric, text_of
from .score_copies import EXPLAINED, NEAR, NEIGHBOUR, boosted_share, left_out_answers

_LINEAR = 0.99
"""Share of the variance of the score, or of its log-odds, that a linear function of the columns explains."""

_EXACT = 0.9995
"""The same from which on the function is exact, but for rounding."""

_EXPLAINED_BESIDE_EXACT = 0.3
"""Share of the variance of the score's ranks that the other features must tell where the function is exact."""

_MOST_TOGETHER = 3
_MOST_COLUMNS = 60
_MOST_ROWS = 20_000
_FEWEST_ROWS = 100
_FEWEST_VALUES = 10
"""Different values of a number below which it is no part of a score."""

_CERTAIN = 1e-3
"""Probability below which, or above one minus which, log-odds are those of rounding."""


def part_facts(table: CheckedTable) -> Iterator[Fact]:
    """Say which numbers give a model's score together, though other features tell it; none of them is near it."""
    scores, answer = _scores_of(table)
    if scores is None:
        return
    rows = table.rows[~np.isnan(scores[table.rows])][:_MOST_ROWS]
    if rows.size < _FEWEST_ROWS or np.ptp(scores[rows]) == 0:
        return
    inputs = {name: _model_input(table, name, rows) for name in table.features}
    inputs = {
        name: values
        for name, values in inputs.items()
        if abs(rank_correlation(values, scores[rows])) <= NEAR  # what is nearer is said by itself
    }
    numbers = [name for name, values in inputs.items() if _may_be_part(table, name, values)]
    for target, chosen in _targets(scores[rows]):
        parts, share = _linear_parts({name: inputs[name][chosen] for name in numbers}, target)
        rest = _other_inputs(inputs, parts)
        if not parts or not rest:
            continue
        least = EXPLAINED
        if share >= _EXACT:
            least = _EXPLAINED_BESIDE_EXACT
        ranks = _standardised(mean_ranks(scores[rows]))
        if boosted_share(np.column_stack(rest), ranks) > least:
            yield _fact(table, parts, answer, share)
            return


def _scores_of(table: CheckedTable) -> tuple[Floats | None, str]:
    """Return the score of the table, or one that is left out; and its name."""
    if table.scores is not None:
        return table.scores, table.roles.score
    for name in left_out_answers(table):
        if is_numeric(table.frame[name]):
            return finite_numbers(table.frame[name]), name
    return None, ""


def _model_input(table: CheckedTable, name: str, rows: Ints) -> Floats:
    """Return a feature as a number: texts as codes, what is missing as the median."""
    return filled_with_median(numbers_or_codes(table.frame[name].iloc[rows]))


def _may_be_part(table: CheckedTable, name: str, values: Floats) -> bool:
    return is_numeric(table.frame[name]) and np.unique(values).size >= _FEWEST_VALUES


def _targets(scores: Floats) -> Iterator[tuple[Floats, Mask]]:
    """Yield the score, and its log-odds where it is a probability, each with the rows that it is of."""
    yield scores, np.ones(scores.size, dtype=bool)
    if scores.min() < 0.0 or scores.max() > 1.0:
        return
    inside = (scores > _CERTAIN) & (scores < 1 - _CERTAIN)
    if inside.sum() >= _FEWEST_ROWS:
        yield np.log(scores[inside] / (1 - scores[inside])), inside


def _linear_parts(numbers: dict[str, Floats], target: Floats) -> tuple[tuple[str, ...], float]:
    """Return the fewest numbers of which the target is a linear function, two or three; () where there are none.

    Beside them the share of its variance that they explain.
    """
    names = [name for name, values in numbers.items() if np.ptp(values) > 0][:_MOST_COLUMNS]
    if len(names) < 2 or np.ptp(target) == 0:
        return (), 0.0
    matrix = np.column_stack([_standardised(numbers[name]) for name in names])
    goal = _standardised(target)
    for size in range(2, min(_MOST_TOGETHER, len(names)) + 1):
        # R² of each choice from the correlations alone: r' C^-1 r
        choices = np.array(list(itertools.combinations(range(len(names)), size)))
        correlations = matrix.T @ matrix / goal.size
        inside = correlations[choices[:, :, None], choices[:, None, :]]
        beside = (matrix.T @ goal / goal.size)[choices]
        weights = np.linalg.solve(inside + 1e-12 * np.eye(size), beside[:, :, None])[:, :, 0]
        explained = (weights * beside).sum(axis=1)
        best = choices[int(explained.argmax())]
        if explained.max() >= _LINEAR:
            return tuple(names[column] for column in best), float(explained.max())
    return (), 0.0


def _standardised(values: Floats) -> Floats:
    return (values - values.mean()) / values.std()


def _other_inputs(inputs: dict[str, Floats], parts: tuple[str, ...]) -> list[Floats]:
    """Return the other features, but for those that say the same as a part."""
    return [
        values
        for name, values in inputs.items()
        if name not in parts
        and all(abs(rank_correlation(values, inputs[part])) <= NEIGHBOUR for part in parts)
    ]


def _fact(table: CheckedTable, parts: tuple[str, ...], answer: str, share: float) -> Fact:
    names = [text_of(name) for name in parts]
    together = f"{', '.join(names[:-1])} and {names[-1]}"
    return table.fact(
        "score_parts",
        Severity.CAUTION,
        f"{together} give {text_of(answer)} together: a linear function of them explains {percent(share)} of it"
        f"{table.sampled}.",
        "Leave them out if they were computed with the score: as features they count as known without the model, "
        "which hides leaks.",
        key="data.excluded",
        columns=parts,
        repairs=[
            Repair(
                title="Leave out as output",
                changes={"excluded": (*table.input_roles.excluded, *parts)},
                result=f"{together} are left out: they give {text_of(answer)} together.",
            )
        ],
        confirm="",
    )

"""Notes on a model's answers and on records: constant answers, missing ones, records that repeat."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..base.arrays import Ints
from ..base.seeds import child_generator
from .checked_table import CheckedTable
from .columns import is_numeric, text_of
from .input_facts import Fact, Severity
from .score_evidence import text_codes

_PERMUTATIONS = 9_999


def output_facts(table: CheckedTable) -> Iterable[Fact]:
    """Say that answers are the same for everybody, or missing for some."""
    roles = table.roles
    predictions = np.zeros(0, dtype=np.int64) if table.predictions is None else table.predictions[table.audited]
    if roles.prediction and np.unique(predictions[predictions >= 0]).size == 1:
        yield table.fact(
            "constant_prediction",
            Severity.NOTE,
            f"{text_of(roles.prediction)} says the same of everybody.",
            key="",
            columns=(roles.prediction,),
        )
    if table.scores is not None:
        present = table.scores[table.audited & ~np.isnan(table.scores)]
        if present.size and present.min() == present.max():
            text = f"{text_of(roles.score)} is {present[0]:g} for everybody."
            yield table.fact("constant_score", Severity.NOTE, text, key="", columns=(roles.score,))
    yield from _absence(table)


def _absence(table: CheckedTable) -> Iterable[Fact]:
    """Say how many people have no answer, by group, and whether that can be chance."""
    absent = np.zeros(len(table.frame), dtype=bool)
    columns = [name for name in table.answers if table.has(name)]
    for name in columns:
        absent |= table.frame[name].isna().to_numpy(dtype=bool)
    absent &= table.audited
    if not absent.any() or table.groups.max() < 1:
        return
    groups = table.groups[table.audited]
    sizes = np.bincount(groups)
    missing = np.bincount(table.groups[absent], minlength=sizes.size)
    names = table.group_names or tuple(map(str, range(sizes.size)))
    order = np.argsort(-missing / np.maximum(sizes, 1), kind="stable").tolist()
    rates = [f"{missing[code]:,} of {sizes[code]:,} in group {text_of(names[code])}" for code in order[:2]]
    p_value = absence_p_value(missing, sizes)
    test = "exact test" if sizes.size == 2 else "permutation test"
    p_text = "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"
    text = f"No answer of the model: {', '.join(rates)} ({test}, {p_text})."
    if p_value < 0.05:
        text += f" Who has none can reveal {text_of(table.roles.attribute)}."
    yield table.fact("absence", Severity.NOTE, text, key="", columns=tuple(columns))


def absence_p_value(missing: Ints, sizes: Ints) -> float:
    """Return the probability of missing answers that differ so much between groups, if group and absence are unrelated.

    Of two groups Fisher's exact test; of more the share of permutations with a chi-square statistic at least as large.
    """
    if sizes.size == 2:
        from scipy.stats import fisher_exact

        return float(fisher_exact([missing.tolist(), (sizes - missing).tolist()]).pvalue)
    expected = sizes * missing.sum() / sizes.sum()
    variance = expected * (1 - missing.sum() / sizes.sum())
    if not (variance > 0).all():
        return 1.0
    draws = child_generator(0, "absence by group").multivariate_hypergeometric(
        sizes.astype(np.int64), int(missing.sum()), size=_PERMUTATIONS, method="marginals"
    )
    statistic = float(((missing - expected) ** 2 / variance).sum())
    statistics = ((draws - expected) ** 2 / variance).sum(axis=1)
    return float((1 + (statistics >= statistic - 1e-9).sum()) / (1 + _PERMUTATIONS))


def repeated_records(table: CheckedTable) -> Iterable[Fact]:
    """Say how many records equal another one in every column that is used."""
    import pandas as pd

    left_out = {*table.roles.excluded, table.roles.person}
    names = [name for name in table.frame.columns if name not in left_out]
    rows = np.arange(len(table.frame))
    kinds = np.zeros(rows.size, dtype=np.int64)
    # columns of numbers first: most records are alone after one of them, and need no second look
    for name in sorted(names, key=lambda name: not is_numeric(table.frame[name])):
        cells = table.frame[name].iloc[rows]
        codes = cells.factorize()[0] if is_numeric(cells) else text_codes(cells)[0]
        kinds = pd.factorize(kinds * (int(codes.max(initial=0)) + 2) + codes + 1)[0]
        repeated = np.bincount(kinds)[kinds] > 1
        rows, kinds = rows[repeated], kinds[repeated]
        if not rows.size:
            return
    yield table.fact(
        "repeated_records",
        Severity.NOTE,
        f"{rows.size:,} of {len(table.frame):,} records equal another one in every column.",
        key="",
    )

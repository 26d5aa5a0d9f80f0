"""What the disclosure edition withholds stands nowhere in it: not as a count, not as a rate, and not by any detour.

The second kind is tested by twins: audits that differ in nothing but withheld counts must give the same edition to the
byte, although each tells its own counts in every sentence, table and detail. JSON, page and CSV files are drawn from
the edition's document and nothing else.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest
from hypothesis import Phase, assume, example, given, settings
from hypothesis import strategies as st

from core.report import AttackedPeople, csv_files, document, to_html, to_json
from core.report.canonical import strict
from core.report.suppression import _ADD_UP, _ELSEWHERE, _counts, redacted_groups
from tests.leaky_report import FILE, Cells, groups_of, leaky

disclosure_edition = partial(document, edition="disclosure")

NAMES = ("Female", "Male", "Other people")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def texts_of(found: dict) -> list[str]:
    """Return an edition in every form it is given away in."""
    return [
        to_json(found),
        to_html(found),
        *(content.decode() for _, content in sorted(csv_files(found).items())),
    ]


def withheld_in(cells: dict[str, Cells], threshold: int) -> tuple[list, list[str], frozenset]:
    notes: list[str] = []
    shown, hidden = redacted_groups({"groups": strict(groups_of(cells))}, threshold, notes)
    return shown, notes, hidden


def people(cells: dict[str, Cells]) -> AttackedPeople:
    """Return the test people, by label and prediction; what a reader makes of each does not hang on the truth."""
    patterns = [(1, 1), (1, 0), (0, 1), (0, 0)]
    rows = [(y, p, g) for i, (y, p) in enumerate(patterns) for g, c in enumerate(cells.values()) for _ in range(c[i])]
    labels, predictions, sensitive = (np.array(column, dtype=np.uint8) for column in zip(*rows, strict=True))
    prior = np.random.default_rng(5).dirichlet(np.ones(len(cells)), size=len(rows))
    return AttackedPeople(
        predictions=predictions,
        labels=labels,
        sensitive=sensitive,
        group_names=tuple(cells),
        posterior=prior,
    )


def twin_of(cells: dict[str, Cells], hidden: frozenset, threshold: int, seed: int) -> dict[str, Cells] | None:
    """Return other counts with the same totals and published ones, each withheld one small or not as it was."""
    from scipy.optimize import linprog

    names = [str(i) for i in range(len(cells))]
    counts = _counts(strict(groups_of(cells)))
    free = [cell for cell in counts if cell in hidden or (cell[0] and cell[1] in _ELSEWHERE)]
    sums = [((name, total), [(name, part) for part in parts]) for name in ("", *names) for total, *parts in _ADD_UP]
    sums += [(("", kind), [(name, kind) for name in names]) for kind in {kind for _, kind in counts}]
    matrix, values = np.zeros((len(sums), len(free))), np.zeros(len(sums))
    for i, (total, parts) in enumerate(sums):
        for cell, sign in ((total, -1), *((part, 1) for part in parts)):
            if cell in free:
                matrix[i, free.index(cell)] += sign
            else:
                values[i] -= sign * counts[cell]
    bounds = [(0, threshold - 1) if counts[cell] < threshold else (threshold, None) for cell in free]
    aim = np.random.default_rng(seed).normal(size=len(free))
    found = linprog(aim, A_eq=matrix, b_eq=values, bounds=bounds, method="highs")
    if found.status != 0 or not np.allclose(found.x, np.round(found.x), atol=1e-6):
        return None
    new = counts | dict(zip(free, map(round, found.x), strict=True))
    kinds = ("true positive", "false negative", "false positive", "true negative", *list(_ELSEWHERE)[1:])
    return {name: tuple(new[str(i), kind] for kind in kinds) for i, name in enumerate(cells)}


COUNTS = st.integers(0, 4) | st.integers(3, 30) | st.integers(20, 90)

GROUPS = st.lists(
    st.tuples(*[COUNTS] * 4, st.integers(0, 80), st.integers(0, 80)).filter(lambda c: sum(c[:4]) > 0),
    min_size=2,
    max_size=3,
).map(lambda found: dict(zip(NAMES, found, strict=False)))


@settings(deadline=None, max_examples=8, phases=(Phase.explicit, Phase.generate))  # an edition is slow to make smaller
@given(GROUPS, st.integers(0, 1000), st.sampled_from([3, 10]))
@example(  # a size stood among the withheld counts of the one and not of the other, and was printed in neither
    {"Female": (14, 3, 41, 56, 35, 18), "Male": (3, 40, 14, 0, 28, 21), "Other people": (68, 51, 85, 27, 33, 74)},
    496,
    10,
)
def test_audits_that_differ_in_withheld_counts_alone_give_one_edition(cells, seed, threshold):
    shown, notes, hidden = withheld_in(cells, threshold)
    assume(hidden)
    twin = twin_of(cells, hidden, threshold, seed)
    assume(twin is not None and twin != cells and all(sum(c[:4]) for c in twin.values()))
    assume(withheld_in(twin, threshold)[:2] == (shown, notes))
    editions = [disclosure_edition(leaky(c), people=people(c), threshold=threshold) for c in (cells, twin)]
    assert json.dumps(editions[0]) == json.dumps(editions[1])  # the order of keys tells nothing either


@cache
def harmless() -> frozenset[str]:
    """Return the numbers that stand in any edition: sizes of all sets, versions, limits, places in drawings."""
    cells = {"Female": (9000,) * 6, "Male": (9000,) * 6, "Other people": (9000,) * 6}
    return frozenset(n for text in texts_of(disclosure_edition(leaky(cells))) for n in NUMBER.findall(text))


@settings(deadline=None, max_examples=10)
@given(st.lists(st.integers(1100, 4900), min_size=24, max_size=24, unique=True))
def test_no_withheld_count_and_no_rate_of_a_group_stands_in_any_text(numbers):
    cells = {name: tuple(numbers[6 * i : 6 * i + 6]) for i, name in enumerate(NAMES)}
    found = disclosure_edition(leaky(cells), threshold=10_000_000)  # every count is small, and none a common number
    assert all(g[rate] is None for g in found["groups"] for rate in ("label_rate", "test_rate", "test_tpr", "test_fpr"))
    secret = set()
    for tp, fn, fp, tn, *_ in cells.values():
        n = tp + fn + fp + tn
        secret |= {str(k) for k in (tp, fn, fp, tn, n, tp + fn, tp + fp)} | {f"{k:,}" for k in (tp, fn, fp, tn, n)}
        secret |= {f"{k / n:.4f}" for k in (tp, fn, fp, tn, tp + fn, tp + fp)}
    for text in texts_of(found):
        assert not (set(NUMBER.findall(text)) - harmless()) & secret
        for secret_text in (FILE, FILE[:30], "my files", "northern branches"):
            assert secret_text not in text


def test_small_counts_stand_in_no_sentence_of_an_edition():
    cells = {"Female": (3, 4, 5, 6, 40, 50), "Male": (300, 400, 500, 600, 700, 800), "x": (90, 91, 92, 93, 94, 95)}
    found = disclosure_edition(leaky(cells), people=people(cells))
    sentences = [text for text in _strings(found) if " " in text]
    assert len(sentences) > 60
    for text in sentences:
        assert not re.search(r"\b[3-6](?:/18)? (?:of|people|records|Female)|got 18|16\.7%|22\.2%", text), text
        assert "It needs" not in text and "fewer than fewer" not in text


def _strings(value):
    if isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, str):
        yield value


@pytest.mark.parametrize("value", [0.0496, 0.0504, 0.2])
def test_the_reason_of_a_verdict_tells_rounded_intervals_and_no_p_value(value):

    from tests.samples_report import _estimate, sample

    audit, check = sample(), "correction_gain"
    decided = _estimate(value, value - 0.012345, value + 0.0003412)
    rows = tuple(
        replace(row, decided=decided, p_value=0.00123456, p_adjusted=0.0345678)
        if row.check == "correction_gain"
        else row
        for row in audit.verdict.rows
    )
    found = disclosure_edition(replace(audit, verdict=replace(audit.verdict, rows=rows)))
    (row,) = [row for row in found["verdict"]["checks"] if row["check"] == check]
    assert row["p_value"] is None and row["p_adjusted"] is None and "p-value is below 5%" in row["why"]
    for number in NUMBER.findall(row["why"]):
        if "." in number and number != "5.0":
            assert math.isclose(float(number) * 10, round(float(number) * 10), abs_tol=1e-9), row["why"]

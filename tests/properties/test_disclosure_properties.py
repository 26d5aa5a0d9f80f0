"""What the disclosure edition withholds stands nowhere in it: not as a count, not as a rate, and not by any detour.

The second kind is tested by twins (tests/unit/report/test_twins.py). JSON, page and CSV files are drawn from the
edition's document and nothing else.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import cache, partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.report import csv_files, document, to_html, to_json
from tests.leaky_report import FILE, leaky, people_in

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
    found = disclosure_edition(leaky(cells), people=people_in(cells))
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
    assert row["p_value"] is None and row["p_adjusted"] is None and row["why"].endswith("outwards.")
    for number in NUMBER.findall(row["why"]):
        if "." in number and number != "5.0":
            assert math.isclose(float(number) * 10, round(float(number) * 10), abs_tol=1e-9), row["why"]

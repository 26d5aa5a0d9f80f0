"""Sentences keep the rule behind them: what is shown, compared or called something is what was measured."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from core.auditing.charts import draw_groups, draw_rates
from core.auditing.policy import estimate_text, value_text
from core.charts import LIGHT
from core.charts.theme import group_style
from core.datasets.splits import split
from core.stats.estimates import Estimate, percent, tolerance_text
from core.stats.fairness import group_rates
from core.studies.bias_queries import Exact, Trials, query_pool
from core.studies.bias_queries.charts import draw_values
from core.studies.correction import findings as correction_findings
from core.studies.subject import AuditConfig, Progress, Subject
from tests import samples
from tests.samples import dataset


def about(value: float, half: float = 0.01) -> Estimate:
    return Estimate(value=value, low=value - half, high=value + half, n=4000)


# --- numbers beside a limit


@pytest.mark.parametrize("value", [0.0050004, 0.00500001, 0.0049996, 0.00504, 0.00497, 0.0051])
def test_a_number_beside_a_limit_is_never_written_like_the_limit(value: float) -> None:
    assert tolerance_text(value, limit=0.005) != tolerance_text(0.005) == "0.005"
    assert float(tolerance_text(value, limit=0.005)) == pytest.approx(value, rel=0.01)
    for check in ("unfairness", "membership_caught", "attribute_excess", "four_fifths"):
        limit = 0.05
        near = about(limit + (value - 0.005) * 10, half=0.2)
        alone, near_text = estimate_text(check, near)[0], estimate_text(check, near, limit=limit)[0]
        assert near_text != value_text(check, limit) and len(near_text) >= len(alone)
        assert value_text(check, near.value, limit=limit) != value_text(check, limit)


@pytest.mark.parametrize(("achieved", "holds"), [(0.00502, False), (0.005, True)])
def test_a_tolerance_is_judged_by_both_measures_and_a_false_one_is_exceeded(achieved: float, holds: bool) -> None:
    now: Any = SimpleNamespace(metric="statistical_parity", achieved=achieved, disclosed_tolerance=0.005)
    finding = correction_findings.truth_of(now, 0.005, 0.00987)
    assert ("does not hold" in finding.point) == (not holds)
    assert bool(numbers := re.findall(r"is ([\d.]+), above ([\d.]+)\. ", finding.evidence)) == (not holds)
    assert all(float(value) > float(limit) for value, limit in numbers)
    assert "Fairlearn's demographic parity difference): 0.0099" in finding.evidence


# --- the attacker without the model is called stronger only where they are


@pytest.mark.parametrize("after", [0.70, 0.78, 0.80, 0.82, 0.90, None])
@pytest.mark.parametrize("strong", [0.65, 0.797, 0.81, 0.95])
def test_imputation_is_better_only_where_its_number_is_clearly_higher(after: float | None, strong: float) -> None:
    before = about(0.6)
    group = SimpleNamespace(group=0, before=before)
    now: Any = SimpleNamespace(
        before=before,
        after=None if after is None else about(after),
        gain=None if after is None else about(after - 0.6),
        used=0.01,
        disclosed_tolerance=0.01,
        achieved=0.01,
        is_true=True,
        balanced_before=before,
        balanced_after=None,
        majority=about(0.55),
        groups=(group,),
        certificate=SimpleNamespace(status="infeasible"),
        smallest_tolerance=0.02,
    )
    subject = SimpleNamespace(attribute="sex", dataset=SimpleNamespace(feature_names=(), roles=samples.ROLES))
    result: Any = SimpleNamespace(
        subject=subject, strong=about(strong), group_names=("men", "women"), config=AuditConfig(dataset="sample")
    )
    finding = correction_findings.headline(result, now, adversary="features")
    assert percent(about(strong)) in finding.evidence
    assert ("better still" in finding.point) == (after is not None and strong - after > np.hypot(0.01, 0.01))
    assert ("helps" in finding.point) == (after is not None)
    if after is not None:
        now.is_true, now.achieved = False, 0.0214
        finding = correction_findings.headline(result, now, adversary="features")
        assert finding.point.startswith("Tolerance 0.01 is false for this model: unfairness 0.0214. ")
        assert finding.to_do.startswith("Do not publish it") and finding.to_do.endswith("that holds is 0.022.")


# --- one group, one colour


def words_colours(drawing: Any) -> dict[str, str]:
    """Return the colour of every remark of a chart."""
    return {note.text: note.font.color for note in drawing.figure(LIGHT).layout.annotations}


@pytest.mark.parametrize("share", ["smaller", "larger"])
def test_a_group_has_one_colour_whichever_is_larger(share: str) -> None:
    data = dataset(600)  # "north", code 1, is a third
    if share == "larger":
        data = replace(data, sensitive=1 - data.sensitive)  # "north" is now the larger group
    config = AuditConfig(dataset="sample")
    predictions = data.labels
    model: Any = SimpleNamespace(
        rates_train=group_rates(predictions, data.sensitive, metric="statistical_parity"),
        rates_test=group_rates(predictions, data.sensitive, metric="statistical_parity"),
        predictions=predictions,
        scores=np.random.default_rng(0).random(data.n),
        has_scores=True,
    )
    splits = split(data, train_share=config.train_share, seed=config.seed)
    queries = query_pool(Subject(config, data, splits, model, Progress(1)))
    assert (queries.advantaged == "north") == (share == "larger")
    people, decoded = Trials(queries, n=40, repeats=1).decoding(20, Exact(), "strongest")
    names = queries.advantaged, queries.disadvantaged
    values = draw_values(people, decoded, names=names, advantaged=queries.advantaged_code)
    rates = draw_rates(model, names=data.group_names)
    drawn = [b.marker for b in draw_groups(data).figure(LIGHT).data if b.marker.color in (LIGHT.first, LIGHT.second)]
    for code, name in enumerate(data.group_names):
        style = group_style(code)
        for chart in (values, rates):
            colors = {color for text, color in words_colours(chart).items() if name in text}
            assert colors == {LIGHT.color(style.color)}, (share, name)
        assert drawn[1 - code].color == LIGHT.color(style.color)
    marks = [trace.marker for trace in values.figure(LIGHT).data if trace.mode == "markers"]
    symbols = {mark.color: mark.symbol.removesuffix("-open") for mark in marks}
    assert symbols == {LIGHT.color(group_style(code).color): group_style(code).symbol for code in (0, 1)}

"""Every drawing: accepted by plotly with all checks, told in words, and steady under the slider."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import pytest

from core.charts import LIGHT, Drawing
from core.charts.correction import draw_disclosure, draw_landscape, draw_waterfall
from core.config import AuditConfig
from core.correction import STEPS, CorrectionResult, Disclosure, run
from core.datasets import AuditDataset
from core.estimates import points
from core.sweep.landscape import KEPT_MAP, read_landscape
from tests.samples import ROLES, dataset
from tests.unit.charts.checks import check, dots


@pytest.fixture(scope="module")
def people() -> AuditDataset:
    return dataset(2000, seed=11)


@pytest.fixture(scope="module")
def findings(people: AuditDataset) -> CorrectionResult:
    return run(AuditConfig(dataset="sample", roles=ROLES, tolerance=0.01), dataset=people)


@pytest.fixture(scope="module")
def curve(findings: CorrectionResult) -> list[Disclosure]:
    return [findings.disclose(t) for t in (0.0, 0.01, 0.05, 0.1, 0.2)]


def _told(findings: CorrectionResult, curve: list[Disclosure], marker: Disclosure) -> Drawing:
    return draw_disclosure(curve, marker, findings.strong, attribute="origin", attacker="Attacker")


def test_the_bars_of_a_waterfall_join(findings: CorrectionResult, curve: list[Disclosure]) -> None:
    leak, now = findings.attribution("published", 0.05), curve[2]
    drawing = draw_waterfall(leak, findings.strong, words="Strong", attribute="origin", now=now)
    names = ["Baseline", "+ features", "+ predictions", "+ group proportions", "+ fairness constraint"]
    assert drawing.table["attacker knows"].tolist() == [*names, "constraint only (published)", "Strong"]
    steps = [leak.step(name) for name in STEPS]
    for before, after in pairwise(steps):
        change = after.changes["accuracy"].value
        assert after.values["accuracy"].value - before.values["accuracy"].value == pytest.approx(change)
    bars = [trace for trace in check(drawing).data if trace.type == "bar"]
    ends = [(bar.base[0], bar.base[0] + bar.x[0]) for bar in bars]  # the control is a dot
    reached = [100 * step.values["accuracy"].value for step in steps]
    assert ends[:-1] == [pytest.approx(pair) for pair in pairwise(reached)]
    assert now.after is not None
    assert ends[-1] == pytest.approx((100 * now.before.value, 100 * now.after.value))
    written = [note.text for note in drawing.figure(LIGHT).layout.annotations]
    for step in steps[1:]:
        assert f"<b>{points(step.changes['accuracy']).removesuffix(' points')}</b>" in written


def test_no_correction_leaves_a_gap_and_a_hollow_marker(findings: CorrectionResult, curve: list[Disclosure]) -> None:
    none = replace(curve[0], after=None, gain=None, balanced_after=None, n_changed=None, n_right=None, reached=math.nan)
    none = replace(none, groups=tuple(replace(g, after=None) for g in none.groups))
    drawing = _told(findings, [none, *curve[1:]], none)
    check(drawing)
    (dot,) = dots(drawing.figure(LIGHT))
    assert dot.marker.color == (LIGHT.background,)
    assert "no correction" in drawing.alt


def test_the_pointer_tells_accuracy_unfairness_and_the_membership_attack():
    kept = read_landscape(KEPT_MAP)
    (trace,) = (t for t in draw_landscape(kept).data if t["type"] == "heatmap")
    told, cell = trace["customdata"], kept.cell(0.001, 1.0)
    (text,) = (t for row in told for t in row if t.startswith("<b>Tolerance 0.001, ε = 1<"))
    for part in (f"{100 * cell.accuracy.value:.1f}%", f"{cell.unfairness_train.value:.3f}", "loss threshold", "AUC"):
        assert part in text
    assert f"{cell.members.value:.3f} ({cell.members.low:.3f} to {cell.members.high:.3f})" in text
    assert f"holds in {cell.n_true} of 20 seeds" in text
    assert all("nothing is disclosed" in row[-1] for row in told)

"""The study of model cards: it finds the leak that is planted, and none where there is none."""

from __future__ import annotations

import pytest

from core.model_card import ReleaseSettings, ReleaseStudy
from core.studies import STUDIES

STUDY = STUDIES["model_card"]


def studied(seed: int, *, planted: bool) -> ReleaseStudy:
    subject, settings = (STUDY.planted if planted else STUDY.harmless)(seed), ReleaseSettings()
    assert STUDY.unavailable(subject, settings) == ""
    steps: list[tuple[int, int]] = []
    *_, found = STUDY.run(subject, settings, lambda *at: steps.append(at))
    total = STUDY.steps(subject, settings)
    assert steps == [(i, total) for i in (0, 1, 2, 2)] and isinstance(found, ReleaseStudy)
    return found


@pytest.mark.parametrize("seed", range(3))
def test_a_planted_leak_is_found_and_a_harmless_model_is_not_blamed(seed: int):
    leak, none = studied(seed, planted=True), studied(seed, planted=False)
    assert leak.most_pinned == leak.pinned.n_unsure > 200 and leak.unpredicted == 1
    assert none.most_pinned == 0 and none.unpredicted == 0
    assert none.measured.bits.high < 0.1 * leak.measured.bits.low
    assert "with near certainty (all" in STUDY.findings(leak, ReleaseSettings())[0].point
    assert "nobody's group with near certainty" in STUDY.findings(none, ReleaseSettings())[0].point


def test_columns_of_predictions_are_no_matter_of_an_audit():
    assert "an audit has one model" in STUDY.unavailable(STUDY.harmless(0), ReleaseSettings(family="given"))

"""Sweeps are as they were: what is asked of a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from core.experiments.sweep import point
from core.studies.config import AuditConfig
from tests import samples
from tests.golden.numbers import NamedValues, compare_numbers

BASE = AuditConfig(dataset="sample", roles=samples.ROLES)


def measured() -> NamedValues:
    """Yield what is asked of a model's attackers."""
    calls: list[Any] = []
    correction = SimpleNamespace(disclose=lambda *arguments, **more: calls.append((*arguments, *more.values())))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(point, "subject_of", lambda *_: SimpleNamespace(model=None))
        patch.setattr(point.CorrectionResult, "of", staticmethod(lambda *_, as_published: correction))
        patch.setattr(point.SweepPoint, "of", classmethod(lambda *arguments, disclosures, **_: list(disclosures)))
        for method in ("exponentiated_gradient", "unmitigated"):
            yield f"measured {method}", str(point.measure(replace(BASE, method=method), None))
    yield "disclosed", [str(call) for call in calls]


CASES: dict[str, Callable[[], NamedValues]] = {
    "measured": measured,
}


@pytest.mark.parametrize("case", CASES)
def test_numbers(case: str) -> None:
    compare_numbers(f"sweep_{case}", CASES[case]())

"""What the tests of the AttriGuard page share: studies of core with fewer attackers and people than on the page."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np
import pytest

import core.attriguard
from core.attriguard import Exposure, Guarded, GuardSettings, TableGuard, TableSettings, findings, table_guard
from core.datasets import build_dataset, demo_table
from core.datasets.dataset import AuditDataset
from core.datasets.ratings import Ratings, build_ratings
from pages.common import attriguard_controls as controls
from tests import expected
from tests.app.dashboard import Dashboard
from tests.patience import PATIENT

BUDGETS = (0.25, 0.5)
ATTACKERS = ("logistic", "network", "adversarial", "dropping")


@cache
def few_ratings() -> Ratings:
    """Return ratings of 240 invented people of three cities, each of which has apps of its own."""
    from scipy import sparse

    rng = np.random.default_rng(7)
    city = rng.choice(3, 240, p=(0.5, 0.3, 0.2))
    liked = np.where(np.arange(30)[None, :] // 10 == city[:, None], 0.35, 0.1)
    stars = (rng.random((240, 30)) < liked) * rng.choice((0.4, 0.8, 1.0), (240, 30))
    stars[0] = 0.0  # somebody who rated nothing
    stars[-1] = 0.0
    names = ("Aville", "B & C", "D_*ville*")
    table = sparse.csr_array(stars)
    return build_ratings(
        (table[:160], table[160:]),
        ([names[i] for i in city[:160]], [names[i] for i in city[160:]]),
        title="Few ratings",
        source="Invented.",
        attribute="city",
        items=[f"app {i}" for i in range(30)],
        synthetic=True,
    )


FEW = partial(GuardSettings, attackers=ATTACKERS, trained_at=(1.0,))
"""Settings of a study on ratings with few attackers."""

FEW_OF_TABLES = partial(TableSettings, trained_budgets=(0.25,))
"""Settings of a study on a table with few budgets to train against."""

_EXPOSE = TableGuard.expose
_STUDIES: dict[TableSettings, list[tuple[Any, Exposure]]] = {}


def studies_of_demo(settings: TableSettings) -> list[tuple[Any, Exposure]]:
    """Return the growing study of the demo, computed once for all tests."""
    if settings not in _STUDIES:
        config = expected.audit().config
        guard = table_guard(demo(), config, settings)
        _STUDIES[settings] = [(guard, study) for study in _EXPOSE(guard) if study.guesses]
    return _STUDIES[settings]


@cache
def demo() -> AuditDataset:
    table = demo_table()
    return build_dataset(table, table.roles[0])


def guard_columns() -> tuple[str, ...]:
    return demo().feature_names


class Gate:
    """Studies that grow only as far as a test allows."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.open.set()
        self.reached = threading.Event()
        self.free = 10**6
        self.begun = 0

    def studies(self, guard: Any) -> Iterator[Exposure]:
        self.begun += 1
        for i, (_, study) in enumerate(studies_of_demo(guard.settings)):
            if i >= self.free:
                self.reached.set()
                assert self.open.wait(PATIENT)
            yield study


def few_attackers(monkeypatch: pytest.MonkeyPatch) -> Gate:
    """Let the page have few attackers, and studies that other tests have made."""
    made = Gate()
    monkeypatch.setattr(controls, "GuardSettings", FEW)
    monkeypatch.setattr(controls, "TableSettings", FEW_OF_TABLES)
    monkeypatch.setattr(TableGuard, "expose", lambda guard: made.studies(guard))
    monkeypatch.setattr(
        core.attriguard,
        "table_guard",
        lambda dataset, config, settings: (
            studies_of_demo(settings)[0][0]
            if config == expected.audit().config
            else table_guard(dataset, config, settings)
        ),
    )
    monkeypatch.setattr("core.datasets.demo_ratings", few_ratings)
    return made


def study_of(**changes: Any) -> Exposure:
    """Return the whole study of the demo with these settings."""
    return studies_of_demo(FEW_OF_TABLES(**changes))[-1][1]


@cache
def study_of_ratings(**changes: Any) -> Exposure:
    """Return the whole study of the few ratings with these settings."""
    return list(Guarded(few_ratings(), FEW(**changes)).expose())[-1]


def assert_tells(dashboard: Dashboard, study: Exposure, budget: float, *, balanced: bool = False) -> None:
    """Check finding and grey line against core: the defender's own attacker, the best one, and the baseline."""
    found = findings.headline(study, study.at(budget), balanced=balanced)
    finding = re.sub(r"\\(.)", r"\1", dashboard.finding)
    assert found.point in finding and found.evidence in finding, finding

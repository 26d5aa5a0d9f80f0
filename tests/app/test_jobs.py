"""Long work in threads: progress, cancel, failure in one sentence, and the way out of each."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import core.datasets.catalog
from core.base.errors import DataUnavailableError
from core.datasets import AuditDataset
from core.experiments.attacked_models import TOLERANCES
from core.studies.correction import CorrectionResult
from core.studies.subject import AuditConfig
from pages.shell import cached
from tests.app.conftest import Start
from tests.app.dashboard import Dashboard, Gate, PointsOnDemand, RecordedJob, sweep_job
from tests.expected import run_once
from tests.unit.datasets.bad_tables import assert_one_sentence

SECRET = "/home/somebody/secret.csv"


@pytest.fixture
def log() -> Iterator[list[str]]:
    """What the jobs write to the server's log."""
    lines: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(self.format(record))

    handler = Keep()
    logger = logging.getLogger("fairleak.jobs")
    logger.addHandler(handler)
    yield lines
    logger.removeHandler(handler)


class Held(Gate):
    """Holds audits after their first step."""

    def run(
        self, config: AuditConfig, report: Callable[[int, int], None] | None = None, *, dataset: AuditDataset
    ) -> CorrectionResult:
        """Run an audit like `core.studies.correction.run`."""
        assert report is not None
        report(1, 7)
        self.wait()
        report(2, 7)
        return run_once(config, report, dataset=dataset)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    """Hold audits until the gate is open."""
    held = Held()
    held.open.clear()
    monkeypatch.setattr(cached, "run", held.run)
    yield held
    held.open.set()


def test_an_audit_runs_in_a_thread(dashboard: Dashboard, gate: Held):
    test = dashboard.test
    dashboard.open("correction", settled=False)
    dashboard.until(lambda: gate.reached.is_set() and dashboard.has_button("cancel_"))
    assert not any("%" in text for text in dashboard.findings)
    gate.open.set()
    dashboard.settle()
    assert "%" in dashboard.finding
    jobs = len(RecordedJob.started)
    test.run()
    dashboard.open("model")
    assert "%" in dashboard.finding
    assert len(RecordedJob.started) == jobs  # no second audit
    assert [job.state for job in RecordedJob.started] == ["finished"] * jobs


def test_cancel_and_start_again(dashboard: Dashboard, gate: Held):
    dashboard.open("correction", settled=False)
    dashboard.until(lambda: gate.reached.is_set() and dashboard.has_button("cancel_"))
    dashboard.press("cancel_")
    gate.open.set()
    dashboard.settle()
    assert [info.value for info in dashboard.test.info] == ["Stopped before it was finished."]
    assert not dashboard.test.warning and not any("%" in text for text in dashboard.findings)
    dashboard.click("start_")
    assert "%" in dashboard.finding
    assert [job.state for job in RecordedJob.started if job.lane == "audit"].count("cancelled") == 1


def test_two_sessions_share_one_audit(start: Start, gate: Held):
    first, second = (start().open("correction", settled=False) for _ in range(2))
    first.until(lambda: gate.reached.is_set() and first.has_button("cancel_"))
    second.until(lambda: second.has_button("cancel_"))
    jobs = len(RecordedJob.started)
    gate.open.set()
    first.settle()
    second.settle()
    assert first.finding == second.finding
    assert len(RecordedJob.started) == jobs + 1  # what the page asks of the audit, once for both


def test_a_cancel_does_not_end_another_session_s_wait(start: Start, gate: Held):
    first, second = (start().open("correction", settled=False) for _ in range(2))
    first.until(lambda: gate.reached.is_set() and first.has_button("cancel_"))
    second.until(lambda: second.has_button("cancel_"))
    first.press("cancel_")
    gate.open.set()
    second.settle()
    assert "%" in second.finding and not second.test.info


def test_a_table_that_cannot_be_had(dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch, log: list[str]):
    sentence = "Adult could not be downloaded: no network; use the built-in demo."

    def unavailable(name: str, **folders: Any) -> Any:
        raise DataUnavailableError(sentence)

    dashboard.open("model")
    before = dashboard.finding
    with monkeypatch.context() as broken:
        broken.setattr(core.datasets.catalog, "load", unavailable)
        dashboard.choose(dataset="adult")
        assert dashboard.plain_problem() == sentence
        assert not any("%" in text for text in dashboard.findings)
        dashboard.click("again_")
        assert dashboard.plain_problem() == sentence
        dashboard.open("data")
        assert dashboard.plain_problem() == sentence
        (summary,) = dashboard.test.sidebar.markdown
        assert summary.value.startswith("#### Audited")
        dashboard.choose(dataset="demo")
        dashboard.open("model")
    assert dashboard.finding == before
    assert not dashboard.test.warning
    assert not any("Traceback" in line for line in log)


def test_a_table_that_is_never_downloaded(dashboard: Dashboard, log: list[str]):
    dashboard.open("overview", settled=False)
    dashboard.test.selectbox(key="dataset").set_value("compas")
    for page in ("model", "data", "bias_queries", "attriguard"):
        dashboard.open(page)
        problem = dashboard.plain_problem()
        assert problem.startswith("COMPAS is read from a file of yours") and problem.count(". ") == 0
        assert "compas/compas-scores-two-years.csv" in problem and "FAIRLEAK_DATA" in problem
        (summary,) = dashboard.test.sidebar.markdown
        assert summary.value.startswith("#### Audited")
    assert not any("Traceback" in line for line in log)


@pytest.mark.parametrize("error", [KeyError(SECRET), OSError(SECRET)], ids=repr)
def test_an_unexpected_error_is_told_without_its_details(
    dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch, log: list[str], error: Exception
):
    def broken(name: str, **folders: Any) -> Any:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(core.datasets.catalog, "load", broken)
        dashboard.open("model")
        sentence = dashboard.plain_problem()
        assert_one_sentence(sentence)
        assert "secret" not in sentence and "log" in sentence
        assert any("Traceback" in line and type(error).__name__ in line for line in log)
    dashboard.click("again_")
    assert "%" in dashboard.finding and not dashboard.test.warning


@pytest.mark.long
def test_the_sweep_grows_stops_and_starts_again(dashboard: Dashboard, points: PointsOnDemand):
    dashboard.open("correction").choose(further="trained")
    assert dashboard.has_button("cancel_sweep") and not dashboard.has_button("start_sweep")
    points.allow(2)
    dashboard.until(lambda: len(sweep_job().partial) == 2)
    dashboard.press("cancel_sweep")
    points.allow(1)
    sweep_job().end()
    dashboard.settle()
    assert not dashboard.has_button("cancel_sweep")
    assert "Stopped after 3 of " in dashboard.button("start_sweep").label
    stopped = sweep_job()
    dashboard.open("model")
    dashboard.open("correction")
    assert sweep_job() is stopped  # leaving the page neither loses nor restarts it
    dashboard.click("start_sweep")
    assert sweep_job() is not stopped
    points.allow(len(TOLERANCES))
    sweep_job().end()
    dashboard.settle()
    assert len(sweep_job().partial) == len(TOLERANCES) == 18
    assert not dashboard.has_button("cancel_sweep") and not dashboard.has_button("start_sweep")

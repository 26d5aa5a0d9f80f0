"""Long work in threads: progress, cancel, failure in one sentence, and the way out of each."""

import logging

import pytest

import core.datasets.catalog
from core.base.errors import DataUnavailableError
from core.experiments.attacked_models import TOLERANCES
from pages.shell import cached
from tests.app.dashboard import Gate, RecordedJob, sweep_job
from tests.expected import run_once
from tests.unit.datasets.bad_tables import assert_one_sentence


@pytest.fixture
def log(caplog):
    """What the jobs write to the server's log."""
    with caplog.at_level(logging.INFO, "fairleak.jobs"):
        yield lambda: "\n".join(record.exc_text or record.message for record in caplog.records)


@pytest.fixture
def gate(monkeypatch):
    """Holds audits after their first step."""
    gate = Gate()
    gate.open.clear()

    def run(config, report=None, *, dataset):
        report(1, 7)
        gate.wait()
        report(2, 7)
        return run_once(config, report, dataset=dataset)

    monkeypatch.setattr(cached, "run", run)
    yield gate
    gate.open.set()


def waiting(start, gate):
    dashboard = start().open("correction", settled=False)
    dashboard.until(lambda: gate.reached.is_set() and dashboard.has_button("cancel_"))
    return dashboard


def test_an_audit_runs_in_a_thread_is_shared_and_computed_once(start, gate):
    first, second = (waiting(start, gate) for _ in range(2))
    assert not any("%" in text for text in first.findings)
    jobs = len(RecordedJob.started)
    gate.open.set()
    for session in (first, second):
        session.settle()
    assert first.finding == second.finding and "%" in first.finding
    assert len(RecordedJob.started) == jobs + 1  # what the page asks of the audit, once for both
    first.open("model")
    assert [job.state for job in RecordedJob.started] == ["finished"] * (jobs + 1)  # no second audit


def test_a_cancelled_audit_starts_again(start, gate):
    dashboard = waiting(start, gate)
    dashboard.press("cancel_")
    gate.open.set()
    dashboard.settle()
    assert [info.value for info in dashboard.test.info] == ["Stopped before it was finished."]
    assert not dashboard.test.warning and not any("%" in text for text in dashboard.findings)
    dashboard.click("start_")
    assert "%" in dashboard.finding
    assert [job.state for job in RecordedJob.started if job.lane == "audit"].count("cancelled") == 1


def test_a_cancel_does_not_end_another_session_s_wait(start, gate):
    first, second = (waiting(start, gate) for _ in range(2))
    first.press("cancel_")
    gate.open.set()
    second.settle()
    assert "%" in second.finding and not second.test.info


def test_a_table_that_cannot_be_had(dashboard, monkeypatch, log):
    sentence = "Adult could not be downloaded: no network; use the built-in demo."

    def unavailable(name, **folders):
        raise DataUnavailableError(sentence)

    before = dashboard.open("model").finding
    with monkeypatch.context() as broken:
        broken.setattr(core.datasets.catalog, "load", unavailable)
        dashboard.choose(dataset="adult")
        assert dashboard.plain_problem() == sentence and not any("%" in text for text in dashboard.findings)
        dashboard.click("again_")
        assert dashboard.plain_problem() == sentence
        dashboard.open("data")
        assert dashboard.plain_problem() == sentence
        dashboard.choose(dataset="demo")
    assert dashboard.open("model").finding == before
    dashboard.choose(dataset="compas")  # which is never downloaded
    for page in ("model", "attriguard"):
        problem = dashboard.open(page).plain_problem()
        assert_one_sentence(problem, ("COMPAS is read from a file of yours", "FAIRLEAK_DATA"))
    assert "Traceback" not in log()


def test_an_unexpected_error_is_told_without_its_details(dashboard, monkeypatch, log):
    def broken(name, **folders):
        raise OSError("/home/somebody/secret.csv")

    with monkeypatch.context() as patched:
        patched.setattr(core.datasets.catalog, "load", broken)
        sentence = dashboard.open("model").plain_problem()
        assert_one_sentence(sentence, ("log",))
        assert "secret" not in sentence and "Traceback" in log() and "OSError" in log()
    dashboard.click("again_")
    assert "%" in dashboard.finding and not dashboard.test.warning


@pytest.mark.long
def test_the_sweep_grows_stops_and_starts_again(dashboard, points):
    dashboard.open("correction").choose(further="trained")
    points.allow(2)
    dashboard.until(lambda: len(sweep_job().partial) == 2)
    dashboard.press("cancel_sweep")
    points.allow(1)
    sweep_job().end()
    dashboard.settle()
    assert "Stopped after 3 of " in dashboard.button("start_sweep").label
    stopped = sweep_job()
    dashboard.open("model").open("correction")
    assert sweep_job() is stopped  # leaving the page neither loses nor restarts it
    dashboard.click("start_sweep")
    points.allow(len(TOLERANCES))
    sweep_job().end()
    dashboard.settle()
    assert sweep_job() is not stopped and len(sweep_job().partial) == len(TOLERANCES) == 18
    assert not dashboard.has_button("cancel_sweep") and not dashboard.has_button("start_sweep")
    dashboard.choose(sweep_seeds=3).click("start_sweep")
    assert len(sweep_job().partial) >= 18 and sweep_job().total == 54  # what one seed gave is not trained again

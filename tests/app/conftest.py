"""A fresh dashboard for each test: caches cleared, its threads ended before the next."""

import time
from functools import cache

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import local_script_runner

import core.auditing
import core.experiments.engine
from core.auditing import subprocess_jobs
from pages.shell import background, cached, signin
from pages.shell.signin import Access
from tests import ledger_work
from tests.app.dashboard import Dashboard, PointsOnDemand, RecordedJob, steps
from tests.app.deciding import SELF_TESTS, Attacks
from tests.expected import run_once
from tests.patience import wait_until


@pytest.fixture(scope="session", autouse=True)
def patched_streamlit():
    """Look for components in the packages once, and let a page that waits for a job take a minute to each step."""

    def wait(runner, seconds):
        try:
            wait_until(runner.script_stopped, "the end of a page's run", steps, pause=lambda: time.sleep(0.001))
        except AssertionError:
            runner.request_stop()
            raise

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        patch.setattr(local_script_runner, "require_widgets_deltas", wait)
        yield


@pytest.fixture
def points(monkeypatch):
    """How many models of a sweep may finish: none until a test allows it."""
    on_demand = PointsOnDemand()
    monkeypatch.setattr(core.experiments.engine, "measured_points", on_demand)
    return on_demand


@pytest.fixture
def start(monkeypatch, points, tmp_path):
    """Start dashboards with empty caches; the same audit is computed once for all tests."""
    monkeypatch.setattr(background, "Job", RecordedJob)
    # A test's patches hold for jobs, too.
    monkeypatch.setattr(background, "run_in_subprocess", subprocess_jobs.run_in_process)
    monkeypatch.setattr(RecordedJob, "started", [])
    monkeypatch.setattr(cached, "run", run_once)
    ledger_work.repeatable(monkeypatch)
    monkeypatch.delenv("FAIRLEAK_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))  # where the query desk's ledger lies by default
    st.cache_resource.clear()
    yield Dashboard
    for job in RecordedJob.started:
        job.cancel()
    points.end()
    for job in RecordedJob.started:
        job.end()
    st.cache_resource.clear()


@pytest.fixture
def dashboard(start):
    return start()


@pytest.fixture
def attacks(monkeypatch):
    """Few attacks, and a test of FairLeak itself that is done at once."""
    recorder = Attacks()
    monkeypatch.setattr(core.auditing, "run_audit", recorder)
    monkeypatch.setattr(core.auditing, "self_test_in_subprocess", lambda folder, report=None: SELF_TESTS)
    return recorder


@pytest.fixture
def be(monkeypatch):
    """Sign in, in a role, in whatever session runs next."""

    def in_role(role):
        monkeypatch.setattr(signin, "is_on", lambda: True)
        monkeypatch.setattr(signin, "current_access", lambda: Access(role, f"{role}@example.org", until=2e9))

    return in_role

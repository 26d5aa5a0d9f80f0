"""The test of FairLeak itself beside an audit: begun by its first step, told once a step, ended with it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from core.cli.audit import SelfTestsBeside
from core.errors import Cancelled
from tests.samples_report import sample

TESTS = sample().self_tests


def test_it_begins_with_the_first_step_and_tells_each_once(monkeypatch: pytest.MonkeyPatch):
    begun: list[Path] = []

    def made(folder: Path, report: Callable[[int, int], None]) -> object:
        begun.append(folder)
        for done in (0, 0, 5, 5, 10):
            report(done, 10 if done else 0)
        return TESTS

    monkeypatch.setattr("core.release_audit.self_test_apart", made)
    steps: list[tuple[int, int]] = []
    told: list[tuple[int, int]] = []
    with SelfTestsBeside(lambda *at: told.append(at)) as tests:
        report = tests.begun_by(lambda *at: steps.append(at))
        assert not begun
        report(0, 2)
        report(1, 2)
        assert tests() == TESTS
    assert steps == [(0, 2), (1, 2)] and told == [(5, 10), (10, 10)] and len(begun) == 1


def test_it_ends_with_an_audit_that_breaks(monkeypatch: pytest.MonkeyPatch):
    ended: list[bool] = []

    def endless(folder: Path, report: Callable[[int, int], None]) -> object:
        try:
            while True:
                report(0, 0)
                time.sleep(0.01)
        except Cancelled:
            ended.append(True)
            raise

    monkeypatch.setattr("core.release_audit.self_test_apart", endless)
    with pytest.raises(ZeroDivisionError), SelfTestsBeside(lambda *at: None) as tests:
        tests.begun_by(lambda *at: None)(0, 1)
        raise ZeroDivisionError
    assert ended == [True]

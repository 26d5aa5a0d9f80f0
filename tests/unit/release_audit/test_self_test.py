"""The test of FairLeak itself: it passes as FairLeak stands, fails what always or never reports, and is kept."""

import contextlib
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from core.auditing import cached_self_test, self_test_in_subprocess
from core.auditing import run as module
from core.auditing.run import allowed_false_alarms, breaks, finds_leak, kept_file, self_test, trials
from core.base.errors import Cancelled
from core.base.settings import Settings
from core.cli.audit import self_test_beside
from core.stats.estimates import Estimate, proportion
from core.studies.registry import STUDIES
from core.studies.study import Measurement, Plant, Study, draw_people, posterior

ALL = trials()


def measured(value, low, high, check="attribute_excess"):
    return Measurement(check=check, estimate=Estimate(value=value, low=low, high=high, n=100))


class FixedVerdicts(Study[Settings, Any]):
    """A study whose verdicts are known: what it is asked about says whether a leak is found."""

    def run(self, subject, settings, report=None):
        yield subject

    def checks(self, result, settings):
        return {"attribute_excess": measured(*((0.5, 0.4, 0.6) if result else (0.0, -0.1, 0.1)))}


def trial(leaks, share=1.0):
    """Return a trial by whether a leak is found in a run, a number from 0 on, and in a planted one."""
    runs = Counter()

    def make(seed, planted):
        runs[planted] += 1
        return leaks(runs[planted] - 1, planted), Settings()

    limits = {"attribute_excess": 0.0}
    return FixedVerdicts(), Plant(attack="a known one", explanation="", make=make, limits=limits, share=share)


SLOW = ("by the audit's own attack", "difference of two models' scores", "Members identified (TPR at 1% FPR)")


@pytest.mark.parametrize(
    "tried", [pytest.param(t, id=t[1].attack, marks=[pytest.mark.long] * t[1].attack.endswith(SLOW)) for t in ALL]
)
def test_every_planted_leak_is_found_and_none_where_there_is_none(tried):
    for seed in range(5 if "what is released" in tried[1].attack else 2):  # there it takes turns
        assert finds_leak(*tried, seed, True)
    assert sum(finds_leak(*tried, seed, False) for seed in range(2)) <= 1


def test_every_study_is_tried_at_every_check_that_tells_a_leak_from_none():
    limited = {check for _, plant in ALL for check in plant.limits}
    declared = {check.name for study in STUDIES.values() for check in study.declared}
    assert declared - limited == {"attribute_bits", "targeted_leakage", "attriguard_cost"}
    assert [name for name, study in STUDIES.items() if not study.plants] == []


@pytest.mark.parametrize("always", [True, False])
def test_a_judge_that_always_or_never_reports_does_not_pass(always, monkeypatch):
    monkeypatch.setattr(module, "breaks", lambda measurement, limit: always)
    (tested,) = self_test(runs=10, tried=[trial(lambda run, planted: planted)])
    assert not tested.passed
    assert tested.false_alarms.value == tested.detected.value == float(always)


def test_rates_bounds_and_the_number_of_runs():
    tested = self_test(runs=98, tried=[trial(lambda run, planted: planted or run < 4, share=0.25)])[0]  # 24.5, 12.5
    assert tested.false_alarms == proportion(4, 25) and tested.detected == proportion(13, 13)
    assert not tested.passed and tested.false_alarms.value > allowed_false_alarms(25)
    assert self_test(runs=100, tried=[trial(lambda run, planted: planted or run < 8)])[0].passed  # 8 of 100
    assert not self_test(runs=100, tried=[trial(lambda run, planted: planted and run < 47)])[0].passed


def test_passes_with_as_many_false_alarms_as_are_allowed():
    """Of 1,216 runs 6.25%: 5% and twice the root of 0.0475 / 1,216, which is 0.625%."""
    assert allowed_false_alarms(1216) == 0.0625
    assert module.passes(proportion(76, 1216), proportion(20, 20))
    assert not module.passes(proportion(77, 1216), proportion(20, 20))
    assert module.passes(proportion(0, 50), proportion(19, 20))


@pytest.mark.parametrize(
    ("measurement", "limit", "leak"),
    [
        (measured(0.02, 0.001, 0.04), 0.0, True),
        (measured(0.02, -0.001, 0.04), 0.0, False),
        (measured(-0.02, -0.04, -0.001), 0.0, False),
        (measured(0.02, 0.011, 0.04, "membership_caught"), 0.01, True),
        (measured(0.02, 0.01, 0.04, "membership_caught"), 0.01, False),
        (measured(0.7, 0.6, 0.79, "four_fifths"), 0.8, True),
        (Measurement(check="membership_gap", outcome="not_run", reason="Nobody."), 0.0, False),
    ],
)
def test_a_leak_is_called_where_the_interval_lies_beyond_the_limit(measurement, limit, leak):
    assert breaks(measurement, limit) == leak


def test_the_law_of_the_people():
    people = draw_people(40_000, np.random.default_rng(0))
    p = posterior(people)
    for low in (0.2, 0.4, 0.6, 0.8):  # of people with a probability near p, the share p are of group 1
        near = np.abs(p - low) < 0.1
        assert people.sensitive[near].mean() == pytest.approx(p[near].mean(), abs=0.02)
    same = (people.features == people.features[0]).all(axis=1)
    rates = [people.labels[same & (people.sensitive == group)].mean() for group in (0, 1)]
    assert rates[0] == pytest.approx(rates[1], abs=0.15)  # the label says nothing beyond the features


@pytest.fixture
def counted(monkeypatch):
    short = Mock(side_effect=lambda report: self_test(runs=10, tried=[trial(lambda run, planted: planted)]))
    monkeypatch.setattr(module, "self_test", short)
    return short


def test_cached_self_test_is_made_again_once_a_package_changes(tmp_path, counted, monkeypatch):
    folder = tmp_path / "new" / "folder"
    first = cached_self_test(folder)
    assert cached_self_test(folder) == first and counted.call_count == 1
    assert list(folder.iterdir()) == [kept_file(folder)]
    monkeypatch.setattr(module, "versions", lambda: {"numpy": "0.1"})
    cached_self_test(folder)
    assert counted.call_count == 2


DAMAGES = {
    "no text": lambda content: b"\xff\xfe" + content,
    "empty": lambda content: b'{"tests": []}',
    "nested": lambda content: b"[" * 100_000,
    "changed": lambda content: content.replace(b"true", b"false", 1),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_or_foreign_file_is_written_anew(tmp_path, counted, damage):
    first = cached_self_test(tmp_path)
    file = kept_file(tmp_path)
    content = file.read_bytes()
    file.write_bytes(DAMAGES[damage](content))
    assert file.read_bytes() != content
    assert cached_self_test(tmp_path) == first and counted.call_count == 2
    assert file.read_bytes() == content


def test_cached_self_test_by_several_at_once_and_where_nothing_can_be_written(tmp_path, counted):
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(cached_self_test, [tmp_path] * 4))
    assert len(set(map(str, results))) == 1
    assert [path.suffix for path in tmp_path.iterdir()] == [".json"]
    taken = tmp_path / "file"
    taken.write_text("")
    assert cached_self_test(taken) == results[0]


def test_it_ends_when_it_is_stopped(tmp_path):
    with pytest.raises(Cancelled):
        self_test_in_subprocess(tmp_path, report=Mock(side_effect=Cancelled("stopped")))
    assert not list(tmp_path.iterdir())


def test_it_ends_with_an_audit_that_breaks(monkeypatch):
    ended = Mock()

    def endless(folder, report):
        with contextlib.suppress(Cancelled):
            while True:
                report(0, 0)
                time.sleep(0.01)
        ended()

    monkeypatch.setattr("core.auditing.self_test_in_subprocess", endless)
    with pytest.raises(ZeroDivisionError), self_test_beside(lambda *at: None):
        raise ZeroDivisionError
    ended.assert_called_once()

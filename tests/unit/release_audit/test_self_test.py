"""The test of FairLeak itself: it passes as FairLeak stands, and fails a detector that always or never reports."""

from __future__ import annotations

import json
import math
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.errors import Cancelled, InputError
from core.estimates import Estimate, proportion
from core.membership.roc import members_above
from core.planted import SHARE, draw_people, posterior
from core.policy import CHECKS
from core.release_audit import SelfTest, cached_self_test, self_test
from core.release_audit.self_test_trials import (
    Trial,
    _answers_leak,
    _caught_leaks,
    _promise_leaks,
    _table_leaks,
    called,
)
from core.release_audit.self_tests import TRIALS, allowed_false_alarms, kept_file
from core.study import Measurement

QUICK = tuple(trial for trial in TRIALS if trial.share >= 0.5)


def trial(leaks: Callable[[int, bool], bool], share: float = 1.0) -> Trial:
    """Return a trial whose verdicts are known."""
    return Trial(
        attack="a known one", told="", leaks=lambda _, runs, planted: [leaks(run, planted) for run in runs], share=share
    )


def by_coin(seed: int, runs: range, planted: bool) -> Sequence[bool]:
    """Call a leak by a coin that the seed and the run throw."""
    return [bool(np.random.default_rng([seed, run]).random() < 0.5) for run in runs]


def test_fairleak_reports_no_leak_where_there_is_none_and_one_where_there_is() -> None:
    found = self_test(runs=30, trials=QUICK)
    assert [test.attack for test in found] == [one.attack for one in QUICK]
    for test in found:
        assert test.passed, test
        assert test.false_alarms.n >= 15 and test.detected.n >= 10
        assert test.detected.value >= 0.95 and test.false_alarms.value <= allowed_false_alarms(test.false_alarms.n)
        assert test.told.startswith("Null: ") and "Planted: " in test.told


def test_the_audits_own_strong_attacker_is_tried_from_end_to_end() -> None:
    own = next(one for one in TRIALS if one.share < 0.5)
    assert own.leaks(1, range(1), True) == [True]
    assert own.leaks(1, range(1), False) == [False]


def test_ties_that_give_members_away_are_seen_and_ties_that_do_not_are_not() -> None:
    ties = next(one for one in TRIALS if "ties" in one.attack)
    assert ties.leaks(1, range(3), True) == [True] * 3
    assert ties.leaks(1, range(4), False).count(True) <= 1


def test_same_seed_same_answer_another_seed_or_number_of_runs() -> None:
    fast = [one for one in QUICK if "table" in one.attack or "promise" in one.attack or "answered" in one.attack]
    assert len(fast) == 3
    assert self_test(runs=12, seed=4, trials=fast) == self_test(runs=12, seed=4, trials=fast)
    for one in fast:
        few, more = one.leaks(4, range(5), False), one.leaks(4, range(9), False)
        assert list(more)[:5] == list(few)
    coin = Trial(attack="a coin", told="", leaks=by_coin)
    shares = {self_test(runs=100, seed=seed, trials=[coin])[0].false_alarms.value for seed in range(4)}
    assert len(shares) > 1


@pytest.mark.parametrize("always", [True, False])
@pytest.mark.parametrize(
    ("own", "name"),
    [
        (_table_leaks, "table"),
        (_promise_leaks, "promise"),
        (_answers_leak, "answered"),
        (_caught_leaks, "Members identified (TPR"),
    ],
)
def test_a_judge_that_always_or_never_reports_does_not_pass(
    own: Callable[..., object], name: str, always: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[own.__module__], "called", lambda measurement, control: always)
    for measure in ("answers_excess", "membership_caught"):  # whatever it is, it is not looked at
        monkeypatch.setattr(sys.modules[own.__module__], measure, lambda *_: None)
    tried = [one for one in QUICK if name in one.attack]
    assert tried
    for test in self_test(runs=10, trials=tried):
        assert not test.passed
        assert (test.false_alarms.value, test.detected.value) == ((1.0, 1.0) if always else (0.0, 0.0))


def test_an_interval_that_is_far_too_narrow_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def fixed(fpr: float, false: np.ndarray, true: np.ndarray, *, level: float) -> Estimate:
        found = members_above(fpr * (false[-1] + 1), false, true)
        return replace(proportion(float(found), int(true[-1]), level=0.5), level=level)

    monkeypatch.setattr(sys.modules["core.membership.roc"], "tpr_estimate", fixed)
    tried = [one for one in QUICK if one.attack == "Members identified (TPR at 1% FPR)"]
    assert not self_test(runs=40, trials=tried)[0].passed


def test_gaps_and_areas_that_are_always_or_never_told_do_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = [one for one in QUICK if "(AUC)" in one.attack]
    for muted in (True, False):
        monkeypatch.setattr(sys.modules[_caught_leaks.__module__], "is_muted", lambda auc, muted=muted: muted)
        assert not self_test(runs=10, trials=tried)[0].passed


def test_rates_bounds_and_the_number_of_runs() -> None:
    rare = trial(lambda run, planted: planted or run < 4, share=0.25)  # 4 of 25 false alarms
    found = self_test(runs=100, trials=[rare])[0]
    assert found.false_alarms == proportion(4, 25) and found.detected == proportion(13, 13)
    assert not found.passed and found.false_alarms.value > allowed_false_alarms(25) == pytest.approx(0.1372, abs=1e-4)
    assert self_test(runs=100, trials=[trial(lambda run, planted: planted or run < 8)])[0].passed  # 8 of 100
    assert not self_test(runs=100, trials=[trial(lambda run, planted: planted and run < 47)])[0].passed
    assert allowed_false_alarms(200) == pytest.approx(0.05 + 2 * math.sqrt(0.05 * 0.95 / 200))
    for runs in (9, 0, -1, 10.0, True):
        with pytest.raises(InputError, match="runs must be a whole number of at least 10"):
            self_test(runs=runs)  # type: ignore[arg-type]


def test_progress_is_told_and_may_stop_it() -> None:
    steps: list[tuple[int, int]] = []
    self_test(runs=50, trials=[trial(lambda run, planted: planted)], report=lambda *step: steps.append(step))
    assert steps == [(20, 75), (40, 75), (50, 75), (70, 75), (75, 75)]

    def stop(done: int, total: int) -> None:
        raise Cancelled("stopped")

    with pytest.raises(Cancelled):
        self_test(runs=10, trials=[trial(lambda run, planted: planted)], report=stop)


def test_a_leak_is_called_where_the_interval_lies_above_the_control() -> None:
    def measured(value: float, low: float, high: float, check: str = "attribute_excess") -> Measurement:
        return Measurement(check=check, outcome="done", estimate=Estimate(value=value, low=low, high=high, n=100))

    assert called(measured(0.02, 0.001, 0.04), 0.0)
    assert not called(measured(0.02, -0.001, 0.04), 0.0)
    assert not called(measured(-0.02, -0.04, -0.001), 0.0)
    assert called(measured(0.02, 0.011, 0.04, "membership_caught"), 0.01)
    assert not called(measured(0.02, 0.009, 0.04, "membership_caught"), 0.01)
    assert not called(measured(0.1, 0.0, 0.3, "membership_gap"), 0.0)
    assert not called(Measurement(check="membership_gap", outcome="not_run", reason="Nobody."), 0.0)
    assert {"attribute_excess", "membership_caught", "membership_gap"} <= set(CHECKS)


def test_the_law_of_the_people_is_the_one_told() -> None:
    people = draw_people(40_000, np.random.default_rng(0))
    assert people.sensitive.mean() == pytest.approx(SHARE, abs=0.01)
    p = posterior(people)
    for low in (0.2, 0.4, 0.6, 0.8):  # of people with a probability near p, the share p are of group 1
        near = np.abs(p - low) < 0.1
        assert people.sensitive[near].mean() == pytest.approx(p[near].mean(), abs=0.02)
    same = (people.features == people.features[0]).all(axis=1)
    rates = [people.labels[same & (people.sensitive == group)].mean() for group in (0, 1)]
    assert rates[0] == pytest.approx(rates[1], abs=0.15)  # the label says nothing beyond the features


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count how often the test is made, and make it short."""
    made: list[int] = []

    def short(*, seed: int, runs: int, report: object) -> tuple[SelfTest, ...]:
        made.append(seed)
        return self_test(seed=seed, runs=10, trials=[trial(lambda run, planted: planted)])

    monkeypatch.setattr(sys.modules[kept_file.__module__], "self_test", short)
    return made


def test_it_is_kept_until_anything_it_rests_on_changes(
    tmp_path: Path, counted: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "new" / "folder"
    first = cached_self_test(folder)
    assert cached_self_test(folder) == first and len(counted) == 1
    file = kept_file(folder)
    assert [path.name for path in folder.iterdir()] == [file.name] and len(file.stem) == len("self-test-") + 64
    cached_self_test(folder, seed=1)
    assert counted == [2023, 1]
    monkeypatch.setattr(sys.modules[kept_file.__module__], "versions", lambda: {"numpy": "0.1"})
    cached_self_test(folder, seed=1)
    assert len(counted) == 3


def damages() -> list[Callable[[bytes], bytes]]:
    """Return what may have happened to a file."""

    def changed(content: bytes) -> bytes:
        told = json.loads(content)
        told["tests"][0]["passed"] = False
        return json.dumps(told).encode()

    return [
        lambda content: b"",
        lambda content: content[: len(content) // 2],
        lambda content: b"\xff\xfe" + content,
        lambda content: b"[]",
        lambda content: b'{"tests": []}',
        lambda content: b"[" * 100_000,
        changed,
    ]


@pytest.mark.parametrize("damage", damages())
def test_a_damaged_or_foreign_file_is_written_anew(
    tmp_path: Path, counted: list[int], damage: Callable[[bytes], bytes]
) -> None:
    first = cached_self_test(tmp_path)
    file = kept_file(tmp_path)
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    assert cached_self_test(tmp_path) == first and len(counted) == 2
    assert file.read_bytes() == whole


def test_two_at_once_and_folders_that_cannot_be_written_to(tmp_path: Path, counted: list[int]) -> None:
    found: list[tuple[SelfTest, ...]] = []
    workers = [threading.Thread(target=lambda: found.append(cached_self_test(tmp_path))) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(found) == 4 and len(set(map(str, found))) == 1
    assert [path.suffix for path in tmp_path.iterdir()] == [".json"]
    taken = tmp_path / "file"
    taken.write_text("")
    assert cached_self_test(taken) == found[0]

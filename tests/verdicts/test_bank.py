"""The verdict on models whose truth is known: those that leak fail by the check meant for it, harmless ones do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace

import numpy as np
import pytest

from tests.verdicts import harmless, leaking, people
from tests.verdicts.bank import BANK, HARMLESS, LEAKING, Entry
from tests.verdicts.people import People, data_folder
from tests.verdicts.run import POLICIES, Run, run, totals
from tests.verdicts.truth import SEEDS, contradiction, recorded, truth_of

QUICK = [entry for entry in BANK.values() if entry.quick]

EACH = [pytest.param(entry, id=name, marks=[] if entry.quick else [pytest.mark.long]) for name, entry in BANK.items()]


def need(entry: Entry) -> None:
    if entry.needs and not (data_folder() / entry.needs).is_dir():
        pytest.skip(f"set FAIRLEAK_DATA to a folder that holds {entry.needs}")


def test_the_bank_holds_leaks_of_every_kind_and_harmless_models_and_each_has_its_truth_fixed():
    assert len(LEAKING) >= 20 and len(HARMLESS) >= 16 and list(recorded()) == list(BANK)
    assert sum("membership" in entry.leaks for entry in LEAKING) >= 8
    assert sum("attribute" in entry.leaks for entry in LEAKING) >= 20
    assert {entry.reason for entry in HARMLESS} == {"blind"} and all(entry.why.endswith(".") for entry in BANK.values())


@pytest.mark.parametrize("entry", EACH)
def test_what_is_true_of_a_model_is_what_was_fixed_and_bears_out_what_the_bank_says(entry: Entry):
    need(entry)
    found = truth_of(*entry.make(SEEDS[0]))
    assert asdict(found) == pytest.approx(asdict(recorded()[entry.name][0]), abs=0.01)
    assert contradiction(entry, found) == ""


@pytest.mark.parametrize("entry", EACH)
def test_a_model_is_blind_unless_the_bank_says_it_leaks_the_attribute(entry: Entry, monkeypatch: pytest.MonkeyPatch):
    need(entry)
    released = [entry.make(SEEDS[0])[1]]
    for source in ("invented", "demo", "adult", "compas"):
        for module in (harmless, leaking):
            monkeypatch.setattr(module, source, _with_others_swapped(getattr(people, source)))
    released.append(entry.make(SEEDS[0])[1])
    scores, labels = ([getattr(one, name) for one in released] for name in ("score", "prediction"))
    same = np.array_equal(labels[0], labels[1]) and (scores[0] is None or np.array_equal(scores[0], scores[1]))
    assert same == ("attribute" not in entry.leaks) or entry.name == "digit-of-training-records"


def _with_others_swapped(make: Callable[..., People]) -> Callable[..., People]:
    """Return the source with another attribute for everybody the models are not trained on."""

    def swapped(*args: object, **more: object) -> People:
        made = make(*args, **more)
        others = np.where(made.sets == "train", made.attribute, (made.attribute + 1) % made.groups)
        return replace(made, attribute=others)

    return swapped


def test_the_fixed_truth_bears_out_what_the_bank_says_at_every_seed():
    told = {
        (name, seed): contradiction(BANK[name], fixed)
        for name, each in recorded().items()
        for seed, fixed in zip(SEEDS, each, strict=True)
    }
    assert {key: said for key, said in told.items() if said} == {}


@pytest.mark.parametrize("name", ["logistic-6-decimals", "forest-without-bootstrap", "random"])
def test_a_truth_that_does_not_hold_is_noticed(name: str):
    entry = BANK[name]
    other = BANK["random" if entry.leaks else "logistic-6-decimals"]
    assert contradiction(entry, recorded()[other.name][0]) != ""


def test_a_release_that_tells_everybody_gains_what_imputation_lacks():
    made, release = BANK["digit-6"].make(1)
    assert made.posterior is not None
    imputed = (made.posterior[made.train].argmax(axis=1) == made.attribute[made.train]).mean()
    found = truth_of(made, release)
    assert found.differ == 1.0 and found.gain == pytest.approx(1.0 - imputed)


@pytest.fixture(scope="module")
def said() -> dict[str, Run]:
    """What the audit said of entries at the first seed, filled as they are tried."""
    return {}


@pytest.mark.parametrize("entry", QUICK, ids=lambda entry: entry.name)
def test_the_verdict_is_true_of_a_handful(entry: Entry, said: dict[str, Run]):
    done = said[entry.name] = run(entry, SEEDS[0])
    for policy in POLICIES:
        if entry.leaks and done.asked(policy):
            assert done.caught(policy) and done.overall[policy] == "fail", (policy, done.checks, done.values)
        if not entry.leaks:
            assert done.outcome(policy) != "fail", (policy, done.checks, done.values)
            assert not entry.large_enough or policy != "predictions" or done.outcome(policy) == "pass", done.values


@pytest.mark.long
@pytest.mark.parametrize("entry", [entry for entry in BANK.values() if not entry.quick], ids=lambda entry: entry.name)
def test_no_model_that_leaks_passes(entry: Entry, said: dict[str, Run]):
    need(entry)
    done = said[entry.name] = run(entry, SEEDS[0])
    assert not (entry.leaks and entry.judged and done.overall["default"] == "pass"), (done.checks, done.values)


@pytest.mark.long
def test_the_verdicts_are_true_of_the_bank_together(said: dict[str, Run]):
    if len(said) < len(BANK) / 2:
        pytest.skip("most of the bank was not tried in this run")
    counted = totals(said.values())
    for policy in POLICIES:
        leaks, tells_nothing = counted[f"leaking, {policy}"], counted[f"harmless, large, {policy}"]
        assert leaks["failed by its check"] >= 0.9 * leaks.total(), counted
        assert leaks["missed, pass"] == 0, counted
        assert tells_nothing["fail"] <= 0.05 * tells_nothing.total(), counted
    tells_nothing = counted["harmless, large, predictions"]
    assert tells_nothing["pass"] >= 0.75 * tells_nothing.total(), counted

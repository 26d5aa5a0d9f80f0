"""What is true of the models of the bank: what was fixed, that it bears out what the bank says, and who is blind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace

import numpy as np
import pytest

from tests.verdicts import bank, people
from tests.verdicts.bank import BANK, HARMLESS, LEAKING, Entry
from tests.verdicts.people import People
from tests.verdicts.test_bank import need
from tests.verdicts.truth import SEEDS, contradiction, recorded, truth_of

EACH = [pytest.param(entry, id=name, marks=[] if entry.quick else [pytest.mark.long]) for name, entry in BANK.items()]


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
        monkeypatch.setattr(bank, source, _with_others_swapped(getattr(people, source)))
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

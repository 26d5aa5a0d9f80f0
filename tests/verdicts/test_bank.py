"""The verdict on models whose truth is known: those that leak fail by the check meant for it, harmless ones do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pytest

from core.config import AuditConfig
from core.datasets import Roles, Table
from core.fingerprint import fingerprint_frame
from core.models import GIVEN
from core.policy import Verdict, default_policy, judge, predictions_policy
from core.release_audit import (
    AuditPlan,
    DataPlan,
    MembershipPlan,
    ModelPlan,
    audit_with_people,
    dataset_of,
    kept_tolerance,
)
from tests.verdicts import bank, people
from tests.verdicts.bank import BANK, HARMLESS, LEAKING, Entry
from tests.verdicts.people import People, data_folder
from tests.verdicts.releases import Release
from tests.verdicts.truth import SEEDS, contradiction, recorded, truth_of

POLICIES = {"default": default_policy, "predictions": predictions_policy}

_WORST_FIRST = ("fail", "not_run", "inconclusive", "pass")
_GROUPS = "abcdefgh"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What the audit said of one entry at one seed, by policy: the verdict on the release, and required checks'."""

    entry: Entry
    overall: dict[str, str]
    checks: dict[str, dict[str, str]]

    def outcome(self, policy: str) -> str:
        """Return the verdict on the release; of an unfair entry by all checks but that of unfairness."""
        if not self.entry.unfair:
            return self.overall[policy]
        rest = {verdict for check, verdict in self.checks[policy].items() if check != "unfairness"}
        return next(verdict for verdict in _WORST_FIRST if verdict in rest)

    def asked(self, policy: str) -> bool:
        """Return whether the policy requires a check that is meant for one of the entry's leaks."""
        return bool(self.checks[policy].keys() & set(self.entry.meant))

    def caught(self, policy: str) -> bool:
        """Return whether a check meant for one of the entry's leaks failed."""
        return any(self.checks[policy].get(check) == "fail" for check in self.entry.meant)


def table_and_plan(people: People, release: Release, seed: int) -> tuple[Table, AuditPlan]:
    """Return the table whoever releases would hand to an audit, and the plan for it."""
    groups = np.array(list(_GROUPS[: people.groups]), dtype=object)
    columns: dict[str, Any] = {"attribute": groups[people.attribute], "label": people.label, "set": people.sets}
    columns["prediction"] = release.prediction
    if release.score is not None:
        columns["score"] = release.score
    frame = people.features.assign(**columns)
    roles = Roles(
        label="label",
        positive="1",
        sensitive="attribute",
        group=("b",) if people.groups == 2 else (),
        each=people.groups > 2,
        prediction="prediction",
        score="score" if release.score is not None else "",
        sets="set",
    )
    table = Table(name="upload", title="Bank", frame=frame, source="Of the bank.", fingerprint=fingerprint_frame(frame))
    plan = AuditPlan(
        data=DataPlan(dataset="", file="bank.csv"),
        model=ModelPlan(kind="predictions"),
        config=AuditConfig(dataset="upload", roles=roles, method=GIVEN, seed=seed),
        membership=MembershipPlan(shadows=0),
    )
    kept = kept_tolerance(dataset_of(plan, table), plan.config)
    return table, replace(plan, config=replace(plan.config, tolerance=kept))


def run(entry: Entry, seed: int) -> Run:
    """Audit an entry once, and judge it by each policy."""
    table, plan = table_and_plan(*entry.make(seed), seed)
    audit = audit_with_people(plan, table, default_policy())[0]
    judged = {name: judge(policy(), audit.measurements, attribute="attribute") for name, policy in POLICIES.items()}
    assert judged["default"].overall == audit.verdict.overall
    return Run(
        entry=entry,
        overall={name: verdict.overall for name, verdict in judged.items()},
        checks={name: _required(verdict) for name, verdict in judged.items()},
    )


def _required(verdict: Verdict) -> dict[str, str]:
    return {row.check: row.verdict for row in verdict.rows if row.limit is not None and row.limit.required}


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


@pytest.fixture(scope="module")
def said() -> dict[str, Run]:
    """What the audit said of entries at the first seed, filled as they are tried."""
    return {}


@pytest.mark.parametrize("entry", QUICK, ids=lambda entry: entry.name)
def test_the_verdict_is_true_of_a_handful(entry: Entry, said: dict[str, Run]):
    done = said[entry.name] = run(entry, SEEDS[0])
    for policy in POLICIES:
        if entry.leaks and done.asked(policy):
            assert done.caught(policy) and done.overall[policy] == "fail", (policy, done.checks)
        if not entry.leaks:
            assert done.outcome(policy) != "fail", (policy, done.checks)
            assert not entry.large_enough or policy != "predictions" or done.outcome(policy) == "pass", done.checks


@pytest.mark.long
@pytest.mark.parametrize("entry", [entry for entry in BANK.values() if not entry.quick], ids=lambda entry: entry.name)
def test_no_model_that_leaks_passes(entry: Entry, said: dict[str, Run]):
    need(entry)
    done = said[entry.name] = run(entry, SEEDS[0])
    assert not (entry.leaks and done.overall["default"] == "pass"), done.checks


@pytest.mark.long
@pytest.mark.parametrize("policy", POLICIES)
def test_the_verdicts_are_true_of_the_bank_together(policy: str, said: dict[str, Run]):
    if len(said) < len(BANK) / 2:
        pytest.skip("most of the bank was not tried in this run")
    leaks = [one for one in said.values() if one.entry.leaks and one.asked(policy)]
    assert np.mean([one.caught(policy) for one in leaks]) >= 0.9
    assert not [one.entry.name for one in leaks if not one.caught(policy) and one.overall[policy] == "pass"]
    harmless = [one.outcome(policy) for one in said.values() if not one.entry.leaks and one.entry.large_enough]
    assert harmless.count("fail") <= 0.05 * len(harmless)
    assert policy != "predictions" or harmless.count("pass") >= 0.75 * len(harmless)

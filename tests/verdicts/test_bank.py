"""The verdict on models whose truth is known: those that leak fail by the check meant for it, harmless ones do not."""

from dataclasses import dataclass, replace
from unittest.mock import patch

import numpy as np
import pytest

from core.auditing import AuditPlan, DataPlan, MembershipSettings, ModelPlan, dataset_of, kept_tolerance, run_audit
from core.auditing.policy import default_policy, judge, predictions_policy
from core.datasets import Roles, Table
from core.models import GIVEN_PREDICTIONS
from core.studies.subject import AuditConfig
from tests.reference.data import FOLDER
from tests.verdicts.bank import BANK, Entry

SEED = 1
POLICIES = {"default": default_policy, "predictions": predictions_policy}


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What the audit said of one entry at one seed, by policy: the verdict on the release, and required checks'."""

    entry: Entry
    overall: dict[str, str]
    checks: dict[str, dict[str, str]]

    def outcome(self, policy):
        """Return the verdict on the release; of an unfair entry by all checks but that of unfairness."""
        if not self.entry.unfair:
            return self.overall[policy]
        rest = {verdict for check, verdict in self.checks[policy].items() if check != "unfairness"}
        return next(verdict for verdict in ("fail", "not_run", "inconclusive", "pass") if verdict in rest)

    def is_required(self, policy):
        """Return whether the policy requires a check that is meant for one of the entry's leaks."""
        return bool(self.checks[policy].keys() & set(self.entry.meant))

    def caught(self, policy):
        """Return whether a check meant for one of the entry's leaks failed."""
        return any(self.checks[policy].get(check) == "fail" for check in self.entry.meant)


def table_and_plan(people, release, seed):
    """Return the table whoever releases would hand to an audit, and the plan for it."""
    groups = np.array(list("abcdefgh"[: people.groups]), dtype=object)
    columns = {"attribute": groups[people.attribute], "label": people.label, "set": people.sets}
    frame = people.features.assign(**columns, prediction=release.prediction)
    if release.score is not None:
        frame["score"] = release.score
    roles = Roles(
        label="label",
        positive="1",
        favourable="1",
        sensitive="attribute",
        group=("b",) if people.groups == 2 else (),
        each=people.groups > 2,
        prediction="prediction",
        score="score" if release.score is not None else "",
        sets="set",
    )
    table = Table(name="upload", title="Bank", frame=frame, source="Of the bank.")
    plan = AuditPlan(
        data=DataPlan(dataset="", file="bank.csv"),
        model=ModelPlan(kind="predictions"),
        config=AuditConfig(dataset="upload", roles=roles, method=GIVEN_PREDICTIONS, seed=seed),
        membership=MembershipSettings(shadows=0),
    )
    tolerance = kept_tolerance(dataset_of(plan, table), plan.config)
    return table, replace(plan, config=replace(plan.config, tolerance=tolerance))


def run(entry, seed):
    """Audit an entry once, and judge it by each policy."""
    table, plan = table_and_plan(*entry.make(seed), seed)
    with patch("core.auditing.run.narrower_releases", lambda audited: ()):  # no verdict hangs on what else would pass
        audit = run_audit(plan, table, default_policy())
    verdicts = {name: judge(policy(), audit.measurements, attribute="attribute") for name, policy in POLICIES.items()}
    assert verdicts["default"].overall == audit.verdict.overall
    return Run(
        entry=entry,
        overall={name: verdict.overall for name, verdict in verdicts.items()},
        checks={name: _required(verdict) for name, verdict in verdicts.items()},
    )


def _required(verdict):
    return {row.check: row.verdict for row in verdict.rows if row.limit is not None and row.limit.required}


@pytest.fixture(scope="module")
def runs():
    """What the audit said of entries at the first seed, filled as they are tried."""
    return {}


@pytest.mark.parametrize("entry", [entry for entry in BANK.values() if entry.quick], ids=lambda entry: entry.name)
def test_the_verdict_is_true_of_a_handful(entry, runs):
    done = runs[entry.name] = run(entry, SEED)
    for policy in POLICIES:
        if entry.leaks and done.is_required(policy):
            assert done.caught(policy) and done.overall[policy] == "fail", (policy, done.checks)
        if not entry.leaks:
            assert done.outcome(policy) != "fail", (policy, done.checks)
            assert not entry.large_enough or policy != "predictions" or done.outcome(policy) == "pass", done.checks


@pytest.mark.long
@pytest.mark.parametrize("entry", [entry for entry in BANK.values() if not entry.quick], ids=lambda entry: entry.name)
def test_no_model_that_leaks_passes(entry, runs):
    if entry.needs and not (FOLDER / entry.needs).is_dir():
        pytest.skip(f"set FAIRLEAK_DATA to a folder that holds {entry.needs}")
    done = runs[entry.name] = run(entry, SEED)
    assert not (entry.leaks and done.overall["default"] == "pass"), done.checks


@pytest.mark.long
@pytest.mark.parametrize("policy", POLICIES)
def test_the_verdicts_are_true_of_the_bank_together(policy, runs):
    if len(runs) < len(BANK) / 2:
        pytest.skip("most of the bank was not tried in this run")
    leaks = [run for run in runs.values() if run.entry.leaks and run.is_required(policy)]
    assert np.mean([run.caught(policy) for run in leaks]) >= 0.9
    assert not [run.entry.name for run in leaks if not run.caught(policy) and run.overall[policy] == "pass"]
    harmless = [run.outcome(policy) for run in runs.values() if not run.entry.leaks and run.entry.large_enough]
    assert harmless.count("fail") <= 0.05 * len(harmless)
    assert policy != "predictions" or harmless.count("pass") >= 0.75 * len(harmless)

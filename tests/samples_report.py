"""A release audit made by hand, with every verdict and hostile names, and the reports made of it with changes."""

import copy
import math
from dataclasses import fields, is_dataclass, replace

import numpy as np
import pandas as pd

from core.auditing import (
    AuditPlan,
    BiasQueriesSettings,
    DataPlan,
    ModelPlan,
    ReleaseAudit,
    SelfTest,
    failed_tests,
    verdict_caveats,
)
from core.auditing.policy import Limit, Policy, judge
from core.auditing.result import DataSummary, GroupSummary, ModelSummary, Provenance, plan_fingerprint
from core.auditing.run import trials
from core.base.caveats import Caveat, CaveatKind, in_order
from core.base.serialize import code_fingerprint, content_fingerprint
from core.base.settings import Settings
from core.datasets import Roles
from core.report import report_document
from core.report.codec import report_of
from core.report.report import strict
from core.stats.estimates import Estimate, certain, proportion
from core.studies.bias_queries import declared_limits
from core.studies.study import Measurement, Outcome, not_run
from core.studies.subject import AuditConfig
from tests.policy_samples import done

HOSTILE = "</td><script>alert('x')</script> & \"women\" <img src=x onerror=alert(1)>"
FORMULA = '=HYPERLINK("http://x","y")'


def estimate(value, half, n=4000):
    return Estimate(value=value, low=value - half, high=value + half, n=n)


def group(name, cells, labelled, count):
    tp, fn, fp, tn = cells  # on the test records
    return GroupSummary(
        group=name,
        count=count,
        label_rate=proportion(labelled, count),
        test_rate=proportion(tp + fp, tp + fn + fp + tn),
        test_tpr=proportion(tp, tp + fn),
        test_fpr=proportion(fp, fp + tn),
    )


GROUPS = (
    group("women", (320, 210, 560, 3731), 1669, 14695),
    group("men", (1502, 1790, 511, 6300), 9539, 30527),
)

SMALL_GROUPS = (
    group(f"north {HOSTILE}", (3, 4, 20, 40), 30, 210),
    group(FORMULA, (40, 25, 60, 131), 260, 770),
    group("east", (150, 90, 200, 400), 800, 2500),
    group("west", (500, 300, 600, 1437), 2400, 8500),
)

_LIMITS = (  # check, value, rationale, source
    ("unfairness", 0.02, "As the model's documentation promises.", "Model documentation, section 4"),
    ("four_fifths", 0.8, "The rule of thumb of the authorities.", "29 CFR 1607.4 (D)"),
    ("correction_gain", 0.05, "Less than one person in twenty.", "Release policy, item 3"),
    ("answers_excess", 0.02, "Two points.", ""),
    ("targeted_leakage", 0.75, "", "Privacy office"),
    ("membership_caught", 0.05, HOSTILE, ""),
    ("membership_gap", 0.1, "", ""),
    ("attriguard_exposure", 0.7, "", "Privacy office"),
)
_DATED = {"author": "A. Officer", "date": "2026-03-01"}
POLICY = Policy(
    name="Release policy of the bank",
    version="3",
    rationale="For models that decide on loans. It does not ask for the cost of AttriGuard, which nobody uses here.",
    limits=tuple(
        Limit(check=check, value=value, required=check != "membership_gap", rationale=why, source=source, **_DATED)
        for check, value, why, source in _LIMITS
    ),
    **_DATED,
)


GAP = estimate(0.0113, 0.0055, 14924)
"""The unfairness of `GROUPS` by statistical parity."""


def _measured():
    """Return checks with a limit that fail, are open, were not run and pass, and some that no limit is about."""
    nothing = {"knows": "Nothing: this is what the model does."}
    scores = {"attacked": "LiRA with 64 shadow trees.", "knows": "Features, labels and scores."}
    everything = {"knows": "Features, labels and predictions, and the attribute of 14,923 others."}
    boosting = {"attacked": "Gradient boosting.", "control_name": "features and labels alone"}
    boosting["assumptions"] = ("The attacked records stand for the people the model could have been trained on.",)
    forest = {"attacked": "Forest with the tolerance.", "control_name": "forest without it", "details": {"seeds": 5}}
    decoder = {"attacked": "Decoder with prior, 25 answers at ε = 1.", "control_name": "the prior alone"}
    unmeasured = (
        "attribute_balanced",
        "attribute_bits",
        "membership_auc",
        "membership_advantage",
        "attriguard_exposure",
    )
    return (
        done("attribute_excess", -0.001, 0.003, control=estimate(0.852, 0.006), **boosting, **everything),
        *(not_run(check, "The plan leaves it out.") for check in unmeasured),
        done("correction_gain", 0.07, 0.0045, freedom=4, control=estimate(0.759, 0.007), **forest, **everything),
        done("answers_excess", 0.011, 0.017, freedom=19, control=estimate(0.69, 0.02), **decoder, **everything),
        done("targeted_leakage", 0.731, basis="declared", attacked="Whoever asks 25 questions.", **everything),
        done("membership_caught", 0.098, 0.009, control=certain(0.01, 4522), control_name="chance", **scores),
        done("membership_gap", 0.079, 0.018, **scores),
        done("absence", 0.0, attacked="The model gives everybody an answer.", **nothing),
        Measurement(check="unfairness", estimate=GAP, attacked="Statistical parity on the test people.", **nothing),
        done("four_fifths", 0.9161, 0.04, attacked="Acceptance of the test people.", **nothing),
        not_run("attriguard_cost", "The attack stopped with an error (ValueError).", outcome=Outcome.FAILED),
    )


def _curve():
    rows = []
    for tolerance in (0.0, 0.001, 0.02, 0.2):
        for attacker, before in (("the paper's attacker (A)", 0.7588), ("gradient boosting", 0.852)):
            after = before + 0.07 - 0.3 * tolerance
            row = {"tolerance": tolerance, "attacker": attacker, "true": "yes", "before": before, "after": after}
            rows.append(row | {"after, low": after - 0.006, "after, high": after + 0.006, "gain": after - before})
    return tuple(rows)


CAVEATS = in_order(
    (
        Caveat(CaveatKind.RECORDS_DROPPED, "3,620 records without a value were left out.", count=3620),
        Caveat(CaveatKind.RECORDS_REPEATED, "3 records stand twice.", count=3),
        Caveat(CaveatKind.INPUT_CHECK, HOSTILE),
        Caveat(CaveatKind.MODEL_RANDOMISED, "The model is randomised; its predictions were drawn once."),
    )
)
"""Those of the sample's notes."""


_RATES = {"false_alarms": proportion(2, 100), "detected": proportion(99, 100)}


def sample(groups=GROUPS):
    measured = _measured()
    return ReleaseAudit(
        plan=AuditPlan(
            title="Loan model, spring release",
            data=DataPlan(dataset="", file="/home/officer/secret folder/people.csv"),
            model=ModelPlan(),
            config=AuditConfig(
                dataset="upload",
                roles=Roles(label="income", positive=">50K", favourable=">50K", sensitive="sex", group=("Female",)),
            ),
            bias_queries=BiasQueriesSettings(questions=25),
            policy="policies/bank.toml",
        ),
        data=DataSummary(
            title="Adult census",
            source="Read from /home/officer/secret folder/people.csv; 1994 census, UCI.",
            attribute="sex",
            label="income above 50K",
            synthetic=False,
            n=sum(g.count for g in groups),
            sets={"train": 15375, "attack": 10446, "validation": 4477, "test": sum(g.test_rate.n for g in groups)},
            split="Drawn with seed 42: 34% for training, the rest halved between attacker and test.",
            features=("age", "workclass", HOSTILE, "hours per week"),
            notes=("3 records stand twice.", "3,620 records without a value were left out.", HOSTILE),
            fingerprint="d" * 64,
        ),
        groups=groups,
        model=ModelSummary(
            kind="train",
            title="Exponentiated gradient, trees of depth 8",
            metric="statistical_parity",
            tolerance=0.001,
            achieved=0.0008,
            unfairness_test=GAP,
            accuracy_train=proportion(12792, 15375),
            accuracy_test=proportion(12372, 14924),
            majority_test=proportion(11223, 14924),
            fingerprint="e" * 64,
            notes=("The model is randomised; its predictions were drawn once.",),
        ),
        measurements=measured,
        verdict=judge(POLICY, measured, attribute="sex", caveats=CAVEATS),
        caveats=CAVEATS,
        tables={
            "Corrections over tolerances": _curve(),
            f"Table {HOSTILE}": (
                {"attacker": FORMULA, "people": 15375, "gain": -0.05, "note": "-1+1"},
                {"attacker": "@SUM(A1)", "people": 4, "gain": 0.5, "note": None},
                {"attacker": " \t+cmd", "people": 120, "gain": math.nan, "note": HOSTILE},
            ),
        },
        self_tests=(
            SelfTest(attack="correction", passed=True, told="A planted copy for 5% of the people.", **_RATES),
            SelfTest(attack="membership", passed=False, told="A planted memory of training records.", **_RATES),
        ),
        provenance=Provenance(
            fairleak="1.0.0",
            python="CPython 3.11.9",
            platform="Linux x86_64",
            packages={"numpy": "2.4.6", "scipy": "1.17.1"},
            code="c" * 64,
            policy="f" * 64,
            plan="a" * 64,
            seeds={"audit": 42, "self-test": 2023},
        ),
        times={"started": "2026-11-20T09:15:00Z", "seconds": 512.3},
    )


def judged_audit(audit=None, *, policy=POLICY):
    """Return the audit with the verdict, summaries and fingerprints that its numbers and this code give."""
    audit = audit or sample()
    plan = replace(audit.plan, data=replace(audit.plan.data, file="people.csv"))
    bound = certain(declared_limits(plan.bias_queries)[0], 0)
    measurements = tuple(replace(m, estimate=bound) if m.check == "targeted_leakage" else m for m in audit.measurements)
    gap = next(m.estimate for m in measurements if m.check == "unfairness")
    passed = audit.self_tests[0]
    tests = tuple(replace(passed, attack=plant.attack, told=plant.explanation) for _, plant in trials())
    return replace(
        audit,
        plan=plan,
        measurements=measurements,
        model=replace(audit.model, unfairness_test=gap),
        self_tests=tests,
        verdict=judge(
            policy,
            measurements,
            attribute=audit.data.attribute,
            failed_tests=failed_tests(tests),
            caveats=verdict_caveats(audit.caveats, chosen=False, self_tests=tests),
        ),
        provenance=replace(
            audit.provenance,
            policy=content_fingerprint(policy),
            plan=plan_fingerprint(plan),
            code=code_fingerprint(),
        ),
    )


def report(replacements=None, *, policy=POLICY):
    """Return the sample's report; replacements give checks another estimate or measurement, None takes them out."""
    audit, measurements = sample(), []
    for measurement in audit.measurements:
        change = (replacements or {}).get(measurement.check, measurement)
        if isinstance(change, Estimate):
            change = replace(measurement, estimate=change)
        if change is not None:
            measurements.append(change)
    return report_document(judged_audit(replace(audit, measurements=tuple(measurements)), policy=policy))


def with_basis(audit, check, basis):
    """Return the audit with another basis of one measurement, judged again."""
    measurements = tuple(
        replace(measurement, basis=basis) if measurement.check == check else measurement
        for measurement in audit.measurements
    )
    verdict = judge(audit.verdict.policy, measurements, attribute=audit.data.attribute)
    return replace(audit, measurements=measurements, verdict=verdict)


PLAN = """\
schema = 1
title = "Hiring, {version}"
policy = "predictions"
[data]
file = "{version}.csv"
label = "hired"
positive = "yes"
favourable = "yes"
sensitive = "origin"
group = ["north"]
prediction = "said"
confirmed = ["copy:skill"]
[model]
kind = "predictions"
tolerance = 0.1
seed = 3
"""
"""Of an audit of given predictions, which takes seconds."""


def people(version, n=1200):
    """Return people with the answers of a version of a model: "safe" follows skill, "leaky" nearly always origin."""
    rng = np.random.default_rng(7)
    origin, skill = rng.integers(0, 2, n), rng.normal(size=n)
    safe, leaky = (skill > 0.0).astype(int), np.where(rng.random(n) < 0.95, origin, 1 - origin)
    return pd.DataFrame(
        {
            "skill": skill.round(3),
            "age": rng.integers(20, 60, n),
            "origin": np.where(origin == 1, "south", "north"),
            "hired": np.where(skill + rng.normal(size=n) > 0.0, "yes", "no"),
            "said": np.where((safe if version == "safe" else leaky) == 1, "yes", "no"),
        }
    )


def altered_report(report, change):
    """Return the report that is read from its changed JSON."""
    document = strict(report)
    change(document)
    return report_of(document)


_FIXED = {
    "check", "verdict", "outcome", "basis", "overall", "kind", "metric", "method", "mechanism", "missing", "code",
    "policy", "plan", "fingerprint", "released",
}  # fmt: skip


def with_texts(value, change, name=""):
    """Return the audit with every free text changed; names of checks, verdicts and fingerprints stay."""
    if isinstance(value, str):
        return value if name in _FIXED else change(value)
    if isinstance(value, Settings):
        return value  # a report's settings keep their rules
    if is_dataclass(value) and not isinstance(value, type):
        copied = copy.copy(value)
        for field in fields(value):  # past the rules of settings, which a damaged object breaks
            object.__setattr__(copied, field.name, with_texts(getattr(value, field.name), change, field.name))
        return copied
    if isinstance(value, dict):
        keeps_keys = name in ("sets", "times")
        return {(k if keeps_keys else change(k)): with_texts(v, change, name) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(with_texts(item, change, name) for item in value)
    return value


def places(value, path=""):
    """Yield each leaf of a document: what holds it, its key, and its path."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        inner = f"{path}/{key}" if path else str(key)
        if isinstance(item, (dict, list)):
            yield from places(item, inner)
        else:
            yield value, key, inner

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
from core.studies.study import Measurement
from core.studies.subject import AuditConfig

HOSTILE = "</td><script>alert('x')</script> & \"women\" <img src=x onerror=alert(1)>"
FORMULA = '=HYPERLINK("http://x","y")'


def _estimate(value, low, high, n=15375):
    return Estimate(value=value, low=low, high=high, n=n)


def group(name, cells, labelled, count):
    """Return a group's summary from its counts."""
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

_LIMITS = (  # check, value, author, rationale, source
    ("unfairness", 0.02, "A. Officer", "As the model's documentation promises.", "Model documentation, section 4"),
    ("four_fifths", 0.8, "A. Officer", "The rule of thumb of the authorities.", "29 CFR 1607.4 (D)"),
    ("correction_gain", 0.05, "B. Müller", "Less than one person in twenty.", "Release policy, item 3"),
    ("answers_excess", 0.02, "B. Müller", "Two points.", ""),
    ("targeted_leakage", 0.75, "B. Müller", "", "Privacy office"),
    ("membership_caught", 0.05, HOSTILE, HOSTILE, ""),
    ("membership_gap", 0.1, "B. Müller", "", ""),
    ("attriguard_exposure", 0.7, "B. Müller", "", "Privacy office"),
)
POLICY = Policy(
    name="Release policy of the bank",
    version="3",
    author="A. Officer",
    date="2026-03-01",
    rationale="For models that decide on loans. It does not ask for the cost of AttriGuard, which nobody uses here.",
    limits=tuple(
        Limit(
            check=check,
            value=value,
            required=check != "membership_gap",
            author=author,
            date="2026-03-01" if author == "A. Officer" else "2026-03-02",
            rationale=rationale,
            source=source,
        )
        for check, value, author, rationale, source in _LIMITS
    ),
)


def _near(value, half=0.0055):
    return _estimate(value, max(0.0, value - half), value + half, 14924)


GAP, RATIO = 0.0113, 0.9161
"""The unfairness of `GROUPS` by statistical parity, and the lowest rate of acceptance over the highest."""


def _done(check, estimate, attacked, knows, **more):
    return Measurement(check=check, estimate=estimate, attacked=attacked, knows=knows, **more)


def _measured():
    common = {"assumptions": ("The attacked records stand for the people the model could have been trained on.",)}
    scores, nothing = "Features, labels and scores.", "Nothing: this is what the model does."
    return (
        _done(
            "attribute_excess",
            _estimate(-0.001, -0.004, 0.002),
            "Gradient boosting, calibrated, 15,375 people.",
            "Features, labels and predictions of everybody, and the attribute of 14,923 others.",
            control=_estimate(0.852, 0.846, 0.858),
            control_name="features and labels alone",
            **common,
        ),
        *(
            Measurement(check=check, outcome="not_run", reason="The plan leaves it out.")
            for check in ("attribute_balanced", "attribute_bits", "membership_auc", "membership_advantage")
        ),
        _done(
            "correction_gain",
            _estimate(0.07, 0.065, 0.074),
            "Balanced random forest told metric and tolerance, 15,375 people, 5 seeds.",
            "Features, labels, predictions, and that the model is fair to within 0.001.",
            freedom=4,
            control=_estimate(0.759, 0.752, 0.766),
            control_name="the same forest without the promise",
            details={"seeds": 5, "changed guesses": 2318},
            **common,
        ),
        _done(
            "answers_excess",
            _estimate(0.011, -0.006, 0.028, 20),
            "Strongest decoder with prior, 25 answers, noisy sums at ε = 1.",
            "Features, label and score of everybody, group sizes and the noise.",
            basis="combined",
            freedom=19,
            control=_estimate(0.69, 0.67, 0.71, 20),
            control_name="the prior alone",
        ),
        _done(
            "targeted_leakage",
            certain(0.731, 0),
            "Whoever asks the 25 planned questions about one person.",
            "Everything but that person's group.",
            basis="declared",
            assumptions=("All answers together keep to ε = 1.",),
        ),
        _done(
            "membership_caught",
            _estimate(0.098, 0.089, 0.107, 4522),
            "LiRA with 64 shadow trees, 4,522 members and 4,522 others.",
            scores,
            control=_estimate(0.01, 0.01, 0.01, 4522),
            control_name="chance",
            **common,
        ),
        _done("membership_gap", _estimate(0.079, 0.061, 0.097), "LiRA, by group, 2,000 bootstrap draws.", scores),
        _done("absence", certain(0.0, 30299), "The model gives everybody an answer.", nothing),
        _done("unfairness", _near(GAP), "Statistical parity on the 14,924 test people.", nothing),
        _done("four_fifths", _near(RATIO, 0.04), "Acceptance of women and men on the 14,924 test people.", nothing),
        Measurement(
            check="attriguard_exposure",
            outcome="not_run",
            basis="combined",
            reason="AttriGuard is switched off in this audit.",
        ),
        Measurement(
            check="attriguard_cost",
            outcome="failed",
            basis="declared",
            reason="The attack stopped with an error (ValueError).",
        ),
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


def sample(groups=GROUPS):
    """Return the audit."""
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
            unfairness_test=_near(GAP),
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
            SelfTest(
                attack="correction",
                false_alarms=proportion(2, 100),
                detected=proportion(99, 100),
                passed=True,
                told="Null models that ignore the attribute; a planted one that copies it for 5% of the people.",
            ),
            SelfTest(
                attack="membership",
                false_alarms=proportion(9, 100),
                detected=proportion(97, 100),
                passed=False,
                told="Models of other people; a planted one that remembers its training records.",
            ),
        ),
        provenance=Provenance(
            fairleak="1.0.0",
            python="CPython 3.11.9",
            platform="Linux x86_64",
            packages={"numpy": "2.4.6", "scipy": "1.17.1", "scikit-learn": "1.9.1"},
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


def estimate(value, half, n=4000):
    """Return a value with a symmetric interval."""
    return Estimate(value=value, low=value - half, high=value + half, n=n)


def report(replacements=None, *, policy=POLICY, started="2026-11-08T09:00:00Z", seed=42):
    """Return the sample's report; replacements give checks another estimate or measurement, None takes them out."""
    audit, measurements = sample(), []
    for measurement in audit.measurements:
        change = (replacements or {}).get(measurement.check, measurement)
        if isinstance(change, Estimate):
            change = replace(measurement, estimate=change)
        if change is not None:
            measurements.append(change)
    audit = replace(
        audit,
        plan=replace(audit.plan, config=replace(audit.plan.config, seed=seed)),
        measurements=tuple(measurements),
        times={**audit.times, "started": started},
    )
    return report_document(judged_audit(audit, policy=policy))


def with_basis(audit, check, basis):
    """Return the audit with another basis of one measurement, judged again."""
    measurements = tuple(
        replace(measurement, basis=basis) if measurement.check == check else measurement
        for measurement in audit.measurements
    )
    verdict = judge(audit.verdict.policy, measurements, attribute=audit.data.attribute)
    return replace(audit, measurements=measurements, verdict=verdict)


def with_failed_tests(document):
    """Return a report whose self-tests, of which there are some, all failed."""
    assert document.self_tests
    tests = tuple(replace(test, passed=False) for test in document.self_tests)
    return replace(document, self_tests=tests)


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

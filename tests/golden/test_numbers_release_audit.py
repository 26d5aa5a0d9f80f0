"""Plans and small audits are as they were: what is read, refused and suggested, and what an audit says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from core.auditing import (
    AuditPlan,
    MembershipSettings,
    ModelPlan,
    audit_steps,
    catalogue_plan,
    data_fingerprint,
    kept_tolerance,
    plan_text,
    read_plan,
    run_audit,
    suggested_outputs,
    suggested_plan,
)
from core.auditing.inputs import roles_of
from core.auditing.policy import default_policy, predictions_policy
from core.datasets import build_dataset
from tests import samples
from tests.golden.numbers import NamedValues, compare_numbers, refused

DATA_PLAN = (
    '[data]\nfile = "people.csv"\nlabel = "hired"\npositive = "yes"\nfavourable = "yes"\n'
    'sensitive = "origin"\ngroup = ["north"]\n'
)
DEMO = '[data]\ndataset = "demo"\n'

PLANS = {
    "demo": DEMO,
    "own": DATA_PLAN,
    "predictions": f'{DATA_PLAN}prediction = "said"\n[model]\nkind = "predictions"\nthreshold = 0.3\n',
    "scores": f'{DATA_PLAN}score = "said"\nsets = "part"\n[model]\nkind = "predictions"\n',
    "a file": f'{DATA_PLAN}[model]\nkind = "file"\nfile = "m.onnx"\nfeatures = ["a", "b"]\npositive = "1"\n',
    "a private tree": f'title = "T"\npolicy = "default"\n{DEMO}[model]\nmethod = "dp_id3"\nepsilon = 2\nseed = 9\n',
    "people": f"{DEMO}[people]\nshadows = 8\n[two_models]\n[membership]\nshadows = 8\n[bias_queries]\nquestions = 3\n",
    "a guard": f"{DEMO}[attriguard]\nbudget = 0.5\n[outputs]\nreleased = 'labels'\n",
    "roles": '[data]\ndataset = "adult"\nlabel = "income"\npositive = "y"\nfavourable = "y"\nsensitive = "sex"\n',
    "nothing": "",
    "no table": "[data]\n",
    "roles alone": '[data]\nlabel = "a"\npositive = "b"\nfavourable = "b"\n',
    "a file and a dataset": '[data]\ndataset = "demo"\nfile = "x.csv"\n',
    "a file and an attribute": '[data]\nfile = "x.csv"\nattribute = "sex"\n',
    "an empty file": '[data]\nfile = ""\n',
    "an attribute and roles": f'{DEMO}attribute = "sex"\nlabel = "a"\n',
    "no such attribute": f'{DEMO}attribute = "height"\n',
    "no label": '[data]\nfile = "x.csv"\npositive = "a"\nsensitive = "b"\n',
    "no sensitive attribute": '[data]\nfile = "x.csv"\npositive = "a"\nlabel = "b"\n',
    "no predictions": f'{DATA_PLAN}[model]\nkind = "predictions"\n',
    "predictions of the demo": f'{DEMO}[model]\nkind = "predictions"\n',
    "no model file": f'{DATA_PLAN}[model]\nkind = "file"\n',
    "a threshold of a trained one": f"{DEMO}[model]\nthreshold = 0.4\n",
    "no toml": "[data",
    "a key of no table": f"seed = 1\n{DEMO}",
    "no table but a number": "data = 1",
    "a file anywhere": DATA_PLAN.replace("people.csv", "/etc/passwd"),
    "a file above": DATA_PLAN.replace("people.csv", "../people.csv"),
    "a file of another system": DATA_PLAN.replace("people.csv", "C:\\\\people.csv"),
    "a policy above": 'policy = "../policy.toml"',
    "a cut that is no number": f"{DATA_PLAN}cuts = [1, nan]",
    "predictions of a trained one": f'{DATA_PLAN}prediction = "p"',
    "a file of a trained one": f'{DEMO}[model]\nfile = "m.onnx"',
    "features of a trained one": f'{DEMO}[model]\nfeatures = ["a"]',
    "epsilon of a fair one": f"{DEMO}[model]\nepsilon = 1",
    "a forest with depth": f"{DEMO}[model]\nforest = {{depth = 3}}",
    "odd shadows": f"{DEMO}[membership]\nshadows = 3",
    "a card": f'{DEMO}[model_card]\nfamily = "seeds"\ncount = 3\npeople = 50\ndecimals = 2\nsizes = false\n',
    "a card with noise": f'{DEMO}[model_card]\nepsilon = 2\nstatistics = ["sp_gap"]\n',
    "a card with noise and decimals": f"{DEMO}[model_card]\nepsilon = 2.0\ndecimals = 1\n",
    "a card with noise without sizes": f"{DEMO}[model_card]\nepsilon = 2.0\nsizes = false\n",
    "a card of one with a count": f"{DEMO}[model_card]\ncount = 3",
    "a card of nothing": f"{DEMO}[model_card]\nstatistics = []",
}


def in_plans() -> NamedValues:
    """Plans of audits."""
    for name, text in PLANS.items():
        plan = refused(read_plan, text)
        if isinstance(plan, str):
            yield name, plan
            continue
        yield name, [plan_text(plan), read_plan(plan_text(plan)) == plan]
        yield f"{name}, steps", [audit_steps(plan), plan.has_true_sets, bool(plan.people), *plan.studied]
        settings = [
            plan.settings_of(study, dict) for study in ("bias_queries", "attriguard", "two_models", "measured_epsilon")
        ]
        yield f"{name}, settings", [type(part).__name__ for part in settings]
    for dataset, attribute in (("demo", ""), ("adult", "race/each"), ("adult", "height"), ("nothing", "")):
        plan = refused(catalogue_plan, dataset, attribute)
        yield f"{dataset} {attribute}", plan if isinstance(plan, str) else plan_text(plan)


def _log_steps(steps: list[int], done: int, total: int) -> None:
    steps += [done, total] if not steps else [done]


def in_audits() -> NamedValues:
    """Small audits of a trained model, of labels, of scores and of one answer for all."""
    people = samples.table(300, seed=3)
    frame = people.frame.assign(
        said=np.where(people.frame["skill"] > 0.2, "yes", "no"),
        chance=(1 / (1 + np.exp(-people.frame["skill"]))).round(2),
        all="yes",
        part=np.resize(["train", "attack", "test"], 300),
    )
    table = replace(people, frame=frame)
    confirmed = ("copy:skill", "label_is_prediction", "inverted_predictions", "contradiction", "reversed_score")
    roles = replace(samples.ROLES, confirmed=confirmed)
    bare = AuditPlan(
        config=replace(AuditPlan().config, dataset="upload", method="unmitigated", seed=7),
        membership=MembershipSettings(shadows=0),
    )
    kinds = {
        "trained": (ModelPlan(), replace(roles, excluded=("said", "chance", "all", "part"))),
        "labels": (
            ModelPlan(kind="predictions"),
            replace(roles, prediction="said", excluded=("chance", "all", "part")),
        ),
        "scores": (
            ModelPlan(kind="predictions", threshold=0.6),
            replace(roles, score="chance", sets="part", excluded=("said", "all")),
        ),
        "all alike": (
            ModelPlan(kind="predictions"),
            replace(roles, prediction="all", excluded=("said", "chance", "part")),
        ),
    }
    for name, (model, kind_roles) in kinds.items():
        method = "unmitigated" if name == "trained" else "given"
        share = 0.7 if name == "all alike" else 1 / 3
        config = replace(bare.config, roles=kind_roles, method=method, train_share=share)
        plan = replace(bare, model=model, config=config)
        policy = default_policy() if name == "trained" else predictions_policy()
        steps: list[int] = []
        audit = run_audit(plan, table, policy, report=partial(_log_steps, steps))
        data = replace(audit.data, fingerprint="")
        yield f"{name}, data", [data, data_fingerprint(build_dataset(table, kind_roles)) == audit.data.fingerprint]
        yield f"{name}, groups", audit.groups
        yield f"{name}, model", replace(audit.model, fingerprint="")
        yield f"{name}, verdict", [audit.verdict.overall, list(audit.tables)]
        for measurement in audit.measurements:
            yield (
                f"{name}, {measurement.check}",
                [measurement.outcome, measurement.basis, measurement.reason, measurement.freedom],
            )
        yield (
            f"{name}, findings",
            [f"{study_findings.study} {len(study_findings.findings)}" for study_findings in audit.findings],
        )
        yield f"{name}, steps", [steps[0], steps[-1], len(steps), sorted(steps[2:]) == steps[2:]]
        dataset = build_dataset(table, kind_roles)
        yield f"{name}, outputs", [suggested_outputs(dataset, kind) for kind in ("train", "predictions", "file")]
        yield f"{name}, tolerance", refused(kept_tolerance, dataset, plan.config)
    yield (
        "roles",
        [
            refused(roles_of, AuditPlan(), people),
            refused(roles_of, read_plan('[data]\ndataset="adult"\nattribute="race"'), people),
        ],
    )
    for options in (
        {},
        {"attribute": "town"},
        {"label": "origin"},
        {"attribute": "x"},
        {"prediction": "said"},
        {"label": "all"},
    ):
        suggestion = refused(suggested_plan, table, "people.csv", **options)
        yield (
            f"suggested {options}",
            suggestion if isinstance(suggestion, str) else [plan_text(suggestion.plan), suggestion.reasons],
        )


CASES: dict[str, Callable[[], NamedValues]] = {"plans": in_plans, "audits": in_audits}


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
def test_numbers_of_release_audits(case: str) -> None:
    compare_numbers(f"release_audit_{case}", CASES[case]())

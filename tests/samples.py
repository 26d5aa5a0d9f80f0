"""Small audit-ready data made in memory, for tests that need no real table."""

from dataclasses import replace

import numpy as np
import pandas as pd

from core.auditing import AuditPlan, DataPlan, MembershipSettings, ModelPlan
from core.datasets import Roles, Table, build_dataset
from core.models import GIVEN_PREDICTIONS
from core.studies.subject import AuditConfig

ROLES = Roles(label="hired", positive="yes", favourable="yes", sensitive="origin", group=("north",))


def frame(n=1200, *, leak=1.5, bias=0.8, seed=0):
    """Return n people whose origin shows in `score` by `leak` and in the label by `bias` standard deviations."""
    rng = np.random.default_rng(seed)
    north = rng.random(n) < 0.35
    score = rng.normal(size=n) + leak * north
    skill = rng.normal(size=n)
    hired = skill - bias * north + 0.5 * rng.normal(size=n) > 0
    return pd.DataFrame(
        {
            "score": score.round(3),
            "skill": skill.round(3),
            "town": np.where(rng.random(n) < 0.5 + 0.3 * north, "up", "down"),
            "origin": np.where(north, "north", "south"),
            "hired": np.where(hired, "yes", "no"),
        }
    )


def table(n=1200, **settings):
    """Return the same people as a table with one suggestion of roles."""
    return Table(name="sample", title="Sample", frame=frame(n, **settings), source="Made.", roles=(ROLES,))


def dataset(n=1200, **settings):
    return build_dataset(table(n, **settings), ROLES)


def plan(**settings):
    """Return the plan of an audit of the same people and of a tree that is trained on them, without shadow models."""
    config = {"method": "unmitigated", "tolerance": 0.05, "seed": 3} | settings
    return AuditPlan(
        data=DataPlan(dataset="", file="people.csv"),
        config=AuditConfig(dataset="upload", roles=ROLES, **config),
        membership=MembershipSettings(shadows=0),
    )


def given_plan(**roles):
    """Return the plan of an audit of the same people and of a model's answers, which stand in these columns."""
    trained = plan(method=GIVEN_PREDICTIONS)
    config = replace(trained.config, roles=replace(ROLES, **roles))
    return replace(trained, config=config, model=ModelPlan(kind="predictions"))

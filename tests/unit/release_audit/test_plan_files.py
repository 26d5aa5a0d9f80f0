"""Plans of audits and of model cards: what they mean, that they read back equal, one sentence for what is wrong."""

from __future__ import annotations

import math
import re
import string
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.auditing import (
    AuditPlan,
    DataPlan,
    GuardPlan,
    MembershipSettings,
    ModelPlan,
    PlannedAnswers,
    catalogue_plan,
    commented_plan,
    plan_text,
    read_plan,
)
from core.auditing.card_plan import ReleasePlan, read_release, release_text
from core.auditing.plan import other_studies
from core.datasets import CATALOG, Roles
from core.models import GIVEN_PREDICTIONS
from core.studies.config import AuditConfig
from core.studies.model_card import STATISTICS, ReleaseSettings

DEMO = '[data]\ndataset = "demo"\n'
PEOPLE_PLAN = (
    '[data]\nfile = "people.csv"\nlabel = "hired"\npositive = "yes"\nfavourable = "yes"\n'
    'sensitive = "origin"\ngroup = ["north"]\n'
)


def test_the_defaults_and_a_private_tree_with_a_budget():
    assert read_plan(DEMO) == AuditPlan()
    plan = read_plan('[data]\ndataset = "adult"\nattribute = "race/each"\n[model]\nmethod = "dp_id3"\nepsilon = 1.5')
    assert plan.data == DataPlan(dataset="adult", attribute="race/each") and plan.config.epsilon == 1.5
    assert read_plan(plan_text(plan)) == plan
    assert read_plan(DEMO + '[model]\nmethod = "dp_id3"\nepsilon = inf').config.epsilon == math.inf


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=12)


@st.composite
def plans(draw: st.DrawFn) -> AuditPlan:
    kind = draw(st.sampled_from(["train", "predictions", "file"]))
    roles = Roles(
        label=draw(NAMES),
        positive=draw(NAMES),
        favourable=draw(NAMES),
        sensitive=draw(NAMES),
        group=tuple(draw(st.lists(NAMES, max_size=3))),
        excluded=tuple(draw(st.lists(NAMES, max_size=3))),
        at_most=draw(st.none() | st.floats(-1e6, 1e6)),
        each=draw(st.booleans()),
        prediction=draw(NAMES) if kind == "predictions" else "",
        first_name=draw(st.just("") | NAMES),
    )
    return AuditPlan(
        title=draw(st.just("") | NAMES),
        data=DataPlan(dataset="", file="people.csv"),
        model=ModelPlan(
            kind=kind,
            file="model.onnx" if kind == "file" else "",
            features=tuple(draw(st.lists(NAMES, max_size=3))) if kind == "file" else (),
            positive=draw(st.just("") | NAMES) if kind == "file" else "",
            threshold=0.5 if kind == "train" else draw(st.floats(0, 1)),
        ),
        config=AuditConfig(
            dataset="upload",
            roles=roles,
            method="unmitigated" if kind == "train" else GIVEN_PREDICTIONS,
            tolerance=draw(st.floats(0, 1)),
            train_share=draw(st.floats(0.1, 0.8)),
            seed=draw(st.integers(0, 2**32 - 1)),
        ),
        bias_queries=PlannedAnswers(questions=draw(st.integers(0, 1000)), epsilon=draw(st.floats(1e-6, 1000))),
        membership=MembershipSettings(shadows=2 * draw(st.integers(2, 512))),
        attriguard=GuardPlan(budget=draw(st.floats(0, 1000))),
    )


def commented(plan: AuditPlan) -> AuditPlan:
    """Return a plan as its commented file tells it: with the tables of all studies."""
    return replace(plan, studies=tuple((name, plan.settings_of(name, cls)) for name, cls in other_studies().items()))


@given(plan=plans())
@settings(deadline=None, max_examples=30)
def test_any_plan_reads_back_equal(plan: AuditPlan):
    assert read_plan(plan_text(plan)) == plan
    assert read_plan(commented_plan(plan)) == commented(plan)


@pytest.mark.parametrize("dataset", CATALOG)
def test_a_plan_to_start_from_reads_back_equal(dataset: str):
    for attribute in CATALOG[dataset].attributes:
        plan = catalogue_plan(dataset, attribute)
        assert read_plan(commented_plan(plan)) == commented(plan)
        assert plan.data == DataPlan(dataset=dataset, attribute=attribute)


# Model cards


EXACT = ReleaseSettings(decimals=None)


def test_the_shortest_card_and_the_documented_one_with_and_without_typed_numbers():
    assert read_release(DEMO) == ReleasePlan(settings=EXACT)
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "model-card.md").read_text(encoding="utf-8")
    card, typed_numbers = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    plan = read_release(card)
    assert plan.settings == ReleaseSettings(family="mixed", count=20, people=1000, group="women")
    assert list(read_release(card + typed_numbers).numbers) == [("", "size"), ("audited model", "sp_gap")]


LETTERS = st.text(string.ascii_letters + string.digits + ' "\\\n#=[]é', max_size=12)
RATES, GAPS = st.floats(0, 1), st.floats(-1, 1)
PRECISIONS = st.one_of(
    st.builds(lambda d: {"decimals": d, "epsilon": None}, st.one_of(st.none(), st.integers(0, 12))),
    st.builds(lambda e: {"decimals": None, "epsilon": e}, st.floats(1e-6, 1000)),
)
SOURCES = st.sampled_from(
    [
        AuditPlan(),
        AuditPlan(data=DataPlan(dataset="adult", attribute="sex"), config=AuditConfig(dataset="adult", seed=5)),
        AuditPlan(
            data=DataPlan(dataset="", file="people.csv"),
            config=AuditConfig(
                dataset="upload",
                roles=Roles(label="hired", positive="yes", favourable="yes", sensitive="origin", group=("north",)),
            ),
        ),
    ]
)


def typed(models: st.SearchStrategy[str]) -> st.SearchStrategy[dict]:
    """Numbers as they can be typed: gaps, rates and group sizes, exact or within limits."""

    def spanned(values: st.SearchStrategy[float]) -> st.SearchStrategy:
        return values | st.tuples(values, values).map(lambda pair: (min(pair), max(pair)))

    entry = st.one_of(
        st.tuples(st.tuples(models, st.sampled_from(["sp_gap", "tpr_gap", "fpr_gap"])), spanned(GAPS)),
        st.tuples(st.tuples(models, st.sampled_from(["sp_rate_1", "tpr_rate_0"])), spanned(RATES)),
        st.tuples(st.tuples(st.just(""), st.sampled_from(["size", "size_label_1"])), st.integers(0, 10**6).map(float)),
    )
    return st.lists(entry, max_size=3).map(dict)


@st.composite
def cards(draw: st.DrawFn) -> ReleasePlan:
    models = draw(st.sampled_from(("audited", "mixed", "tolerances", "given")))
    columns = tuple(draw(st.lists(LETTERS.filter(bool), min_size=1, max_size=3))) if models == "given" else ()
    count = {"audited": 1, "given": len(columns)}.get(models) or draw(st.integers(1, 200))
    title, precision = draw(LETTERS), draw(PRECISIONS)
    called = {"audited": st.just("audited model"), "given": st.sampled_from(columns or ("",))}
    names = called.get(models, LETTERS.filter(bool))
    numbers = {} if precision["epsilon"] is not None else draw(typed(names))
    return ReleasePlan(
        title=title,
        source=replace(draw(SOURCES), title=title),
        settings=ReleaseSettings(
            family=models,
            columns=columns,
            without=tuple(draw(st.lists(LETTERS, max_size=2))) if models in ("mixed", "tolerances") else (),
            on=draw(st.sampled_from(("test", "train"))),
            people=draw(st.integers(0, 10_000_000)),
            group=draw(LETTERS),
            count=count,
            statistics=tuple(draw(st.lists(st.sampled_from(STATISTICS), min_size=1, unique=True))),
            sizes=precision["epsilon"] is not None or draw(st.booleans()),
            seed=draw(st.integers(0, 2**32 - 1)),
            **precision,
        ),
        numbers=numbers,
    )


@settings(deadline=None, max_examples=60)
@given(plan=cards())
def test_a_plan_reads_back_equal(plan: ReleasePlan):
    assert read_release(release_text(plan)) == plan

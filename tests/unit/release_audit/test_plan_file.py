"""Plans: what they mean, that they read back equal, and one sentence for every way to write one wrong."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.config import AuditConfig
from core.datasets import CATALOG, Roles
from core.models import GIVEN
from core.release_audit import (
    AuditPlan,
    DataPlan,
    GuardPlan,
    MembershipPlan,
    ModelPlan,
    PlannedAnswers,
    catalogue_plan,
    commented_plan,
    plan_text,
    read_plan,
)
from core.release_audit.plan import other_studies
from tests.refusals import refused

DEMO = '[data]\ndataset = "demo"\n'
OWN = '[data]\nfile = "people.csv"\nlabel = "hired"\npositive = "yes"\nsensitive = "origin"\ngroup = ["north"]\n'


def test_a_plan_that_names_its_table_alone_has_the_defaults():
    assert read_plan(DEMO) == AuditPlan()


def test_a_private_tree_has_a_budget_and_a_dataset_an_attribute():
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
            method="unmitigated" if kind == "train" else GIVEN,
            tolerance=draw(st.floats(0, 1)),
            train_share=draw(st.floats(0.1, 0.8)),
            seed=draw(st.integers(0, 2**32 - 1)),
        ),
        answers=PlannedAnswers(questions=draw(st.integers(0, 1000)), epsilon=draw(st.floats(1e-6, 1000))),
        membership=MembershipPlan(shadows=2 * draw(st.integers(2, 512))),
        guard=GuardPlan(budget=draw(st.floats(0, 1000))),
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


BAD = [
    ("seed = 1\n" + DEMO, "the outermost table must hold only the keys schema, title, policy"),
    ("schema = 2", "schema must be 1, got 2"),
    ('[data]\ndatset = "demo"', "[data] must hold only the keys dataset, file, attribute, label"),
    ("[data", "is not TOML"),
    ("data = 1", "[data] must be a table, got 1"),
    ('[data]\ndataset = "adlt"', "data.dataset must be one of demo, adult"),
    (DEMO + 'attribute = "shoe"', "data.attribute must be one of sex, origin, age/ranges, got 'shoe'"),
    ('[data]\nfile = "people.csv"', "data.label must be given, got ''"),
    (OWN.replace("people.csv", "/etc/passwd"), "data.file must be a file inside the folder of this one"),
    (OWN.replace("people.csv", "../people.csv"), "data.file must be a file inside the folder of this one"),
    (OWN.replace("people.csv", "C:\\\\people.csv"), "data.file must be a file inside the folder of this one"),
    (OWN + 'dataset = "demo"', "data.dataset must be left out where data.file names a table"),
    (OWN + "cuts = [1, nan]", "data.cuts must be a list of finite numbers, got nan"),
    (OWN + 'prediction = "p"', 'data.prediction must be left out where model.kind is "train"'),
    (OWN + '[model]\nkind = "predictions"', "data.prediction or data.score must be given"),
    (DEMO + '[model]\nkind = "file"', "model.file must name a file"),
    (DEMO + '[model]\nfile = "m.onnx"', 'model.file must be left out where model.kind is "train"'),
    (DEMO + '[model]\nfeatures = ["a"]', 'model.features must be left out where model.kind is "train"'),
    (
        DEMO + "[model]\nepsilon = 1",
        'model.epsilon must be left out where model.method is "exponentiated_gradient", got 1.0',
    ),
    (DEMO + "[model]\nforest = {depth = 3}", "[model]: A forest's parameters must be among"),
    (DEMO + "[membership]\nshadows = 3", "[membership]: shadows must be 0 or an even number of at least 4, got 3"),
    ('policy = "../policy.toml"', "policy must be a file inside the folder of this one"),
]


@pytest.mark.parametrize(("text", "words"), BAD, ids=[words[:45] for _, words in BAD])
def test_a_wrong_plan_is_one_sentence_and_unusable(
    text: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "spring.toml"
    path.write_text(text, encoding="utf-8")
    told = refused(capsys, "audit", path, "--out", tmp_path / "out")
    assert told.startswith("fairleak audit: spring.toml") and words in told and told.endswith(".\n")
    assert not (tmp_path / "out").exists()

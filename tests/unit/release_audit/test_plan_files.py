"""Plans of audits and of model cards: what they mean, that they read back equal, one sentence for what is wrong."""

import re
import string
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.auditing import DataPlan, ModelPlan, RegisterPlan, catalogue_plan, plan_text, read_plan
from core.auditing.plan import commented_plan, other_studies
from core.auditing.plausible_attackers import AttackersPlan, Met
from core.base.errors import InputError
from core.datasets import CATALOG, Roles
from core.models import GIVEN_PREDICTIONS
from core.studies.model_card import STATISTICS, ModelCardSettings
from tests import samples

DEMO = '[data]\ndataset = "demo"\n'

VENDOR = RegisterPlan(model="Vendor default", version="2.1", purpose="To “call”", owner="Risk", review="2031-05-01")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[register]\nmodel = "Vendor default"', "register.version must be given where register.model is"),
        ('[register]\nversion = "2.1"', "register.model must be given where register.version is"),
        ('[register]\nmodel = "V"\nversion = "1"\nreview = "soon"', "register.review must be a day written YYYY-MM-DD"),
        ('[attackers]\npartner = "perhaps"', r'\[attackers\]: partner must begin with "yes", .*got \'perhaps\''),
        ('[attackers]\npartner = "yes"', r"\[attackers\]: date must be given"),
        ('[attackers]\nsomeone = "yes"', r"\[attackers\] must hold only the keys date"),
    ],
)
def test_a_register_and_attackers_that_there_cannot_be(text, message):
    with pytest.raises(InputError, match=message):
        read_plan(DEMO + text)


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=12)


@st.composite
def plans(draw):
    kind = draw(st.sampled_from(["train", "predictions", "file"]))
    names, several = st.just("") | NAMES, st.lists(NAMES, max_size=3).map(tuple)
    columns = {name: draw(NAMES) for name in ("label", "positive", "favourable", "sensitive")}
    columns |= {name: draw(several) for name in ("group", "excluded")}
    if kind == "predictions":
        columns["prediction"] = draw(NAMES)
    roles = Roles(**columns, at_most=draw(st.none() | st.floats(-1e6, 1e6)), each=draw(st.booleans()))
    model, method = ModelPlan(kind=kind), "unmitigated" if kind == "train" else GIVEN_PREDICTIONS
    if kind != "train":
        model = replace(model, threshold=draw(st.floats(0, 1)))
    if kind == "file":
        model = replace(model, file="model.onnx", features=draw(several), positive=draw(names))
    plan = samples.plan(method=method, tolerance=draw(st.floats(0, 1)), seed=draw(st.integers(0, 2**32 - 1)))
    return replace(
        plan,
        title=draw(names),
        model=model,
        config=replace(plan.config, roles=roles),
        register=draw(st.sampled_from([RegisterPlan(), VENDOR])),
        studies=draw(st.just(()) | cards().map(lambda card: (("model_card", card),))),
    )


def commented(plan):
    """Return a plan as its commented file tells it: with the tables of all studies."""
    return replace(plan, studies=tuple((name, plan.settings_of(name, cls)) for name, cls in other_studies().items()))


@given(plan=plans())
@settings(deadline=None, max_examples=30)
def test_any_plan_reads_back_equal(plan):
    assert read_plan(plan_text(plan)) == plan
    if not plan.studies:
        assert read_plan(commented_plan(plan)) == commented(plan)


@pytest.mark.parametrize("dataset", CATALOG)
def test_a_plan_to_start_from_reads_back_equal(dataset):
    for attribute in CATALOG[dataset].attributes:
        plan = catalogue_plan(dataset, attribute)
        assert read_plan(commented_plan(plan)) == commented(plan)
        assert plan.data == DataPlan(dataset=dataset, attribute=attribute)


def test_the_documented_card():
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "model-card.md").read_text("utf-8")
    (text,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    plan = read_plan(DEMO + text)
    settings = ModelCardSettings(family="mixed", people=1000, group="women", decimals=3)
    assert plan.studied["model_card"] == settings and read_plan(plan_text(plan)) == plan
    assert read_plan(commented_plan(plan)).studied["model_card"] == settings
    assert "model_card" not in read_plan(DEMO).studied


LETTERS = st.text(string.ascii_letters + string.digits + ' "\\\n#=[]é', max_size=12)


@st.composite
def cards(draw):
    family = draw(st.sampled_from(("audited", "mixed", "tolerances")))
    decimals, epsilon = st.none() | st.integers(0, 12), st.floats(1e-6, 1000)
    precision, variants = draw(st.builds(dict, decimals=decimals) | st.builds(dict, epsilon=epsilon)), {}
    if family != "audited":
        variants = {"count": draw(st.integers(1, 200)), "without": tuple(draw(st.lists(LETTERS, max_size=2)))}
    return ModelCardSettings(
        family=family,
        on=draw(st.sampled_from(("test", "train"))),
        people=draw(st.integers(0, 10_000_000)),
        group=draw(LETTERS),
        statistics=tuple(draw(st.lists(st.sampled_from(STATISTICS), min_size=1, unique=True))),
        sizes="epsilon" in precision or draw(st.booleans()),
        seed=draw(st.integers(0, 2**32 - 1)),
        **precision,
        **variants,
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("yes: 2 partners get scores", (Met.YES, "2 partners get scores")),
        ("partly", (Met.PARTLY, "")),
        ("no: nobody buys it: never", (Met.NO, "nobody buys it: never")),
        ("", (Met.NOT_STATED, "")),
    ],
)
def test_met_is_the_statement_and_why(text, expected):
    assert AttackersPlan(partner=text, date="2026-11-22").met("partner") == expected

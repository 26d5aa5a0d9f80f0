"""Plans of a release: what they mean, that they read back equal, and one sentence for every way to write one wrong."""

from __future__ import annotations

import string
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.config import AuditConfig
from core.datasets import Roles
from core.decision import AuditPlan, DataPlan
from core.decision.release_plan import ReleasePlan, read_release, release_text
from core.errors import InputError
from core.release import STATISTICS, ReleaseSettings

EXACT = ReleaseSettings(decimals=None)


def test_an_empty_plan_is_the_audited_model_of_the_demo_with_exact_gaps():
    assert read_release("") == ReleasePlan(settings=EXACT)


def test_every_field_is_read():
    plan = read_release(
        """
        schema = 1
        title = "Spring card"
        [data]
        dataset = "adult"
        attribute = "race"
        [model]
        method = "unmitigated"
        seed = 7
        [models]
        family = "features"
        count = 35
        without = ["sex"]
        [people]
        on = "train"
        most = 500
        group = "Black"
        [publish]
        statistics = ["tpr_rate", "sp_gap", "tpr_rate"]
        sizes = false
        decimals = 2
        seed = 3
        [[number]]
        model = "audited"
        statistic = "sp_gap"
        value = -0.25
        [[number]]
        statistic = "size"
        low = 10
        high = 12.5
        """
    )
    source = AuditPlan(
        title="Spring card",
        data=DataPlan(dataset="adult", attribute="race"),
        config=AuditConfig(dataset="adult", method="unmitigated", seed=7),
    )
    assert plan == ReleasePlan(
        title="Spring card",
        source=source,
        models="features",
        without=("sex",),
        on="train",
        people=500,
        group="Black",
        settings=ReleaseSettings(count=35, statistics=("tpr_rate", "sp_gap"), sizes=False, decimals=2, seed=3),
        numbers={("audited", "sp_gap"): -0.25, ("", "size"): (10.0, 12.5)},
    )


def test_columns_are_counted():
    plan = read_release('[models]\nfamily = "given"\ncolumns = ["a", "b"]')
    assert plan.columns == ("a", "b") and plan.settings.count == 2


NAMES = st.text(string.ascii_letters + string.digits + ' "\\\n#=[]é', max_size=12)
NUMBERS = st.floats(-10, 10, allow_nan=False)
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
                dataset="upload", roles=Roles(label="hired", positive="yes", sensitive="origin", group=("north",))
            ),
        ),
    ]
)


@st.composite
def plans(draw: st.DrawFn) -> ReleasePlan:
    models = draw(st.sampled_from(("audited", "mixed", "tolerances", "given")))
    columns = tuple(draw(st.lists(NAMES.filter(bool), min_size=1, max_size=3))) if models == "given" else ()
    count = {"audited": 1, "given": len(columns)}.get(models) or draw(st.integers(1, 200))
    values = st.one_of(NUMBERS, st.tuples(NUMBERS, NUMBERS).map(lambda pair: (min(pair), max(pair))))
    title, precision = draw(NAMES), draw(PRECISIONS)
    return ReleasePlan(
        title=title,
        source=replace(draw(SOURCES), title=title),
        models=models,
        columns=columns,
        without=tuple(draw(st.lists(NAMES, max_size=2))) if models in ("mixed", "tolerances") else (),
        on=draw(st.sampled_from(("test", "train"))),
        people=draw(st.integers(0, 10_000_000)),
        group=draw(NAMES),
        settings=ReleaseSettings(
            count=count,
            statistics=tuple(draw(st.lists(st.sampled_from(STATISTICS), min_size=1, unique=True))),
            sizes=precision["epsilon"] is not None or draw(st.booleans()),
            seed=draw(st.integers(0, 2**32 - 1)),
            **precision,
        ),
        numbers=draw(st.dictionaries(st.tuples(NAMES, NAMES.filter(bool)), values, max_size=3)),
    )


@settings(deadline=None, max_examples=60)
@given(plan=plans())
def test_a_plan_reads_back_equal(plan: ReleasePlan):
    assert read_release(release_text(plan)) == plan


WRONG = {
    "schema = 2": "schema must be from 1 to 1, got 2",
    "[publish]\nstatistics = ['gap']": "publish.statistics must be some of sp_gap",
    "[publish]\ndecimals = 3\nepsilon = 1": "publish.epsilon must be left out where decimals are told, got 1",
    "[publish]\nstatistics = []": "publish.statistics must name at least one statistic, got a list",
    "[publish]\nepsilon = 1\nsizes = false": "publish.sizes must be true with privacy noise",
    "[publish]\ndecimals = 13": "publish.decimals must be from 0 to 12, got 13",
    "[publish]\nepsilon = 0": "publish.epsilon must be in [1e-06, 1000], got 0",
    "[publish]\ndecimal = 3": "[publish] must hold only the keys statistics, decimals, epsilon, sizes, seed",
    "[models]\nfamily = 'twins'": "models.family must be one of audited, mixed",
    "[models]\nfamily = 'given'": "models.columns must name columns, got a list",
    "[models]\ncolumns = ['a']": 'models.columns must be left out where models.family is not "given", got a list',
    "[models]\ncount = 3": 'models.count must be left out where models.family is "audited", got 3',
    "[models]\nfamily = 'seeds'\ncount = 201": "models.count must be from 1 to 200, got 201",
    "[models]\nwithout = ['a']": 'models.without must be left out where models.family is "audited"',
    "[people]\non = 'all'": "people.on must be one of test, train, got 'all'",
    "[people]\nmost = -1": "people.most must be from 0 to 10,000,000, got -1",
    "[[number]]\nvalue = 1": "number 1.statistic must be told, got ''",
    "[[number]]\nstatistic = 'size'": "[number 1] must have either value, or low and high.",
    "[[number]]\nstatistic = 'size'\nvalue = 1\nlow = 0": "[number 1] must have either value, or low and high.",
    "[[number]]\nstatistic = 'size'\nlow = 3\nhigh = 1": "number 1.low must be at most high (1), got 3",
    "[[number]]\nstatistic = 'size'\nvalue = 1\n" * 2: "number 2.statistic must be told once for a model, got 'size'",
    "number = 3": "number must be a list of tables, got 3",
    "number = [3]": "[number 1] must be a table, got 3",
    "[model]\nkind = 'guess'": "model.kind must be one of train, predictions, file",
    "[answers]\nquestions = 3": "the outermost table must hold only the keys",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_told_in_one_sentence(text: str):
    with pytest.raises(InputError) as caught:
        read_release(text, name="release.toml")
    message = str(caught.value)
    assert message.startswith("release.toml: ") and WRONG[text] in message
    assert "\n" not in message and message.endswith(".")

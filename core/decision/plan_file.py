"""The plan of a release audit as a TOML file, read: every field is checked, and nothing else is opened.

Files that a plan names must lie inside its own folder; `core.decision.load_table` opens them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from core.config import TRAINED_TOLERANCE, AuditConfig
from core.datasets.catalog import CATALOG
from core.datasets.roles import Roles
from core.decision.plan import (
    PLAN_SCHEMA,
    RELEASED,
    AuditPlan,
    DataPlan,
    GuardPlan,
    MembershipPlan,
    ModelPlan,
    OutputsPlan,
    PlannedAnswers,
)
from core.decision.sections import Section
from core.errors import InputError
from core.fairness import METRICS
from core.membership import FEWEST_SHADOWS
from core.models import GIVEN, METHODS
from core.toml_files import parsed, told
from core.validation import LEAST_EPSILON

__all__ = ["KINDS", "MECHANISMS", "NO_LIMIT", "UPLOAD", "check_source", "read_plan", "read_source"]

KINDS = ("train", "predictions", "file")
"""Which models can be audited; see `core.decision.ModelPlan`."""

MECHANISMS = ("exact", "rounded", "laplace", "cauchy", "noisy_sums")
"""Ways of answering that a plan can name."""

UPLOAD = "upload"
"""What `core.datasets.read_table` calls a user's own table."""

NO_LIMIT = "none"
"""How a forest's parameter without limit is written, for TOML has no null."""

_MOST_QUESTIONS, _MOST_PEOPLE, _MOST_REPEATS, _MOST_SHADOWS, _MOST_TITLE = 1_000, 5_000, 1_000, 1_024, 200
_LARGEST = 1_000.0
_MOST_DECIMALS = 15
_SHOWN = 3
_SOURCE = ("dataset", "attribute", "file")
_NEEDED_ROLES = ("label", "positive", "sensitive")
_GIVEN_ROLES = ("prediction", "score")
_TEXT_ROLES = ("first_name", "other_name", "attribute_name", *_GIVEN_ROLES, "sets")
_MODEL_KEYS = {
    "file": ("file",),
    "features": ("file",),
    "positive": ("file",),
    "threshold": ("predictions", "file"),
    "method": ("train",),
}
"""Key of [model] -> the kinds of model it goes with."""

_ROLES = (*_NEEDED_ROLES, "group", "at_most", "each", "cuts", "excluded", "missing", *_TEXT_ROLES)


def read_plan(text: str | bytes, *, name: str = "The plan") -> AuditPlan:
    """Read a plan.

    Parameters
    ----------
    text : str or bytes
        TOML in UTF-8.
    name : str
        What to call the file in sentences.

    Raises
    ------
    InputError
        If the text is no TOML, has an unknown table or key, or a value of a wrong type or out of range; one sentence
        with file, key, rule and value.
    """
    content = parsed(text, name=name)
    whole = Section(content, name=name)
    whole.whole("schema", PLAN_SCHEMA, least=PLAN_SCHEMA, most=PLAN_SCHEMA)
    title, policy = whole.text("title"), whole.path("policy")
    if len(title) > _MOST_TITLE:
        raise whole.error("title", f"have at most {_MOST_TITLE} characters", len(title))
    check_source(content, name=name)
    data_plan, model_plan, config = read_source(whole)
    outputs, answers, membership, guard = (whole.section(key) for key in ("outputs", "answers", "membership", "guard"))
    whole.end()
    return AuditPlan(
        title=title,
        data=data_plan,
        model=model_plan,
        config=config,
        outputs=_outputs(outputs),
        answers=_answers(answers),
        membership=_membership(membership),
        guard=_guard(guard),
        policy=policy,
    )


def read_source(whole: Section) -> tuple[DataPlan, ModelPlan, AuditConfig]:
    """Read the tables [data] and [model]: where the people come from, and which model is looked at.

    Raises
    ------
    InputError
        As `read_plan`.
    """
    data, model = whole.section("data"), whole.section("model")
    kind = model.text("kind", "train", options=KINDS)
    data_plan, roles = _data(data, kind)
    return data_plan, *_model(model, kind, data_plan, roles)


def check_source(content: Mapping[str, Any], *, name: str) -> None:
    """Refuse a file whose [data] names no table: one that was left empty is not meant to be about the demo.

    Raises
    ------
    InputError
        If neither data.dataset nor data.file is told.
    """
    data = content.get("data", {})
    if isinstance(data, dict) and not {"dataset", "file"} & data.keys():
        found = f"only {', '.join(map(told, list(data)[:_SHOWN]))}" if data else "neither"
        raise InputError(f"{name}: [data] must name a dataset of the catalogue or a file, got {found}.")


def _data(data: Section, kind: str) -> tuple[DataPlan, Roles | None]:
    """Return where the table comes from, and its roles where the plan tells them."""
    if "file" in data:
        for key in ("dataset", "attribute"):
            data.refuse(key, "be left out where data.file names a table")
        source = DataPlan(dataset="", file=data.path("file"))
        if not source.file:
            raise data.error("file", "name a file", "")
    else:
        dataset = data.text("dataset", "demo", options=tuple(CATALOG))
        attributes = tuple(CATALOG[dataset].attributes)
        attribute = data.text("attribute", attributes[0], options=attributes) if "attribute" in data else ""
        source = DataPlan(dataset=dataset, attribute=attribute)
    roles = None
    if source.file or any(key in data for key in _ROLES):
        if source.attribute:
            raise data.error("attribute", "be left out where label and sensitive are told", source.attribute)
        roles = _roles(data, kind)
    elif kind == "predictions":
        raise _no_prediction(data)
    data.end((*_SOURCE, *_ROLES))
    return source, roles


def _no_prediction(data: Section) -> InputError:
    return InputError(
        f'{data.name}: data.prediction or data.score must be told where model.kind is "predictions", got neither.'
    )


def _roles(data: Section, kind: str) -> Roles:
    told: dict[str, Any] = {key: data.text(key) for key in _NEEDED_ROLES}
    for key in _NEEDED_ROLES:
        if not told[key]:
            raise data.error(key, "be told", told[key])
    told |= {key: data.text(key) for key in _TEXT_ROLES}
    told |= {key: data.texts(key) for key in ("group", "excluded")}
    told |= {"cuts": data.numbers("cuts"), "at_most": data.maybe_number("at_most"), "each": data.flag("each", False)}
    told["missing"] = data.text("missing", "keep", options=("keep", "drop"))
    given = [key for key in _GIVEN_ROLES if told[key]]
    if kind == "predictions" and not given:
        raise _no_prediction(data)
    if kind != "predictions" and given:
        raise data.error(given[0], f'be left out where model.kind is "{kind}"', told[given[0]])
    return Roles(**told)


def _model(model: Section, kind: str, data: DataPlan, roles: Roles | None) -> tuple[ModelPlan, AuditConfig]:
    standard = AuditConfig()
    for key, fits in _MODEL_KEYS.items():
        if kind not in fits:
            model.refuse(key, f'be left out where model.kind is "{kind}"')
    method = model.text("method", standard.method, options=METHODS) if kind == "train" else GIVEN
    if method != "dp_id3":
        model.refuse("epsilon", "be left out where model.method is not dp_id3")
    plan = ModelPlan(
        kind=kind,
        file=model.path("file"),
        threshold=model.number("threshold", 0.5, most=1.0),
        features=model.texts("features"),
        positive=model.text("positive"),
    )
    if kind == "file" and not plan.file:
        raise model.error("file", 'name a file where model.kind is "file"', plan.file)
    config = AuditConfig(
        dataset=data.dataset or UPLOAD,
        roles=roles,
        method=method,
        metric=model.text("metric", standard.metric, options=METRICS),
        tolerance=model.number("tolerance", TRAINED_TOLERANCE, most=1.0),
        train_share=model.number("train_share", standard.train_share, least=0.1, most=0.8),
        seed=model.whole("seed", standard.seed, least=0, most=2**32 - 1),
        epsilon=model.number("epsilon", math.inf, least=LEAST_EPSILON, infinite=True),
        forest=_forest(model),
    )
    model.end(("kind", *_MODEL_KEYS, "epsilon"))
    return plan, config


def _forest(model: Section) -> tuple[tuple[str, int | float | str | None], ...] | None:
    """Return the paper's adversaries' hyper-parameters; `AuditConfig` checks them."""
    from core.adversaries import forest_parameters

    if "forest" not in model:
        return None
    told = model.mapping("forest")
    found = tuple((key, None if value == NO_LIMIT else value) for key, value in told.items())
    try:
        forest_parameters(dict(found))
    except InputError as error:
        raise InputError(f"{model.name}: [model.forest]: {error}") from None
    return found


def _outputs(outputs: Section) -> OutputsPlan:
    released = outputs.text("released", OutputsPlan().released, options=RELEASED)
    if released != "scores":
        outputs.refuse("decimals", 'be left out where outputs.released is not "scores"')
    decimals = outputs.whole("decimals", 0, least=0, most=_MOST_DECIMALS) if "decimals" in outputs else None
    outputs.end(("released", "decimals"))
    return OutputsPlan(released=released, decimals=decimals)


def _answers(answers: Section) -> PlannedAnswers:
    standard = PlannedAnswers()
    found = PlannedAnswers(
        questions=answers.whole("questions", standard.questions, least=0, most=_MOST_QUESTIONS),
        people=answers.whole("people", standard.people, least=4, most=_MOST_PEOPLE),
        mechanism=answers.text("mechanism", standard.mechanism, options=MECHANISMS),
        epsilon=answers.number("epsilon", standard.epsilon, least=LEAST_EPSILON, most=_LARGEST),
        decimals=answers.whole("decimals", standard.decimals, least=0, most=_MOST_DECIMALS),
        repeats=answers.whole("repeats", standard.repeats, least=2, most=_MOST_REPEATS),
    )
    answers.end()
    return found


def _membership(membership: Section) -> MembershipPlan:
    shadows = membership.whole("shadows", MembershipPlan().shadows, least=0, most=_MOST_SHADOWS)
    if shadows and (shadows < FEWEST_SHADOWS or shadows % 2):
        raise membership.error("shadows", f"be 0 or an even number of at least {FEWEST_SHADOWS}", shadows)
    membership.end()
    return MembershipPlan(shadows=shadows)


def _guard(guard: Section) -> GuardPlan:
    budget = guard.number("budget", 0.0, most=_LARGEST)
    guard.end()
    return GuardPlan(budget=budget)

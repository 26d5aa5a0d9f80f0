"""What a model card is to publish, as a TOML file: whose numbers, of which models, how precisely.

The tables [data] and [model] are those of a plan for an audit, and so is the version of the format. Numbers that
somebody has published already can be typed in, in place of what [publish] says of statistics and sizes; what such a
card leaves out was not published then. What can be refused is refused before anything is trained, in one sentence that
names the file and its key.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import numpy.typing as npt

from core.datasets import AuditDataset, Table, several_predictions
from core.datasets.columns import quoted
from core.errors import InputError
from core.model_card import (
    MOST_MODELS,
    STATISTICS,
    Published,
    ReleasedPeople,
    ReleaseSettings,
    ReleaseStudy,
    drawn_again,
    release_of,
    released_people,
    study,
)
from core.model_card.card_people import MODELS, SETS, released_rows
from core.model_card.published_counts import SIZE_PARTS, each_number
from core.models import GIVEN
from core.param import Param
from core.release_audit.inputs import dataset_of, roles_of
from core.release_audit.plan import SOURCE, AuditPlan, read_source, source_values
from core.seeds import child_generator
from core.serialize import Result
from core.settings import (
    Place,
    Tables,
    built,
    naming,
    params,
    parsed,
    place_of,
    read_list,
    read_tables,
    toml_text,
    values_of,
)

if TYPE_CHECKING:
    from core.models.model_files import ModelFile

Interval = tuple[float, float]

_NATURAL = tuple(family for family in MODELS if family not in ("audited", "given"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasePlan(Result):
    """A release to be metered.

    Of `source` only table, roles and audited model are used. `numbers` are typed ones in the file's order, (model,
    statistic) -> value or (low, high), in place of those computed from the table; empty for these.
    """

    title: Annotated[str, Param("Title", "What to call the release.", most=200)] = ""
    source: AuditPlan = field(default_factory=AuditPlan)
    models: Annotated[str, Param("Which models", "Which models have numbers: {options}.", options=MODELS)] = "audited"
    columns: Annotated[
        tuple[str, ...], Param("Prediction columns", "Columns of given predictions.", only=("family", ("given",)))
    ] = ()
    without: Annotated[
        tuple[str, ...], Param("Without", "Features that none of these models sees.", only=("family", _NATURAL))
    ] = ()
    on: Annotated[str, Param("On", "Whose numbers they are: {options}.", options=SETS)] = "test"
    people: Annotated[
        int,
        Param(
            "People the numbers are about",
            "How many people, drawn with the seed; 0 for all.",
            least=0,
            most=10_000_000,
            shown=False,
        ),
    ] = 0
    group: Annotated[str, Param("Group, against all others", "The group that counts as 1, against everybody else.")] = (
        ""
    )
    settings: ReleaseSettings = field(default_factory=ReleaseSettings)
    numbers: Mapping[tuple[str, str], float | Interval] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Number(Result):
    """A number that somebody published."""

    model: Annotated[str, Param("Model", "Whose number it is; left out for sizes.")] = ""
    statistic: Annotated[
        str, Param("Statistic", "Which number: {options}.", options=(*each_number(STATISTICS), *SIZE_PARTS))
    ] = ""
    value: Annotated[float | None, Param("Value", "The number, where it is exact.")] = None
    low: Annotated[float | None, Param("Low", "The least it can be.")] = None
    high: Annotated[float | None, Param("High", "The most it can be.")] = None


_PLAN, _SETTINGS = params(ReleasePlan), params(ReleaseSettings)

CARD_TABLES: Tables = {
    "": {"schema": params(AuditPlan)["schema"], "title": _PLAN["title"]},
    **SOURCE,
    "models": {
        "family": _PLAN["models"],
        "columns": _PLAN["columns"],
        "count": _SETTINGS["count"],
        "without": _PLAN["without"],
    },
    "people": {"on": _PLAN["on"], "most": _PLAN["people"], "group": _PLAN["group"]},
    "publish": {key: setting for key, setting in _SETTINGS.items() if key != "count"},
    "[number]": params(_Number),
}
"""The tables of a release."""


def read_release(
    text: str | bytes, *, name: str = "The release", instead: Mapping[str, Any] = types.MappingProxyType({})
) -> ReleasePlan:
    """Read a release as `read_plan` reads a plan.

    `instead` are settings of `ReleaseSettings` that stand in place of the file's; None is left out.
    """
    content = parsed(text, name=name)
    with naming(name):
        found = read_tables(_replaced(content, instead), CARD_TABLES)
        data, model, config = read_source(found)
        models, people, publish = (found[title] for title in ("models", "people", "publish"))
        family, columns = models.get("family", "audited"), models.get("columns", ())
        if family == "given" and not columns:
            raise place_of("models").error("columns", "name columns", [])
        count = models.get("count", 20) if family in _NATURAL else len(columns) or 1
        names = columns or (("audited model",) if family == "audited" else ())
        typed = read_list(content, "number", CARD_TABLES["[number]"], most=3 + 9 * MOST_MODELS)
        numbers = _numbers(typed, models=names)
        settings = _settings(publish, count, typed=bool(numbers))
        return built(
            ReleasePlan,
            found[""] | {key: value for key, value in (models | people).items() if key in _PLAN},
            models=family,
            people=people.get("most", 0),
            source=built(AuditPlan, found[""], data=data, model=model, config=config),
            settings=settings,
            numbers=numbers,
        )


def _replaced(content: dict[str, Any], instead: Mapping[str, Any]) -> dict[str, Any]:
    """Return a file's content with some settings in place of its own."""
    made = dict(content)
    for key, value in instead.items():
        title = "models" if key == "count" else "publish"
        table = made.get(title, {})
        if isinstance(table, dict):
            others = {name: own for name, own in table.items() if name != key}
            made[title] = others if value is None else others | {key: value}
    return made


def _settings(publish: dict[str, Any], count: int, *, typed: bool) -> ReleaseSettings:
    place = place_of("publish")
    if "epsilon" in publish:
        if typed:
            rule = "be left out where numbers are typed; low and high say how precise each is"
            raise place.error("epsilon", rule, publish["epsilon"])
        if not publish.get("sizes", True):
            raise place.error("sizes", "be true with privacy noise, which comes on sizes too", False)
        if "decimals" in publish:
            raise place.error("epsilon", "be left out where decimals are told", publish["epsilon"])
    once = {"statistics": tuple(dict.fromkeys(publish["statistics"]))} if "statistics" in publish else {}
    return built(ReleaseSettings, {"decimals": None, **publish, **once, "count": count}, "publish")


def release_text(plan: ReleasePlan) -> str:
    """Return a release as the TOML that `read_release` reads back equal."""
    return toml_text(CARD_TABLES, _values(plan))


def _values(plan: ReleasePlan) -> Iterator[tuple[str, dict[str, Any]]]:
    settings = values_of(plan.settings)
    models = {"family": plan.models, "columns": plan.columns, "count": settings.pop("count"), "without": plan.without}
    yield "", {"schema": plan.source.schema, "title": plan.title}
    yield from source_values(plan.source).items()
    yield "models", models
    yield "people", {"on": plan.on, "most": plan.people, "group": plan.group}
    yield "publish", settings
    for (model, statistic), value in plan.numbers.items():
        span = {"low": value[0], "high": value[1]} if isinstance(value, tuple) else {"value": value}
        yield "[number]", {"model": model, "statistic": statistic, **span}


def _numbers(
    rows: Iterator[tuple[Place, dict[str, Any]]], *, models: Sequence[str]
) -> dict[tuple[str, str], float | Interval]:
    """Return typed numbers: (model, statistic) -> value or (low, high); `models` are their names where known by now."""
    found: dict[tuple[str, str], float | Interval] = {}
    for place, row in rows:
        one = _Number(**row)
        _check_name(place, one, models)
        key, value = (one.model, one.statistic), _value(place, one)
        if key in found:
            what = f"{one.statistic} of {one.model}" if one.model else one.statistic
            first, before = list(found).index(key) + 1, found[key]
            told = f"number {first} says {_told(before)}, this one {_told(value)}"
            raise InputError(f"{place.table} must not tell {what} again: {told}.")
        found[key] = value
    return found


def _check_name(place: Place, one: _Number, models: Sequence[str]) -> None:
    model, statistic = one.model, one.statistic
    if not statistic:
        raise place.error("statistic", "be told", statistic)
    if statistic in SIZE_PARTS:
        if model:
            raise place.error("model", f"be left out for {statistic}, which belongs to no model", model)
    elif not model:
        raise place.error("model", f"name the model whose {statistic} it is", model)
    elif models and model not in models:
        raise place.error("model", f"be one of {', '.join(models)}", model)


def _value(place: Place, one: _Number) -> float | Interval:
    value, low, high = one.value, one.low, one.high
    if value is not None and low is None and high is None:
        return _checked(place, "value", one.statistic, value)
    if value is None and low is not None and high is not None:
        if one.statistic in SIZE_PARTS:
            rule = f"be left out for {one.statistic}, which is a whole number and told as value"
            raise place.error("low", rule, low)
        if low > high:
            raise place.error("low", f"be at most high ({high:g})", low)
        return _checked(place, "low", one.statistic, low), _checked(place, "high", one.statistic, high)
    raise InputError(f"{place.table} must have either value, or low and high.")


def _checked(place: Place, key: str, statistic: str, value: float) -> float:
    """Return a value that its statistic can have."""
    if statistic in SIZE_PARTS:
        if value < 0 or value != round(value):
            raise place.error(key, "be a whole number of people", int(value) if value == round(value) else value)
        return value
    least = -1.0 if statistic.endswith("_gap") else 0.0
    if not least <= value <= 1.0:
        raise place.error(key, f"be in [{least:g}, 1], as {statistic} is", value)
    return value


def _told(value: float | Interval) -> str:
    return f"{value[0]:.12g} to {value[1]:.12g}" if isinstance(value, tuple) else f"{value:.12g}"


_SHOWN = 4
"""Names of models that a sentence lists."""


@contextmanager
def named(name: str, key: str) -> Iterator[None]:
    """Let sentences about wrong input begin with the file and the key that are to be changed."""
    try:
        yield
    except InputError as error:
        told = str(error)
        if told.startswith(f"{name}: "):
            raise
        place = key.strip("[]").partition(".")[0]
        raise InputError(f"{name}: {told}" if told.startswith(f"{place}.") else f"{name}: {key}: {told}") from None


def people_of(
    plan: ReleasePlan,
    table: Table,
    *,
    model_file: ModelFile | None = None,
    name: str = "The release",
    report: Callable[[int, int], None] | None = None,
) -> ReleasedPeople:
    """Train what a release needs and return its people; `name` is what sentences call the plan's file.

    `report` is called with (done, total) and may raise `core.errors.Cancelled` to stop. InputError if a rule of
    `core.datasets.build_dataset`, `several_predictions` or `core.model_card.released_people` is broken, there is no
    such group or feature, or a typed group size is larger than there are people.
    """
    given = None
    names: tuple[str, ...] = ()
    if plan.models == GIVEN:
        for column in plan.columns:
            if column not in table.frame.columns:
                raise InputError(f"{name}: models.columns must name columns of the table, got {quoted(column)}.")
        with named(name, "[data]"):
            several = several_predictions(table, roles_of(plan.source, table), plan.columns)
        dataset, given, names = several.dataset, several.predictions, several.names
        config = replace(plan.source.config, roles=dataset.roles, method=GIVEN)
    else:
        with named(name, "[data]"):
            dataset = dataset_of(plan.source, table, model_file=model_file)
        config = replace(plan.source.config, roles=dataset.roles)
    group = _group(plan, dataset, name)
    for feature in plan.without:
        if feature not in dataset.feature_names:
            raise InputError(f"{name}: models.without must name features of the table, got {quoted(feature)}.")
    with named(name, "[data]"):
        rows = released_rows(config, dataset, on=plan.on)
    drawn = _drawn(rows.size, plan.people, config.seed)
    _check_sizes(plan, dataset.labels[rows if drawn is None else rows[drawn]], name)
    people = released_people(
        config,
        dataset,
        models=plan.models,
        count=plan.settings.count,
        on=plan.on,
        group=group,
        given=given,
        names=names,
        without=plan.without,
        report=report,
    )
    return some_people(people, plan.people, seed=config.seed)


def some_people(people: ReleasedPeople, most: int, *, seed: int) -> ReleasedPeople:
    """Return the people, or so many of them drawn with a seed; 0 is all."""
    drawn = _drawn(people.n, most, seed)
    if drawn is None:
        return people
    return replace(
        people,
        rows=people.rows[drawn],
        posterior=people.posterior[drawn],
        predictions=people.predictions[:, drawn],
        labels=people.labels[drawn],
        sensitive=people.sensitive[drawn],
        columns=people.columns.iloc[drawn].reset_index(drop=True),
    )


def _drawn(n: int, most: int, seed: int) -> npt.NDArray[np.intp] | None:
    """Return which of n people are looked at; None for all of them."""
    if not 0 < most < n:
        return None
    return np.sort(child_generator(seed, "released people").choice(n, most, replace=False))


def study_of(plan: ReleasePlan, people: ReleasedPeople, *, name: str = "The release") -> ReleaseStudy:
    """Meter and measure what a plan publishes, in several draws of its noise, or the numbers typed into it.

    InputError if a setting breaks its rule, or typed numbers are none of these people or contradict each other.
    """
    if not plan.numbers:
        return drawn_again(study(people, plan.settings), people)
    release = release_of(people, plan.settings)
    for i, (model, _) in enumerate(plan.numbers, start=1):
        if model and model not in release.names:
            more = f" and {release.n_models - _SHOWN} more" if release.n_models > _SHOWN else ""
            told = f"{', '.join(release.names[:_SHOWN])}{more}"
            raise InputError(f"{name}: number {i}.model must be a model of this card ({told}), got {quoted(model)}.")
    with named(name, "[[number]]"):
        published = Published.from_values(release, plan.numbers)
    return study(people, plan.settings, published=published)


def _check_sizes(plan: ReleasePlan, labels: npt.NDArray[np.uint8], name: str) -> None:
    """Refuse group sizes that are larger than all the people they are counted among."""
    for i, ((_, statistic), value) in enumerate(plan.numbers.items(), start=1):
        part = SIZE_PARTS.get(statistic)
        if part is None or isinstance(value, tuple):
            continue
        people = labels.size if part == "all" else int((labels == int(part[-1])).sum())
        if value > people:
            told = "people of this release" if part == "all" else f"people of this release with {part}"
            raise InputError(
                f"{name}: number {i}.value must be at most {people}, the {told}, for {statistic}, got {value:.0f}."
            )


def _group(plan: ReleasePlan, dataset: AuditDataset, name: str) -> int:
    """Return the code of the group that counts as 1."""
    if not plan.group:
        return 1
    if plan.group not in dataset.group_names:
        raise InputError(
            f"{name}: people.group must be one of {', '.join(dataset.group_names)}, got {quoted(plan.group)}."
        )
    return dataset.group_names.index(plan.group)

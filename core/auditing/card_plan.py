"""What a model card is to publish, as a TOML file: whose numbers, of which models, how precisely.

The tables [data] and [model] are those of a plan for an audit, and so is the version of the format. Numbers that
somebody has published already can be typed in, in place of what [publish] says of statistics and sizes; what such a
card leaves out was not published then. What can be refused is refused before anything is trained, in one sentence that
names the file and its key.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

from ..base.errors import InputError
from ..base.param import Param
from ..base.serialize import Result
from ..base.settings import (
    TableLocation,
    Tables,
    built,
    location_of,
    naming,
    params,
    parsed,
    read_list,
    read_tables,
    toml_text,
)
from ..datasets import Table, several_predictions
from ..datasets.columns import quoted
from ..models import GIVEN_PREDICTIONS
from ..studies.model_card import (
    MOST_MODELS,
    STATISTICS,
    ModelCardResult,
    ModelCardSettings,
    Published,
    ReleasedPeople,
    drawn_again,
    measure_card,
    release_of,
    released_people,
)
from ..studies.model_card.card_people import drawn_people, released_rows
from ..studies.model_card.published_counts import SIZE_PARTS, each_number
from ..studies.model_card.release import check_number, check_precision
from ..studies.model_card.settings import NATURAL
from .answers import MissingAnswers, require_answers
from .inputs import checked_dataset, roles_of
from .plan import SOURCE, AuditPlan, read_source, source_values

if TYPE_CHECKING:
    from ..models.model_files import ModelFile

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasePlan(Result):
    """A model card to be studied.

    Of `source` only table, roles and audited model are used. `numbers` are typed ones in the file's order, (model,
    statistic) -> value or (low, high), in place of those computed from the table; empty for these.
    """

    title: Annotated[str, Param("Title", "What to call the release.", most=200)] = ""
    source: AuditPlan = field(default_factory=AuditPlan)
    settings: ModelCardSettings = field(default_factory=ModelCardSettings)
    numbers: Mapping[tuple[str, str], float | Interval] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _CardNumber(Result):
    """A number that somebody published."""

    model: Annotated[str, Param("Model", "Whose number it is; left out for sizes.")] = ""
    statistic: Annotated[
        str, Param("Statistic", "Which number: {options}.", options=(*each_number(STATISTICS), *SIZE_PARTS))
    ] = ""
    value: Annotated[float | None, Param("Value", "The number, where it is exact.")] = None
    low: Annotated[float | None, Param("Low", "The least it can be.")] = None
    high: Annotated[float | None, Param("High", "The most it can be.")] = None


_DECLARED = params(ModelCardSettings)
_SETTINGS = {
    **_DECLARED,
    "count": replace(_DECLARED["count"], default=20),
    "decimals": replace(_DECLARED["decimals"], default=None),
}
"""Those of a file, in which variants are twenty, and numbers exact, where it says nothing else."""

_CARD_SETTINGS: Tables = {
    "models": {key: _SETTINGS[key] for key in ("family", "columns", "count", "without")},
    "people": {key: _SETTINGS["people" if key == "most" else key] for key in ("on", "most", "group")},
    "publish": {key: _SETTINGS[key] for key in ("statistics", "sizes", "decimals", "epsilon", "seed")},
}
"""The tables that hold the settings of the card."""

CARD_TABLES: Tables = {
    "": {"schema": params(AuditPlan)["schema"], "title": params(ReleasePlan)["title"]},
    **SOURCE,
    **_CARD_SETTINGS,
    "[number]": params(_CardNumber),
}
"""The tables of a release."""


def read_release(
    text: str | bytes, *, name: str = "The release", instead: Mapping[str, Any] = types.MappingProxyType({})
) -> ReleasePlan:
    """Read a release as `read_plan` reads a plan.

    `instead` are settings of `ModelCardSettings` that stand in place of the file's; None is left out.
    """
    content = parsed(text, name=name)
    with naming(name):
        tables = read_tables(_replaced(content, instead), CARD_TABLES)
        data, model, config = read_source(tables)
        values = {
            _CARD_SETTINGS[title][key].name: value for title in _CARD_SETTINGS for key, value in tables[title].items()
        }
        family, columns = values.get("family", "audited"), values.get("columns", ())
        if family == GIVEN_PREDICTIONS and not columns:
            raise location_of("models").error("columns", "name columns", [])
        names = columns or (("audited model",) if family == "audited" else ())
        numbers = _numbers(read_list(content, "number", CARD_TABLES["[number]"], most=3 + 9 * MOST_MODELS), names)
        if numbers and "epsilon" in values:
            rule = "be left out where numbers are typed; low and high say how precise each is"
            raise location_of("publish").error("epsilon", rule, values["epsilon"])
        with naming("[publish]"):
            check_precision(values.get("decimals"), values.get("epsilon"), values.get("sizes", True))
        values["statistics"] = tuple(dict.fromkeys(values.get("statistics", ModelCardSettings().statistics)))
        count = values.get("count", _SETTINGS["count"].default) if family in NATURAL else len(columns) or 1
        return built(
            ReleasePlan,
            tables[""],
            source=built(AuditPlan, tables[""], data=data, model=model, config=config),
            settings=built(ModelCardSettings, {"decimals": None, **values, "count": count}, "publish"),
            numbers=numbers,
        )


def _replaced(content: dict[str, Any], instead: Mapping[str, Any]) -> dict[str, Any]:
    """Return a file's content with some settings in place of its own."""
    replaced = dict(content)
    for title, keys in _CARD_SETTINGS.items():
        table = replaced.get(title, {})
        changes = {key: instead[setting.name] for key, setting in keys.items() if setting.name in instead}
        if changes and isinstance(table, dict):
            replaced[title] = {
                key: value for key, value in (table | changes).items() if key not in changes or value is not None
            }
    return replaced


def _numbers(
    rows: Iterator[tuple[TableLocation, dict[str, Any]]], models: tuple[str, ...]
) -> dict[tuple[str, str], float | Interval]:
    """Return typed numbers: (model, statistic) -> value or (low, high); `models` are their names where known by now."""
    numbers: dict[tuple[str, str], float | Interval] = {}
    for location, row in rows:
        number = _CardNumber(**row)
        key, exact = (number.model, number.statistic), number.value is not None
        if not number.statistic:
            raise location.error("statistic", "be given", number.statistic)
        if exact != (number.low is None and number.high is None) or (number.low is None) != (number.high is None):
            raise InputError(f"{location.table} must have either value, or low and high.")
        value: Any = number.value if exact else (number.low, number.high)
        with naming(location.table):
            check_number(*key, value, models=models)
            if key in numbers:
                what = f"{number.statistic} of {number.model}" if number.model else number.statistic
                raise InputError(f"{what} must be given once, number {list(numbers).index(key) + 1} gives it too.")
        numbers[key] = value
    return numbers


def release_text(plan: ReleasePlan) -> str:
    """Return a release as the TOML that `read_release` reads back equal."""
    return toml_text(CARD_TABLES, _values(plan))


def _values(plan: ReleasePlan) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "", {"schema": plan.source.schema, "title": plan.title}
    yield from source_values(plan.source).items()
    for title, keys in _CARD_SETTINGS.items():
        yield title, {key: getattr(plan.settings, setting.name) for key, setting in keys.items()}
    for (model, statistic), value in plan.numbers.items():
        span = {"low": value[0], "high": value[1]} if isinstance(value, tuple) else {"value": value}
        yield "[number]", {"model": model, "statistic": statistic, **span}


@contextmanager
def error_context(name: str, key: str) -> Iterator[None]:
    """Let sentences about wrong input begin with the file and the key that are to be changed."""
    try:
        yield
    except MissingAnswers:  # which names the keys itself, a line each
        raise
    except InputError as error:
        raise InputError(f"{name}: {error}" if error.key else f"{name}: {key}: {error}") from None


def people_of(
    plan: ReleasePlan,
    table: Table,
    *,
    model_file: ModelFile | None = None,
    name: str = "The release",
    report: Callable[[int, int], None] | None = None,
) -> ReleasedPeople:
    """Train what a release needs and return its people; `name` is what sentences call the plan's file.

    `report` is called with (done, total) and may raise `core.base.errors.Cancelled` to stop. InputError if a rule of
    `core.datasets.build_dataset`, `several_predictions` or `core.studies.model_card.released_people` is broken, there
    is no such group or feature, or a typed group size is larger than there are people.
    """
    settings, predictions = plan.settings, None
    names: tuple[str, ...] = ()
    for column in settings.columns:
        if column not in table.frame.columns:
            raise InputError(f"{name}: models.columns must name columns of the table, got {quoted(column)}.")
    with error_context(name, "[data]"):
        if settings.family == GIVEN_PREDICTIONS:
            roles = roles_of(plan.source, table)
            require_answers(table, roles)
            several = several_predictions(table, roles, settings.columns)
            dataset, predictions, names = several.dataset, several.predictions, several.names
            config = replace(plan.source.config, roles=dataset.roles, method=GIVEN_PREDICTIONS)
        else:
            dataset = checked_dataset(plan.source, table, model_file=model_file)
            config = replace(plan.source.config, roles=dataset.roles)
        rows = released_rows(config, dataset, on=settings.on)
    labels = dataset.labels[rows[drawn_people(rows.size, settings.people, seed=config.seed)]]
    for i, ((_, statistic), value) in enumerate(plan.numbers.items(), start=1):
        part = SIZE_PARTS.get(statistic)
        people = labels.size if part in (None, "all") else int((labels == int(part[-1])).sum())
        if part and not isinstance(value, tuple) and value > people:
            raise InputError(f"{name}: [number {i}]: {statistic} must be at most {people}, got {value:.0f}.")
    with naming(name):
        return released_people(config, dataset, settings, model_predictions=predictions, names=names, report=report)


def study_of(plan: ReleasePlan, people: ReleasedPeople, *, name: str = "The release") -> ModelCardResult:
    """Study what a plan publishes, in several draws of its noise, or the numbers typed into it.

    InputError if a setting breaks its rule, or typed numbers are none of these people or contradict each other.
    """
    if not plan.numbers:
        return drawn_again(measure_card(people, plan.settings))
    with error_context(name, "[[number]]"):
        published = Published.from_values(release_of(people, plan.settings), plan.numbers)
    return measure_card(people, plan.settings, published=published)

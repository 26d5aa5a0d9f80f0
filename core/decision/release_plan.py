"""What a model card is to publish, as a TOML file: whose numbers, of which models, how precisely.

The tables [data] and [model] are those of a plan for an audit, and so is the version of the format. Numbers that
somebody has published already can be typed in, in place of what [publish] says of statistics and sizes; what such a
card leaves out was not published then. What a typed number can be without its table is checked here: its name, its
range, that it is told once; how many people there are, and what other models are called, `release_sources` knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from core.decision.plan import SOURCE, AuditPlan, read_source, source_values
from core.errors import InputError
from core.release import MOST_MODELS, STATISTICS, ReleaseSettings
from core.release.numbers import SIZE_PARTS, each_number
from core.release.people import MODELS, SETS
from core.results import Result
from core.settings import Place, Tables, built, naming, params, place_of, read_list, read_tables, toml_text, values_of
from core.study import Param
from core.toml_files import parsed

Interval = tuple[float, float]

_MOST_NUMBERS = 3 + 9 * MOST_MODELS
_COUNT = 20
_NATURAL = tuple(family for family in MODELS if family not in ("audited", "given"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasePlan(Result):
    """A release to be metered.

    Attributes
    ----------
    title : str
        The dataset's title when empty.
    source : AuditPlan
        Table, roles and audited model; nothing else of it is used.
    group : str
        When empty the first of two, or the second of more.
    numbers : mapping of (model, statistic) to float or (low, high)
        Typed numbers in the file's order, in place of those computed from the table; empty for these.
    """

    title: Annotated[str, Param("Title", "What to call the release.", most=200)] = ""
    source: AuditPlan = field(default_factory=AuditPlan)
    models: Annotated[str, Param("Models", "Which models have numbers: {options}.", options=MODELS)] = "audited"
    columns: Annotated[
        tuple[str, ...], Param("Columns", "Columns of given predictions.", only=("family", ("given",)))
    ] = ()
    without: Annotated[
        tuple[str, ...], Param("Without", "Features that none of these models sees.", only=("family", _NATURAL))
    ] = ()
    on: Annotated[str, Param("On", "Whose numbers they are: {options}.", options=SETS)] = "test"
    people: Annotated[
        int, Param("People", "How many people, drawn with the seed; 0 for all.", least=0, most=10_000_000, shown=False)
    ] = 0
    group: Annotated[str, Param("Group", "The group that counts as 1, against everybody else.")] = ""
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


def read_release(text: str | bytes, *, name: str = "The release") -> ReleasePlan:
    """Read a release.

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
    with naming(name):
        found = read_tables(content, CARD_TABLES)
        data, model, config = read_source(found)
        models, people, publish = (found[title] for title in ("models", "people", "publish"))
        family, columns = models.get("family", "audited"), models.get("columns", ())
        if family == "given" and not columns:
            raise place_of("models").error("columns", "name columns", [])
        count = models.get("count", _COUNT) if family in _NATURAL else len(columns) or 1
        names = columns or (("audited model",) if family == "audited" else ())
        numbers = _numbers(read_list(content, "number", CARD_TABLES["[number]"], most=_MOST_NUMBERS), models=names)
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

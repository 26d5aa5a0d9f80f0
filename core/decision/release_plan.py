"""What a model card is to publish, as a TOML file: whose numbers, of which models, how precisely.

The tables [data] and [model] are those of a plan for an audit. Numbers that somebody has published already can be
typed in, in place of what [publish] says of statistics and sizes; what such a card leaves out was not published then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from core.decision.plan import AuditPlan
from core.decision.plan_file import check_source, read_source
from core.decision.plan_text import source_tables, toml_value
from core.decision.release_numbers import Interval, read_numbers
from core.decision.sections import Section
from core.release import MOST_MODELS, STATISTICS, ReleaseSettings
from core.release.people import MODELS, SETS
from core.results import Result
from core.toml_files import parsed
from core.validation import LEAST_EPSILON

__all__ = ["RELEASE_SCHEMA", "ReleasePlan", "read_release", "release_text"]

RELEASE_SCHEMA = 1
"""Version of the file format."""

_MOST_TITLE, _MOST_PEOPLE, _MOST_DECIMALS, _LARGEST = 200, 10_000_000, 12, 1_000.0
_MOST_NUMBERS = 3 + 9 * MOST_MODELS
_COUNT, _GIVEN = 20, "given"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasePlan(Result):
    """A release to be metered.

    Attributes
    ----------
    title : str
        What to call it; the dataset's title when empty.
    source : AuditPlan
        Table, roles and audited model; nothing else of it is used.
    models : str
        One of `core.release.people.MODELS`.
    columns : tuple of str
        Prediction columns, for models "given".
    without : tuple of str
        Features none of the natural models sees.
    on : {"test", "train"}
        Whose numbers they are.
    people : int
        How many of them, drawn with the seed; 0 for all.
    group : str
        The group that counts as 1, against everybody else; when empty the first of two, or the second of more.
    settings : ReleaseSettings
        What is published, how precisely.
    numbers : mapping of (model, statistic) to float or (low, high)
        Typed numbers in the file's order, in place of those computed from the table; empty for these.
    """

    title: str = ""
    source: AuditPlan = field(default_factory=AuditPlan)
    models: str = "audited"
    columns: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    on: str = "test"
    people: int = 0
    group: str = ""
    settings: ReleaseSettings = field(default_factory=ReleaseSettings)
    numbers: Mapping[tuple[str, str], float | Interval] = field(default_factory=dict)


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
    whole = Section(content, name=name)
    whole.whole("schema", RELEASE_SCHEMA, least=RELEASE_SCHEMA, most=RELEASE_SCHEMA)
    title = whole.text("title")
    if len(title) > _MOST_TITLE:
        raise whole.error("title", f"have at most {_MOST_TITLE} characters", len(title))
    check_source(content, name=name)
    data, model, config = read_source(whole)
    models, people, publish = (whole.section(key) for key in ("models", "people", "publish"))
    typed = whole.tables("number", most=_MOST_NUMBERS)
    whole.end()
    kind, count, columns, without = _models(models)
    on, most, group = _people(people)
    numbers = read_numbers(typed, models=columns or (("audited model",) if kind == "audited" else ()))
    if numbers:
        publish.refuse("epsilon", "be left out where numbers are typed; low and high say how precise each is")
    return ReleasePlan(
        title=title,
        source=AuditPlan(title=title, data=data, model=model, config=config),
        models=kind,
        columns=columns,
        without=without,
        on=on,
        people=most,
        group=group,
        settings=_publish(publish, count),
        numbers=numbers,
    )


def _models(models: Section) -> tuple[str, int, tuple[str, ...], tuple[str, ...]]:
    """Return which models, how many, their columns, and the features they do not see."""
    kind = models.text("family", "audited", options=MODELS)
    columns, without = models.texts("columns"), models.texts("without")
    if (kind == _GIVEN) != bool(columns):
        rule = "name columns" if kind == _GIVEN else 'be left out where models.family is not "given"'
        raise models.error("columns", rule, list(columns))
    if kind in (_GIVEN, "audited"):
        models.refuse("count", f'be left out where models.family is "{kind}"')
        if without:
            raise models.error("without", f'be left out where models.family is "{kind}"', list(without))
        count = len(columns) or 1
    else:
        count = models.whole("count", _COUNT, least=1, most=MOST_MODELS)
    models.end(("family", "columns", "count", "without"))
    return kind, count, columns, without


def _people(people: Section) -> tuple[str, int, str]:
    found = (
        people.text("on", "test", options=SETS),
        people.whole("most", 0, least=0, most=_MOST_PEOPLE),
        people.text("group"),
    )
    people.end()
    return found


def _publish(publish: Section, count: int) -> ReleaseSettings:
    standard = ReleaseSettings()
    statistics = publish.texts("statistics") if "statistics" in publish else standard.statistics
    for one in statistics:
        if one not in STATISTICS:
            raise publish.error("statistics", f"be some of {', '.join(STATISTICS)}", one)
    if not statistics:
        raise publish.error("statistics", "name at least one statistic", list(statistics))
    sizes = publish.flag("sizes", True)
    if "epsilon" in publish and not sizes:
        raise publish.error("sizes", "be true with privacy noise, which comes on sizes too", sizes)
    if "decimals" in publish:
        publish.refuse("epsilon", "be left out where decimals are told")
    found = replace(
        standard,
        count=count,
        statistics=tuple(dict.fromkeys(statistics)),
        sizes=sizes,
        decimals=publish.maybe_whole("decimals", least=0, most=_MOST_DECIMALS),
        epsilon=publish.number("epsilon", 1.0, least=LEAST_EPSILON, most=_LARGEST) if "epsilon" in publish else None,
        seed=publish.whole("seed", 0, least=0, most=2**32 - 1),
    )
    publish.end(("statistics", "decimals", "epsilon"))
    return found


def release_text(plan: ReleasePlan) -> str:
    """Return a release as the TOML that `read_release` reads back equal."""
    return "\n".join(_lines(plan))


def _lines(plan: ReleasePlan) -> Iterator[str]:
    yield f"schema = {RELEASE_SCHEMA}"
    if plan.title:
        yield f"title = {toml_value(plan.title)}"
    tables = source_tables(plan.source) | {"models": _told_models(plan)}
    people = {"on": plan.on, "most": plan.people, "group": plan.group}
    tables["people"] = {key: value for key, value in people.items() if value}
    tables["publish"] = {key: value for key, value in plan.settings.to_dict().items() if value is not None}
    del tables["publish"]["count"]
    for title, fields in tables.items():
        yield f"\n[{title}]"
        yield from (f"{key} = {toml_value(value)}" for key, value in fields.items())
    for (model, statistic), value in plan.numbers.items():
        yield "\n[[number]]"
        told = {"model": model} if model else {}
        span = {"low": value[0], "high": value[1]} if isinstance(value, tuple) else {"value": value}
        yield from (f"{key} = {toml_value(one)}" for key, one in {**told, "statistic": statistic, **span}.items())
    yield ""


def _told_models(plan: ReleasePlan) -> dict[str, Any]:
    told: dict[str, Any] = {"family": plan.models}
    if plan.models == _GIVEN:
        return told | {"columns": plan.columns}
    if plan.models != "audited":
        told["count"] = plan.settings.count
        if plan.without:
            told["without"] = plan.without
    return told

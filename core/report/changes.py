"""What two reports say differently: two runs of one audit, or two audits.

A run is everything in a report but when and on what it ran, and its sentences, which only word the numbers and statuses
beside them. Numbers count to 6 significant digits: on another machine sums are taken in another order. Of two audits it
is data, model, plan, policy, code and seeds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..auditing import AuditPlan
from ..auditing.plan import PARTS
from ..auditing.policy import limit_text
from ..auditing.policy.limits import check_title
from ..base.serialize import Result, content_fingerprint, short_fingerprint
from .report import Cell, Report, strict

_ENVIRONMENT = ("fairleak", "python", "platform", "packages", "code")
_KEYS = (
    "check",
    "attack",
    "group",
    "name",
)  # by which the items of a list are distinguished, the first they all have
_OUTSIDE = ("times", "fingerprint")
_DIGITS = 6
_ABSENT = "(absent)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed(Result):
    """One thing that is not the same, or one value at a path such as "measurements[correction_gain].estimate.low".

    Of two audits `part` is "Data", "Model", "Plan", "Policy", "Code" or "Seeds". Of two documents "(absent)" stands for
    what only the other one has, the number of items for lists of different lengths.
    """

    part: str = ""
    what: str
    before: Cell
    after: Cell


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay(Result):
    """A run and its repetition: their fingerprints, what they ran on otherwise, and the values that differ."""

    before: str
    now: str
    environment: tuple[Changed, ...]
    changes: tuple[Changed, ...]

    @property
    def same(self) -> bool:
        """Whether both runs gave the same."""
        return self.before == self.now


def compare_runs(before: Mapping[str, Any], now: Mapping[str, Any]) -> Replay:
    """Comparison of two internal reports of one audit, as read from their JSON."""
    environment = changed_values(_environment(before), _environment(now), "provenance")
    first = _run(before)
    second = _run(now)
    if environment:
        for run in (first, second):
            run["model"].pop("fingerprint")  # of the model's answers to the last bit
    return Replay(
        before=content_fingerprint(first),
        now=content_fingerprint(second),
        environment=environment,
        changes=changed_values(first, second),
    )


def changed_values(before: Any, now: Any, path: str = "") -> tuple[Changed, ...]:
    """Values that differ between two documents of dicts, lists, texts, numbers, booleans and None, in their order."""
    return tuple(
        Changed(what=value_path, before=_cell(first), after=_cell(second))
        for value_path, first, second in _pairs(before, now, path)
        if type(first) is not type(second) or first != second
    )


def _environment(report: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in report["provenance"].items() if name in _ENVIRONMENT}


def _run(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a run computed, without sentences, its numbers rounded."""
    content = {name: _comparable(value) for name, value in report.items() if name not in _OUTSIDE}
    for name in _ENVIRONMENT:
        content["provenance"].pop(name)
    return content


def _comparable(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _comparable(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_comparable(item) for item in value]
    if isinstance(value, str):
        if " " in value:
            return ""
        return value
    if isinstance(value, float):
        rounded = float(f"{value:.{_DIGITS}g}")
        if rounded.is_integer():
            return int(rounded)
        return rounded
    return value


def _pairs(before: Any, now: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield every two values that stand at one path of two documents."""
    if isinstance(before, dict) and isinstance(now, dict):
        for name in dict.fromkeys((*before, *now)):
            inner = f"{path}.{name}" if path else name
            yield from _pairs(before.get(name, _ABSENT), now.get(name, _ABSENT), inner)
    elif isinstance(before, list) and isinstance(now, list):
        if len(before) != len(now):
            yield path, len(before), len(now)
        for name, first, second in zip(_item_names(before), before, now, strict=False):
            yield from _pairs(first, second, f"{path}[{name}]")
    else:
        yield path, before, now


def _item_names(items: list[Any]) -> list[str]:
    """Return what to call the items of a list: by a name that each has and no other, else by number from 0."""
    for key in _KEYS:
        names = [item.get(key) for item in items if isinstance(item, dict)]
        if (
            items
            and len(names) == len(items) == len(set(map(str, names)))
            and all(isinstance(n, str) for n in names)
        ):
            return [str(name) for name in names]
    return [str(number) for number in range(len(items))]


def _cell(value: Any) -> Cell:
    """Return a value as a cell; a part that only one document has, by its beginning."""
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    return f"{value!s:.60}"


# Two audits -----------------------------------------------------------------------------------------------------------


def changed_settings(before: Report, after: Report) -> tuple[Changed, ...]:
    """Return everything that is not the same, part by part."""
    attribute = after.data.attribute or "the attribute"
    was = _parts(before, after, attribute)
    now = _parts(after, before, attribute)
    changes = []
    for part, values in was.items():
        pairs = {
            what: (_value(part, what, values), _value(part, what, now[part]))
            for what in values | now[part]
        }
        pairs |= _settings(before, after, part)
        for what, (old, new) in pairs.items():
            if old != new and old not in (None, "") and new not in (None, ""):
                changes.append(Changed(part=part, what=what, before=_text(old), after=_text(new)))
    return tuple(changes)


def same_people(before: Report, after: Report) -> bool | None:
    """Return whether two audits judge the same people; None where the reports do not tell.

    They do if records and split are the same, and do not if the split is another. The records' fingerprint is of every
    column used and of given predictions: another one, such as without a feature, does not show that the people differ.
    """
    if _split(before) != _split(after):
        return False
    if before.data.fingerprint == after.data.fingerprint:
        return True
    return None


def _split(report: Report) -> tuple[Any, ...]:
    config = report.plan.config
    return config.seed, config.train_share, report.data.sets


def _parts(report: Report, reference: Report, attribute: str) -> dict[str, dict[str, Any]]:
    """Return what a report tells of each part."""
    data = report.data
    model = report.model
    policy = report.policy
    provenance = report.provenance
    extra_columns = [name for name in data.features if name not in reference.data.features]
    columns = "none of its own"
    if extra_columns:
        columns = f"only here: {', '.join(extra_columns)}"
    limits: dict[str, Any] = {}
    for limit in policy.limits:
        title = check_title(limit.check, attribute)
        limits |= {
            f"limit: {title}": limit_text(limit.check, limit.value),
            f"required: {title}": limit.required,
            f"source: {title}": limit.source or "no source",
        }
    return {
        "Data": {
            "table": data.title,
            "fingerprint": short_fingerprint(data.fingerprint),
            "records": data.n,
            **{
                f"{name} records": data.sets.get(name)
                for name in ("train", "attack", "validation", "test")
            },
            "columns": columns,
            "sensitive attribute": data.attribute,
            "label": data.label,
        },
        "Model": {
            "title": model.title,
            "kind": model.kind,
            "answers (fingerprint)": short_fingerprint(model.fingerprint),
        },
        "Plan": {},
        "Policy": {
            "name": policy.name,
            "version": policy.version,
            "level": policy.level,
            "fingerprint": short_fingerprint(provenance.policy),
            **limits,
        },
        "Code": {
            "FairLeak": provenance.fairleak,
            "code (fingerprint)": short_fingerprint(provenance.code),
            "Python": provenance.python,
            "machine": provenance.platform,
            **provenance.packages,
        },
        "Seeds": {"audit": report.plan.config.seed},
    }


def _value(part: str, what: str, values: Mapping[str, Any]) -> Any:
    """Return what one report tells, in words where it has no such package or limit."""
    if what in values:
        return values[what]
    if part == "Code":
        return "not installed"
    if what.startswith("limit: "):
        return "no limit"
    return None


def _text(value: Any) -> str:
    if isinstance(value, bool):
        if value:
            return "yes"
        return "no"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value)


def _settings(before: Report, after: Report, part: str) -> dict[str, tuple[Any, Any]]:
    """Return what the plans ask for otherwise, by its place in their files, and of the data the roles of columns."""
    if part == "Data":
        prefix = "role of "
        settings = [strict(report.plan.config.roles) or {} for report in (before, after)]
    elif part == "Plan":
        prefix = ""
        settings = [_requested_settings(report.plan) for report in (before, after)]
    else:
        return {}
    was, now = map(_with_none_text, settings)
    changes = changed_values(was, now)
    return {
        f"{prefix}{change.what.replace('config.', 'model.')}": (change.before, change.after)
        for change in changes
    }


def _with_none_text(value: Any) -> Any:
    """Return settings with a word where there is none, so that a change from or to none is seen."""
    if isinstance(value, Mapping):
        return {name: _with_none_text(item) for name, item in value.items()}
    if value in (None, ""):
        return "none"
    return value


def _requested_settings(plan: AuditPlan) -> dict[str, Any]:
    """Return what a plan asks for; files, which may have any name, roles and seed aside."""
    config = {
        name: value
        for name, value in strict(plan.config).items()
        if name not in ("roles", "seed", "dataset")
    }
    parts = {name: strict(getattr(plan, name)) for name in PARTS}
    model = {
        name: strict(getattr(plan.model, name)) for name in ("features", "positive", "threshold")
    }
    return {"config": config, "model": model, **parts, "studies": strict(dict(plan.studies))}

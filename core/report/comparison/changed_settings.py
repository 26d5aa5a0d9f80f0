"""What two reports say differently of data, model, plan, policy, code and seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...auditing import AuditPlan, changed_values
from ...auditing.plan import PARTS
from ...auditing.policy import limit_text
from ...auditing.policy.checks import check_title
from ...base.serialize import Result
from ..canonical import strict
from ..report import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed(Result):
    """One thing that is not the same; `part` is "Data", "Model", "Plan", "Policy", "Code" or "Seeds"."""

    part: str
    what: str
    before: str
    after: str


def changed_settings(before: Report, after: Report) -> tuple[Changed, ...]:
    """Return everything that is not the same, part by part."""
    attribute = after.data.attribute or "the attribute"
    was, now = _parts(before, after, attribute), _parts(after, before, attribute)
    changes = []
    for part, values in was.items():
        pairs = {what: (_value(part, what, values), _value(part, what, now[part])) for what in values | now[part]}
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
    return True if before.data.fingerprint == after.data.fingerprint else None


def _split(report: Report) -> tuple[Any, ...]:
    config = report.plan.config
    return config.seed, config.train_share, report.data.sets


def _parts(report: Report, reference: Report, attribute: str) -> dict[str, dict[str, Any]]:
    """Return what a report tells of each part."""
    data, model, policy, provenance = report.data, report.model, report.policy, report.provenance
    extra_columns = [name for name in data.features if name not in reference.data.features]
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
            "fingerprint": _short(data.fingerprint),
            "records": data.n,
            **{f"{name} records": data.sets.get(name) for name in ("train", "attack", "validation", "test")},
            "columns": f"only here: {', '.join(extra_columns)}" if extra_columns else "none of its own",
            "sensitive attribute": data.attribute,
            "label": data.label,
        },
        "Model": {
            "title": model.title,
            "kind": model.kind,
            "answers (fingerprint)": _short(model.fingerprint),
        },
        "Plan": {},
        "Policy": {
            "name": policy.name,
            "version": policy.version,
            "level": policy.level,
            "fingerprint": _short(provenance.policy),
            **limits,
        },
        "Code": {
            "FairLeak": provenance.fairleak,
            "code (fingerprint)": _short(provenance.code),
            "Python": provenance.python,
            "machine": provenance.platform,
            **provenance.packages,
        },
        "Seeds": {"audit": report.plan.config.seed},
    }


def _value(part: str, what: str, values: Mapping[str, Any]) -> Any:
    """Return what one report tells, in words where it has no such package or limit."""
    return values.get(what, "not installed" if part == "Code" else "no limit" if what.startswith("limit: ") else None)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _short(digits: str) -> str:
    return f"{digits[:4]} {digits[4:8]}" if digits else ""


def _settings(before: Report, after: Report, part: str) -> dict[str, tuple[Any, Any]]:
    """Return what the plans ask for otherwise, by its place in their files, and of the data the roles of columns."""
    if part == "Data":
        prefix, settings = "role of ", [strict(report.plan.config.roles) or {} for report in (before, after)]
    elif part == "Plan":
        prefix, settings = "", [_requested_settings(report.plan) for report in (before, after)]
    else:
        return {}
    was, now = map(_with_none_text, settings)
    changes = changed_values(was, now)
    return {f"{prefix}{change.path.replace('config.', 'model.')}": (change.before, change.now) for change in changes}


def _with_none_text(value: Any) -> Any:
    """Return settings with a word where there is none, so that a change from or to none is seen."""
    if isinstance(value, Mapping):
        return {name: _with_none_text(item) for name, item in value.items()}
    return "none" if value in (None, "") else value


def _requested_settings(plan: AuditPlan) -> dict[str, Any]:
    """Return what a plan asks for; files, which may have any name, roles and seed aside."""
    config = {name: value for name, value in strict(plan.config).items() if name not in ("roles", "seed", "dataset")}
    parts = {name: strict(getattr(plan, name)) for name in PARTS}
    model = {name: strict(getattr(plan.model, name)) for name in ("features", "positive", "threshold")}
    return {"config": config, "model": model, **parts, "studies": strict(dict(plan.studies))}

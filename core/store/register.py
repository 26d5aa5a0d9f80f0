"""What the register says of its models: the headline, reviews that are due, and a model's versions side by side.

Versions stand on the scale of the report: from chance over the limit to twice that distance, above is worse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ..auditing.policy import CHECKS, UNITS, VERDICT_TITLES, CheckVerdict, Status, bullet
from ..base.errors import InputError
from ..charts.drawing import Axis, Drawing
from ..charts.theme import fit, lines_of
from ..report import Report
from ..report.report import DECISIONS, day_text
from ..studies.study import Finding
from .events import Entry, RegisteredModel, Signature, days_until

SOON = 30
"""Days before a review from which it is due."""

MOST_VERSIONS = 6
MOST_CHECKS = 6
"""Versions and checks that stand side by side."""

_MOST_SENTENCES = 3

_YEAR = 365
_MONTH = 30
_TWO_MONTHS = 60


def is_due(model: RegisteredModel, today: str) -> bool:
    """Return whether a model's next review is over or near."""
    return bool(model.next_review) and days_until(model.next_review, today) <= SOON


def review_text(day: str, today: str) -> str:
    """Return how far a day is: "in 12 days", "in 6 months", "3 days overdue"."""
    days = days_until(day, today)
    if days < 0:
        return f"{_counted(-days, 'day')} overdue"
    if not days:
        return "today"
    if days <= _TWO_MONTHS:
        return f"in {_counted(days, 'day')}"
    if days <= 2 * _YEAR:
        return f"in {round(days / _MONTH)} months"
    return f"in {round(days / _YEAR)} years"


def decided(
    signatures: Sequence[Signature],
) -> Iterator[tuple[str, tuple[Signature, ...]]]:
    """Yield decisions that stand by their kind, bans first, one for each version."""
    for decision in reversed(list(DECISIONS)):
        by_version: dict[str, Signature] = {}
        for signature in signatures:
            if signature.decision == decision:
                by_version.setdefault(signature.version, signature)
        if by_version:
            yield decision, tuple(by_version.values())


def register_finding(models: Sequence[RegisteredModel], today: str) -> Finding:
    """Return what the register says as a whole: bans, reviews that are due, and what contradicts a release."""
    if not models:
        return Finding(
            point="No model is registered yet.",
            evidence="A register says which models are in use, and what was decided about each version.",
            so_what="Nobody can look up here who released what.",
            to_do="Register a model, or keep an audit on the Report page.",
        )
    n_audits = sum(len(model.entries) for model in models)
    n_versions = sum(len(model.versions) for model in models)
    return Finding(
        point=_point(models, today),
        evidence=(
            f"{_counted(n_audits, 'audit')} of {_counted(n_versions, 'version')}. Kept on this server; "
            "each decision carries the fingerprint of its audit."
        ),
        so_what=" ".join(list(_meaning(models, today))[:_MOST_SENTENCES]),
        to_do=" ".join(_steps(models, today)),
    )


def _point(models: Sequence[RegisteredModel], today: str) -> str:
    n_banned = len({(ban.model, ban.version) for model in models for ban in model.bans()})
    due = [model.next_review for model in models if is_due(model, today)]
    parts = ["no version is banned"]
    if n_banned:
        parts = [f"{_counted(n_banned, 'version')} banned"]
    if due:
        first = review_text(min(due), today)
        which = "" if len(due) == 1 else ", the first"
        parts.append(f"{_counted(len(due), 'review')} due{which} {first}")
    return f"{_counted(len(models), 'model')}: {', '.join(parts)}."


def _meaning(models: Sequence[RegisteredModel], today: str) -> Iterator[str]:
    for model in models:
        for entry in model.contradicted(today):
            verdict = VERDICT_TITLES[entry.verdict].lower()
            yield (f"{model.name} {entry.version} is released, and its last audit says: {verdict}.")
    bans = [(model, ban) for model in models for ban in model.bans()]
    if not bans:
        yield "A decision is about the version that was audited, and about no other."
        return
    model, ban = bans[-1]
    versions = list(dict.fromkeys(ban.version for ban in model.bans()))
    yield f"{model.name}: {', '.join(versions)} may not be used."
    same = {entry.version: answers_text(entry, ban) for entry, ban in model.banned_answers()}
    for text in same.values():
        yield f"{text}: only a person revokes the ban."
    newest = next(iter(model.versions), ban.version)
    if newest != ban.version and newest not in same:
        yield (
            f"The ban on {ban.version} stands although {newest} exists: only a person revokes it."
        )


def answers_text(entry: Entry, ban: Signature) -> str:
    """Return that a version was kept with answers that are banned under another, as a clause."""
    return f"{entry.version} has the same answers as the banned {ban.version}"


def _steps(models: Sequence[RegisteredModel], today: str) -> Iterator[str]:
    due = [model for model in models if is_due(model, today)]
    for model in due[:2]:
        yield f"Review {model.name} by {day_text(model.next_review)}."
    incomplete = [model.name for model in models if not (model.purpose and model.owner)]
    if incomplete:
        yield f"Say purpose and owner of {incomplete[0]}."
    yield "Open a model to see its versions side by side."


def _counted(number: int, noun: str) -> str:
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun}s"


# Versions side by side ------------------------------------------------------------------------------------------------


class VersionAudit(NamedTuple):
    """The last audit of a version, as a column of the charts: check -> its verdict.

    `detail` tells audits of one version from each other: what is released, the attribute.
    """

    detail: str
    entry: Entry
    checks: dict[str, CheckVerdict]

    @property
    def label(self) -> str:
        """The version, and what tells its audits from each other."""
        return ", ".join(filter(None, (self.entry.version, self.detail)))


def version_audits(
    model: RegisteredModel, document: Callable[[Entry], Report]
) -> list[VersionAudit]:
    """Return the last audits of a model's last versions, oldest first; of deleted ones there is none.

    What is released, and the attribute, make a column of their own, and are named where a model has several.
    """
    last: dict[tuple[Any, ...], Entry] = {}
    for entry in model.entries:
        if entry.deleted is None:
            key = (entry.version, entry.outputs, entry.attribute)
            last.setdefault(key, entry)
    entries = sorted(last.values(), key=lambda entry: entry.id)[-MOST_VERSIONS:]
    several = len({entry.attribute for entry in entries}) > 1
    audits = []
    for entry in entries:
        parts = []
        if len({audit.outputs for audit in entries if audit.version == entry.version}) > 1:
            parts.append(entry.outputs)
        if several:
            parts.append(entry.attribute)
        try:
            rows = document(entry).rows
        except InputError:  # deleted, or changed: the audit is not drawn, and its line says why
            continue
        audits.append(VersionAudit(", ".join(parts), entry, {row.check: row for row in rows}))
    return audits


def visible_checks(audits: Sequence[VersionAudit]) -> list[str]:
    """Return the checks that are drawn, worst first by the newest version that has a number."""
    worst: dict[str, float] = {}
    order: list[str] = []
    for audit in reversed(audits):
        for check, row in audit.checks.items():
            places = bullet(row)
            if places is None or row.limit is None:
                continue
            if check not in worst:
                order.append(check)
            required = 10.0 * row.limit.required
            worst[check] = max(worst.get(check, 0.0), required + places.value)
    chosen = sorted(order, key=lambda check: -worst[check])[:MOST_CHECKS]
    return [check for check in order if check in chosen]


_LOOKS = {
    Status.PASS: ("passing", "circle", 11),
    Status.INCONCLUSIVE: ("inconclusive", "diamond", 11),
    Status.FAIL: ("fail", "x", 10),
}
"""Verdict -> colour, symbol and size."""

_BEYOND = "triangle-up"
_TOP = 2.0
"""Twice the limit's distance from chance."""

_PLOT = 97
_MARGINS = (48, 8, 38, 38)
_LINE = 15
_WIDTH = 200
_WIDTH_OF_MANY = 300
_MANY = 5
"""Pixels of a chart at least, and of one with so many versions."""


def chart_width(n_versions: int) -> int:
    """Return how many pixels wide a check's chart must be at least."""
    if n_versions < _MANY:
        return _WIDTH
    return _WIDTH_OF_MANY


def draw_check(check: str, audits: Sequence[VersionAudit]) -> Drawing:
    """Return one check over the versions: markers between chance, limit and twice, values under the versions' names."""
    rows = [audit.checks.get(check) for audit in audits]
    title = next(row.title for row in reversed(rows) if row is not None)
    n = len(audits)
    x = Axis(
        ends=(-0.6, n - 0.4),
        marks=list(range(n)),
        labels=[""] * n,
        title="Version",
    )
    y = Axis(
        ends=(-0.12, _TOP + 0.12),
        marks=(0.0, 1.0, _TOP),
        labels=("chance", "limit", "twice"),
        title="",
    )
    left, right, top, bottom = _MARGINS
    has_details = any(audit.detail for audit in audits)
    bottom += _LINE * has_details
    drawing = Drawing(
        title, height=_PLOT + top + bottom, x=x, y=y, margins=(left, right, top, bottom)
    )
    drawing.shade(x.ends, (0.0, 1.0), "feasible")
    drawing.segment(x.ends, 1.0, "ink", width=1.5, dash="longdash")
    drawing.segment(x.ends, y.ends[0], "grey")
    drawing.layout["xaxis"] |= {"ticks": "", "showticklabels": False}
    drawing.layout["yaxis"] |= {
        "showticklabels": True,
        "tickvals": list(y.marks),
        "ticktext": list(y.labels),
    }
    unit = UNITS[CHECKS[check].unit]
    if unit.factor > 1:
        symbol = {"points": "points", "percent": "%"}[CHECKS[check].unit]
        title = f"{title} ({symbol})"
    heading = lines_of(title, pixels=chart_width(n) - 10, size=12)
    drawing.remark(
        f"<b>{heading}</b>",
        "ink",
        x=0,
        y=1,
        refs=("paper", "paper"),
        shift=(2 - left, 4),
        anchor=("left", "bottom"),
        size=12,
    )
    parts = []
    room = (chart_width(n) - left - right) / n
    for at, (audit, row) in enumerate(zip(audits, rows, strict=True)):
        value = "–"
        if row is not None and row.measured:
            value = row.value.removesuffix(" points").removesuffix("%")
            _mark(drawing, at, audit, row)
        lines = [(fit(audit.entry.version, room, 11), "grey")]
        if has_details:
            lines.append((fit(audit.detail, room, 11), "grey"))
        lines.append((f"<b>{fit(value, room, 11)}</b>", "ink"))
        for line, (text, color) in enumerate(lines):
            drawing.remark(
                text,
                color,
                x=at,
                y=0,
                refs=("x", "paper"),
                shift=(0, -3 - _LINE * line),
                anchor=("center", "top"),
                size=11,
            )
        parts.append(_row_text(audit, row))
    drawing.rows = [version_row(check, audit) for audit in audits]
    drawing.say("Versions from chance over the limit to twice that distance", "", parts)
    return drawing


def _mark(drawing: Drawing, at: int, audit: VersionAudit, row: CheckVerdict) -> None:
    """Draw a version's value with the interval of its verdict."""
    places = bullet(row)
    if places is None or row.verdict not in _LOOKS:
        return
    color, symbol, size = _LOOKS[row.verdict]
    if places.value >= 1.0 and True in places.arrows:
        symbol = _BEYOND
    value, low, high = (_TOP * position for position in (places.value, places.low, places.high))
    drawing.markers(
        [at],
        [value],
        size=size,
        color=color,
        symbol=symbol,
        rim=("background", 1),
        ends=[(low, high)],
        stroke=color,
        hover=[fit(f"{audit.label}: {row.number}, limit {row.limit_label}", 9999)],
    )


def _row_text(audit: VersionAudit, row: CheckVerdict | None) -> str:
    if row is None or not row.measured:
        return f"{audit.label}: not measured"
    return f"{audit.label}: {row.number}, limit {row.limit_label}, {VERDICT_TITLES[row.verdict]}"


def version_row(check: str, audit: VersionAudit) -> dict[str, Any]:
    """Return one check of one version as a row of a table."""
    row = audit.checks.get(check)
    cells = {"Check": check, "Version": audit.label, "Audited": audit.entry.when[:10]}
    if row is None:
        return cells | {"Result": "not measured", "Interval": "", "Limit": "", "Verdict": ""}
    result = row.value if row.measured else "not measured"
    return cells | {
        "Check": row.title,
        "Result": result,
        "Interval": row.interval,
        "Limit": row.limit_label,
        "Verdict": VERDICT_TITLES.get(row.verdict, ""),
    }


def version_rows(audits: Sequence[VersionAudit]) -> list[dict[str, Any]]:
    """Return every check with a limit over all versions as a table."""
    checks = {
        check: None
        for audit in audits
        for check, row in audit.checks.items()
        if row.limit is not None
    }
    return [version_row(check, audit) for check in checks for audit in audits]

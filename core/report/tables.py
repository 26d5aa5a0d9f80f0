"""Every table of a report: plain numbers for files, and made from these, in words for the page."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..auditing.policy import NO_SOURCE
from ..auditing.result import GroupSummary, SelfTest
from ..base.files import csv_bytes
from ..stats.estimates import Estimate, count, interval, percent
from .codec import is_number
from .report import Cell, Report, TitledTable, number_of, strict


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportTable:
    """A table; `name` is that of its file without an ending: small letters, digits and hyphens.

    `shares` are columns of rates, each with the column of the number of people it is of; `visible_columns` are those on
    the page, all where it is empty, but for the ends of intervals, which stand in brackets behind their value.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    shares: Mapping[str, str] = field(default_factory=dict)
    visible_columns: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, name: str, title: str, rows: Sequence[Mapping[str, Cell]], **more: Any
    ) -> ReportTable:
        """Return a table of rows, at least one, that all have the same columns."""
        cells = tuple(tuple(map(strict, row.values())) for row in rows)
        return cls(name=name, title=title, columns=tuple(rows[0]), rows=cells, **more)

    @property
    def numeric(self) -> frozenset[str]:
        """Columns that hold nothing but numbers."""
        columns = zip(*self.rows, strict=True)
        return frozenset(
            name
            for name, cells in zip(self.columns, columns, strict=False)
            if any(map(is_number, cells)) and all(map(_is_numeric, cells))
        )

    @property
    def cells(self) -> tuple[tuple[str, ...], ...]:
        """The rows as they are shown."""
        return tuple(tuple(map(cell_text, row)) for row in self.rows)

    @property
    def formatted(self) -> ReportTable:
        """The table as the page has it."""
        ends = {name: _ends(name, self.columns) for name in self.columns}
        inside = {end for pair in ends.values() for end in pair} | {*self.shares.values()}
        column_names = self.visible_columns or tuple(
            name for name in self.columns if name not in inside
        )
        cells = []
        for values in self.rows:
            row = dict(zip(self.columns, values, strict=True))
            cells.append(
                tuple(self._formatted_cell(name, ends[name], row) for name in column_names)
            )
        return ReportTable(
            name=self.name, title=self.title, columns=column_names, rows=tuple(cells)
        )

    def _formatted_cell(self, name: str, ends: tuple[str, ...], row: Mapping[str, Cell]) -> Cell:
        value = row[name]
        limits = [row[end] for end in ends]
        if name in self.shares:
            n = row[self.shares[name]]
            low, high = map(number_of, limits)
            return rate_text(
                Estimate(value=number_of(value), low=low, high=high, n=int(number_of(n))), of=True
            )
        if value is None or None in limits or not limits:
            return value
        return f"{cell_text(value)} ({cell_text(limits[0])} to {cell_text(limits[1])})"


def _is_numeric(cell: Cell) -> bool:
    """Whether a cell may stand in a column of numbers."""
    return cell is None or is_number(cell) or cell in ("inf", "-inf")


def _ends(name: str, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of an interval's ends; none for a column without."""
    pairs = ((f"{name}{between}low", f"{name}{between}high") for between in (" ", ", "))
    return next((pair for pair in pairs if set(pair) <= set(columns)), ())


def cell_text(value: Cell) -> str:
    """Write a cell: four digits, from 1,000 on whole, a true minus, "–" for nothing."""
    if value is None:
        return "–"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return {"inf": "∞", "-inf": "−∞"}.get(str(value), str(value))
    if isinstance(value, int):
        return count(value).replace("-", "−")
    if abs(value) >= 1000:
        text = f"{value:,.0f}"
    elif abs(value) < 1:
        text = f"{value:.4f}".rstrip("0").rstrip(".")
    else:
        text = f"{value:.4g}"
    if text in ("-0", ""):
        return "0"
    return text.replace("-", "−")


def rate_text(estimate: Estimate, *, of: bool = False) -> str:
    """Rate as "12.3% (11.8 to 12.9%)", or with the number it is `of`."""
    if estimate.value != estimate.value:
        if of:
            return "no records"
        return "not measured"
    text = f"{percent(estimate)} ({interval(estimate)})"
    if of:
        return f"{text} of {count(estimate.n)}"
    return text


def _of_estimate(prefix: str, estimate: Estimate | None, of: str = "") -> dict[str, Cell]:
    """Return the cells of an estimate by their columns, with the number of people it is `of` in one of that name."""
    parts = {prefix: "value", f"{prefix} low": "low", f"{prefix} high": "high"}
    if of:
        parts[of] = "n"
    return {name: getattr(estimate, part, None) for name, part in parts.items()}


def _yes(value: bool) -> str:
    if value:
        return "yes"
    return "no"


def report_tables(report: Report) -> tuple[ReportTable, ...]:
    """Return all tables with plain numbers, for files: a row a check, limit, group, self-test, and the audit's own."""
    provenance = [{"name": name, "value": value} for name, value in provenance_rows(report)]
    tables = [
        _checks(report),
        _policy(report),
        _groups(report.groups),
        self_test_table(report.self_tests),
        ReportTable.of("provenance", "Provenance", provenance),
    ]
    return (*tables, *_named_tables(report.tables, "table"), *people_tables(report))


def people_tables(report: Report) -> tuple[ReportTable, ...]:
    """Return the tables about single people."""
    people = report.people_at_risk
    if people is None:
        return ()
    return tuple(_named_tables(people.tables, "people"))


def _named_tables(tables: Sequence[TitledTable], kind: str) -> Iterator[ReportTable]:
    """Yield tables of a report, each with a name for its file that no other has, of letters every system takes."""
    taken: set[str] = set()
    for table in tables:
        slug = re.sub("[^a-z0-9]+", "-", table.title.lower()).strip("-")[:48].strip("-") or "table"
        name = f"{kind}-{slug}"
        numbers = itertools.count(2)
        while name in taken:
            name = f"{kind}-{slug}-{next(numbers)}"
        taken.add(name)
        yield ReportTable(name=name, title=table.title, columns=table.columns, rows=table.rows)


def _checks(report: Report) -> ReportTable:
    rows = []
    for row in report.rows:
        limit = row.limit
        measurement = row.measurement
        estimate = getattr(measurement, "estimate", None)
        rows.append(
            {
                **{name: getattr(row, name) for name in ("check", "title", "verdict")},
                "blocks": _yes(row.blocks),
                "item": row.item or None,
                "limit": limit and limit.value,
                "at least": _yes(row.at_least),
                "unit": row.unit,
                "source": limit and (limit.source or NO_SOURCE),
                **{name: getattr(measurement, name, None) for name in ("basis", "outcome")},
                **_of_estimate("value", estimate),
                **{name: getattr(estimate, name, None) for name in ("level", "n")},
                **_of_estimate("control", getattr(measurement, "control", None)),
                "control name": getattr(measurement, "control_name", None),
                **{f"decided {end}": getattr(row.decided, end, None) for end in ("low", "high")},
                "p value": row.p_value,
                "p adjusted": row.p_adjusted,
                **{name: getattr(measurement, name, None) for name in ("attacked", "knows")},
                "assumptions": " ".join(getattr(measurement, "assumptions", ())),
                "reason": getattr(measurement, "reason", None),
                "why": row.why,
                "what would settle it": row.settling,
            }
        )
    return ReportTable.of("checks", "Verdicts", rows)


def _policy(report: Report) -> ReportTable:
    worded = {row.check: (row.title, row.limit_label) for row in report.rows}
    rows: list[dict[str, Cell]] = []
    for item, limit in enumerate(report.policy.limits, 1):
        title, written = worded.get(limit.check) or (limit.check, str(strict(limit.value)))
        rows.append(
            {
                "item": item,
                "check": limit.check,
                "title": title,
                "limit": limit.value,
                "in words": written,
                "required": _yes(limit.required),
                **{name: getattr(limit, name) for name in ("author", "date", "rationale")},
                "source": limit.source or NO_SOURCE,
            }
        )
    page = ("item", "title", "in words", "required", "author", "date", "rationale", "source")
    return ReportTable.of("policy", "Limits of the policy", rows, visible_columns=page)


_GROUP_RATES = {
    "positive labels": "label_rate",
    "accepted in test": "test_rate",
    "accepted of positive labels": "test_tpr",
    "accepted of negative labels": "test_fpr",
}
"""Column of the groups' table -> rate in a group's summary."""

_RATES_OF_ALL = {
    "accepted of everybody": "all_rate",
    "accepted of everybody with a positive label": "all_tpr",
    "accepted of everybody with a negative label": "all_fpr",
}
"""The same where some people have no answer: these count them, the others do not."""


def _groups(groups: Sequence[GroupSummary]) -> ReportTable:
    rates = _GROUP_RATES
    title = "Groups, with 95% intervals"
    if any(group.all_rate is not None for group in groups):
        rates = _GROUP_RATES | _RATES_OF_ALL
        title = f"{title}; “accepted in test” counts people with an answer"
    rows = []
    for group in groups:
        row: dict[str, Cell] = {"group": group.group, "records": group.count}
        for name, rate in rates.items():
            row |= _of_estimate(name, getattr(group, rate), f"{name} of")
        rows.append(row)
    shares = {name: f"{name} of" for name in rates}
    return ReportTable.of("groups", title, rows, shares=shares)


def self_test_table(tests: Sequence[SelfTest]) -> ReportTable:
    """Return FairLeak's tests of itself, as a report has them."""
    rates = {
        "false positives": ("false_alarms", "null models"),
        "detected": ("detected", "planted leaks"),
    }
    columns = [name for title, (_, of) in rates.items() for name in _of_estimate(title, None, of)]
    rows = []
    for test in tests:
        estimates = [
            _of_estimate(title, getattr(test, rate), of) for title, (rate, of) in rates.items()
        ]
        cells = [strict(cell) for estimate in estimates for cell in estimate.values()]
        rows.append((test.attack, *cells, _yes(test.passed), test.told))
    return ReportTable(
        name="self-test",
        title="Self-test, with 95% intervals",
        columns=("attack", *columns, "passed", "planted"),
        rows=tuple(rows),
        shares={title: of for title, (_, of) in rates.items()},
    )


def provenance_rows(report: Report) -> Sequence[tuple[str, str]]:
    """Where the numbers come from, as name and text."""
    provenance = report.provenance
    versions = ", ".join(
        f"{name} {version}" for name, version in sorted(provenance.packages.items())
    )
    seeds = ", ".join(f"{name} {seed:g}" for name, seed in sorted(provenance.seeds.items()))
    seconds = report.times.seconds
    seconds_text = "" if seconds is None else cell_text(seconds)
    rows = (
        ("Fingerprint of the policy", provenance.policy),
        ("Fingerprint of the plan", provenance.plan),
        ("Fingerprint of FairLeak's code", provenance.code),
        ("Fingerprint of the data", report.data.fingerprint),
        ("Fingerprint of the model's answers", report.model.fingerprint),
        ("FairLeak", provenance.fairleak),
        ("Python", provenance.python),
        ("Machine", provenance.platform),
        ("Packages", versions),
        ("Seeds", seeds),
        ("Seconds", seconds_text),
        ("Started", report.times.started),
    )
    return [(name, text) for name, text in rows if text]


def csv_files(report: Report) -> dict[str, bytes]:
    """Return a report's files, such as "checks.csv": name -> content."""
    return {
        f"{table.name}.csv": csv_bytes(table.columns, table.rows) for table in report_tables(report)
    }

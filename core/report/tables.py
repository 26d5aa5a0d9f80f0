"""Every table of a report: plain numbers for files, and made from these, in words for the page."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..auditing.policy import NO_SOURCE
from ..base.files import csv_bytes
from ..stats.estimates import Estimate, count, interval, percent
from .canonical import estimate_of, number_of
from .document import GROUP_RATES, PEOPLE_AT_RISK, check_rows
from .schema import is_number

Cell = str | float | int | None


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
    def of(cls, name: str, title: str, rows: Sequence[Mapping[str, Cell]], **more: Any) -> ReportTable:
        """Return a table of rows, at least one, that all have the same columns."""
        cells = tuple(tuple(row.values()) for row in rows)
        return cls(name=name, title=title, columns=tuple(rows[0]), rows=cells, **more)

    @property
    def numeric(self) -> frozenset[str]:
        """Columns that hold nothing but numbers."""
        return frozenset(
            name
            for i, name in enumerate(self.columns)
            if any(is_number(row[i]) for row in self.rows)
            and all(row[i] is None or is_number(row[i]) or row[i] in ("inf", "-inf") for row in self.rows)
        )

    @property
    def cells(self) -> tuple[tuple[str, ...], ...]:
        """The rows as they are shown."""
        return tuple(tuple(cell_text(cell) for cell in row) for row in self.rows)

    @property
    def formatted(self) -> ReportTable:
        """The table as the page has it."""
        ends = {name: _ends(name, self.columns) for name in self.columns}
        inside = {end for pair in ends.values() for end in pair} | {*self.shares.values()}
        column_names = self.visible_columns or tuple(name for name in self.columns if name not in inside)
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        cells = [tuple(self._formatted_cell(name, ends[name], row) for name in column_names) for row in rows]
        return ReportTable(name=self.name, title=self.title, columns=column_names, rows=tuple(cells))

    def _formatted_cell(self, name: str, ends: tuple[str, ...], row: Mapping[str, Cell]) -> Cell:
        value, limits = row[name], [row[end] for end in ends]
        if name in self.shares:
            n = row[self.shares[name]]
            estimate = {"value": value, "n": n, "level": 0.95, **dict(zip(("low", "high"), limits, strict=True))}
            return rate_text(None if n is None else estimate, of=True)
        if value is None or None in limits or not limits:
            return value
        return f"{cell_text(value)} ({cell_text(limits[0])} to {cell_text(limits[1])})"


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
    else:
        text = f"{value:.4f}".rstrip("0").rstrip(".") if abs(value) < 1 else f"{value:.4g}"
    return ("0" if text in ("-0", "") else text).replace("-", "−")


def rate_text(rate: Mapping[str, Any] | Estimate | None, *, of: bool = False) -> str:
    """Rate as "12.3% (11.8 to 12.9%)", or with the number it is `of`."""
    estimate = rate if isinstance(rate, Estimate) else estimate_of(rate)
    if estimate is None or estimate.value != estimate.value:
        return "no records" if of else "not measured"
    return f"{percent(estimate)} ({interval(estimate)})" + (f" of {count(estimate.n)}" if of else "")


def _of_estimate(prefix: str, estimate: Mapping[str, Any] | None, of: str = "") -> dict[str, Cell]:
    """Return the cells of an estimate by their columns, with the number of people it is `of` in one of that name."""
    ends = {prefix: "value", f"{prefix} low": "low", f"{prefix} high": "high"} | ({of: "n"} if of else {})
    return {name: None if estimate is None else estimate[end] for name, end in ends.items()}


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def report_tables(document: Mapping[str, Any]) -> tuple[ReportTable, ...]:
    """Return all tables with plain numbers, for files: a row a check, limit, group, self-test, and the audit's own."""
    provenance = [{"name": name, "value": value} for name, value in provenance_rows(document)]
    tables = [
        _checks(document),
        _policy(document),
        _groups(document),
        self_test_table(document["self_tests"]),
        ReportTable.of("provenance", "Provenance", provenance),
    ]
    return (*tables, *_named_tables(document["tables"], "table"), *people_tables(document))


def people_tables(document: Mapping[str, Any]) -> tuple[ReportTable, ...]:
    """Return the tables about single people."""
    return tuple(_named_tables(document.get(PEOPLE_AT_RISK, {}).get("tables", ()), "people"))


def _named_tables(tables: Sequence[Mapping[str, Any]], kind: str) -> Iterator[ReportTable]:
    """Yield tables of a document, each with a name for its file that no other has, of letters every system takes."""
    taken = {""}
    for table in tables:
        slug = re.sub("[^a-z0-9]+", "-", table["title"].lower()).strip("-")[:48].strip("-") or "table"
        names = (f"{kind}-{slug}{'' if number == 1 else f'-{number}'}" for number in itertools.count(1))
        taken.add(name := next(name for name in names if name not in taken))
        rows = tuple(map(tuple, table["rows"]))
        yield ReportTable(name=name, title=table["title"], columns=tuple(table["columns"]), rows=rows)


def _checks(document: Mapping[str, Any]) -> ReportTable:
    measurements = {m["check"]: m for m in document["measurements"]}
    settling = {row.check: row.settling for row in check_rows(document)}
    rows = []
    for row in document["verdict"]["checks"]:
        limit, measurement = row["limit"], measurements.get(row["check"], {})
        estimate, decided = measurement.get("estimate"), row["decided"]
        rows.append(
            {
                **{name: row[name] for name in ("check", "title", "verdict")},
                "blocks": _yes(row["blocks"]),
                "item": row["item"] or None,
                "limit": limit and limit["value"],
                "at least": _yes(row["at_least"]),
                "unit": row["unit"],
                "source": limit and (limit["source"] or NO_SOURCE),
                **{name: measurement.get(name) for name in ("basis", "outcome")},
                **_of_estimate("value", estimate),
                **{name: estimate and estimate[name] for name in ("level", "n")},
                **_of_estimate("control", measurement.get("control")),
                "control name": measurement.get("control_name"),
                **{f"decided {end}": decided and decided[end] for end in ("low", "high")},
                "p value": row["p_value"],
                "p adjusted": row["p_adjusted"],
                **{name: measurement.get(name) for name in ("attacked", "knows")},
                "assumptions": " ".join(measurement.get("assumptions", ())),
                "reason": measurement.get("reason"),
                "why": row["why"],
                "what would settle it": settling.get(row["check"]),
            }
        )
    return ReportTable.of("checks", "Verdicts", rows)


def _policy(document: Mapping[str, Any]) -> ReportTable:
    worded = {row.check: (row.title, row.limit_label) for row in check_rows(document)}
    rows = []
    for item, limit in enumerate(document["policy"]["limits"], 1):
        title, written = worded.get(limit["check"]) or (limit["check"], str(limit["value"]))
        signed = {name: limit[name] for name in ("author", "date", "rationale")}
        rows.append(
            {
                "item": item,
                **{"check": limit["check"], "title": title},
                **{"limit": limit["value"], "in words": written},
                "required": _yes(limit["required"]),
                **signed,
                "source": limit["source"] or NO_SOURCE,
            }
        )
    page = ("item", "title", "in words", "required", "author", "date", "rationale", "source")
    return ReportTable.of("policy", "Limits of the policy", rows, visible_columns=page)


def _groups(document: Mapping[str, Any]) -> ReportTable:
    titles = ("positive labels", "accepted in test", "accepted of positive labels", "accepted of negative labels")
    rates = dict(zip(titles, GROUP_RATES, strict=True))
    rows = []
    for group in document["groups"]:
        row: dict[str, Cell] = {"group": group["group"], "records": group["count"]}
        for title, rate in rates.items():
            row |= _of_estimate(title, group[rate], f"{title} of")
        rows.append(row)
    shares = {title: f"{title} of" for title in titles}
    return ReportTable.of("groups", "Groups, with 95% intervals", rows, shares=shares)


def self_test_table(tests: Sequence[Mapping[str, Any]]) -> ReportTable:
    """Return FairLeak's tests of itself, as a report has them."""
    rates = {"false positives": ("false_alarms", "null models"), "detected": ("detected", "planted leaks")}
    columns = [name for title, (_, of) in rates.items() for name in _of_estimate(title, None, of)]
    rows = []
    for test in tests:
        cells = [cell for title, (rate, of) in rates.items() for cell in _of_estimate(title, test[rate], of).values()]
        rows.append((test["attack"], *cells, _yes(test["passed"]), test["told"]))
    return ReportTable(
        name="self-test",
        title="Self-test, with 95% intervals",
        columns=("attack", *columns, "passed", "planted"),
        rows=tuple(rows),
        shares={title: of for title, (_, of) in rates.items()},
    )


def provenance_rows(document: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    """Where the numbers come from, as name and text."""
    provenance = document["provenance"]
    versions = ", ".join(f"{name} {version}" for name, version in sorted(provenance["packages"].items()))
    seeds = ", ".join(f"{name} {number_of(seed):g}" for name, seed in sorted(provenance["seeds"].items()))
    rows = (
        ("Fingerprint of the policy", provenance["policy"]),
        ("Fingerprint of the plan", provenance["plan"]),
        ("Fingerprint of FairLeak's code", provenance["code"]),
        ("Fingerprint of the data", document["data"]["fingerprint"]),
        ("Fingerprint of the model's answers", document["model"]["fingerprint"]),
        ("FairLeak", provenance["fairleak"]),
        ("Python", provenance["python"]),
        ("Machine", provenance["platform"]),
        ("Packages", versions),
        ("Seeds", seeds),
        *((name.capitalize(), cell_text(value)) for name, value in sorted(document["times"].items())),
    )
    return [(name, text) for name, text in rows if text]


def csv_files(document: Mapping[str, Any]) -> dict[str, bytes]:
    """Return a report's files, such as "checks.csv": name -> content."""
    return {f"{table.name}.csv": csv_bytes(table.columns, table.rows) for table in report_tables(document)}

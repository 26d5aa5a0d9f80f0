"""Every table of a report, in words for the page and in plain numbers for files: made once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.estimates import count, interval, percent
from core.files import csv_bytes
from core.policy import NO_SOURCE
from core.report.canonical import estimate_of, number_of
from core.report.document import GROUP_RATES, check_rows
from core.report.metering import FORM_TITLES

Cell = str | float | int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportTable:
    """A table; `name` is that of its file without an ending: small letters, digits and hyphens."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @property
    def numeric(self) -> frozenset[str]:
        """Columns that hold nothing but numbers."""
        return frozenset(
            name
            for i, name in enumerate(self.columns)
            if any(_is_number(row[i]) for row in self.rows)
            and all(row[i] is None or _is_number(row[i]) or row[i] in ("inf", "-inf") for row in self.rows)
        )

    @property
    def cells(self) -> tuple[tuple[str, ...], ...]:
        """The rows as they are shown."""
        return tuple(tuple(shown(cell) for cell in row) for row in self.rows)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def shown(value: Cell) -> str:
    """Write a cell: four digits, a true minus, "–" for nothing."""
    if value is None:
        return "–"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return {"inf": "∞", "-inf": "−∞"}.get(str(value), str(value))
    if isinstance(value, int):
        return count(value).replace("-", "−")
    text = f"{value:.4f}".rstrip("0").rstrip(".") if abs(value) < 1 else f"{value:.4g}"
    return ("0" if text in ("-0", "") else text).replace("-", "−")


def three(prefix: str) -> tuple[str, ...]:
    """Return the columns of an estimate."""
    return (prefix, f"{prefix} low", f"{prefix} high")


def _of_rows(name: str, title: str, rows: Sequence[Mapping[str, Cell]]) -> ReportTable:
    """Return a table of rows, at least one, that all have the same columns."""
    return ReportTable(name=name, title=title, columns=tuple(rows[0]), rows=tuple(tuple(row.values()) for row in rows))


def _of_estimate(prefix: str, found: Mapping[str, Any] | None) -> dict[str, Cell]:
    """Return the cells of an estimate by their columns."""
    return dict(zip(three(prefix), ends(found), strict=True))


def ends(found: Mapping[str, Any] | None) -> tuple[Cell, ...]:
    """Return the cells of an estimate."""
    return (None, None, None) if found is None else (found["value"], found["low"], found["high"])


def is_metered(document: Mapping[str, Any]) -> bool:
    """Whether a report says what its own numbers give away; those of earlier versions have no such key."""
    return bool((document.get("release_meter") or {}).get("forms"))


def meter_numbers(document: Mapping[str, Any]) -> ReportTable:
    """Return the release meter with plain numbers, a row a form."""
    meter = document["release_meter"]
    columns = (
        "form", "group", "people", "numbers", "bits predicted", "joint bits", "prior bits", "bits person by person",
        *three("bits measured"), "unsure before", "pinned", "pinned rightly", *three("accuracy"),
        *three("accuracy before"), *three("majority"), "projection",
    )  # fmt: skip
    control = (*ends(meter["accuracy_before"]), *ends(meter["majority"]))
    bits = ("df_bits", "joint_bits", "prior_bits", "person_bits")
    rows = tuple(
        (
            f["form"], f["group"], meter["people"], f["numbers"], *(f[name] for name in bits), *ends(f["bits"]),
            f["unsure"], f["pinned"], f["pinned_right"], *ends(f["accuracy"]), *control, f["status"],
        )
        for f in meter["forms"]
    )  # fmt: skip
    return ReportTable(name="release-meter", title="What the numbers give away", columns=columns, rows=rows)


def meter_words(document: Mapping[str, Any]) -> ReportTable:
    """Return the release meter for the page, a row a form."""
    rows = []
    for f in document["release_meter"]["forms"]:
        bits, joint, prior = estimate_of(f["bits"]), number_of(f["joint_bits"]), number_of(f["prior_bits"])
        assert bits is not None
        span = f"{_tenth(bits.value)} ({_tenth(bits.low)} to {_tenth(bits.high)})"
        right = f", {count(f['pinned_right'])} correctly" if f["pinned"] else ""
        rows.append(
            {
                "Numbers of": FORM_TITLES[f["form"]],
                "Group, against the rest": f["group"],
                "Numbers": f["numbers"],
                "Bits predicted": _tenth(number_of(f["df_bits"])),
                "Bits measured": span,
                "About all together": f"{_tenth(joint)} of {_tenth(prior)}",
                "Near-certain after": f"{count(f['pinned'])} of {count(f['unsure'])} unsure before{right}",
            }
        )
    return _of_rows("release-meter", "Information gain in bits, beyond features and label", rows)


def _tenth(bits: float) -> str:
    return f"{bits:,.1f}".replace("-", "−")


def joined(table: ReportTable) -> ReportTable:
    """Return a table for the page, where "NAME, low" and "NAME, high" stand in brackets behind NAME."""
    places = {name: i for i, name in enumerate(table.columns)}
    limits = {
        i: (places[f"{name}, low"], places[f"{name}, high"])
        for name, i in places.items()
        if f"{name}, low" in places and f"{name}, high" in places
    }
    gone = {place for pair in limits.values() for place in pair}
    kept = [i for i in range(len(table.columns)) if i not in gone]

    def cell(row: tuple[Cell, ...], i: int) -> Cell:
        if i not in limits or row[i] is None:
            return row[i]
        low, high = (row[place] for place in limits[i])
        value = shown(row[i])
        return value if low is None or high is None else f"{value} ({shown(low)} to {shown(high)})"

    rows = tuple(tuple(cell(row, i) for i in kept) for row in table.rows)
    return ReportTable(name=table.name, title=table.title, columns=tuple(table.columns[i] for i in kept), rows=rows)


def report_tables(document: Mapping[str, Any]) -> tuple[ReportTable, ...]:
    """Return all tables with plain numbers, for files: a row a check, limit, group, self-test, and the audit's own."""
    made = [
        _checks(document),
        _policy_numbers(document),
        _group_numbers(document),
        _self_tests(document, numbers=True),
        ReportTable(
            name="provenance", title="Provenance", columns=("name", "value"), rows=tuple(provenance_rows(document))
        ),
    ]
    if is_metered(document):
        made.append(meter_numbers(document))
    taken = {table.name for table in made}
    for table in document["tables"]:
        rows = tuple(tuple(row) for row in table["rows"])
        name = _free(table["title"], taken)
        made.append(ReportTable(name=name, title=table["title"], columns=tuple(table["columns"]), rows=rows))
    return tuple(made)


def page_tables(document: Mapping[str, Any]) -> dict[str, ReportTable]:
    """Return the tables that the page shows in words."""
    told = {
        "policy": _policy(document),
        "groups": _groups(document),
        "self_tests": _self_tests(document, numbers=False),
    }
    return told | ({"meter": meter_words(document)} if is_metered(document) else {})


def _free(title: str, taken: set[str]) -> str:
    """Return a name for a table's file that no other has, of letters that every system takes."""
    words = "".join(c if c.isascii() and c.isalnum() else "-" for c in title.lower()).strip("-")
    short = "-".join(part for part in words.split("-") if part)[:48].strip("-") or "table"
    name, number = f"table-{short}", 2
    while name in taken:
        name, number = f"table-{short}-{number}", number + 1
    taken.add(name)
    return name


def _checks(document: Mapping[str, Any]) -> ReportTable:
    measurements = {m["check"]: m for m in document["measurements"]}
    rows = []
    for row in document["verdict"]["checks"]:
        limit, found = row["limit"], measurements.get(row["check"], {})
        estimate, decided = found.get("estimate"), row["decided"]
        rows.append(
            {
                **{name: row[name] for name in ("check", "title", "verdict")},
                "blocks": _yes(row["blocks"]),
                "item": row["item"] or None,
                "limit": limit and limit["value"],
                "at least": _yes(row["at_least"]),
                "unit": row["unit"],
                "source": limit and (limit["source"] or NO_SOURCE),
                **{name: found.get(name) for name in ("basis", "outcome")},
                **_of_estimate("value", estimate),
                **{name: estimate and estimate[name] for name in ("level", "n")},
                **_of_estimate("control", found.get("control")),
                "control name": found.get("control_name"),
                **{f"decided {end}": decided and decided[end] for end in ("low", "high")},
                "p value": row["p_value"],
                "p adjusted": row["p_adjusted"],
                **{name: found.get(name) for name in ("attacked", "knows")},
                "assumptions": " ".join(found.get("assumptions", ())),
                "reason": found.get("reason"),
                "why": row["why"],
            }
        )
    return _of_rows("checks", "Verdicts", rows)


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _policy_numbers(document: Mapping[str, Any]) -> ReportTable:
    columns = ("item", "check", "limit", "required", "author", "date", "rationale", "source")
    rows = [
        (item, limit["check"], limit["value"], _yes(limit["required"]), *_signed(limit))
        for item, limit in enumerate(document["policy"]["limits"], 1)
    ]
    return ReportTable(name="policy", title="Limits of the policy", columns=columns, rows=tuple(rows))


def _policy(document: Mapping[str, Any]) -> ReportTable:
    told = {row.verdict.check: (row.verdict.title, row.limit) for row in check_rows(document)}
    columns = ("Item", "Check", "Limit", "Needed", "Set by", "Date", "Rationale", "Source")
    rows = []
    for item, limit in enumerate(document["policy"]["limits"], 1):
        title, written = told.get(limit["check"]) or (limit["check"], str(limit["value"]))
        signed = (text or "–" for text in _signed(limit))
        rows.append((str(item), title, written, _yes(limit["required"]), *signed))
    return ReportTable(name="policy", title="Limits", columns=columns, rows=tuple(rows))


def _signed(limit: Mapping[str, Any]) -> tuple[str, ...]:
    return limit["author"], limit["date"], limit["rationale"], limit["source"] or NO_SOURCE


def _group_numbers(document: Mapping[str, Any]) -> ReportTable:
    names = ("positive labels", "accepted in test", "accepted of positive labels", "accepted of negative labels")
    columns = ("group", "records", *(c for name in names for c in (*three(name), f"{name} of")))
    rows = tuple(
        (g["group"], g["count"], *(c for rate in GROUP_RATES for c in (*ends(g[rate]), g[rate] and g[rate]["n"])))
        for g in document["groups"]
    )
    return ReportTable(name="groups", title="Groups", columns=columns, rows=rows)


def _groups(document: Mapping[str, Any]) -> ReportTable:
    names = ("Positive labels", "Accepted in test", "Accepted, positive label", "Accepted, negative label")
    columns = ("Group", "Records", *names)
    rows = []
    for group in document["groups"]:
        rates = (rate_words(group[rate], of=True) for rate in GROUP_RATES)
        rows.append((group["group"], count_words(group["count"]), *rates))
    return ReportTable(name="groups", title="Groups, with 95% intervals", columns=columns, rows=tuple(rows))


def count_words(number: int | None) -> str:
    """Write a count that may be withheld."""
    return "withheld" if number is None else count(number)


def rate_words(found: Mapping[str, Any] | None, *, of: bool = False) -> str:
    """Write a rate that may be withheld as "12.3% (11.8 to 12.9%)", or with the number it is `of`."""
    estimate = estimate_of(found)
    if estimate is None:
        return "withheld"
    if estimate.value != estimate.value:
        return "no records" if of else "not measured"
    return f"{percent(estimate)} ({interval(estimate)})" + (f" of {count(estimate.n)}" if of else "")


def _self_tests(document: Mapping[str, Any], *, numbers: bool) -> ReportTable:
    """Return the self-test with plain numbers, or in words for the page."""
    columns: tuple[str, ...] = ("Attack", "False alarms", "Planted leaks caught", "Result", "What was planted")
    if numbers:
        alarms, caught = (*three("false alarms"), "null models"), (*three("detected"), "planted leaks")
        columns = ("attack", *alarms, *caught, "passed", "planted")
    rows: list[tuple[Cell, ...]] = []
    for t in document["self_tests"]:
        rates = [t[name] for name in ("false_alarms", "detected")]
        told = [rate_words(rate, of=True) for rate in rates]
        cells = [cell for rate in rates for cell in (*ends(rate), rate["n"])] if numbers else told
        passed = _yes(t["passed"]) if numbers else "✓ passed" if t["passed"] else "✕ failed"
        rows.append((t["attack"], *cells, passed, t["told"]))
    title = "Self-test" if numbers else "Self-test, with 95% intervals"
    return ReportTable(name="self-test", title=title, columns=columns, rows=tuple(rows))


def provenance_rows(document: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    """Return where the numbers come from, as name and text; what an edition withholds is left out."""
    found = document["provenance"]
    versions = ", ".join(f"{name} {version}" for name, version in sorted(found["packages"].items()))
    seeds = ", ".join(f"{name} {number_of(seed):g}" for name, seed in sorted(found["seeds"].items()))
    rows = (
        ("Fingerprint of the policy", found["policy"]),
        ("Fingerprint of the plan", found["plan"]),
        ("Fingerprint of FairLeak's code", found["code"]),
        ("Fingerprint of the data", document["data"]["fingerprint"]),
        ("Fingerprint of the model's answers", document["model"]["fingerprint"]),
        ("FairLeak", found["fairleak"]),
        ("Python", found["python"]),
        ("Machine", found["platform"]),
        ("Packages", versions),
        ("Seeds", seeds),
        *((name.capitalize(), shown(value)) for name, value in sorted(document["times"].items())),
    )
    return [(name, text) for name, text in rows if text]


def csv_files(document: Mapping[str, Any]) -> dict[str, bytes]:
    """Return a report's files, such as "checks.csv": name -> content."""
    return {f"{table.name}.csv": csv_bytes(table.columns, table.rows) for table in report_tables(document)}

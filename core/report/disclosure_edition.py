"""The edition for others: small counts withheld, attacked and metered before it is out.

What is protected: the number of people in a group, and of those in it with a label, a prediction or both, on the test
records and with a label in the whole table; also on the records outside the test, which the difference tells. A count
below the threshold stands nowhere, nor does a rate it belongs to, nor a number from which it can be worked out to
within less than the threshold by adding up and subtracting (`core.report.suppression`, which assumes that everybody's
totals are known: how many people are in each set, are accepted, have a label). With such a count go

- numbers that compare groups (unfairness, ratio of acceptance, difference in TPR at 1% FPR), with their intervals,
  and what the attack on this edition got and the release meter read, for who knows an attacker's guesses knows how many
  of a group are among those right;
- where a group's size is withheld, rates at which its people are named rightly, with the controls and tables of these:
  naming the larger group for everybody is right about its share, and the interval of an average over groups is as wide
  as the smallest is small;
- where a count of the training records is small, the unfairness on these and whether the promise is true.

Every sentence is one of this edition's own (`core.report.disclosure_sentences`), with settings of the plan and numbers
as they are printed; notes on the data are left out. It names no file, and has no fingerprint of data, answers or plan
and no seed: whoever knows all records but one could try that one's values until a fingerprint fits. Shares have a tenth
of a point, or a point where their interval is wide, and intervals are rounded outwards; tables with rows about single
records or groups are left out.

What is not protected:

- counts at or above the threshold: a rate with a tenth of a point and its size often tell a count exactly, and two
  groups add up to everybody. What that tells about single people is what the attack on the edition measures;
- the verdicts on withheld numbers: that one passes or fails tells on which side of a limit it lies;
- how many of all people an attack named rightly, and whom it could: gains stand with their sizes and intervals, also
  where they rest on few;
- what is likely: the share of a group in the table tells roughly how many of it a drawn test set holds;
- what other publications about these people add, several editions with different thresholds among them;
- what the auditor wrote: the policy, the title and the names of columns and groups stand as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from core.errors import InputError
from core.policy import headline_and_detail
from core.release_audit.inputs import AttackedPeople
from core.release_audit.result import MeterOutcome, ReportMeter, TableTitle, failed_tests
from core.report.canonical import number_of, printed, rounded, rounded_estimate, strict
from core.report.disclosure_sentences import disclosed_data, disclosed_model, disclosed_plan, reworded, why_of
from core.report.document import EDITIONS, THRESHOLD, Document, internal_document, sealed
from core.report.edition_attack import attack_edition
from core.report.edition_meter import METER_WITHHELD, edition_told, meter_report, not_metered
from core.report.suppression import Sum, withheld_counts
from core.validation import choice

if TYPE_CHECKING:
    from core.release_audit import ReleaseAudit

_Cell = tuple[str, str]
"""Group ("" for everybody), and which of its records."""

_BEHIND = {
    "label_rate": ("count", "labelled", "not labelled"),
    "test_rate": ("test", "accepted", "rejected"),
    "test_tpr": ("positive", "true positive", "false negative"),
    "test_fpr": ("negative", "false positive", "true negative"),
}
"""Rate -> the counts behind it: all, those that count, those that do not."""

_ELSEWHERE = {
    "elsewhere": ("count", "test"),
    "labelled elsewhere": ("labelled", "positive"),
    "not labelled elsewhere": ("not labelled", "negative"),
}
"""Records of a group outside the test: printed nowhere, and differences of what is."""

# On the test records a group's rates come from one two-by-two table, label by prediction; the groups add up to
# everybody's totals, which are taken to be known. All records with their labels are another table; what it holds beyond
# the test records is told by the difference, and protected like any other count.
_ADD_UP = (
    ("count", "labelled", "not labelled"),
    ("test", "accepted", "rejected"),
    ("test", "positive", "negative"),
    ("positive", "true positive", "false negative"),
    ("negative", "false positive", "true negative"),
    ("accepted", "true positive", "false positive"),
    ("rejected", "false negative", "true negative"),
    *((whole, tested, rest) for rest, (whole, tested) in _ELSEWHERE.items()),
    tuple(_ELSEWHERE),
)


def disclosed_groups(found: Document, threshold: int, notes: list[str]) -> tuple[list[Document], frozenset[_Cell]]:
    """Return the groups' summaries for others, and the counts withheld; `notes` is told what and why."""
    groups: list[Document] = found["groups"]
    counts = _counts(groups)
    names = [str(place) for place in range(len(groups))]
    sums: list[Sum[_Cell]] = [
        ((name, total), tuple((name, part) for part in parts)) for name in ("", *names) for total, *parts in _ADD_UP
    ]
    kinds = dict.fromkeys(kind for _, kind in counts)
    sums += [(("", kind), tuple((name, kind) for name in names)) for kind in kinds]
    everybody = [("", kind) for kind in kinds]
    apart = {(name, kind) for name in names for kind in _ELSEWHERE}
    protected = withheld_counts(counts, sums, threshold=threshold, public=everybody, unpublished=apart)
    hidden = protected - apart
    small = {cell for cell in protected if counts[cell] < threshold}
    shown = [_shown(group, name, hidden) for group, name in zip(groups, names, strict=True)]
    _tell(groups, hidden, small, threshold, notes)
    return shown, hidden


def _counts(groups: Sequence[Document]) -> dict[_Cell, int]:
    counts: dict[_Cell, int] = {}
    for place, group in enumerate(groups):
        own: dict[str, int] = {}
        for rate, (all_, hits, misses) in _BEHIND.items():
            n, value = int(group[rate]["n"] or 0), number_of(group[rate]["value"])
            count = round(value * n) if n and value == value else 0
            own |= {all_: n, hits: count, misses: n - count}
        own["accepted"] = own["true positive"] + own["false positive"]
        own["rejected"] = own["false negative"] + own["true negative"]
        own["test"] = own["positive"] + own["negative"]
        own["count"] = own["labelled"] + own["not labelled"]
        own |= {rest: own[whole] - own[tested] for rest, (whole, tested) in _ELSEWHERE.items()}
        counts |= {(str(place), kind): number for kind, number in own.items()}
    for kind in dict.fromkeys(kind for _, kind in counts):
        counts["", kind] = sum(counts[str(place), kind] for place in range(len(groups)))
    return counts


def _shown(group: Document, name: str, hidden: frozenset[_Cell]) -> Document:
    gone = {rate for rate, kinds in _BEHIND.items() if any((name, kind) in hidden for kind in kinds)}
    rates = {rate: None if rate in gone else rounded_estimate(group[rate]) for rate in _BEHIND}
    return {**group, **rates, "count": None if (name, "count") in hidden else group["count"]}


def _tell(
    groups: Sequence[Document], hidden: frozenset[_Cell], small: set[_Cell], threshold: int, notes: list[str]
) -> None:
    if not hidden:
        notes.append(f"No count of a group is below {threshold}: none had to be withheld.")
        return

    def named(cells: Collection[_Cell]) -> str:
        places = sorted({int(name) for name, _ in cells if name})
        return ", ".join(str(groups[place]["group"]) for place in places)

    notes.append(
        f"Numbers of these groups are withheld because a count behind them is below {threshold}: {named(small)}. "
        "Every number that compares groups is withheld with them, also where the rates it compares are printed: it is "
        "one rule for all, so that which of them stand tells nothing more."
    )
    beside = hidden - small
    if beside:
        notes.append(
            "So that these cannot be worked out from sums and totals, further counts are withheld, of these groups: "
            f"{named(beside)}."
        )


_RATE = "positive predictions"


def small_in_training(tables: Sequence[Document], threshold: int) -> tuple[bool, bool]:
    """Return whether a size, and whether any count of a group on the training records is below the threshold.

    A size is how many of a group they hold, in all or with the label the metric speaks of; the counts are that, and how
    many of these are accepted or not: said to be small as well where no table tells.
    """
    rows = [
        row
        for table in tables
        if table["title"] == TableTitle.RATES and {"records", "people", _RATE} <= set(table["columns"])
        for row in (dict(zip(table["columns"], cells, strict=True)) for cells in table["rows"])
        if row["records"] == "training"
    ]
    sizes, counts = False, not rows
    for row in rows:
        n, rate = int(row["people"] or 0), number_of(row[_RATE])
        accepted = round(n * rate) if rate == rate else 0
        sizes = sizes or n < threshold
        counts = counts or min(accepted, n - accepted) < threshold
    return sizes, sizes or counts


_SHOWN = {
    TableTitle.ATTRIBUTION: ("attacker", "step", "accuracy", "balanced accuracy", "change"),
    TableTitle.CORRECTIONS: ("tolerance", "attacker", "true", "before", "after", "gain"),
    TableTitle.ANSWERS: ("attacker", "answers", "draws", "balanced accuracy"),
    TableTitle.MEMBERS: ("attack", "AUC", "advantage", "people", "TPR at 1% FPR"),
    TableTitle.GUARD: ("attacker", "budget", "accuracy", "balanced accuracy"),
}
"""Title -> columns that may be shown, without those of their intervals' ends."""

_TELL_SIZES = {
    TableTitle.ATTRIBUTION: _SHOWN[TableTitle.ATTRIBUTION],
    TableTitle.CORRECTIONS: ("before", "after"),
    TableTitle.ANSWERS: _SHOWN[TableTitle.ANSWERS],
    TableTitle.GUARD: _SHOWN[TableTitle.GUARD],
}
"""Title -> columns that tell how large the groups are: who names the larger group for everybody is right about its
share, and the interval of a balanced accuracy is as wide as the smaller group is small."""

_TEXTS = ("attacker", "step", "attack", "true", "people")

_SETTINGS = ("tolerance", "budget", "answers", "draws")


def disclosed_tables(
    tables: Sequence[Document], notes: list[str], *, sizes_hidden: bool, training_hidden: bool
) -> list[Document]:
    """Return the tables for others; `notes` is told what is left out.

    `training_hidden` says whether the unfairness on the training records is: a column tells how it lies to every
    tolerance.
    """
    shown, cut = [], False
    for whole in tables:
        table = _table(whole, sizes_hidden=sizes_hidden, training_hidden=training_hidden)
        if table["rows"]:
            shown.append(table)
        cut |= len(table["columns"]) < len(whole["columns"]) or len(table["rows"]) < len(whole["rows"])
    if cut:
        notes.append(
            "Rows about single groups, and columns and tables that could tell how many people are in one, are left out "
            "of the tables."
        )
    return shown


def _table(whole: Document, *, sizes_hidden: bool, training_hidden: bool) -> Document:
    title = whole["title"]
    allowed = set(_SHOWN.get(title, ()))
    if sizes_hidden:
        allowed -= set(_TELL_SIZES.get(title, ()))
    if training_hidden:
        allowed -= {"true"}
    kept = [name for name in whole["columns"] if _base(name) in allowed]
    if not any(_base(name) in allowed - set(_TEXTS) - set(_SETTINGS) for name in kept):
        kept = []  # nothing but names is left
    rows = [dict(zip(whole["columns"], row, strict=True)) for row in whole["rows"]] if kept else []
    rows = [row for row in rows if row.get("people", "everybody") == "everybody"]
    return {"title": title, "columns": kept, "rows": [list(_cells(row, kept)) for row in rows]}


def _base(column: str) -> str:
    return column.removesuffix(", low").removesuffix(", high")


def _cells(row: Document, kept: Sequence[str]) -> Iterator[Any]:
    """Yield a row's cells: numbers with an interval rounded as estimates are, of texts those that name an attacker."""
    for name in kept:
        base, value = _base(name), row[name]
        three = tuple(row.get(key) for key in (base, f"{base}, low", f"{base}, high"))
        if isinstance(value, str) and value not in ("inf", "-inf"):
            yield value if base in _TEXTS else None
        elif base in _SETTINGS or value is None or None in three:
            yield value if base in _SETTINGS else rounded(value)
        else:
            place = 0 if name == base else 1 if name.endswith(", low") else 2
            yield strict(printed(*(number_of(number) for number in three))[place])


_COMPARING = ("unfairness", "four_fifths", "membership_gap")
"""Checks whose number compares groups."""

_NAMING = ("answers_excess", "attriguard_exposure")
"""Checks whose number is a rate at which people's groups are named rightly."""

_NAMING_CONTROL = ("attribute_excess", "attribute_balanced", "attribute_bits", "correction_gain")
"""Checks whose control is one."""

_COMPARES = "counts of a group are withheld here, and with them every number that compares groups"
_TRAINED = "how many of a group are among the training records is withheld here, and the number may tell it"
_SIZED = (
    "how many people of a group there are, in all, in a set or with a label, is withheld here, and the number may "
    "tell it"
)
"""Why a number is withheld: the rule that withholds it, as it stands; where rates it compares are printed, they are
printed all the same."""


def cut_edition(audit: ReleaseAudit, threshold: int) -> tuple[Document, bool]:
    """Return the edition before it is attacked, metered and sealed, and whether it withholds no count of a group."""
    if isinstance(threshold, bool) or not isinstance(threshold, int) or threshold < 2:
        raise InputError(f"threshold must be a whole number of at least 2, got {threshold!r}.")
    found, plan = internal_document(audit), audit.plan
    notes: list[str] = []
    trained_sizes, trained_counts = small_in_training(found["tables"], threshold)
    found["edition"] = "disclosure"
    found["release_meter"] = None  # that of the internal edition tells counts
    found["groups"], hidden = disclosed_groups(found, threshold, notes)
    # that a size is printed nowhere follows from what is printed, and so tells nothing of the counts that are not
    unsized = any(group[name] is None for group in found["groups"] for name in ("count", *_BEHIND))
    compared, sizes_hidden = not hidden, unsized or trained_sizes
    found["plan"] = disclosed_plan(found["plan"], plan, found["data"]["title"])
    found["data"] = disclosed_data(found["data"], plan, threshold)
    found["model"] = disclosed_model(
        found["model"], plan, threshold, compared=compared, trained=compared and not trained_counts
    )
    gone = _withheld(found, threshold, compared=compared, sizes_hidden=sizes_hidden, members=not trained_sizes)
    _measurements(found, audit, gone, sizes_hidden=sizes_hidden)
    _verdict(found, audit, gone)
    found["tables"] = disclosed_tables(
        found["tables"], notes, sizes_hidden=sizes_hidden, training_hidden=trained_counts or not compared
    )
    found["provenance"] = {**found["provenance"], "plan": "", "seeds": {}}
    found["times"] = {"started": found["times"].get("started", "")[:10]} if found["times"].get("started") else {}
    found["withheld"] = {"threshold": threshold, "notes": [*_ALWAYS, *notes]}
    return found, compared


_ALWAYS = (
    "Fingerprints of the data, of the model's answers and of the plan, and the seeds, stand in the internal edition "
    "only: with a fingerprint somebody who knows all records but one could try out that one's values.",
    "Files are not named, and no row of a table is about a single record.",
    "Shares are rounded to a tenth of a point, or to a point where their interval is wider than ±3.5 points; intervals "
    "are rounded outwards. Sentences about the checks are general ones; those of the audit stand in the internal "
    "edition.",
    "Not withheld are the verdicts, which tell on which side of its limit a number lies, how many of all people an "
    "attack named rightly, and counts at or above the threshold, which rates and sizes may tell exactly.",
)


def _meter(found: Document, people: AttackedPeople | None, threshold: int, *, compared: bool) -> Document:
    """Return what the release meter reads in the edition; where counts are withheld nothing but a fixed sentence.

    Bits and pinned people hang on the counts, which may be told by them to whoever knows the prior.
    """
    if people is None:
        meter = not_metered("the test people were not at hand when this edition was written", threshold)
    elif not compared:
        withheld = not_metered("", threshold, outcome=MeterOutcome.WITHHELD)
        meter = replace(withheld, told=METER_WITHHELD, control="")
    elif people.posterior is None:
        meter = not_metered("its attacker could not be trained", threshold)
    else:
        try:
            meter = meter_report({"disclosure": found}, people, threshold=threshold)
        except InputError:
            wrong = "its numbers contradict the people it was metered on"
            meter = not_metered(wrong, threshold, outcome=MeterOutcome.FAILED)
    told: Document = dict(strict(meter))
    if people is not None and meter.forms:
        told["told"] = edition_told(meter.forms[0], len(people.group_names))
    told["forms"] = [_cut(form) for form in told["forms"]]
    return _cut(told)


def _cut(told: Document) -> Document:
    """Return a record with its shares as they are printed, and bits to a tenth."""
    found: Document = {}
    for name, value in told.items():
        if name == "bits" and isinstance(value, dict):
            found[name] = value | {end: rounded(value[end], 1) for end in ("value", "low", "high")}
        else:
            found[name] = rounded_estimate(value) if isinstance(value, dict) else rounded(value, 1)
    return found


def _withheld(found: Document, threshold: int, *, compared: bool, sizes_hidden: bool, members: bool) -> dict[str, str]:
    """Return check -> why its number is withheld."""
    because: dict[str, str] = {}
    for measurement in found["measurements"]:
        name, estimate = measurement["check"], measurement["estimate"]
        of_people = measurement["basis"] != "declared" and measurement["freedom"] is None
        if estimate is None:
            continue
        if of_people and 0 < estimate["n"] < threshold:
            because[name] = f"it rests on fewer than {threshold} people"
        elif name in _COMPARING and not compared:
            because[name] = _COMPARES
        elif name == "membership_gap" and not members:
            because[name] = _TRAINED
        elif name in _NAMING and sizes_hidden:
            because[name] = _SIZED
    return because


def _measurements(found: Document, audit: ReleaseAudit, because: dict[str, str], *, sizes_hidden: bool) -> None:
    """Round every measurement, withhold what is to be withheld, and reword it."""
    for place, measurement in enumerate(found["measurements"]):
        name = measurement["check"]
        gone = name in because
        control = gone or (sizes_hidden and name in _NAMING_CONTROL)
        cut = {
            **measurement,
            "estimate": None if gone else rounded_estimate(measurement["estimate"]),
            "control": None if control else rounded_estimate(measurement["control"]),
        }
        found["measurements"][place] = reworded(cut, found, audit, because.get(name, ""))


def _verdict(found: Document, audit: ReleaseAudit, because: dict[str, str]) -> None:
    """Round every decided interval, leave out the p-values, and word verdict and headline anew."""
    measurements = {measurement["check"]: measurement for measurement in found["measurements"]}
    level = number_of(found["policy"]["level"])
    told: Any = found["verdict"]
    told["headline"], told["detail"] = strict(
        headline_and_detail(audit.verdict.rows, level=level, failed_tests=failed_tests(audit.self_tests))
    )
    for row in told["checks"]:
        gone = because.get(row["check"], "")
        row["decided"] = None if gone else rounded_estimate(row["decided"])
        row["p_value"] = row["p_adjusted"] = None
        row["why"] = why_of(row, measurements.get(row["check"]), level, gone)


def document(
    audit: ReleaseAudit,
    *,
    edition: str = "internal",
    people: AttackedPeople | None = None,
    threshold: int = THRESHOLD,
) -> Document:
    """Return the report of an audit, sealed with its fingerprint, in the edition "internal" or "disclosure".

    That for others is attacked on the test people and metered before; without them it says that it was not. Counts
    below the threshold, at least 2, are withheld from it. InputError if there is no such edition, the threshold is
    below 2 or the people are not those of the audit.
    """
    choice(edition, EDITIONS, name="edition")
    if edition == "internal":
        return sealed(internal_document(audit))
    found, compared = cut_edition(audit, threshold)
    found["edition_attack"] = _cut(strict(attack_edition(found, people, rates=compared)))
    found["release_meter"] = _meter(found, people, threshold, compared=compared)
    return sealed(found)


def meter_of(audit: ReleaseAudit, people: AttackedPeople | None, *, threshold: int = THRESHOLD) -> ReportMeter:
    """Return what the reports of an audit give away by their fairness numbers; a meter that breaks is a result.

    The people are None where the attacker that knows them beforehand could not be trained; `threshold` is that of the
    disclosure edition.
    """
    if people is None:
        return meter_report({}, None, threshold=threshold)
    try:
        whole = internal_document(audit)
        forms = {"every_digit": whole, "page": _as_printed(whole), "disclosure": cut_edition(audit, threshold)[0]}
        return meter_report(forms, people, threshold=threshold)
    except InputError as error:
        return not_metered(str(error).rstrip("."), threshold, outcome=MeterOutcome.FAILED)
    except Exception as error:  # the report then says that it was not metered
        return not_metered(f"the meter broke ({type(error).__name__})", threshold, outcome=MeterOutcome.FAILED)


def _as_printed(document: Mapping[str, Any]) -> Document:
    """Return a document whose groups' rates, unfairness and ratio have the digits a page prints."""
    rates = ("test_rate", "test_tpr", "test_fpr")
    groups = [group | {name: rounded_estimate(group[name]) for name in rates} for group in document["groups"]]
    model = document["model"] | {"unfairness_test": rounded_estimate(document["model"]["unfairness_test"])}
    measurements = [m | {"estimate": rounded_estimate(m["estimate"])} for m in document["measurements"]]
    return {**document, "groups": groups, "model": model, "measurements": measurements}

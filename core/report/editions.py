"""A report's two editions: everything for inside, and a redacted one for others, cut from one document.

What is protected in the redacted edition: the number of people in a group, and of those in it with a label, a
prediction or both, on the test records and with a label in the whole table; also on the records outside the test, which
the difference tells. A count below the threshold stands nowhere, nor does a rate it belongs to, nor a number from which
it can be worked out to within less than the threshold by adding up and subtracting (`core.report.suppression`, which
assumes that everybody's totals are known). With such a count go

- numbers that compare groups (unfairness, ratio of acceptance, difference in TPR at 1% FPR), with their intervals, and
  what the report's own numbers reveal, for who knows an attacker's guesses knows how many of a group are among those
  right;
- where a group's size is withheld, rates at which its people are inferred correctly, with the baselines and tables of
  these: always naming the larger group is right about its share, and the interval of an average over groups is as wide
  as the smallest is small;
- where a count of the training records is small, the unfairness on these and whether the tolerance holds.

Every sentence about a check is its own redacted one (`core.study.Redacted`), made of settings alone and printed
whatever is withheld; notes on the data are left out. The edition names no file, and has no fingerprint of data, answers
or plan and no seed: whoever knows all records but one could try that one's values until a fingerprint fits. Shares have
a tenth of a point, or a point where their interval is wide, and intervals are rounded outwards; tables with rows about
single records or groups are left out.

What is not protected:

- counts at or above the threshold: a rate with a tenth of a point and its size often tell a count exactly, and two
  groups add up to everybody. What that tells about single people is what the meter estimates;
- the verdicts on withheld numbers: that one passes or fails tells on which side of a limit it lies;
- how many of all people an attack inferred correctly: gains stand with their sizes and intervals, also where they rest
  on few;
- what is likely: the share of a group in the table tells roughly how many of it a drawn test set holds;
- what other publications about these people add, several editions with different thresholds among them;
- what the auditor wrote: the policy, the title and the names of columns and groups stand as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from core.datasets import CATALOG
from core.errors import InputError
from core.fairness import METRIC_TITLES
from core.policy import CHECKS, headline_and_detail, level_text, limit_text, range_text, redacted_of, value_text
from core.policy.decisions import NO_LIMIT
from core.release_audit import AuditPlan, ReleaseAudit, failed_tests
from core.release_audit.inputs import AttackedPeople
from core.release_audit.result import ModelNote, TableTitle
from core.report.canonical import estimate_of, number_of, printed, rounded, rounded_estimate, strict
from core.report.document import EDITIONS, THRESHOLD, Document, internal_document, judged_parts, sealed
from core.report.metering import ReportMeter, external_meter, meter_report
from core.report.suppression import redacted_groups, small_in_training, withheld_counts
from core.settings import params
from core.study import Redacted
from core.subject import OutputsPlan
from core.validation import choice


class Reports:
    """An audit's report in both editions: its document is built once, cut once and metered once.

    `people` are the test people of the audit, for the meter; without them the report says that its numbers were not
    metered. Counts below the threshold, at least 2, are withheld from the edition for others.
    """

    def __init__(
        self, audit: ReleaseAudit, people: AttackedPeople | None = None, *, threshold: int = THRESHOLD
    ) -> None:
        if isinstance(threshold, bool) or not isinstance(threshold, int) or threshold < 2:
            raise InputError(f"threshold must be a whole number of at least 2, got {threshold!r}.")
        self.audit, self.people, self.threshold = audit, people, threshold

    def judged(self, audit: ReleaseAudit) -> Reports:
        """Return the reports of the same attacks under another policy, title or self-test; nothing is metered again."""
        again = Reports(audit, self.people, threshold=self.threshold)
        again.__dict__["whole"] = {**self.whole, **judged_parts(audit)}
        again.__dict__["meter"] = self.meter
        return again

    @cached_property
    def whole(self) -> Document:
        """Everything, as one document that is neither metered nor sealed."""
        return internal_document(self.audit)

    @cached_property
    def _cut(self) -> tuple[Document, bool]:
        return cut_edition(self.whole, self.audit, self.threshold)

    @cached_property
    def meter(self) -> ReportMeter:
        """What the reports give away by their fairness numbers."""
        forms = {"every_digit": self.whole, "page": _as_printed(self.whole), "disclosure": self._cut[0]}
        return meter_report(forms, self.people, threshold=self.threshold)

    def document(self, edition: str = "internal") -> Document:
        """Return one of `EDITIONS`, sealed with its fingerprint."""
        choice(edition, EDITIONS, name="edition")
        if edition == "internal":
            return sealed({**self.whole, "release_meter": strict(self.meter)})
        found, compared = self._cut
        told = _rounded(strict(external_meter(self.meter, self.people, compared=compared)))
        return sealed({**found, "release_meter": {**told, "forms": [_rounded(form) for form in told["forms"]]}})


def document(
    audit: ReleaseAudit,
    *,
    edition: str = "internal",
    people: AttackedPeople | None = None,
    threshold: int = THRESHOLD,
) -> Document:
    """Return the report of an audit in one edition; see `Reports`."""
    return Reports(audit, people, threshold=threshold).document(edition)


def _as_printed(document: Mapping[str, Any]) -> Document:
    """Return a document whose groups' rates, unfairness and ratio have the digits a page prints."""
    rates = ("test_rate", "test_tpr", "test_fpr")
    groups = [group | {name: rounded_estimate(group[name]) for name in rates} for group in document["groups"]]
    model = document["model"] | {"unfairness_test": rounded_estimate(document["model"]["unfairness_test"])}
    measurements = [m | {"estimate": rounded_estimate(m["estimate"])} for m in document["measurements"]]
    return {**document, "groups": groups, "model": model, "measurements": measurements}


def _rounded(told: Document) -> Document:
    """Return a record with its shares as they are printed, and bits to a tenth."""
    found: Document = {}
    for name, value in told.items():
        if name == "bits" and isinstance(value, dict):
            found[name] = value | {end: rounded(value[end], 1) for end in ("value", "low", "high")}
        else:
            found[name] = rounded_estimate(value) if isinstance(value, dict) else rounded(value, 1)
    return found


_ALWAYS = (
    "Fingerprints of the data, of the model's outputs and of the plan, and the seeds, stand in the internal report "
    "only. With a fingerprint, somebody who knows all records but one could try out that one's values.",
    "Files are not named, and no row of a table is about a single record.",
    "Shares are rounded to a tenth of a point, or to a point where their interval is wider than ±3.5 points; intervals "
    "are rounded outwards. Sentences about the checks are general ones; those of the audit stand in the internal "
    "report.",
    "Not withheld are the verdicts, which show on which side of its limit a number lies, how many of all people an "
    "attack inferred correctly, and counts at or above the threshold, which rates and sizes may show exactly.",
)


def cut_edition(whole: Document, audit: ReleaseAudit, threshold: int) -> tuple[Document, bool]:
    """Return the redacted edition before it is metered and sealed, and whether it withholds no count of a group."""
    found, plan = dict(whole), audit.plan
    notes: list[str] = []
    trained_sizes, trained_counts = small_in_training(found["tables"], threshold)
    found["edition"] = "disclosure"
    found["groups"], hidden = redacted_groups(found, threshold, notes)
    # that a size is printed nowhere follows from what is printed, and so tells nothing of the counts that are not
    unsized = any(group[name] is None for group in found["groups"] for name in group if name != "group")
    compared, sizes_hidden = not hidden, unsized or trained_sizes
    found["plan"] = _plan(whole["plan"], plan, whole["data"]["title"])
    found["data"] = _data(whole["data"], plan, threshold)
    found["model"] = _model(whole["model"], plan, threshold, compared=compared, trained=compared and not trained_counts)
    gone = _withheld(found, threshold, compared=compared, sizes_hidden=sizes_hidden, members=not trained_sizes)
    facts = _facts(audit)
    found["measurements"] = [
        _measurement(one, plan, facts, gone.get(one["check"], ""), sizes_hidden=sizes_hidden)
        for one in whole["measurements"]
    ]
    found["verdict"] = _verdict(found, audit, gone)
    found["findings"] = _findings(whole["findings"])
    found["tables"] = _tables(whole["tables"], notes, sizes_hidden=sizes_hidden, known=compared and not trained_counts)
    found["provenance"] = {**found["provenance"], "plan": "", "seeds": {}}
    found["times"] = {"started": found["times"].get("started", "")[:10]} if found["times"].get("started") else {}
    found["withheld"] = {"threshold": threshold, "notes": [*_ALWAYS, *notes]}
    return found, compared


# -------------------------------------------------------------------------------------------- table, model and plan

_OWN = "A table of the auditor's own"


def _own(plan: AuditPlan) -> bool:
    """Whether the table is none of the catalogue, whose titles and sources are FairLeak's."""
    return bool(plan.data.file) or plan.data.dataset not in CATALOG


def _data(data: Document, plan: AuditPlan, threshold: int) -> Document:
    """Return the table without fingerprint, notes and names of files; the size of a small set is withheld."""
    own, config = _own(plan), plan.config
    does = "train the model" if plan.model.kind == "train" else "stand for the model's unknown training records"
    split = (
        f"Drawn with a seed that is withheld: {100 * config.train_share:g}% of the records {does}; the attacker knows "
        "half of the others, the test takes the rest."
    )
    if config.roles is not None and config.roles.sets:
        split = "The sets are those of a column of the table; a seed that is withheld divides the attacker's."
    sums = [("", tuple(data["sets"]))] if sum(data["sets"].values()) == data["n"] else []
    hidden = withheld_counts({**data["sets"], "": data["n"]}, sums, threshold=threshold, public=("",))
    return {
        **data,
        "title": _OWN if own else data["title"],
        "source": f"{_OWN}, not named here." if own else data["source"],
        "sets": {name: None if name in hidden else size for name, size in data["sets"].items()},
        "split": split,
        "notes": ["What was left out, filled in or duplicated stands in the internal report."] if data["notes"] else [],
        "fingerprint": "",
    }


def _model(model: Document, plan: AuditPlan, threshold: int, *, compared: bool, trained: bool) -> Document:
    """Return the model without fingerprint and file; unfairness on test and training records where it may stand."""
    rates = {
        name: None if model[name]["n"] < threshold else rounded_estimate(model[name])
        for name in ("accuracy_train", "accuracy_test", "majority_test")
    }
    return {
        **model,
        **rates,
        "title": "Model file, not named here" if plan.model.kind == "file" else model["title"],
        "unfairness_test": rounded_estimate(model["unfairness_test"]) if compared else None,
        "achieved": rounded(model["achieved"]) if trained else None,
        "notes": [note for note in model["notes"] if note in tuple(ModelNote)],
        "fingerprint": "",
    }


def _plan(plan: Document, audited: AuditPlan, title: str) -> Document:
    """Return the plan without files and seed; its title goes where it names a file or is the table's own `title`."""
    own, name = _own(audited), plan["title"]
    for path in (audited.data.file, audited.model.file, audited.policy):
        file = re.split(r"[\\/]", path)[-1].casefold()
        if file and (file in name.casefold() or file.rpartition(".")[0] == name.casefold()):
            name = ""
    return {
        **plan,
        "title": "" if own and name == title else name,
        "data": {**plan["data"], "file": "withheld" if plan["data"]["file"] else ""},
        "model": {**plan["model"], "file": "withheld" if plan["model"]["file"] else ""},
        "policy": "withheld" if plan["policy"] else "",
        "config": {**plan["config"], "seed": None, **({"dataset": "upload"} if own else {})},
    }


# ------------------------------------------------------------------------------------------- measurements and verdict

_COMPARING = ("unfairness", "four_fifths", "membership_gap")
"""Checks whose number compares groups."""

_NAMING = ("answers_excess", "attriguard_exposure")
"""Checks whose number is a rate at which people's groups are inferred correctly."""

_NAMING_CONTROL = ("attribute_excess", "attribute_balanced", "attribute_bits", "correction_gain")
"""Checks whose control is one."""

_COMPARES = "counts of a group are withheld here, and with them every number that compares groups"
_TRAINED = "how many of a group are among the training records is withheld here, and the number may reveal it"
_SIZED = "how many people of a group there are is withheld here, and the number may reveal it"
"""Why a number is withheld: the rule that withholds it, as it stands; where rates it compares are printed, they are
printed all the same."""

WITHHELD = "The number is withheld from this edition because {because}; the verdict is that of the whole audit."

_INSIDE = "the reason stands in the internal report alone, for it may count people."


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


def _facts(audit: ReleaseAudit) -> dict[str, Any]:
    """Return what the redacted sentences of checks are filled in with: settings alone."""
    plan, metric = audit.plan, audit.plan.config.metric
    outputs = OutputsPlan(released="labels") if audit.labels_only else plan.outputs
    facts = {
        **{title: _words(settings) for title, settings in plan.studied.items()},
        "attribute": audit.data.attribute,
        "released": outputs.text,
        "metric": METRIC_TITLES.get(metric, metric).lower(),
        "tolerance": f"{plan.config.tolerance:g}",
    }
    return dict(strict(facts))


def _words(settings: Any) -> dict[str, str]:
    """Return what a study is set to: an option by its title, a number without noughts behind it."""
    found = {}
    for name, setting in params(type(settings)).items():
        value, options = getattr(settings, name), setting.param.options
        if isinstance(options, Mapping) and value in options:
            found[name] = str(options[value]).lower()
        else:
            found[name] = f"{value:,g}" if isinstance(value, (int, float)) else str(value)
    return found


def _measurement(
    whole: Document, plan: AuditPlan, facts: Mapping[str, Any], because: str, *, sizes_hidden: bool
) -> Document:
    """Return a measurement rounded and with the redacted sentences of its check.

    `because` says why its number is withheld, if it is.
    """
    name, done = whole["check"], whole["outcome"] == "done"
    control = because or (sizes_hidden and name in _NAMING_CONTROL) or not whole["control"]
    words = redacted_of(name) if done else Redacted()
    return {
        **whole,
        "estimate": None if because else rounded_estimate(whole["estimate"]),
        "control": None if control else rounded_estimate(whole["control"]),
        "control_name": "" if control else words.control,
        "attacked": words.attacked.format(**facts),
        "knows": words.knows.format(**facts),
        "assumptions": [text.format(**facts) for text in words.assumptions],
        "reason": WITHHELD.format(because=because) if because else _reason(whole, plan),
        "details": {},
    }


def _reason(measurement: Document, plan: AuditPlan) -> str:
    """Return why there is no number: what the plan lacks, and else that it is not told."""
    if measurement["outcome"] == "failed":
        return f"The attack stopped with an error; {_INSIDE}"
    if measurement["outcome"] == "done":
        value = measurement["estimate"] and measurement["estimate"]["value"]
        return "There was nothing to measure." if value is None else ""
    needs, roles = CHECKS[measurement["check"]].needs, plan.config.roles
    if "planned answers" in needs and not plan.answers.questions:
        return "No answers are planned."
    if "a guard" in needs and not plan.guard.budget:
        return "AttriGuard is not planned."
    if "scores" in needs and plan.outputs.released == "labels" and measurement["check"].startswith("membership"):
        return "Scores are needed; labels alone are released."
    if "scores" in needs and plan.model.kind == "predictions" and not (roles and roles.score):
        return "Scores are needed; only predicted labels are given."
    return f"It could not be run on these people; {_INSIDE}"


def _verdict(found: Document, audit: ReleaseAudit, because: dict[str, str]) -> Document:
    """Return the verdict with every decided interval rounded, without p-values, and with its own sentences."""
    measurements = {measurement["check"]: measurement for measurement in found["measurements"]}
    level = number_of(found["policy"]["level"])
    headline, detail = headline_and_detail(audit.verdict.rows, level=level, failed_tests=failed_tests(audit.self_tests))
    rows = []
    for row in found["verdict"]["checks"]:
        gone = because.get(row["check"], "")
        decided = None if gone else rounded_estimate(row["decided"])
        cut = {**row, "decided": decided, "p_value": None, "p_adjusted": None}
        rows.append(cut | {"why": why_of(cut, measurements.get(row["check"]), level, gone)})
    return {**found["verdict"], "headline": strict(headline), "detail": strict(detail), "checks": rows}


def why_of(row: Document, measurement: Document | None, level: float, because: str) -> str:
    """Return the sentence beside a verdict, from the numbers as this edition prints them.

    `row` is the verdict's with its decided interval rounded, `measurement` the check's, redacted; `because` says why
    its number is withheld, if it is.
    """
    if row["verdict"] == "not_asked" or row["limit"] is None:
        return NO_LIMIT
    if because:
        return WITHHELD.format(because=because)
    if row["verdict"] == "not_run" or measurement is None:
        return (measurement or {}).get("reason") or "The audit has no measurement of it."
    check, limit, verdict = row["check"], number_of(row["limit"]["value"]), row["verdict"]
    limited, decided, estimate = limit_text(check, limit), estimate_of(row["decided"]), measurement["estimate"]
    does = "keeps to" if verdict == "pass" else "breaks"
    if decided is not None:
        whole = "The interval holds" if verdict == "inconclusive" else f"The whole interval {does}"
        told = f"{range_text(check, decided, limit)} at {level_text(decided.level)} confidence"
        side = "above" if verdict == "inconclusive" else "below"
        return (
            f"{whole} the limit of {limited}; rounded outwards it is {told}. After Holm's correction the p-value is "
            f"{side} {100 * (1 - level):.4g}%."
        )
    if verdict == "inconclusive" or estimate is None:
        return f"There is no interval, so it cannot be told whether the limit of {limited} is kept."
    how = "Computed from what was declared" if measurement["basis"] == "declared" else "Without an interval"
    return f"{how}, the value {does} the limit of {limited}; rounded it is {value_text(check, estimate['value'])}."


def _findings(whole: Sequence[Document]) -> list[Document]:
    """Return the studies' findings with nothing but their own redacted sentences."""
    blank: Document = {"evidence": "", "so_what": "", "to_do": "", "caveats": [], "estimate": None, "baseline": None}
    return [
        {
            **study,
            "findings": [
                {**finding, **blank, "point": finding["redacted"], "attacker_knows": ""}
                for finding in study["findings"]
                if finding["redacted"]
            ],
        }
        for study in whole
    ]


# ------------------------------------------------------------------------------------------------------------- tables

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
"""Title -> columns that tell how large the groups are: always naming the larger group is right about its share, and the
interval of a balanced accuracy is as wide as the smaller group is small."""

_TEXTS = ("attacker", "step", "attack", "true", "people")

_SETTINGS = ("tolerance", "budget", "answers", "draws")


def _tables(tables: Sequence[Document], notes: list[str], *, sizes_hidden: bool, known: bool) -> list[Document]:
    """Return the tables for others; `notes` is told what is left out.

    `known` says whether the unfairness on the training records is printed: a column tells how it lies to every
    tolerance.
    """
    shown, cut = [], False
    for whole in tables:
        allowed = set(_SHOWN.get(whole["title"], ()))
        if sizes_hidden:
            allowed -= set(_TELL_SIZES.get(whole["title"], ()))
        if not known:
            allowed -= {"true"}
        kept = [name for name in whole["columns"] if _base(name) in allowed]
        if not any(_base(name) in allowed - set(_TEXTS) - set(_SETTINGS) for name in kept):
            kept = []  # nothing but names is left
        rows = [dict(zip(whole["columns"], row, strict=True)) for row in whole["rows"]] if kept else []
        rows = [row for row in rows if row.get("people", "everybody") == "everybody"]
        if rows:
            cells = [list(_cells(row, kept)) for row in rows]
            shown.append({"title": whole["title"], "columns": kept, "rows": cells})
        cut |= len(kept) < len(whole["columns"]) or len(rows) < len(whole["rows"])
    if cut:
        notes.append(
            "Rows about single groups, and columns and tables that could reveal how many people are in one, are left "
            "out of the tables."
        )
    return shown


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

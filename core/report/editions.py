"""Internal report and external (redacted) report, cut from one document.

What is protected in the external report: the number of people in a group, and of those in it with a label, a
prediction or both, on the test records, on the training records and in the whole table, and so on the records outside
the test, which the difference tells. Where one of these counts is below the threshold, no number that hangs on who is
in which group stands in the edition: no count or rate of any group, nothing that compares groups, no inference of the
attribute and no table of these, nothing of what the report's own numbers reveal, and no tolerance of a model that was
not trained here: a plan begins with the smallest that holds, which tells the unfairness. All of them go, whichever
count it is and however many there are: a rule that withheld the small ones, and as many others as it takes to hide
them, would tell by its choice what it hides. So two tables that differ in a small count give the same edition to the
byte, as long as their verdicts and the model's answers are the same.

Nothing about single people stands in it, counts of them included: neither the section of people at risk, nor that the
plan asks for one.

Every sentence about a check is its own redacted one (`core.study.Redacted`), made of settings alone and printed
whatever is withheld. Of a caveat there is the fixed sentence of its kind; notes on the data are left out. The edition
names no file, and has no fingerprint of data, answers or plan and no seed: somebody who knows all records but one could
try out that one's values. Shares have a tenth of a point, or a point where their interval is wide, and intervals are
rounded outwards; tables with rows about single records or groups are left out.

What is not protected:

- that some count is below the threshold, and the verdicts: that one passes or fails tells on which side of a limit a
  withheld number lies;
- which kinds of caveats there are; those that hang on who is in which group go with the counts of groups;
- where none is below: a rate with a tenth of a point and its size often tell a count exactly, and two groups add up to
  everybody. What that reveals about single people is the leakage estimate;
- what is likely: the share of a group in the table tells roughly how many of it a drawn test set holds;
- what other publications about these people add, several editions with different thresholds among them;
- what the auditor wrote: the policy, the title and the names of columns and groups stand as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from core.caveats import for_others
from core.datasets import CATALOG
from core.errors import InputError
from core.fairness import METRIC_TITLES
from core.model_card import ReleasedPeople
from core.people import PEOPLE
from core.policy import CHECKS, CheckVerdict, headline_and_detail, policy_text, redacted_of
from core.policy.decisions import NO_LIMIT, why
from core.queries import noise_text
from core.release_audit import AuditPlan, ReleaseAudit, failed_tests, plan_text
from core.release_audit.plan import other_studies
from core.release_audit.result import ModelNote, TableTitle
from core.report.canonical import (
    THRESHOLD,
    number_of,
    outward,
    printed,
    read,
    rounded,
    rounded_estimate,
    strict,
    to_json,
)
from core.report.document import (
    EDITIONS,
    GROUP_RATES,
    Document,
    caveats_of,
    internal_document,
    judged_parts,
    rows_of,
    sealed,
)
from core.report.metering import METER_WITHHELD, Card, MeterOutcome, ReportMeter, cards_of, meter_of, not_metered
from core.report.page import to_html
from core.report.tables import csv_files
from core.settings import params
from core.study import Measurement, Redacted
from core.subject import SETS_UNKNOWN, OutputsPlan
from core.two_models import ONE_MODEL
from core.validation import choice


class Reports:
    """An audit's internal and external report, each built once and with one leakage estimate.

    `people` are the readers of the audit, for the leakage estimate, or why there are none; without them the report says
    that there is no estimate. Counts below `THRESHOLD` are withheld from the external report.
    """

    def __init__(self, audit: ReleaseAudit, people: ReleasedPeople | str | None = None) -> None:
        self.audit, self.people = audit, people
        self._documents: dict[str, Document] = {}

    def judged(self, audit: ReleaseAudit) -> Reports:
        """Return the reports of the same attacks under another policy, title, choice or self-test."""
        again = Reports(audit, self.people)
        again.__dict__["whole"] = {**self.whole, **judged_parts(audit)}
        again.__dict__["cards"] = self.cards
        return again

    @cached_property
    def whole(self) -> Document:
        """Everything, as one document without leakage estimate and fingerprint."""
        return internal_document(self.audit)

    @cached_property
    def _cut(self) -> Document:
        return cut_edition(self.whole, self.audit)

    @cached_property
    def cards(self) -> tuple[Card, ...] | str:
        """The reports' fairness numbers as model cards, or why they are none."""
        if self.people is None or isinstance(self.people, str):
            return self.people or "the test people were not at hand"
        forms = {"every_digit": self.whole, "page": _as_printed(self.whole), "disclosure": self._cut}
        try:
            return cards_of(forms, self.people)
        except InputError as error:
            return str(error).rstrip(".")
        except Exception as error:  # the report then says that there is no estimate
            return f"the leakage estimate stopped with an error ({type(error).__name__})"

    @property
    def meter(self) -> ReportMeter:
        """What the reports' fairness numbers reveal."""
        return self._metered("internal")

    def _metered(self, edition: str) -> ReportMeter:
        """Return what an edition says of that.

        Where counts are hidden in the disclosure edition, that is nothing but a fixed sentence: bits and near-certain
        people hang on the counts, and may reveal them to a reader who knows the prior. No reason that counts people
        is given there either.
        """
        inside, cards = edition == "internal", self.cards
        if not inside and self.people is not None and has_small_count(self.whole):
            withheld = not_metered("", outcome=MeterOutcome.WITHHELD)
            return replace(withheld, told=METER_WITHHELD)
        if not isinstance(cards, str):
            return meter_of(cards if inside else cards[-1:])
        if not isinstance(self.people, ReleasedPeople):
            return not_metered(cards if inside or not self.people else "its attacker could not be trained")
        wrong = cards if inside else "its numbers contradict the people it was estimated on"
        return not_metered(wrong, outcome=MeterOutcome.FAILED)

    def document(self, edition: str = "internal") -> Document:
        """Return one of `EDITIONS`, sealed with its fingerprint."""
        if choice(edition, EDITIONS, name="edition") not in self._documents:
            self._documents[edition] = sealed(self._written(edition))
        return self._documents[edition]

    def _written(self, edition: str) -> Document:
        told = strict(self._metered(edition))
        if edition == "internal":
            return {**self.whole, "release_meter": told}
        told = _rounded(told)
        return {**self._cut, "release_meter": {**told, "forms": [_rounded(form) for form in told["forms"]]}}

    def files(self, edition: str = "internal") -> dict[str, bytes]:
        """Return an edition's files: name -> content; seed and names of files stay inside, and so does the plan."""
        found = self.document(edition)
        texts = {
            "report.json": to_json(found),
            "report.html": to_html(found),
            "policy.toml": policy_text(self.audit.verdict.policy),
        }
        if edition == "internal":
            texts["plan.toml"] = plan_text(replace(self.audit.plan, policy="policy.toml"))
        return {name: text.encode("utf-8") for name, text in texts.items()} | csv_files(found)


def document(
    audit: ReleaseAudit,
    *,
    edition: str = "internal",
    people: ReleasedPeople | str | None = None,
) -> Document:
    """Return the report of an audit in one edition; see `Reports`."""
    return Reports(audit, people).document(edition)


def _as_printed(document: Mapping[str, Any]) -> Document:
    """Return a document whose groups' rates, unfairness and ratio have the digits a page prints."""
    groups = [group | {name: rounded_estimate(group[name]) for name in GROUP_RATES} for group in document["groups"]]
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


# ---------------------------------------------------------------------------------------------- what is withheld at all


def has_small_count(whole: Document) -> bool:
    """Whether a document counts fewer people of a group than the threshold, 0 included, in any of its parts.

    Of a group's records the smallest parts are looked at: label by prediction on the test records, the label on the
    others, and the prediction on the training records; those of a group that no table counts there may be few.
    """
    training = [
        row
        for table in whole["tables"]
        if table["title"] == TableTitle.RATES
        for row in rows_of(table)
        if row["records"] == "training"
    ]
    counts = [count for row in training for count in _split_by(row["people"], row["positive predictions"])]
    for group in whole["groups"]:
        rates = (group[name] for name in ("test_tpr", "test_fpr", "label_rate"))
        positive, negative, labels = (_split_by(rate["n"], rate["value"]) for rate in rates)
        counts += [*positive, *negative, labels[0] - sum(positive), labels[1] - sum(negative)]
    parts = {row.get("among") for row in training} or {""}
    uncounted = len(training) < len(parts) * len(whole["groups"])
    return uncounted or min(counts) < THRESHOLD


def _split_by(n: int | None, rate: float | str | None) -> tuple[int, int]:
    """Return how many of n people a rate counts, and how many it does not."""
    hits = round((n or 0) * number_of(rate)) if n else 0
    return hits, (n or 0) - hits


_ALWAYS = (
    "Fingerprints of the data, of the model's outputs and of the plan, and the seeds, stand in the internal report "
    "only. With a fingerprint, somebody who knows all records but one could try out that one's values.",
    "Files are not named, and no row of a table is about a single record.",
    "Shares are rounded to a tenth of a point, or to a point where their interval is wider than ±3.5 points; intervals "
    "are rounded outwards. Sentences about the checks are general ones; those of the audit stand in the internal "
    "report.",
)
_SHOWN = (
    "Not withheld are the verdicts, which show on which side of its limit a number lies, how many of all people an "
    "attack inferred correctly, and counts at or above the threshold, which rates and sizes may show exactly.",
    f"No count of a group is below {THRESHOLD}: none had to be withheld.",
)
_HIDDEN = (
    "Not withheld are the verdicts, which show on which side of its limit a number lies.",
    f"A count of a group is below {THRESHOLD}. With it every number that hangs on who is in which group is withheld, "
    "always all of them, so that what is left out does not reveal which count it is: counts and rates of all groups, "
    "comparisons between groups, inferences of the attribute, and the tolerance of a model that was not trained here.",
    "With it go caveats on equal records, on values taken together and of the input check, whether there are any or "
    "not.",
)


_AS_THEY_ARE = ("schema", "kind", "policy", "self_tests")
"""Parts of the internal report that others get unchanged."""


def cut_edition(whole: Document, audit: ReleaseAudit) -> Document:
    """Return the external report without leakage estimate and fingerprint; a part that is not named here stays out."""
    plan, hidden = audit.plan, has_small_count(whole)
    because = withheld_numbers(whole, hidden)
    facts = _facts(audit, hidden)
    measurements = [_measurement(one, plan, facts, because.get(one["check"], "")) for one in whole["measurements"]]
    tables = [cut for table in whole["tables"] for cut in _table(table, hidden)]
    notes = [*_ALWAYS, *(_HIDDEN if hidden else _SHOWN)]
    if [(len(table["columns"]), len(table["rows"])) for table in tables] != [
        (len(table["columns"]), len(table["rows"])) for table in whole["tables"]
    ]:
        kept = "" if hidden else " Sizes and rates of the groups stand in the table of groups."
        notes.append(
            "Of the tables of the attacks, rows about single groups, most columns, and whole tables are left out."
            + kept
        )
    started = whole["times"].get("started", "")[:10]
    return {
        **{name: whole[name] for name in _AS_THEY_ARE},
        "edition": "disclosure",
        "groups": [_group(group, hidden) for group in whole["groups"]],
        "plan": _plan(whole["plan"], plan, whole["data"]["title"], hidden),
        "data": _data(whole["data"], plan),
        "model": _model(whole["model"], plan, hidden),
        "measurements": measurements,
        "verdict": _verdict(whole, audit, {one["check"]: one for one in measurements}, because),
        "caveats": strict(for_others(caveats_of(whole), groups_withheld=hidden)),
        "findings": [_findings(study) for study in whole["findings"]],
        "tables": tables,
        "provenance": {**whole["provenance"], "plan": "", "seeds": {}},
        "times": {"started": started} if started else {},
        "withheld": {"threshold": THRESHOLD, "notes": notes},
    }


# -------------------------------------------------------------------------------------------- table, model and plan

OWN_TABLE, OWN_MODEL = "A table of the auditor's own", "Model file, not named here"
"""What others read in place of a table's title and a model file's name."""


def _own(plan: AuditPlan) -> bool:
    """Whether the table is none of the catalogue, whose titles and sources are FairLeak's."""
    return bool(plan.data.file) or plan.data.dataset not in CATALOG


def _group(group: Document, hidden: bool) -> Document:
    """Return a group's name and, unless they are hidden, its size and rates."""
    rates = {name: None if hidden else rounded_estimate(group[name]) for name in GROUP_RATES}
    return {**group, **rates, "count": None if hidden else group["count"]}


def _data(data: Document, plan: AuditPlan) -> Document:
    """Return the table without fingerprint, notes and names of files; if a set is small, no set's size is given."""
    own, config = _own(plan), plan.config
    does = "train the model" if plan.model.kind == "train" else "stand for the model's unknown training records"
    split = (
        f"Drawn with a seed that is withheld: {100 * config.train_share:g}% of the records {does}; the attacker knows "
        "half of the others, the test takes the rest."
    )
    if config.roles is not None and config.roles.sets:
        split = "The sets are those of a column of the table; a seed that is withheld divides the attacker's."
    small = min(data["sets"].values()) < THRESHOLD
    return {
        **data,
        "title": OWN_TABLE if own else data["title"],
        "source": f"{OWN_TABLE}, not named here." if own else data["source"],
        "sets": dict.fromkeys(data["sets"]) if small else data["sets"],
        "split": split,
        "notes": ["What was left out, filled in or duplicated stands in the internal report."] if data["notes"] else [],
        "fingerprint": "",
    }


def _measured_tolerance(plan: AuditPlan, hidden: bool) -> bool:
    """Whether a tolerance is withheld: it may be the smallest that given predictions keep to, and so their unfairness.

    It hangs on no count whether it is that one, so that what is left out does not tell.
    """
    return hidden and plan.model.kind != "train"


def _model(model: Document, plan: AuditPlan, hidden: bool) -> Document:
    """Return the model without fingerprint and file; its unfairness, and a measured tolerance, unless it is hidden.

    On the training records it is rounded up, so that a tolerance holds here where it does inside.
    """
    rates = {
        name: None if model[name]["n"] < THRESHOLD else rounded_estimate(model[name])
        for name in ("accuracy_train", "accuracy_test", "majority_test")
    }
    return {
        **model,
        **rates,
        "title": OWN_MODEL if plan.model.kind == "file" else model["title"],
        "unfairness_test": None if hidden else rounded_estimate(model["unfairness_test"]),
        "achieved": None if hidden else strict(outward(number_of(model["achieved"]), 3, 1)),
        "tolerance": None if _measured_tolerance(plan, hidden) else model["tolerance"],
        "notes": [note for note in model["notes"] if note in tuple(ModelNote)],
        "fingerprint": "",
    }


def _plan(plan: Document, audited: AuditPlan, title: str, hidden: bool) -> Document:
    """Return the plan without files, seed and a measured tolerance.

    Its title goes where it names a file or is the table's own `title`.
    """
    own, name = _own(audited), plan["title"]
    for path in (audited.data.file, audited.model.file, audited.policy):
        file = re.split(r"[\\/]", path)[-1].casefold()
        if file and (file in name.casefold() or file.rpartition(".")[0] == name.casefold()):
            name = ""
    kept = [study for study in plan.get("studies", ()) if study[0] != PEOPLE.name]
    gone = {"seed": None, **({"tolerance": None} if _measured_tolerance(audited, hidden) else {})}
    return {
        **{part: told for part, told in plan.items() if part != "studies"},
        **({"studies": kept} if kept else {}),
        "title": "" if own and name == title else name,
        "data": {**plan["data"], "file": "withheld" if plan["data"]["file"] else ""},
        "model": {**plan["model"], "file": "withheld" if plan["model"]["file"] else ""},
        "policy": "withheld" if plan["policy"] else "",
        "config": {**plan["config"], **gone, **({"dataset": "upload"} if own else {})},
    }


# ------------------------------------------------------------------------------------------- measurements and verdict

WITHHELD = "The number is withheld here because {because}; the verdict is that of the whole audit."

_COUNTED = "counts of a group are withheld here, and with them every number that hangs on who is in which group"

_INSIDE = "the reason stands in the internal report alone, for it may count people."


def withheld_numbers(whole: Document, hidden: bool) -> dict[str, str]:
    """Return check -> why its number is withheld: the rule that withholds it."""
    because: dict[str, str] = {}
    for measurement in whole["measurements"]:
        name, estimate = measurement["check"], measurement["estimate"]
        of_people = measurement["basis"] != "declared" and measurement["freedom"] is None
        if estimate is not None and hidden and CHECKS[name].of_groups:
            because[name] = _COUNTED
        elif estimate is not None and of_people and 0 < estimate["n"] < THRESHOLD:
            because[name] = f"it comes from fewer than {THRESHOLD} people"
    return because


def _facts(audit: ReleaseAudit, hidden: bool) -> dict[str, Any]:
    """Return what the redacted sentences of checks are filled in with: settings alone."""
    plan, metric = audit.plan, audit.plan.config.metric
    outputs = OutputsPlan(released="labels") if audit.labels_only else plan.outputs
    others = {name: plan.settings_of(name, settings) for name, settings in other_studies().items()}
    both = "the better of two attackers. One of them knows half of the training records, where these are known"
    facts = {
        **{title: _words(settings) for title, settings in (others | plan.studied).items()},
        "answers": _words(plan.answers) | {"how": noise_text(plan.answers.answering)},
        "attribute": audit.data.attribute,
        "attacked": "people the model was trained on" if plan.sets_known else "people drawn from the table",
        "attackers": both if plan.sets_known else "an attacker from outside",
        "known": "other people" + (" or of half of the training records" if plan.sets_known else ""),
        "released": outputs.text,
        "metric": METRIC_TITLES.get(metric, metric).lower(),
        "tolerance": "a tolerance withheld here" if _measured_tolerance(plan, hidden) else f"{plan.config.tolerance:g}",
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


def _measurement(whole: Document, plan: AuditPlan, facts: Mapping[str, Any], because: str) -> Document:
    """Return a measurement rounded and with the redacted sentences of its check.

    `because` says why its number is withheld, if it is.
    """
    words = redacted_of(whole["check"]) if whole["outcome"] == "done" else Redacted()
    control = None if because else rounded_estimate(whole["control"])
    return {
        **whole,
        "estimate": None if because else rounded_estimate(whole["estimate"]),
        "control": control,
        "control_name": words.control if control else "",
        "attacked": words.attacked.format(**facts),
        "knows": words.knows.format(**facts),
        "assumptions": [text.format(**facts) for text in words.assumptions],
        "reason": WITHHELD.format(because=because) if because else _reason(whole, plan),
        "details": {},
    }


def _reason(measurement: Document, plan: AuditPlan) -> str:
    """Return why there is no number: what the plan lacks, and else where the reason stands."""
    if measurement["outcome"] == "failed":
        return f"The attack stopped with an error; {_INSIDE}"
    if measurement["outcome"] == "done":
        value = measurement["estimate"] and measurement["estimate"]["value"]
        return "There was nothing to measure." if value is None else ""
    if measurement["reason"] in (SETS_UNKNOWN, ONE_MODEL):  # they count nobody
        return str(measurement["reason"])
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


def _verdict(
    whole: Document, audit: ReleaseAudit, measurements: Mapping[str, Document], because: Mapping[str, str]
) -> Document:
    """Return the verdict with every decided interval rounded, without p-values, and with its own sentences."""
    level = number_of(whole["policy"]["level"])
    headline, detail = headline_and_detail(audit.verdict.rows, level=level, failed_tests=failed_tests(audit.self_tests))
    rows = []
    for row in whole["verdict"]["checks"]:
        gone = because.get(row["check"], "")
        decided = None if gone else rounded_estimate(row["decided"])
        cut = {**row, "decided": decided, "p_value": None, "p_adjusted": None}
        rows.append(cut | {"why": why_of(cut, measurements.get(row["check"]), gone)})
    return {**whole["verdict"], "headline": strict(headline), "detail": strict(detail), "checks": rows}


def why_of(row: Document, measurement: Document | None, because: str) -> str:
    """Return the sentence beside a verdict, from the numbers as the external report prints them.

    `row` is the verdict's with its decided interval rounded, `measurement` the check's, redacted; `because` says why
    its number is withheld, if it is.
    """
    if row["verdict"] == "not_asked" or row["limit"] is None:
        return NO_LIMIT
    if because:
        return WITHHELD.format(because=because)
    if row["verdict"] == "not_run" or measurement is None:
        return (measurement or {}).get("reason") or "The audit has no measurement of it."
    told = why(replace(read(row, CheckVerdict), measurement=read(measurement, Measurement)))
    return f"{told} Numbers are rounded here, intervals outwards."


def _findings(study: Document) -> Document:
    """Return a study's findings with nothing but their own redacted sentences."""
    blank: Document = {"evidence": "", "so_what": "", "to_do": "", "caveats": [], "estimate": None, "baseline": None}
    told = [finding for finding in study["findings"] if finding["redacted"]]
    return {**study, "findings": [{**one, **blank, "point": one["redacted"], "attacker_knows": ""} for one in told]}


# ------------------------------------------------------------------------------------------------------------- tables

_COLUMNS = {
    TableTitle.ATTRIBUTION: ("attacker", "step", "accuracy", "balanced accuracy", "change"),
    TableTitle.CORRECTIONS: ("tolerance", "attacker", "true", "before", "after", "gain"),
    TableTitle.ANSWERS: ("attacker", "answers", "draws", "balanced accuracy"),
    TableTitle.MEMBERS: ("attack", "AUC", "advantage", "people", "TPR at 1% FPR"),
    TableTitle.GUARD: ("attacker", "budget", "accuracy", "balanced accuracy"),
}
"""Title -> columns that may be shown, without those of their intervals' ends."""

_TEXTS = ("attacker", "step", "attack", "true", "people")

_SETTINGS = ("tolerance", "budget", "answers", "draws")


def _table(whole: Document, hidden: bool) -> Iterator[Document]:
    """Yield a table for others, unless it goes: where counts are hidden only members are no matter of groups."""
    if hidden and whole["title"] != TableTitle.MEMBERS:
        return
    allowed = _COLUMNS.get(whole["title"], ())
    kept = [name for name in whole["columns"] if _base(name) in allowed]
    rows = [row for row in rows_of(whole) if row.get("people", "everybody") == "everybody"]
    if rows and not {_base(name) for name in kept} <= {*_TEXTS, *_SETTINGS}:  # numbers are left
        cells = [list(_cells(row, kept)) for row in rows]
        yield {"title": whole["title"], "columns": kept, "rows": cells}


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

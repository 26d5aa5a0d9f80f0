"""The decision brief: a report on two A4 pages for those who decide and sign, as HTML and as a PDF.

Page 1 is what to decide: verdict, people, attackers, remedy, limits, caveats. Page 2 is what to answer for it: law,
data, who set the limits, decision, signatures. It says what the report's document says and nothing else, and is for
internal use, as the report is; statistics stay in the report, its annex. `brief_content` returns every text of it;
`core.report.brief_files` sets them.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..auditing.plausible_attackers import ATTACKERS, LONGEST_STATEMENT, Met
from ..auditing.policy import (
    CHECKS,
    VERDICT_TITLES,
    Alternative,
    CheckVerdict,
    Status,
    Untried,
    limits_to_set,
    next_step,
    output_checks,
    passing_alternative,
    unchanged_rows,
    untried_reason,
)
from ..auditing.policy import bullet as places_of
from ..auditing.policy.limits import chance_text, control_text, limit_number
from ..auditing.policy.verdict import MOST_TIMES, times_more_records
from ..auditing.result import failed_tests
from ..base.caveats import Caveat, CaveatKind
from ..stats.estimates import Estimate, count, percent
from ..studies.study import KNOWN_RECORDS
from .charts import clean
from .page import RETENTION, audited_model_text
from .people_sentences import people_sentences, some_unanswered
from .regulations import NOT_LEGAL_ADVICE, LawRow, law_of_checks, legal_texts, provisions
from .report import DECISIONS, Report, day_text

WORD_LIMIT = 900
"""Words of a brief at most: what stands between blanks and holds a letter or a digit."""

ANNEX = "report"
"""Name of the report's files without ending, as the command writes them."""

SIGNERS = ("Prepared", "Reviewed", "Decided")

_NOT_COVERED = re.compile(
    r"[^\u0020-\u007e\u00a0-\u00ac\u00ae-\u017f\u0391-\u03a1\u03a3-\u03a9\u03b1-\u03c9\u0401\u0410-\u044f\u0451"
    r"\u2013\u2014\u2018-\u201e\u2020-\u2022\u2026\u20ac\u2190-\u2193\u2212\u221e\u2248\u2260\u2264\u2265\u25a1]"
)
"""What the fonts of the PDF may lack; "□" stands for it."""

_UNKNOWN = "□"

_SENTENCE_END = re.compile(r"(?<=[.!?]) (?=[^a-z])")

DENSITIES = (
    "all",
    "short reasons and sources",
    "caveats about how data and model were read in number",
    "passing checks in a line",
    "law that binds, and the opinion on it",
    "the worst checks, others in a line; confirmed points and reasons of decisions in short",
    "provisions without their words",
    "short names, and the worst sentence about people",
)
"""What a brief holds, from the fullest to the densest; the first that keeps to the most words is taken."""

_SHORT_TEXTS = 1
_FOLDED_CAVEATS = 2
_FOLDED_PASSES = 3
_BINDING_LAW = 4
_FOLDED_ROWS = 5
_NO_QUOTATIONS = 6
_SHORT_NAMES = 7

_NOT_ATTACKED = "not_attacked"
_INFORMATION = "information"

_STATE_TITLES: Mapping[str, str] = {
    "fail": "Fail",
    "inconclusive": "Inconclusive",
    "not_run": "Not run",
    "pass": "Pass",
    _NOT_ATTACKED: "Not attacked",
    _INFORMATION: "For information",
}
"""State of a check -> its word, in the order of the counts."""

_MOST_ROWS = 10
"""Measured checks from which on those that pass share a line."""

_MANY_ROWS = 6
_FEWEST_ROWS = 3
"""Rows of a dense brief and of the densest; the other checks share a line."""

_MOST_SIGNATURES = 4
_FEWEST_SIGNATURES = 2
_MOST_SETTERS = 5
_MOST_NAMES = 4
_LONGEST_NAME = 90
_LONGEST_TEXT = 110
_LONGEST_PURPOSE = 400
_LONGEST_CONFIRMED = 240
_LETTERS_OF_CONFIRMED = 720
_FEWEST_LETTERS = 30
_MOST_CONFIRMED = 20
"""Letters of a confirmed point at most, of all of them and of each at least; and how many have a line."""

_LETTERS_OF_INPUT = 720
_FEWEST_OF_INPUT = 60
_SHORT_OF_INPUT = 160
"""Letters of what the input check noted, all of it and each point at least; and each at most where it is long."""

_LONGEST_DRIFT = 320
_LONGEST_REASON = 300
_FEWEST_OF_REASON = 72
"""Letters of a reason why a check was not run that stand on the densest brief: up to how many people there are."""


_CHECKS: Mapping[str, str] = {
    "attribute_excess": "{Attribute} from {outputs}",
    "attribute_balanced": "{Attribute}, mean of groups",
    "attribute_bits": "{Attribute} in bits",
    "correction_gain": "{Attribute} from constraint",
    "answers_excess": "{Attribute} from answers",
    "targeted_leakage": "Targeted query",
    "membership_caught": "Members found, 1% FPR",
    "membership_auc": "Distinguished (AUC)",
    "membership_advantage": "Attacker’s advantage",
    "membership_gap": "Members found: gap",
    "absence": "No answer: gap",
    "unfairness": "Unfairness",
    "four_fifths": "Selection ratio",
    "attriguard_exposure": "{Attribute} despite AttriGuard",
    "attriguard_cost": "Columns changed",
    "two_models_gain": "Two models",
    "measured_epsilon": "FairLeak’s own noise against its ε",
}
"""Check -> its short title; a check of another study has its own title."""

_CAVEATS: Mapping[CaveatKind, tuple[str, str]] = {
    CaveatKind.CHOSEN_ON_THESE_RECORDS: ("Choice", "Picked from several models on these people."),
    CaveatKind.SELF_TEST_MISSING: ("Self-test", "Not run."),
    CaveatKind.CONSTANT_MODEL: ("Constant", "Everybody gets the same answer."),
    CaveatKind.CONTRADICTIONS: ("Labels", "{count} contradict their scores; labels count."),
    CaveatKind.ANSWERS_ABSENT: (
        "No answer",
        "{count} of {total} people; who they are is attacked.",
    ),
    CaveatKind.STAND_IN_LABELS: ("Scores", "{count} are missing; the label stands in."),
    CaveatKind.LABELS_ONLY: ("Scores", "None are given."),
    CaveatKind.SCORE_THRESHOLD: ("Threshold", "Labels are scores from a threshold on."),
    CaveatKind.RECORDS_DROPPED: ("Dropped", "{count} records lack a value and are left out."),
    CaveatKind.PERSONS_REPEATED: (
        "Repeated",
        "{count} of {total} people have several records; one of each is used.",
    ),
    CaveatKind.RECORDS_REPEATED: ("Equal", "{count} records are equal in every column used."),
    CaveatKind.RECORDS_SHARED: ("Shared", "{count} other records equal a training record."),
    CaveatKind.VALUES_FILLED: ("Filled", "{count} missing values are filled in."),
    CaveatKind.VALUES_JOINED: ("Joined", "{count} values are taken together."),
    CaveatKind.COLUMNS_DROPPED: ("Columns", "{count} columns are left out."),
    CaveatKind.TABLE_PARSING: ("Cells", "Some could have been read otherwise."),
    CaveatKind.ATTACK_SET_DRAWN: ("Attacker", "Half of the test records are theirs."),
    CaveatKind.ATTACKER_SAMPLE: ("Sample", "Attackers learn from part of the people they know."),
    CaveatKind.MODEL_FILE: ("Model file", "How it was asked stands in the annex."),
    CaveatKind.MODEL_RANDOMISED: ("Random", "Predictions were drawn once."),
    CaveatKind.MODEL_STRUCTURE: ("Structure", "What the model is made of can memorise records."),
    CaveatKind.ATTRIBUTE_NEEDED: ("Attribute", "The model needs it to decide."),
    CaveatKind.INTERVAL_OVER_PEOPLE: ("Intervals", "Over people like these; model and seed stay."),
}
"""Kind of a caveat -> its term and its line; drift and unknown training records have a line of their own."""

_UNTRIED = {
    Untried.LABELS_ALONE: ("nothing narrower is left", "Labels alone are planned."),
    Untried.OTHER_CHECKS: (
        "releasing less does not help",
        "A narrower release does not change:",
    ),
    Untried.OTHER_POLICY: (
        "not tried yet",
        "Releasing less is yet to be tried under this policy.",
    ),
}
"""Why nothing narrower was tried -> what that means for a remedy, and its sentence."""

_ON_VERDICT = (
    CaveatKind.CHOSEN_ON_THESE_RECORDS,
    CaveatKind.SELF_TEST_MISSING,
    CaveatKind.CONSTANT_MODEL,
    CaveatKind.ANSWERS_ABSENT,
)
"""Kinds that bear on the verdict itself, and always have a line."""

Signed = Any
"""A signature as `core.store.events.Signature` records it: a history stands on reports, which import none."""

Content = dict[str, Any]


def brief_content(
    report: Report,
    signatures: Sequence[Signed] = (),
    *,
    review: str = "",
    dense: int = 0,
    annex: str = ANNEX,
) -> Content:
    """Return every text of the brief, and where the bars lie.

    `review` is the day of the next review by the register, "" where it is not kept there. `dense` leaves out what the
    annex has too, each step more than the one before: see `DENSITIES`. `annex` is the name of the report's files
    without ending.
    """
    return _Brief(report, signatures, review, dense, annex).content()


def plain_line(value: Any, most: int, *, prose: bool = False) -> str:
    """Return a text as one line that the fonts of the PDF can show, of at most so many letters.

    A name is shortened in its middle, where it says least, and prose at its end.
    """
    flat = unicodedata.normalize("NFC", " ".join(str(clean(str(value))).split()))
    visible = _NOT_COVERED.sub(_UNKNOWN, flat)
    if len(visible) <= most:
        return visible
    if prose:
        return f"{visible[:most].rpartition(' ')[0] or visible[: most - 1]}…"
    return f"{visible[: most // 2].rstrip()}…{visible[len(visible) - (most - 1) // 2 :].lstrip()}"


def check_state(row: CheckVerdict) -> str:
    """Return what a check with a limit counts as: a verdict, "not_attacked" or "information".

    Not attacked is what passes because nothing is released; for information is what the release does not hang on.
    """
    if row.is_decisive:
        return row.display_verdict
    return _INFORMATION


def state_counts(rows: Sequence[CheckVerdict]) -> list[dict[str, str]]:
    """Return the checks with a limit counted by state, such as "Fail 1"; they sum to all of them."""
    counts = Counter(check_state(row) for row in rows if row.limit)
    return [
        {"state": state, "text": f"{word} {counts[state]}"}
        for state, word in _STATE_TITLES.items()
        if counts[state]
    ]


class _Brief:
    """A report as it becomes a brief, a method a section."""

    def __init__(
        self, report: Report, signatures: Sequence[Signed], review: str, dense: int, annex: str
    ) -> None:
        self.report = report
        self.annex = annex
        self.signatures = signatures
        self.review = review
        self.dense = dense
        self.longest_text = _LONGEST_TEXT
        if dense >= _SHORT_TEXTS:
            self.longest_text = 32
        self.longest_why = LONGEST_STATEMENT
        self.longest_name = _LONGEST_NAME
        self.longest_confirmed = _LONGEST_CONFIRMED
        self.longest_reason = _LONGEST_REASON
        self.longest_signer = 40
        self.most_signatures = _MOST_SIGNATURES
        self.most_rows = _MANY_ROWS
        if dense >= _FOLDED_ROWS:
            self.longest_reason = _LONGEST_TEXT
            self.longest_confirmed = _LONGEST_TEXT
        if dense >= _SHORT_NAMES:
            self.most_signatures = _FEWEST_SIGNATURES
            self.longest_name = 26
            self.longest_text = 26
            self.longest_reason = 40
            self.longest_why = 40
            self.longest_signer = 26
            self.most_rows = _FEWEST_ROWS
        self.rows = [row for row in report.rows if row.limit]
        self.required = [row for row in self.rows if check_state(row) != _INFORMATION]
        self.measured = [
            row
            for row in self.required
            if row.measured and check_state(row) != _NOT_ATTACKED and row.verdict != Status.NOT_RUN
        ]
        self.remedy: Alternative | None = None
        self.rows_of_remedy: tuple[CheckVerdict, ...] = ()
        if (passing := passing_alternative(report.candidates)) is not None:
            self.remedy, verdict = passing
            self.rows_of_remedy = verdict.rows
        self.attribute = plain_line(report.data.attribute, self.longest_name)

    def content(self) -> Content:
        """Return the sections."""
        report = self.report
        word = VERDICT_TITLES[report.verdict.overall]
        model_title = plain_line(report.model.title, self.longest_name)
        content = {
            "name": f"{word}: {plain_line(report.title, _LONGEST_NAME)}. FairLeak decision brief",
            "overall": str(report.verdict.overall),
            "day": report.day,
            "subject": " · ".join(filter(None, self.subject())),
            "headline": plain_line(report.verdict.headline, 180),
            "model": audited_model_text(replace(report.model, title=model_title)),
            "required": f"Required: {len(self.required)} checks.",
            "counts": state_counts(self.required),
            "information": self.information(),
            "policy": " ".join(filter(None, self._policy())),
            "people": self.people(),
            "attackers": self.attackers(),
            "remedy": self.remedy_card(),
            "limits": self.limits(),
            "untested": [{"term": term, "text": text} for term, text in self.untested()],
            "caveats": [{"term": term, "text": text} for term, text in self.caveats()],
            "law": self.law(),
            "data": [{"term": term, "text": text} for term, text in self.data() if text],
            "setters": self.setters(),
            "audited": self.audited(),
            "decision": self.decision(),
            "signatures": [
                _signature(entry, self.longest_reason, self.longest_signer, self.next_review())
                for entry in self.signatures[-self.most_signatures :]
            ],
            "binds": f"Tick 1. It binds {self.version} only.",
            "signers": SIGNERS,
            "footer": [
                {"term": term, "text": text, "mono": mono} for term, text, mono in self.footer()
            ],
            "fingerprint": " ".join(re.findall(".{1,16}", report.fingerprint)),
        }
        unknown = ""
        if _UNKNOWN in str(content):
            unknown = f"{_UNKNOWN} stands for a letter that the fonts of the PDF lack."
        return content | {"unknown": unknown}

    @property
    def version(self) -> str:
        """What is decided about: model and version of the register, else the title."""
        register = self.report.plan.register
        if register.model:
            return plain_line(register.model_version, self.longest_name)
        return plain_line(self.report.title, self.longest_name)

    def next_review(self) -> str:
        """Return the day of the next review: the register's, else the first of the plan's and of last days."""
        days = [self.report.plan.register.review]
        days += [entry.until for entry in self.signatures if entry.stands]
        return day_text(self.review or min(filter(None, days), default=""))

    def subject(self) -> Iterator[str]:
        """Yield what is audited: model and version, purpose, owner, what is planned to be released."""
        report = self.report
        register = report.plan.register
        yield self.version
        if register.purpose:
            yield plain_line(register.purpose, _LONGEST_PURPOSE, prose=True)
        yield f"owner: {plain_line(register.owner, self.longest_name) or 'not stated'}"
        yield f"planned: {report.plan.outputs.text}"

    def information(self) -> str:
        """Return how many checks with a limit the release does not hang on."""
        number = len(self.rows) - len(self.required)
        if not number:
            return ""
        return f"For information {number}."

    def _policy(self) -> Iterator[str]:
        policy = self.report.policy
        yield plain_line(policy.name, self.longest_name)
        yield plain_line(policy.version, 30)

    # People -----------------------------------------------------------------------------------------------------------

    def people(self) -> Content:
        """Return the sentences about people, each with its strip of 100."""
        sentences = []
        visible = people_sentences(self.report)
        if self.dense >= _SHORT_NAMES:
            absent = [sentence for sentence in visible[1:] if sentence.check == "absence"]
            visible = (*visible[:1], *absent)
        for sentence in visible:
            has_strip = not (math.isnan(sentence.share) or math.isnan(sentence.baseline))
            text = plain_line(sentence.text, 400, prose=True)
            before, emphasis, after = text.partition(plain_line(sentence.emphasis, 60))
            sentences.append(
                {
                    "state": str(sentence.verdict),
                    "before": before,
                    "emphasis": emphasis,
                    "after": after,
                    "strip": has_strip,
                    "share": _of_100(sentence.share),
                    "baseline": _of_100(sentence.baseline),
                }
            )
        note = "100 per strip. Grey: baseline. Dark: difference."
        return {"note": note, "sentences": sentences}

    # Attackers --------------------------------------------------------------------------------------------------------

    def attackers(self) -> Content:
        """Return who could attack, what they need, whether they are met, and what became of their checks."""
        statement = self.report.plan.attackers
        rows = []
        for key, attacker in ATTACKERS.items():
            checks = [row for row in self.required if row.check in attacker.checks]
            if not checks:
                continue
            worst = min(checks, key=lambda row: list(_STATE_TITLES).index(check_state(row)))
            met, why = statement.met(key)
            seeks = ""
            if self.dense < _SHORT_NAMES:
                seeks = self._fill(attacker.seeks)
            rows.append(
                {
                    "who": attacker.title,
                    "seeks": seeks,
                    "needs": self._fill(attacker.needs, people_text=_known_people_text(worst)),
                    "met": met.name.lower(),
                    "met_text": _met_text(met, plain_line(why, self.longest_why, prose=True)),
                    **_worded(check_state(worst)),
                }
            )
        note = "“Met here”: not stated by the owner."
        if statement.date:
            who = plain_line(statement.author, 40) or "owner"
            note = f"“Met here”: stated by {who}, {day_text(statement.date)}. Not measured."
        else:
            rows = [row | {"met_text": "–"} for row in rows]
        return {"note": note, "rows": rows}

    def _fill(self, text: str, *, people_text: str = "") -> str:
        capital = f"{self.attribute[:1].upper()}{self.attribute[1:]}"
        outputs = "labels"
        if self.report.plan.outputs.released == "scores":
            outputs = "scores"
        names = {"attribute": self.attribute, "Attribute": capital}
        return text.format(**names, outputs=outputs, known=people_text)

    def short(self, row: CheckVerdict) -> str:
        """Return a check's short title."""
        if row.check in _CHECKS:
            return self._fill(_CHECKS[row.check])
        return plain_line(row.title, self.longest_name)

    # Remedy -----------------------------------------------------------------------------------------------------------

    def remedy_card(self) -> Content | None:
        """Return what could be released instead and what was tried; None where the release passes."""
        if self.report.verdict.overall == Status.PASS:
            return None
        worst = next((row for row in self.required if row.verdict != Status.PASS), None)
        if not self.report.candidates:
            reason = untried_reason(self.report.verdict.checks, self.report.plan.outputs)
            title, text = _UNTRIED[reason]
            if reason == Untried.OTHER_CHECKS:
                unchanged = unchanged_rows(self.report.rows)
                worst = unchanged[0]
                text = f"{text} {self._names(unchanged)}."
                if len(unchanged) == 1:
                    text = f"{text} {next_step(worst)}"
                    worst = None
            if worst is not None:
                text = f"{text} {self.short(worst)}: {next_step(worst)}"
            return {
                "state": "none",
                "title": f"Remedy: {title}",
                "counts": [],
                "text": plain_line(text, 320, prose=True),
                "cost": "",
                "tried": None,
            }
        dependent = [row for row in self.required if row.check in output_checks()]
        changed = next((row for row in dependent if row.verdict != Status.PASS), None)
        card: Content = {"tried": self._tried(changed)}
        if self.remedy is None:
            text = "Reduce the leak, or accept the risk in writing."
            if unchanged := unchanged_rows(self.report.rows):
                text = f"A narrower release does not change: {self._names(unchanged)}. {text}"
            return card | {
                "state": "fail",
                "title": "No remedy is shown to pass",
                "counts": [],
                "text": text,
                "cost": "",
            }
        labels = self.remedy.outputs.released == "labels"
        cost = "scores are rounded."
        if labels:
            cost = "no scores, so nobody can be ordered by them."
        accuracy = self.report.model.accuracy_test
        return card | {
            "state": "pass",
            "title": f"Remedy: release {self.remedy.title}",
            "counts": state_counts([row for row in self.rows_of_remedy if row.is_decisive]),
            "text": f"Labels, and so accuracy ({percent(accuracy)}), stay.",
            "cost": cost,
        }

    def _names(self, rows: Sequence[CheckVerdict]) -> str:
        """Return the names of the first checks, and how many more there are."""
        names = ", ".join(map(self.short, rows[:_MOST_NAMES]))
        more = len(rows) - _MOST_NAMES
        if more > 0:
            return f"{names} and {more} more"
        return names

    def _tried(self, worst: CheckVerdict | None) -> Content:
        rows = []
        beside = ""
        for alternative, verdict in self.report.candidates:
            value = "–"
            interval = ""
            if worst is not None:
                row = _row_of(verdict.rows, worst.check)
                if row is not None and row.measured:
                    value = row.value
                    interval = plain_line(row.interval.removeprefix("95%: "), 40)
                    beside = _baseline_text(row)
            chosen = alternative is self.remedy
            rows.append(
                {
                    "what": alternative.title.capitalize(),
                    "value": value,
                    "interval": interval,
                    "chosen": chosen,
                    **_worded(str(verdict.overall)),
                }
            )
        column = ""
        if worst is not None:
            column = f"{self.short(worst)}, 95% CI"
        return {"count": len(rows), "column": column, "beside": beside, "rows": rows}

    # Limits -----------------------------------------------------------------------------------------------------------

    def limits(self) -> Content:
        """Return the measured checks, the worst first; from many on those that pass share a line."""
        listed = self.measured
        if len(self.measured) > _MOST_ROWS or self.dense >= _FOLDED_PASSES:
            listed = [row for row in self.measured if row.verdict != Status.PASS]
        if self.dense >= _FOLDED_ROWS:
            listed = listed[: self.most_rows]
        folded = [row for row in self.measured if row not in listed]
        note = "Bars start at chance; right is worse."
        if self.remedy is not None:
            note = f"{note} Ring: {self.remedy.title}."
        return {
            "note": note,
            "rows": [self._limit(row) for row in listed],
            "folded": [{"text": self.short(row), **_worded(check_state(row))} for row in folded],
        }

    def _limit(self, row: CheckVerdict) -> Content:
        places = places_of(row)
        bar = None
        if places is not None:
            ring = None
            after = None
            if row.verdict != Status.PASS:
                after = _row_of(self.rows_of_remedy, row.check)
            if after is not None and (after_places := places_of(after)) is not None:
                ring = after_places.value
            bar = {
                "value": places.value,
                "low": places.low,
                "high": places.high,
                "arrows": list(places.arrows),
                "ring": ring,
            }
        return {
            **_worded(check_state(row)),
            "check": self.short(row),
            "baseline": _without_release(row),
            "bar": bar,
            "value": row.value,
            "interval": plain_line(row.interval.removeprefix("95%: "), 40),
            "limit": _limit_sign(row),
            "source": self._source(row),
            "placeholder": row.placeholder,
        }

    def _source(self, row: CheckVerdict) -> str:
        if row.placeholder:
            return "placeholder"
        return plain_line(row.source, self.longest_text, prose=True)

    def untested(self) -> Iterator[tuple[str, str]]:
        """Yield what was not attacked, not run and not tested."""
        declared = [row for row in self.required if check_state(row) == _NOT_ATTACKED]
        if declared:
            unreleased = ", ".join(map(self.short, declared))
            yield "Not attacked", f"because nothing is released: {unreleased}."
        reasons: dict[str, list[str]] = {}
        for row in self.required:
            if row.verdict == Status.NOT_RUN:
                longest = max(self.longest_text, _FEWEST_OF_REASON)
                reason = plain_line(row.attempt.reason, longest, prose=True)
                reasons.setdefault(reason.rstrip("."), []).append(self.short(row))
        for reason, titles in reasons.items():
            text = ": ".join(filter(None, (", ".join(titles), reason)))
            yield "Not run", f"{text}.".replace("….", "…")
        information = [row for row in self.rows if check_state(row) == _INFORMATION]
        if information:
            verdicts = ", ".join(
                f"{self.short(row)} ({VERDICT_TITLES[row.verdict].lower()})" for row in information
            )
            yield "For information", f"{verdicts}."
        free = [row for row in self.report.rows if not row.limit and row.measured]
        if free:
            yield "No limit set", f"{', '.join(self.short(row) for row in free)}."
        yield (
            "Not tested",
            "poisoning, access to parameters, several releases combined, other attacks.",
        )

    # Caveats ----------------------------------------------------------------------------------------------------------

    def caveats(self) -> Iterator[tuple[str, str]]:
        """Yield what was confirmed against the input check, a line each; then each other kind in a line."""
        yield from self._confirmed()
        yield from self._noted()
        yield from self._open_checks()
        yield "Drift", self._drift()
        if self.report.candidates:
            first, _ = self.report.candidates[0]
            yield "Remedy", f"Tried on the same people; adjusted for {first.tries} steps."
        yield from self._self_test()
        by_kind: dict[CaveatKind, list[Caveat]] = {}
        for caveat in self.report.caveats:
            by_kind.setdefault(caveat.kind, []).append(caveat)
        terms = []
        for kind, caveats in by_kind.items():
            if kind not in _CAVEATS:
                continue
            term, line = _CAVEATS[kind]
            if self.dense >= _FOLDED_CAVEATS and kind not in _ON_VERDICT:
                terms.append(term)
            else:
                if kind == CaveatKind.PERSONS_REPEATED:
                    caveats = caveats[:1]  # others are about some of the same people
                yield (
                    term,
                    line.format(
                        count=_total(caveats),
                        number=len(caveats),
                        total=_counted(caveats[0].total),
                    ),
                )
        if terms:
            yield "More", f"{len(terms)} on how data and model were read: annex."
        yield "Pass", "Holds for these attacks on this table. No proof of safety."

    def _confirmed(self) -> Iterator[tuple[str, str]]:
        """Yield each point at which the input check stopped and that was confirmed, in the report's own words."""
        texts = [
            caveat.text
            for caveat in self.report.caveats
            if caveat.kind == CaveatKind.INPUT_CONFIRMED
        ]
        if not texts:
            return
        yield (
            "Confirmed",
            f"Points at which the input check stopped, confirmed as right: {len(texts)}.",
        )
        longest = max(_LETTERS_OF_CONFIRMED // len(texts), _FEWEST_LETTERS)
        for number, text in enumerate(texts[:_MOST_CONFIRMED], start=1):
            yield f"{number}.", _whole_sentences(text, min(longest, self.longest_confirmed))
        more = len(texts) - _MOST_CONFIRMED
        if more > 0:
            yield "More", f"{more}, in the annex."

    def _noted(self) -> Iterator[tuple[str, str]]:
        """Yield each point that the input check noted, in whole sentences as far as there is room."""
        texts = [
            caveat.text for caveat in self.report.caveats if caveat.kind == CaveatKind.INPUT_CHECK
        ]
        longest = max(_LETTERS_OF_INPUT // max(1, len(texts)), _FEWEST_OF_INPUT)
        if self.dense >= _FOLDED_CAVEATS:
            longest = min(longest, _SHORT_OF_INPUT)
            texts = [_SENTENCE_END.split(text)[0] for text in texts]
        for text in texts[:_MOST_CONFIRMED]:
            yield "Input", _whole_sentences(text, longest)
        more = len(texts) - _MOST_CONFIRMED
        if more > 0:
            yield "Input", f"{more} more points: annex."

    def _open_checks(self) -> Iterator[tuple[str, str]]:
        at_limit = []
        for row in self.measured:
            if row.verdict != Status.INCONCLUSIVE or row.decided is None or row.limit is None:
                continue
            if times_more_records(row.decided, row.limit.value) > MOST_TIMES:
                at_limit.append(self.short(row))
        if at_limit:
            yield "At limit", f"{', '.join(at_limit)}: no realistic sample settles it."

    def _drift(self) -> str:
        """Return whether a membership finding may be drift: what is known of training and test records."""
        kinds = {caveat.kind for caveat in self.report.caveats}
        if CaveatKind.SETS_UNKNOWN in kinds:
            return (
                "Unknown: a random sample stands in for the training records, which may leak more."
            )
        for caveat in self.report.caveats:
            if caveat.kind in (CaveatKind.SETS_DIFFER, CaveatKind.NO_DRIFT):
                text = plain_line(caveat.text, _LONGEST_DRIFT, prose=True)
                if caveat.kind == CaveatKind.NO_DRIFT and self._finds_members():
                    text = f"{text} So membership findings point to memory of the model."
                return text
        roles = self.report.plan.config.roles
        if roles is not None and roles.sets:
            return "Not tested between training and test records."
        if self._finds_members():
            return "None: sets were drawn at random, so findings point to memory of the model."
        return "None: sets were drawn at random."

    def _finds_members(self) -> bool:
        """Whether a membership attack is shown to do better than chance."""
        estimates = [
            (row.attempt.estimate, CHECKS[row.check].chance)
            for row in self.measured
            if row.check in ATTACKERS["partner"].checks
        ]
        return any(estimate is not None and estimate.low > chance for estimate, chance in estimates)

    def _self_test(self) -> Iterator[tuple[str, str]]:
        tests = self.report.self_tests
        if tests:
            detected = [_hits(test.detected) for test in tests]
            alarms = [_hits(test.false_alarms) for test in tests]
            yield (
                "Self-test",
                f"{_of(detected)} planted leaks found; {_of(alarms)} false positives (5% allowed).",
            )
        if failed := failed_tests(tests):
            yield (
                "Self-test failed",
                f"{plain_line('; '.join(failed), _LONGEST_TEXT)}: rely on no verdict.",
            )

    # Law --------------------------------------------------------------------------------------------------------------

    def law(self) -> Content:
        """Return what each number is evidence for."""
        texts = legal_texts()
        newest = max(text.looked_up for text in texts.values())
        return {
            "note": f"Looked up by {day_text(newest.isoformat())}.",
            "advice": NOT_LEGAL_ADVICE,
            "rows": list(self._law_rows()),
            "foot": "A pass is no compliance. High-risk duties of the AI Act (Annex III) start on 2 December 2027; "
            "a lawyer says whether they apply.",
        }

    def _law_rows(self) -> Iterator[Content]:
        by_check = law_of_checks()
        evidence = self._evidence(by_check)
        by_key = provisions()
        for keys, text in evidence:
            articles = [by_key[key] for key in keys]
            says = "; ".join(entry.quotation for entry in articles)
            if self.dense >= _NO_QUOTATIONS:
                says = "annex"
            yield {
                "provision": ", ".join(_chips(articles)),
                "says": says,
                "evidence": text,
            }

    def _evidence(self, by_check: Mapping[str, LawRow]) -> Iterator[tuple[tuple[str, ...], str]]:
        """Yield the keys of provisions, and what is evidence for them here."""
        leaks = self._with("article_35_7c", by_check)
        attacks = self._with("article_15_5", by_check)
        fairness = self._with("article_10_2f", by_check)
        if leaks:
            records = count(self.report.data.sets.get("train", self.report.data.n))
            yield ("article_35_7c",), f"The leak checks of page 1, for {records} training records"
        measure = "The limits below"
        if self.remedy is not None:
            measure = f"Release {self.remedy.title}"
        yield ("article_35_7d", "article_25_1"), measure
        if attacks:
            yield (
                ("edpb_55",),
                f"{self._fill('{Attribute}')} and training records; no other attack of it",
            )
            if self.dense < _BINDING_LAW:
                yield ("cnil_status",), "Means of each attacker: page 1"
                yield ("cnil_paname",), "The same attacks; its tool was not used"
            same = {row.check for row in attacks} == {row.check for row in leaks}
            text = f"{len(attacks)} checks on outputs"
            if same:
                text = "The same leak checks"
            yield ("article_15_5",), text
        if fairness:
            verdicts = ", ".join(
                f"{self.short(row)} ({VERDICT_TITLES[row.verdict].lower()})"
                for row in fairness
                if row.measured
            )
            yield ("article_10_2f",), verdicts or "Not measured"
        yield ("annex_iv_2g",), "This brief, once signed"

    def _with(self, key: str, by_check: Mapping[str, LawRow]) -> list[CheckVerdict]:
        rows = []
        for row in self.rows:
            law = by_check.get(row.check)
            if law is not None and any(entry.key == key for entry in law.provisions):
                rows.append(row)
        return rows

    # Data and limits --------------------------------------------------------------------------------------------------

    def data(self) -> Iterator[tuple[str, str]]:
        """Yield what the table and the model are."""
        data = self.report.data
        model = self.report.model
        synthetic = ", synthetic" if data.synthetic else ""
        yield "Table", plain_line(data.title, self.longest_name)
        yield "Records", f"{count(data.n)}{synthetic}"
        names = {"train": "training"}
        if not self.report.plan.has_true_sets:
            names = {"train": "attacked"}
        sets = [
            f"{count(data.sets[name])} {names.get(name, name)}"
            for name in ("train", "attack", "validation", "test")
            if data.sets.get(name)
        ]
        yield "Split", ", ".join(sets)
        answered = ""
        if some_unanswered(self.report):
            answered = " where answered"
        trained = ""
        if not self.report.plan.has_true_sets:
            trained = ", perhaps of training records"
        yield (
            "Accuracy",
            f"{percent(model.accuracy_test)}{answered}{trained}; always the commonest answer: "
            f"{percent(model.majority_test)}",
        )
        roles = self.report.plan.config.roles
        if roles is not None:
            yield (
                "Favourable",
                f"{plain_line(roles.label, 40)} = {plain_line(roles.favourable, 40)}",
            )
        yield "Retention", RETENTION

    def setters(self) -> Content:
        """Return who set limits, when and after what source."""
        by_setter: dict[tuple[str, str, bool], list[CheckVerdict]] = {}
        for row in self.rows:
            assert row.limit is not None
            key = (row.limit.author, row.limit.date, row.placeholder)
            by_setter.setdefault(key, []).append(row)
        rows = []
        most = max(map(len, by_setter.values()), default=0)
        for (author, day, placeholder), limits in by_setter.items():
            sources = {row.source for row in limits}
            source = f"{len(sources)} sources"
            if placeholder:
                source = "placeholder"
            elif len(sources) == 1:
                source = plain_line(sources.pop(), 60, prose=True)
            names = ""
            if len(by_setter) > 1 and len(limits) < most:
                names = plain_line(", ".join(map(self.short, limits)), _LONGEST_TEXT, prose=True)
            elif len(by_setter) > 1:
                names = "all others"
            rows.append(
                {
                    "source": source,
                    "checks": len(limits),
                    "names": names,
                    "author": plain_line(author, 40) or "not stated",
                    "day": day_text(day) or "not stated",
                    "placeholder": placeholder,
                }
            )
        more = len(rows) - _MOST_SETTERS
        foot = self._first_result()
        if more > 0:
            foot = f"{more} more: annex. {foot}"
        return {"rows": rows[:_MOST_SETTERS], "foot": foot}

    def _first_result(self) -> str:
        """Return when the result came, and whether limits were dated before it."""
        started = self.report.times.started
        if not started:
            return ""
        late = [
            row for row in self.rows if row.limit is not None and row.limit.date[:10] > started[:10]
        ]
        moment = re.sub(r".*T(\d\d:\d\d).*", r", \1 UTC", started) if "T" in started else ""
        text = f"Result: {day_text(started)}{moment}."
        if late:
            return f"{text} Limits dated after it: {len(late)}."
        return f"{text} No limit is dated after it."

    def audited(self) -> str:
        """Return the audited attribute, and that no other column is audited."""
        for caveat in self.report.caveats:
            if caveat.kind == CaveatKind.OTHER_COLUMNS:
                return _whole_sentences(caveat.text, max(2 * self.longest_name, _SHORT_OF_INPUT))
        return f"Audited: {self.attribute}, and no other column."

    # Decision ---------------------------------------------------------------------------------------------------------

    def decision(self) -> list[Content]:
        """Return the decisions to tick, the same three as where one is signed."""
        before = ""
        if limits := limits_to_set(self.rows):
            before = f"Sources for the {limits} before use."
        overall = self.report.verdict.overall
        review = day_text(self.report.plan.register.review)
        release = "Not open: required checks do not pass."
        state = ""
        if overall == Status.PASS:
            release = before or "As planned."
            state = "pass"
        elif self.remedy is not None:
            release = f"{self.remedy.title.capitalize()}, and nothing else. {before}"
            state = "pass"
        accepted = ""
        if overall != Status.PASS:
            accepted = str(overall)
        ends = "–"
        if state:
            ends = review
        return [
            _option(DECISIONS["release"], state, release.strip(), ends),
            _option(
                DECISIONS["accept_risk"], accepted, "Written reason and last day below.", review
            ),
            _option(
                DECISIONS["do_not_release"],
                "",
                "Until revoked, with name and reason.",
                "none",
            ),
        ]

    def footer(self) -> Iterator[tuple[str, str, bool]]:
        """Yield how the brief is checked, and what its annex is; whether it is code."""
        fingerprint = self.report.fingerprint
        command = f"fairleak report verify {self.annex}.json --fingerprint {fingerprint[:16]}"
        yield "Verify", command, True
        yield (
            "Annex",
            f"Statistics, settings, seeds, self-test: {self.annex}.html, same fingerprint.",
            False,
        )


def _of_100(share: float) -> int:
    if math.isnan(share):
        return 0
    return round(100 * share)


def _worded(state: str) -> dict[str, str]:
    return {"state": state, "word": _STATE_TITLES.get(state, "")}


def _met_text(met: Met, why: str) -> str:
    if met == Met.NOT_STATED:
        return "not stated"
    return ": ".join(filter(None, (met.value.capitalize(), why)))


def _known_people_text(row: CheckVerdict) -> str:
    """Write of how many people the attacker of a check has to know the attribute."""
    number = (row.attempt.details or {}).get(KNOWN_RECORDS)
    if number is None:
        return "others"
    return f"{count(int(number))} others"


def _row_of(rows: Iterable[CheckVerdict], check: str) -> CheckVerdict | None:
    return next((row for row in rows if row.check == check), None)


def _baseline_text(row: CheckVerdict) -> str:
    """Write what a number stands beside: what is reached without the release, else chance."""
    control = row.attempt.control
    if control is not None and not math.isnan(control.value):
        return f"Baseline, without it: {control_text(row.check, control)}."
    return f"Chance: {chance_text(row.check)}."


_GAINS = ("attribute_excess", "attribute_balanced", "correction_gain", "answers_excess")
"""Checks whose number is what the release adds to an accuracy, which is their control."""


def _without_release(row: CheckVerdict) -> str:
    """Write the accuracy that a gain is added to; "" where the number is no gain."""
    control = row.attempt.control
    if row.check not in _GAINS or control is None or math.isnan(control.value):
        return ""
    return f"without: {control_text(row.check, control)}"


def _limit_sign(row: CheckVerdict) -> str:
    """Write a limit as "≤ 5.0", with its unit where that is a sign; the result beside it has the word."""
    assert row.limit is not None
    sign = "≤"
    if row.at_least:
        sign = "≥"
    return f"{sign} {limit_number(row.check, row.limit.value)}"


def _total(caveats: Sequence[Caveat]) -> str:
    """Write how many records, values or persons caveats of a kind are about; "Some" where one does not say."""
    counts = [caveat.count for caveat in caveats]
    if None in counts:
        return "Some"
    return count(sum(number or 0 for number in counts))


def _counted(number: int | None) -> str:
    if number is None:
        return "Several"
    return count(number)


def _whole_sentences(text: str, most: int) -> str:
    """Return a text's sentences as far as they keep to so many letters; of a longer first one its beginning."""
    visible = plain_line(text, len(text) + 1)
    if len(visible) <= most:
        return visible
    first, *sentences = _SENTENCE_END.split(visible)
    shortened = plain_line(first, most, prose=True)
    for sentence in sentences:
        if len(shortened) + len(sentence) >= most:
            break
        shortened = f"{shortened} {sentence}"
    return shortened


def _hits(rate: Estimate) -> tuple[int, int]:
    if math.isnan(rate.value):
        return 0, 0
    return round(rate.value * rate.n), rate.n


def _of(hits: Sequence[tuple[int, int]]) -> str:
    return f"{count(sum(hit for hit, _ in hits))} of {count(sum(n for _, n in hits))}"


def _chips(articles: Sequence[Any]) -> Iterator[str]:
    """Yield the short names of provisions, the text's name of several once."""
    for number, entry in enumerate(articles):
        chip = entry.chip
        if number:
            chip = chip.rpartition(" ")[2]
        yield chip


def _option(title: str, state: str, conditions: str, review: str = "") -> Content:
    return {"title": title, "conditions": conditions, "review": review, **_worded(state)}


def _signature(signature: Signed, longest: int, longest_name: int, review: str) -> Content:
    """Return a signed decision: who, in which role, when, why, under which condition, and until when."""
    ends = day_text(signature.until) or "no last day"
    if signature.decision == "do_not_release":
        ends = "when revoked"
    if not signature.stands:
        ends = signature.end
    typed = "" if signature.proven else " (name typed)"
    return {
        "decision": plain_line(signature.title, 30),
        "name": f"{plain_line(signature.name, longest_name)}{typed}",
        "role": plain_line(signature.role, longest_name),
        "day": day_text(signature.when),
        "ends": plain_line(ends, 70),
        "review": review or "none set",
        "reason": plain_line(signature.reason, longest, prose=True) or "none given",
        "condition": plain_line(signature.condition, longest, prose=True) or "none",
        "ended": not signature.stands,
    }

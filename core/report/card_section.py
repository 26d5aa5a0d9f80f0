"""A section of a model card in Markdown, made of an external report and nothing else.

The groups' numbers stand in it only where the report's own leakage estimate, which reads exactly these numbers at
exactly this precision, is nearly certain of nobody: what the Model card page advises. Otherwise they are left out, and
so is every check that is computed from them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.errors import InputError
from core.estimates import count
from core.policy import VERDICT_TITLES, CheckVerdict, placeholders_text
from core.report.charts import clean
from core.report.document import caveats_of, check_rows, policy_of
from core.report.metering import MeterOutcome
from core.report.page import KINDS, constraint_words
from core.report.tables import count_words, rate_words

_COMPUTED = frozenset({"unfairness", "four_fifths"})
"""Checks that follow from the groups' rates."""

_RATES = {
    "test_rate": "Accepted",
    "test_tpr": "Accepted, of positive labels",
    "test_fpr": "Accepted, of negative labels",
}


def card_section(document: Mapping[str, Any]) -> str:
    """Return the section; InputError unless the document is an external edition, which alone may be published."""
    if document["edition"] != "disclosure":
        raise InputError("REPORT must be the external report, which alone may be published, got the internal one.")
    return "\n".join(_lines(document)) + "\n"


def markdown(value: Any) -> str:
    """Return a text as one line that Markdown shows as it is: no markup, link or cell of a table."""
    flat = " ".join(str(clean(str(value))).split())
    return re.sub(r"([\\`*_{}\[\]<>#|~$&!@]|:(?=//)|(?<=www)\.)", r"\\\1", flat)


def _lines(told: Mapping[str, Any]) -> Iterator[str]:
    data, model, verdict = told["data"], told["model"], told["verdict"]
    mark, day = told["fingerprint"], str(told["times"].get("started", ""))[:10]
    reason = exposure(told)
    names = ", ".join(markdown(group["group"]) for group in told["groups"])
    yield "## Fairness and privacy audit"
    yield ""
    yield f"**{VERDICT_TITLES[verdict['overall']]}.** {markdown(verdict['headline'])} {markdown(verdict['detail'])}"
    yield ""
    synthetic = ", synthetic records" if data["synthetic"] else ""
    yield f"- Data: {markdown(data['title'])}, {count(data['n'])} people{synthetic}"
    yield f"- Sensitive attribute: {markdown(data['attribute'])} ({names})"
    yield f"- Model: {markdown(model['title'])}, {KINDS.get(model['kind'], markdown(model['kind']))}"
    yield f"- Fairness constraint: {markdown(constraint_words(model))}"
    yield f"- Accuracy on test records: {rate_words(model['accuracy_test'])}"
    yield f"- Policy: {markdown(told['policy']['name'])}, version {markdown(told['policy']['version'])}"
    yield from ("", "### Checks", "")
    yield from _table(("Verdict", "Check", "Result (95% CI)", "Limit", "Source of the limit"), _checks(told, reason))
    if placeholders := placeholders_text(policy_of(told)):
        yield from ("", markdown(placeholders))
    yield from ("", "### Fairness by group, on test records", "")
    if reason:
        yield f"Left out: {reason}"
    else:
        people = {g["group"]: count_words(g["test_rate"] and g["test_rate"]["n"]) for g in told["groups"]}
        rows = ((markdown(g["group"]), people[g["group"]], *(rate_words(g[r]) for r in _RATES)) for g in told["groups"])
        yield from _table(("Group", "People", *_RATES.values()), rows)
        yield from ("", _estimated(told))
    yield from ("", "### Caveats and limits", "")
    yield from (f"- {markdown(caveat.text)}" for caveat in caveats_of(told))
    yield "- A pass holds for these attacks on this model and this table. It does not prove that nothing leaks."
    yield "- This is not legal advice."
    made = f"FairLeak {markdown(told['provenance']['fairleak'])}{f', {markdown(day)}' if day else ''}"
    yield f"- From the external report (redacted) with the fingerprint `{mark}`, {made}."


def exposure(told: Mapping[str, Any]) -> str:
    """Return why the groups' numbers must not be published, in one sentence; empty where nobody is exposed by them."""
    meter = told.get("release_meter") or {}
    form = next((form for form in meter.get("forms", ()) if form["form"] == "disclosure"), None)
    if meter.get("outcome") == MeterOutcome.WITHHELD:
        return f"a count of a group is below {told['withheld']['threshold']}."
    if meter.get("outcome") != MeterOutcome.DONE or form is None or form["status"] not in ("converged", "nothing"):
        return "what these numbers reveal could not be estimated. `fairleak card` estimates it for a model card."
    if form["pinned"]:
        attribute = markdown(told["data"]["attribute"])
        return (
            f"with them, a reader could be nearly certain of the {attribute} of {count(form['pinned'])} people. "
            "`fairleak card` finds the precision that exposes nobody."
        )
    return ""


def _estimated(told: Mapping[str, Any]) -> str:
    (form,) = (form for form in told["release_meter"]["forms"] if form["form"] == "disclosure")
    return (
        f"Shares are rounded as in the external report. At this precision a reader is nearly certain of nobody's "
        f"{markdown(told['data']['attribute'])}, of {count(form['unsure'])} people where it was uncertain before "
        f"({form['bits']['value']:.1f} bits in all). More digits, models or groups need a new estimate."
    )


def _checks(told: Mapping[str, Any], reason: str) -> Iterator[tuple[str, ...]]:
    for row in check_rows(told):
        if not row.limit and not row.measured:
            continue
        word = VERDICT_TITLES[row.verdict]
        source = "placeholder" if row.placeholder else markdown(row.source)
        optional = ", not required" if row.limit and not row.limit.required else ""
        yield f"{word}{optional}", markdown(row.title), _result(row, reason), row.limit_label or "none", source or "–"


def _result(row: CheckVerdict, reason: str) -> str:
    if not row.measured:
        return "withheld" if row.withheld else "not run"
    if reason and row.check in _COMPUTED:
        return "left out"
    return f"{row.value} ({row.interval.removeprefix('95%: ')})" if row.interval else row.value


def _table(head: Sequence[str], rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield f"| {' | '.join(row)} |"

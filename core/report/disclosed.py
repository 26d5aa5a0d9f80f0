"""The edition for others: small counts withheld, nothing about single people, and attacked before it is written.

What it leaves out, and why:

- counts of people below the threshold, with the rates they belong to, and further ones from which they could be worked
  out (`core.report.suppression`); a rate stands only where its group, those it counts and those it does not count all
  reach the threshold. Everybody's totals are taken to be known;
- numbers that compare groups (unfairness, ratio of acceptance, difference in members caught) where a group is withheld,
  for they would tell its rate; the verdicts on them stay;
- fingerprints of the data and of the model's answers: whoever knows all records but one could try that one's values
  until the fingerprint fits. The plan's fingerprint and the seeds: with them a noise or a split can be drawn again;
- paths and names of files, further details of the attacks, tables whose rows are single records;
- decimals beyond a tenth of a point, or a point where the interval is wide; intervals are rounded outwards.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from core.errors import InputError
from core.report.attacked import AttackedPeople, EditionAttack, attack_edition
from core.report.canonical import strict
from core.report.disclosed_groups import disclosed_groups
from core.report.disclosed_tables import disclosed_tables
from core.report.document import THRESHOLD, Document, internal_document, sealed
from core.report.numbers import rounded, rounded_estimate

if TYPE_CHECKING:
    from core.decision import ReleaseAudit

__all__ = ["disclosure_edition"]

_COMPARING = ("unfairness", "four_fifths", "membership_gap")
"""Checks whose number compares groups."""

_PATH = re.compile(r"(?<![\w/:.])(?:[A-Za-z]:[\\/]|\\\\|file:/+|~?/|\.{1,2}[\\/])[^\s\"'<>|,;)]+")

_SEED = re.compile(r"\bseed \d+\b")

_FEW = "fewer than {threshold}"

_WITHHELD_WHY = "The number is withheld from this edition because {because}; the verdict is that of the whole audit."


def disclosure_edition(
    audit: ReleaseAudit, *, people: AttackedPeople | None = None, threshold: int = THRESHOLD
) -> Document:
    """Return the disclosure edition of an audit, attacked and sealed.

    Parameters
    ----------
    audit : ReleaseAudit
    people : AttackedPeople, optional
        The test people, for the attack; without them the edition says that it was not attacked.
    threshold : int, at least 2
        Counts of people below it are withheld.

    Raises
    ------
    InputError
        If the threshold is below 2 or the people are not those of the audit.
    """
    if isinstance(threshold, bool) or not isinstance(threshold, int) or threshold < 2:
        raise InputError(f"threshold must be a whole number of at least 2, got {threshold!r}.")
    found = internal_document(audit)
    notes: list[str] = []
    found["edition"] = "disclosure"
    found["groups"], hidden = disclosed_groups(found, threshold, notes)
    _measurements(found, threshold, bool(hidden))
    found["model"] = _model(found["model"], bool(hidden))
    found["tables"] = disclosed_tables(found["tables"], {g["group"] for g in found["groups"]}, threshold, notes)
    found["data"] = _data(found["data"], threshold)
    found["provenance"] = {**found["provenance"], "plan": "", "seeds": {}}
    found["plan"] = _plan(found["plan"])
    found["times"] = {"started": found["times"].get("started", "")[:10]} if found["times"].get("started") else {}
    found = _texts(found, _scrub(found, audit, threshold))
    found["withheld"] = {"threshold": threshold, "notes": [*_ALWAYS, *notes]}
    found["edition_attack"] = _attack(attack_edition(found, people))
    return sealed(found)


_ALWAYS = (
    "Fingerprints of the data, of the model's answers and of the plan, and the seeds, stand in the internal edition "
    "only: with a fingerprint somebody who knows all records but one could try out that one's values.",
    "Files are not named, and no row of a table is about a single record.",
    "Shares are rounded to a tenth of a point, or to a point where their interval is wider than ±3.5 points; intervals "
    "are rounded outwards.",
)


def _attack(found: EditionAttack) -> Document:
    told = dict(strict(found))
    for name, value in told.items():
        told[name] = rounded_estimate(value) if isinstance(value, dict) else rounded(value, 1)
    return told


def _measurements(found: Document, threshold: int, group_withheld: bool) -> None:
    """Round every measurement and decision; withhold those that rest on few people or tell a withheld group's rate."""
    because: dict[str, str] = {}
    for measurement in found["measurements"]:
        name, n = measurement["check"], (measurement["estimate"] or {"n": 0})["n"]
        of_people = measurement["basis"] != "declared" and measurement["freedom"] is None
        if of_people and 0 < n < threshold:
            because[name] = f"it rests on fewer than {threshold} people"
        elif group_withheld and name in _COMPARING and measurement["estimate"] is not None:
            because[name] = "it would tell the rate of a group that is withheld"
        gone = name in because
        measurement["estimate"] = None if gone else rounded_estimate(measurement["estimate"])
        measurement["control"] = None if gone else rounded_estimate(measurement["control"])
        measurement["details"] = {}
        if gone:
            measurement["reason"] = _WITHHELD_WHY.format(because=because[name])
            measurement["attacked"] = "Withheld with its number."
    for row in found["verdict"]["checks"]:
        gone = row["check"] in because
        row["decided"] = None if gone else rounded_estimate(row["decided"])
        for name in ("p_value", "p_adjusted"):
            row[name] = None if gone else rounded(row[name])
        if gone:
            row["why"] = _WITHHELD_WHY.format(because=because[row["check"]])


def _model(model: Document, group_withheld: bool) -> Document:
    estimates = {name: rounded_estimate(model[name]) for name in ("accuracy_train", "accuracy_test", "majority_test")}
    gap = None if group_withheld else rounded_estimate(model["unfairness_test"])
    achieved = None if group_withheld else rounded(model["achieved"])
    return {**model, **estimates, "unfairness_test": gap, "achieved": achieved, "fingerprint": ""}


def _data(data: Document, threshold: int) -> Document:
    sets = {name: None if count < threshold else count for name, count in data["sets"].items()}
    return {**data, "sets": sets, "fingerprint": ""}


def _plan(plan: Document) -> Document:
    """Return the plan without files and seed."""
    return {
        **plan,
        "data": {**plan["data"], "file": "withheld" if plan["data"]["file"] else ""},
        "model": {**plan["model"], "file": "withheld" if plan["model"]["file"] else ""},
        "policy": "withheld" if plan["policy"] else "",
        "config": {**plan["config"], "seed": None},
    }


def _scrub(found: Document, audit: ReleaseAudit, threshold: int) -> Callable[[str], str]:
    """Return what takes file names and small numbers of people out of a sentence."""
    files = [text for text in (audit.plan.data.file, audit.plan.model.file, audit.plan.policy) if text]
    names = {part for text in files for part in (text, re.split(r"[\\/]", text)[-1]) if len(part) > 2}
    nouns = "records?|rows?|people|persons?|members?|others|" + "|".join(
        re.escape(str(group["group"])) for group in found["groups"]
    )
    few = re.compile(rf"(?<![\d.,−+-])(\d+)(?= (?:of the )?(?:{nouns})\b)")

    def scrubbed(text: str) -> str:
        for name in sorted(names, key=len, reverse=True):
            text = text.replace(name, "(file withheld)")
        text = _SEED.sub("a seed that is withheld", _PATH.sub("(path withheld)", text))
        return few.sub(
            lambda m: _FEW.format(threshold=threshold) if 0 < int(m[1][:9]) < threshold and len(m[1]) < 9 else m[0],
            text,
        )

    return scrubbed


_PROSE = (
    "source",
    "split",
    "notes",
    "attacked",
    "knows",
    "assumptions",
    "reason",
    "why",
    "detail",
    "headline",
    "title",
)
"""Where sentences stand that another part of FairLeak wrote about the data."""


def _texts(value: Any, scrub: Callable[[str], str], *, inside: bool = False) -> Any:
    """Return the document with every sentence scrubbed."""
    if isinstance(value, Mapping):
        return {name: _texts(item, scrub, inside=name in _PROSE) for name, item in value.items()}
    if isinstance(value, list):
        return [_texts(item, scrub, inside=inside) for item in value]
    return scrub(value) if inside and isinstance(value, str) else value

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

Every sentence is one of this edition's own (`core.report.disclosed_words`), with settings of the plan and numbers as
they are printed; notes on the data are left out. It names no file, and has no fingerprint of data, answers or plan and
no seed: whoever knows all records but one could try that one's values until a fingerprint fits. Shares have a tenth of
a point, or a point where their interval is wide, and intervals are rounded outwards; tables with rows about single
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

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from core.decision.attacks.readers import AttackedPeople
from core.decision.result import MeterOutcome
from core.errors import InputError
from core.policy import headline_and_detail
from core.report.attacked import EditionAttack, attack_edition
from core.report.canonical import strict
from core.report.disclosed_data import disclosed_data, disclosed_model, disclosed_plan
from core.report.disclosed_groups import disclosed_groups
from core.report.disclosed_tables import disclosed_tables
from core.report.disclosed_training import small_in_training
from core.report.disclosed_words import reworded, why_of
from core.report.document import EDITIONS, THRESHOLD, Document, internal_document, sealed
from core.report.metered import meter_report, not_metered
from core.report.metered_words import METER_WITHHELD, edition_told
from core.report.numbers import number_of, rounded, rounded_estimate
from core.validation import choice

if TYPE_CHECKING:
    from core.decision import ReleaseAudit

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


def disclosure_edition(
    audit: ReleaseAudit, *, people: AttackedPeople | None = None, threshold: int = THRESHOLD
) -> Document:
    """Return the disclosure edition of an audit, attacked and sealed.

    Parameters
    ----------
    people : AttackedPeople, optional
        The test people, for the attack; without them the edition says that it was not attacked.
    threshold : int, at least 2
        Counts of people below it are withheld.

    Raises
    ------
    InputError
        If the threshold is below 2 or the people are not those of the audit.
    """
    found, compared = cut_edition(audit, threshold)
    found["edition_attack"] = _attack(attack_edition(found, people, rates=compared))
    found["release_meter"] = _meter(found, people, threshold, compared=compared)
    return sealed(found)


def cut_edition(audit: ReleaseAudit, threshold: int) -> tuple[Document, bool]:
    """Return the edition before it is attacked, metered and sealed, and whether it withholds no count of a group.

    Raises
    ------
    InputError
        If the threshold is below 2.
    """
    if isinstance(threshold, bool) or not isinstance(threshold, int) or threshold < 2:
        raise InputError(f"threshold must be a whole number of at least 2, got {threshold!r}.")
    found, plan = internal_document(audit), audit.plan
    notes: list[str] = []
    training = small_in_training(found["tables"], threshold)
    found["edition"] = "disclosure"
    found["release_meter"] = None  # that of the internal edition tells counts
    found["groups"], hidden = disclosed_groups(found, threshold, notes)
    compared, sizes_hidden = not hidden.any_count, hidden.any_size or training.sizes
    found["plan"] = disclosed_plan(found["plan"], plan, found["data"]["title"])
    found["data"] = disclosed_data(found["data"], plan, threshold)
    found["model"] = disclosed_model(
        found["model"], plan, threshold, compared=compared, trained=compared and not training.counts
    )
    gone = _withheld(found, threshold, compared=compared, sizes_hidden=sizes_hidden, members=not training.sizes)
    _measurements(found, audit, gone, sizes_hidden=sizes_hidden)
    _verdict(found, audit, gone)
    found["tables"] = disclosed_tables(
        found["tables"], notes, sizes_hidden=sizes_hidden, training_hidden=training.counts or not compared
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


def _attack(found: EditionAttack) -> Document:
    told = dict(strict(found))
    for name, value in told.items():
        told[name] = rounded_estimate(value) if isinstance(value, dict) else rounded(value, 1)
    return told


def _meter(found: Document, people: AttackedPeople | None, threshold: int, *, compared: bool) -> Document:
    """Return what the release meter reads in the edition; where counts are withheld nothing but a fixed sentence.

    Bits and pinned people hang on the counts, which may be told by them to whoever knows the prior.
    """
    if people is None:
        return dict(strict(not_metered("the test people were not at hand when this edition was written", threshold)))
    if not compared:
        return dict(strict(not_metered("", threshold, outcome=MeterOutcome.WITHHELD))) | {
            "told": METER_WITHHELD,
            "control": "",
        }
    if people.posterior is None:
        return dict(strict(not_metered("its attacker could not be trained", threshold)))
    try:
        meter = meter_report({"disclosure": found}, people, threshold=threshold)
    except InputError:
        meter = not_metered(
            "its numbers contradict the people it was metered on", threshold, outcome=MeterOutcome.FAILED
        )
    told: Document = dict(strict(meter))
    if meter.forms:
        told["told"] = edition_told(meter.forms[0], len(people.group_names))
    told["forms"] = [_cut(form) for form in told["forms"]]
    return _cut(told)


def _cut(told: Document) -> Document:
    """Return a record with its shares as they are printed, and bits to a tenth."""
    found = {}
    for name, value in told.items():
        if name == "bits":
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
    from core.decision import failed_tests

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
    audit: ReleaseAudit | Mapping[str, Any],
    *,
    edition: str = "internal",
    people: AttackedPeople | None = None,
    threshold: int = THRESHOLD,
) -> Document:
    """Return the report of an audit, sealed with its fingerprint.

    Parameters
    ----------
    audit : ReleaseAudit, or a document made before
        A document comes back as it is if it is of this edition.
    edition : {"internal", "disclosure"}
    people : AttackedPeople, optional
        Whom the disclosure edition is attacked on before it is written; without them it says that it was not.
    threshold : int, at least 2
        Counts below it are withheld from the disclosure edition.

    Raises
    ------
    InputError
        If there is no such edition, or a document is of another one.
    """
    choice(edition, EDITIONS, name="edition")
    if isinstance(audit, Mapping):
        if audit.get("edition") != edition:
            raise InputError(f"The document must be of the {edition} edition, got {audit.get('edition')!r}.")
        return dict(audit)
    if edition == "disclosure":
        return disclosure_edition(audit, people=people, threshold=threshold)
    return sealed(internal_document(audit))

"""The disclosure edition's own sentences about checks, table, model and plan.

A sentence that another part of FairLeak wrote may tell a count or a rate of a group, and no pattern finds them all. So
none is taken over: which sentence stands follows from the check, its outcome and its verdict, and what stands in it is
the attribute's name, a setting of the plan, the number of all people in a set, or a number that the edition prints
anyway, rounded as it prints it.

Table, model and plan are put together from known parts, no file named.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from core.estimates import count
from core.fairness import METRIC_TITLES
from core.policy import CHECKS, level_text, limit_text, range_text, value_text
from core.policy.decisions import NO_LIMIT
from core.queries.checks import DECLARED, sentences
from core.report.canonical import estimate_of, number_of, rounded, rounded_estimate
from core.report.document import Document
from core.report.suppression import withheld_counts

if TYPE_CHECKING:
    from core.release_audit import AuditPlan, ReleaseAudit

_OWN = "A table of the auditor's own"

_MORE_NOTES = "What was left out, filled in or stands twice is told in the internal edition."


def disclosed_data(data: Document, plan: AuditPlan, threshold: int) -> Document:
    """Return the table without fingerprint, notes and names of files."""
    own = _own(plan)
    return {
        **data,
        "title": _OWN if own else data["title"],
        "source": f"{_OWN}, not named here." if own else data["source"],
        "sets": _sets(data, threshold),
        "split": _split(plan),
        "notes": [_MORE_NOTES] if data["notes"] else [],
        "fingerprint": "",
    }


def _own(plan: AuditPlan) -> bool:
    """Whether the table is none of the catalogue, whose titles and sources are FairLeak's."""
    from core.datasets import CATALOG

    return bool(plan.data.file) or plan.data.dataset not in CATALOG


def _sets(data: Document, threshold: int) -> dict[str, int | None]:
    """Return the sizes of the sets; a small one is withheld, and another if all records would tell it."""
    counts = {**data["sets"], "": data["n"]}
    sums = [("", tuple(data["sets"]))] if sum(data["sets"].values()) == data["n"] else []
    hidden = withheld_counts(counts, sums, threshold=threshold, public=("",))
    return {name: None if name in hidden else size for name, size in data["sets"].items()}


def _split(plan: AuditPlan) -> str:
    config = plan.config
    if config.roles is not None and config.roles.sets:
        return "The sets are those of a column of the table; a seed that is withheld divides the attacker's."
    does = "train the model" if plan.model.kind == "train" else "stand for the model's training records"
    return (
        f"Drawn with a seed that is withheld: {100 * config.train_share:g}% of the records {does}; the attacker knows "
        "half of the others, the test takes the rest."
    )


def disclosed_model(model: Document, plan: AuditPlan, threshold: int, *, compared: bool, trained: bool) -> Document:
    """Return the model without fingerprint and file.

    `compared` and `trained` say whether the unfairness on the test and on the training records may stand.
    """
    from core.release_audit.result import ModelNote

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


def disclosed_plan(plan: Document, audited: AuditPlan, title: str) -> Document:
    """Return the plan without files and seed; its title goes where it names a file or is the table's own `title`."""
    own, name = _own(audited), plan["title"]
    return {
        **plan,
        "title": "" if _names_file(name, audited) or (own and name == title) else name,
        "data": {**plan["data"], "file": "withheld" if plan["data"]["file"] else ""},
        "model": {**plan["model"], "file": "withheld" if plan["model"]["file"] else ""},
        "policy": "withheld" if plan["policy"] else "",
        "config": {**plan["config"], "seed": None, **({"dataset": "upload"} if own else {})},
    }


def _names_file(title: str, plan: AuditPlan) -> bool:
    for path in (plan.data.file, plan.model.file, plan.policy):
        name = re.split(r"[\\/]", path)[-1].casefold()
        if name and (name in title.casefold() or name.rpartition(".")[0] == title.casefold()):
            return True
    return False


WITHHELD = "The number is withheld from this edition because {because}; the verdict is that of the whole audit."

_INFERRED = (
    "The {attribute} of {training}, inferred from {outputs} by the better of two attackers, one from outside and "
    "one who knows half of the training records where these are told."
)
_INFERS = (
    "Features and label of everybody, {outputs}, and the {attribute} of other people, or of half of the training "
    "records."
)

_ATTRIBUTE, _MEMBERSHIP = "attribute", "membership"
"""Kinds of checks that most sentences are the same for."""

_KIND = {
    **dict.fromkeys(("attribute_excess", "attribute_balanced", "attribute_bits"), _ATTRIBUTE),
    **dict.fromkeys(("membership_caught", "membership_auc", "membership_advantage"), _MEMBERSHIP),
}
"""Check -> its kind; of all others a kind of their own."""

_ATTACKED = {
    _ATTRIBUTE: _INFERRED,
    "correction_gain": "The {attribute} of {training}, guessed by several attackers and then corrected; the best after "
    "it is compared with the best before it, the majority guess among both.",
    _MEMBERSHIP: "Who of the training and test records is a training record, by the best of the attacks tried.",
    "membership_gap": "Who of the training and test records is a training record, by the best of the attacks tried, "
    "each group by itself.",
    "unfairness": "{metric} between the groups by {attribute}, on {test}: largest deviation of a group from the "
    "overall rate.",
    "four_fifths": "Acceptance rates of the groups by {attribute}, the lowest over the highest, on {test}.",
    "attriguard_exposure": "The {attribute} of test people whose records change by {budget} columns each on average, "
    "guessed by the best of the attackers.",
    "attriguard_cost": "The records of test people, changed by AttriGuard.",
}

_MEMBERS_KNOWN = (
    "Every person's true label and what the model releases; some attacks also who is a member of half of the people, "
    "and those with shadow models the features and how the model is trained."
)

_KNOWS = {
    _ATTRIBUTE: _INFERS,
    "correction_gain": "Features, label and prediction of everybody, the {attribute} of other people, and the promise "
    "of {metric_inside} within {tolerance}, or within the smallest true tolerance where that is false.",
    _MEMBERSHIP: _MEMBERS_KNOWN,
    "membership_gap": _MEMBERS_KNOWN,
    "attriguard_exposure": "The records as published, without their label, records and {attribute} of other people, "
    "and how the noise is made.",
}
_NOBODY = "There is no attacker."

_CONTROL = {
    _ATTRIBUTE: "imputation, without the model",
    "attribute_bits": "imputation, without the model, log-loss",
    "correction_gain": "the best attacker, told nothing",
    _MEMBERSHIP: "random guessing",
    "membership_gap": "no difference",
    "attriguard_exposure": "the best attacker without noise",
}

_OVER_PEOPLE = "The interval is over people like these; model, attackers and seed are taken as they are."
_SETS_UNKNOWN = (
    "Nobody told which records the model was trained on: people drawn at random stand for them, so what it gives away "
    "of its own training records may be more."
)
_SAMPLE = "The test records are a sample of the people the model will decide about."
_TOGETHER = "The interval holds for the attackers tried together."
_MEMBERS = (
    "The interval is over members and non-members; the model and its training are taken as they are.",
    "Training and test records are taken to be drawn alike: any other difference between them counts as a leak.",
    _TOGETHER,
)

_ASSUMED = {
    _ATTRIBUTE: (_OVER_PEOPLE, _TOGETHER),
    "correction_gain": (
        _OVER_PEOPLE,
        "Whether the promise is true is not told here; a false one misleads whoever believes it, so the attackers are "
        "told a tolerance raised in steps of 0.001 until it is true.",
        _TOGETHER,
    ),
    _MEMBERSHIP: _MEMBERS,
    "membership_gap": (*_MEMBERS, "Each group has a threshold of its own."),
    "unfairness": (_SAMPLE,),
    "four_fifths": (_SAMPLE,),
    "attriguard_exposure": (_TOGETHER, "Attackers who train against the noise do so at the planned budget."),
    "attriguard_cost": ("The interval is over people; what a person's noise costs is its mean over the draws.",),
}

_ANSWERS = tuple(check.name for check in DECLARED)
"""Checks whose study words what others may read."""

_INSIDE = "why is told in the internal edition alone, for the reason may count people."


def reworded(measurement: Document, found: Document, audit: ReleaseAudit, because: str) -> Document:
    """Return a measurement with sentences of this edition's own; `because` says why its number is withheld, if it is.

    `found` is the whole document, with the sizes of its sets as they are to be shown.
    """
    name, done = measurement["check"], measurement["outcome"] == "done"
    plan, facts, kind = audit.plan, _facts(found, audit), str(_KIND.get(name, name))
    own = {"attacked": "", "knows": "", "assumptions": (), "control_name": ""}
    if done and name in _ANSWERS:
        own = sentences(name, plan.answers, facts["attribute"])
    elif done:
        own = {
            "attacked": _ATTACKED[kind].format(**facts),
            "knows": _KNOWS.get(kind, _NOBODY).format(**facts),
            "assumptions": _assumed(name, plan),
            "control_name": _CONTROL.get(name) or _CONTROL.get(kind, ""),
        }
    return {
        **measurement,
        **own,
        "assumptions": list(own["assumptions"]),
        "reason": WITHHELD.format(because=because) if because else _reason(measurement, plan),
        "control_name": own["control_name"] if measurement["control"] else "",
        "details": {},
    }


def _facts(found: Document, audit: ReleaseAudit) -> dict[str, str]:
    from core.attribute import outputs_text
    from core.subject import OutputsPlan

    plan = audit.plan
    data = found["data"]
    metric = METRIC_TITLES.get(plan.config.metric, plan.config.metric)
    train, test = (data["sets"].get(name) for name in ("train", "test"))
    trained = "the model was trained on" if _sets_known(plan) else "drawn from the table"
    return {
        "attribute": data["attribute"],
        "training": f"people {trained}" if train is None else f"{count(train)} people {trained}",
        "test": "the test records" if test is None else f"{count(test)} test records",
        "outputs": outputs_text(OutputsPlan(released="labels") if audit.labels_only else plan.outputs),
        "metric": metric,
        "metric_inside": metric.lower(),
        "tolerance": f"{plan.config.tolerance:g}",
        "budget": f"{plan.guard.budget:g}",
    }


def _sets_known(plan: AuditPlan) -> bool:
    return plan.model.kind == "train" or bool(plan.config.roles and plan.config.roles.sets)


def _assumed(name: str, plan: AuditPlan) -> tuple[str, ...]:
    told = _ASSUMED[_KIND.get(name, name)]
    if (name.startswith("attribute") or name == "correction_gain") and not _sets_known(plan):
        return (*told, _SETS_UNKNOWN)
    if name.startswith("membership") and (plan.model.kind != "train" or not plan.membership.shadows):
        return (*told, "Attacks with shadow models were not tried; they may find more.")
    return told


def _reason(measurement: Document, plan: AuditPlan) -> str:
    """Return why there is no number: what the plan lacks, and else that it is not told."""
    if measurement["outcome"] == "failed":
        return f"It was begun and broke; {_INSIDE}"
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


def why_of(row: Document, measurement: Document | None, level: float, because: str) -> str:
    """Return the sentence beside a verdict, from the numbers as this edition prints them.

    `row` is the verdict's with its decided interval rounded, `measurement` the check's, reworded; `because` says why
    its number is withheld, if it is.
    """
    if row["verdict"] == "not_asked" or row["limit"] is None:
        return NO_LIMIT
    if because:
        return WITHHELD.format(because=because)
    if row["verdict"] == "not_run" or measurement is None:
        return (measurement or {}).get("reason") or "The audit has no measurement of it."
    return _decided(row, measurement, level)


def _decided(row: Document, measurement: Document, level: float) -> str:
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

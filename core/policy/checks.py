"""The checks a policy may set a limit to, and what a report for others says of each.

A check says what an attack gains, or what the model does, as one number. Its sentences for others stand here until
every study brings those of its own checks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from core.estimates import MOST_TESTED
from core.studies import STUDIES
from core.study import Check, Redacted

_ORDER = (
    "attribute_excess",
    "attribute_balanced",
    "attribute_bits",
    "correction_gain",
    "answers_excess",
    "targeted_leakage",
    "membership_caught",
    "membership_auc",
    "membership_advantage",
    "membership_gap",
    "absence",
    "unfairness",
    "four_fifths",
    "attriguard_exposure",
    "attriguard_cost",
    "two_models_gain",
)
"""Of a policy; checks of other studies come after these."""


class _Checks(Mapping[str, Check]):
    """Name -> Check, in the order of a policy: what the studies declare, whichever there are."""

    def __getitem__(self, name: str) -> Check:
        for check in _declared():
            if check.name == name:
                return check
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        names = [check.name for check in _declared()]
        return iter([name for name in _ORDER if name in names] + [name for name in names if name not in _ORDER])

    def __len__(self) -> int:
        return sum(1 for _ in _declared())


def _declared() -> Iterator[Check]:
    for study in STUDIES.values():
        yield from study.declared


CHECKS = _Checks()
"""Name -> Check, in the order of a policy."""

assert len(CHECKS) <= MOST_TESTED, "raise MOST_TESTED in core/estimates.py; intervals get wider by it"


def check_title(check: str, attribute: str) -> str:
    """Return a check's title for this attribute, its first letter large."""
    title = CHECKS[check].title.format(attribute=attribute)
    return title[:1].upper() + title[1:]


_OVER_PEOPLE = "The interval is over people like these; model, attackers and seed are fixed."
_SETS = "Where the training records are unknown, a random sample is attacked instead; the real ones may leak more."
_SAMPLE = "The test records are a sample of the people the model will decide about."
_TOGETHER = "The interval holds for the attackers tried together."
_ANSWERS = "{answers[questions]} answers to bias queries ({answers[how]})"

_ATTRIBUTE = Redacted(
    attacked="The {attribute} of {attacked}, inferred from {released} by {attackers}.",
    knows="Everybody's features, label and {released}, and the {attribute} of {known}.",
    control="imputation without the model",
    assumptions=(_OVER_PEOPLE, _TOGETHER, _SETS),
)
_MEMBERSHIP = Redacted(
    attacked="Which of the training and test records are training records, by the best of the attacks tried.",
    knows="Everybody's true label and what the model releases. Some attacks also know who is a member for half of the "
    "people; LiRA knows features and how the model is trained.",
    control="random guessing",
    assumptions=(
        "The interval is over members and non-members; the model and its training are fixed.",
        "Training and test records are drawn alike: any other difference between them counts as a leak.",
        _TOGETHER,
        "LiRA is among the attacks only where the model can be trained again; it may find more.",
        _SETS,
    ),
)

REDACTED = {
    **dict.fromkeys(("attribute_excess", "attribute_balanced", "attribute_bits"), _ATTRIBUTE),
    "correction_gain": Redacted(
        attacked="The {attribute} of {attacked}, inferred by several attackers and then corrected. The best after the "
        "correction is compared with the best before it, majority-class baseline included.",
        knows="Everybody's features, label and prediction, the {attribute} of other people, and the fairness "
        "constraint: {metric} within {tolerance}, or within the smallest tolerance that holds.",
        control="the best attacker before disclosure",
        assumptions=(
            _OVER_PEOPLE,
            "This report does not state whether the tolerance holds. If it does not, the attack uses the smallest "
            "tolerance that holds (steps of 0.001).",
            _TOGETHER,
            _SETS,
        ),
    ),
    "answers_excess": Redacted(
        attacked="The {attribute} of {answers[people]} test people at a time, in {answers[repeats]} repetitions, "
        f"inferred by the best of several decoders from {_ANSWERS}.",
        knows="The features and labels of these people, how many of them are in each group, every score queried, and "
        "how the answers are made.",
        control="the prior alone, no answers",
        assumptions=(
            "The queries are slight changes of the audited model; other queries may reveal more or less.",
            "The interval is over repetitions (people, queries, noise) and holds for the decoders tried together.",
        ),
    ),
    "targeted_leakage": Redacted(
        attacked="The {attribute} of one person among {answers[people]}, from " + _ANSWERS + ".",
        knows="The group sizes, every score queried, and how the answers are made; nothing else of the person.",
        control="random guessing",
        assumptions=(
            "Answers with noise keep their ε together, over their whole life. Exact and rounded answers guarantee "
            "nothing to a single person.",
            "The bound is for an attacker without a prior; one with a prior starts from it.",
        ),
    ),
    **dict.fromkeys(("membership_caught", "membership_auc", "membership_advantage"), _MEMBERSHIP),
    "membership_gap": Redacted(
        attacked="Which of the training and test records are training records, each group by itself, by the best of "
        "the attacks tried.",
        knows=_MEMBERSHIP.knows,
        control="no difference",
        assumptions=(*_MEMBERSHIP.assumptions, "Each group has a threshold of its own."),
    ),
    "unfairness": Redacted(
        attacked="Groups by {attribute} on the test records, {metric}: largest deviation of a group from the overall "
        "rate.",
        knows="There is no attacker.",
        assumptions=(_SAMPLE,),
    ),
    "four_fifths": Redacted(
        attacked="Selection rates of the groups by {attribute} on the test records, the lowest over the highest.",
        knows="There is no attacker.",
        assumptions=(_SAMPLE,),
    ),
    "attriguard_exposure": Redacted(
        attacked="The {attribute} of test people whose records change by at most {guard[budget]} columns each on "
        "average, inferred by the best of the attackers.",
        knows="The published records without their label, records and {attribute} of other people, and how the "
        "perturbation is made.",
        control="the best attacker without perturbation",
        assumptions=(_TOGETHER, "Attackers who train against the perturbation do so at the planned budget."),
    ),
    "attriguard_cost": Redacted(
        attacked="The records of test people, changed by AttriGuard.",
        knows="There is no attacker.",
        assumptions=("The interval is over people; a person's cost is the mean over the repetitions.",),
    ),
}
"""Check -> its sentences, where the check itself brings none."""


def redacted_of(check: str) -> Redacted:
    """Return a check's sentences in a report for others: its own, or those kept here."""
    return CHECKS[check].redacted or REDACTED.get(check, Redacted())

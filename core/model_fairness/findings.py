"""What the fairness of a model is, worded once: page, command and report show these sentences."""

from __future__ import annotations

import math

from core.estimates import epsilon_text, percent, tolerance_text
from core.fairness import difference_title, is_smallest
from core.models import GIVEN
from core.study import Finding
from core.subject import Subject

_AMONG = {
    "statistical_parity": "overall selection rate",
    "predictive_equality": "overall false-positive rate",
    "equal_opportunity": "overall true-positive rate",
    "equalized_odds": "overall false- or true-positive rate",
}

_ASKED = {
    "threshold_optimizer": "The threshold optimizer always aims at 0.",
    "dp_id3": "No fairness constraint; trained with ε = {epsilon}.",
}


def headline(subject: Subject) -> Finding:
    """Return whether the constraint holds on training and test set, or that there is nothing a model decides."""
    model, config = subject.model, subject.config
    seen, unseen = ("training set", "test set") if subject.sets_known else ("people attacked", "others")
    train, test, apart = model.unfairness_train, model.unfairness_test, model.difference_test
    here, asked = tolerance_text(train, limit=config.tolerance), ""
    constrained = config.method in ("exponentiated_gradient", GIVEN)
    if config.method == GIVEN and is_smallest(config.tolerance, train):
        point = f"Unfairness is {here} on the {seen} and {test.value:.3f} on the {unseen}."
        asked = f"Tolerance {tolerance_text(config.tolerance)} is the smallest that holds for the {seen}. "
    elif constrained:
        holds, there = train <= config.tolerance, test.value <= config.tolerance
        limit = tolerance_text(config.tolerance)
        what = "satisfies" if holds else "violates"
        point = f"The model {what} its fairness constraint on the {seen} ({here} {'≤' if holds else '>'} {limit})"
        also = "and on" if holds == there else "but not on" if holds else "but not its estimate on"
        point += f" {also} the {unseen} ({test.value:.3f})."
    else:
        point = f"Unfairness is {here} on the {seen} and {test.value:.3f} on the {unseen}."
        asked = _ASKED.get(config.method, "No fairness constraint.").format(epsilon=epsilon_text(config.epsilon)) + " "
    so_what, to_do = _meaning(subject) if constrained else _without(config.method)
    if model.constant(subject.splits):
        private = model.constant_scores(subject.splits)
        point = f"The model gives everybody the same answer ({_answer(subject)}): it is fair {'and private ' * private}"
        point += "because it decides nothing."
        so_what = "It has no use: any limit is easily kept by it."
        if not private:
            so_what = "It has no use: its labels easily keep any limit, but its scores differ and may reveal people."
        to_do = "Choose a larger ε, more data or another method."
    return Finding(
        point=point,
        evidence=f"{asked}95% CI on the {unseen}: {test.low:.3f} to {test.high:.3f} (largest "
        f"deviation of a group from the {_AMONG[config.metric]}). {difference_title(config.metric)}: "
        f"{apart.value:.3f} ({apart.low:.3f} to {apart.high:.3f}). Accuracy: {percent(model.accuracy_test)}; "
        f"majority-class baseline: {percent(model.majority_test)}.",
        so_what=so_what,
        to_do=to_do,
        estimate=test,
    )


def _answer(subject: Subject) -> str:
    """Return what a model that gives everybody the same answer says: "hired = yes", or that it is not."""
    roles, accepted = subject.dataset.roles, bool(subject.model.predictions[subject.splits.test[0]])
    return f"{'' if accepted else 'not '}{roles.label} = {roles.positive}"


def _meaning(subject: Subject) -> tuple[str, str]:
    """Return what it means whether the tolerance holds for new people, and what can be done."""
    test, tolerance = subject.model.unfairness_test, subject.config.tolerance
    if test.low > tolerance:
        return (
            "A tolerance you publish should hold for new people too; this one does not.",
            "Use more training data or a looser tolerance, or publish the test-set value with its CI.",
        )
    if subject.model.unfairness_train > tolerance:
        return (
            "The constraint does not hold for the people attacked, so publishing it would be wrong.",
            "Publish a tolerance that holds on both sets, then see what it reveals.",
        )
    if test.value > tolerance:
        return (
            "Whether the tolerance holds for new people is unclear: the CI contains it.",
            "Test on more people before you publish the tolerance, or use a looser one.",
        )
    if test.high > tolerance:
        return (
            "The estimate for new people is within the tolerance, but its CI is not.",
            "Test on more people before you publish the tolerance, then see what it reveals.",
        )
    return (
        "The tolerance holds for new people too.",
        "Before you publish it, see what the disclosed tolerance reveals about people.",
    )


def _without(method: str) -> tuple[str, str]:
    """Return the same of a method that is asked for no tolerance."""
    aims = {
        "threshold_optimizer": "The method makes the rates equal on its training set; the test set shows what is left.",
        "correlation_remover": "The method changes the features and guarantees nothing about the predictions.",
        "dp_id3": "DP training noise protects records; it does not make the groups' rates equal.",
    }
    return (
        aims.get(method, "Nothing keeps the groups' rates together."),
        "Publish no tolerance for this model. For one, choose exponentiated gradient above.",
    )


def cautions(subject: Subject) -> tuple[str, ...]:
    """Return what a user of this model must know, a sentence or two each."""
    config, found = subject.config, []
    if not subject.sets_known:
        found.append(
            "Your table does not say whom the model was trained on. The people attacked and the others are drawn with "
            "the seed, and membership of the predictions cannot be attacked."
        )
    if not subject.has_scores:
        found.append("Your table gives predicted labels without scores: what needs scores is not run.")
    if subject.model.needs_sensitive:
        found.append(f"This method needs each person's {subject.attribute} to predict, now and after its release.")
    if config.method == "dp_id3" and math.isinf(config.epsilon):
        found.append("With ε = ∞ no noise is added: this is the plain tree, without a DP guarantee.")
    elif config.method == "dp_id3":
        found.append(
            f"The tree is {epsilon_text(config.epsilon)}-differentially private for one training record more or less. "
            "This assumes public categories and value ranges and a secret noise seed. Here the seed is visible: use "
            "the result for study, not as a private release. The measured figures are not private."
        )
    if config.method not in ("exponentiated_gradient", GIVEN) and config.tolerance > 0:
        why = ": this method always aims at 0" if config.method == "threshold_optimizer" else " by this method"
        found.append(f"The tolerance in the settings is not used{why}.")
    return tuple(found)

"""What is found about a model's fairness and accuracy, worded once."""

from __future__ import annotations

import math

from core.estimates import epsilon_text, percent, tolerance_text
from core.fairness import METRIC_TITLES, difference_title
from core.models import GIVEN
from core.study import Finding
from core.subject import Subject

_AMONG = {
    "statistical_parity": "",
    "predictive_equality": " among people with the negative label",
    "equal_opportunity": " among people with the positive label",
    "equalized_odds": " among people with the negative and with the positive label, the larger of the two",
}

_UNASKED = {
    "threshold_optimizer": "The threshold optimizer always aims at 0.",
    "dp_id3": "Nothing was asked of its fairness; trained with ε = {epsilon}.",
}


def headline(subject: Subject) -> Finding:
    """Return whether the fairness constraint holds on training and test set; the unfairness where none was asked."""
    model, config = subject.model, subject.config
    seen, unseen = ("training set", "test set") if subject.sets_known else ("people attacked", "others")
    train, test = model.unfairness_train, model.unfairness_test
    here = tolerance_text(train, limit=config.tolerance)
    asked = todo = ""
    if config.method in ("exponentiated_gradient", GIVEN):
        holds, there = train <= config.tolerance, test.value <= config.tolerance
        limit = tolerance_text(config.tolerance)
        what = "satisfies" if holds else "violates"
        point = f"The model {what} its fairness constraint on the {seen} ({here} {'≤' if holds else '>'} {limit})"
        also = "and on" if holds == there else "but not on" if holds else "but not its estimate on"
        point += f" {also} the {unseen} ({test.value:.3f})."
        if not there:
            todo = "Use more training data or a looser tolerance, or publish the test-set value with its CI."
    else:
        point = f"Unfairness is {here} on the {seen} and {test.value:.3f} on the {unseen}."
        asked = _UNASKED.get(config.method, "Nothing was asked for.").format(epsilon=epsilon_text(config.epsilon)) + " "
    apart = model.difference_test
    return Finding(
        point=point,
        evidence=f"{asked}95% CI on the {unseen}: {test.low:.3f} to {test.high:.3f}. Accuracy there: "
        f"{percent(model.accuracy_test)}. Baseline, always the more frequent label: {percent(model.majority_test)}. "
        f"{METRIC_TITLES[config.metric]}: unfairness is the largest deviation of a group from the overall rate of "
        f"positive predictions{_AMONG[config.metric]}. {difference_title(config.metric)}: "
        f"{tolerance_text(model.difference_train)} on the {seen}, {apart.value:.3f} on the {unseen} "
        f"({apart.low:.3f} to {apart.high:.3f}).",
        so_what="A tolerance you publish should hold for new people too; this one does not." if todo else "",
        to_do=todo,
        estimate=test,
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
        found.append(
            f"This method must be told each person's {subject.attribute} to predict, now and after its release."
        )
    if config.method == "dp_id3" and math.isinf(config.epsilon):
        found.append("With ε = ∞ no noise is added: this is the plain tree, and it promises no privacy.")
    elif config.method == "dp_id3":
        found.append(
            f"The tree is {epsilon_text(config.epsilon)}-differentially private for one training record more or less, "
            "assuming public categories and value ranges and a secret noise seed. Here the seed is visible: use the "
            "result for study, not as a private release. The measured figures are not private. It is no fairness "
            "method."
        )
    if config.method not in ("exponentiated_gradient", GIVEN) and config.tolerance > 0:
        why = ": this method always aims at 0" if config.method == "threshold_optimizer" else " by this method"
        found.append(f"The tolerance in the settings is not used{why}.")
    return tuple(found)

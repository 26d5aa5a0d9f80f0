"""How to read each page: the longer explanations, folded away until asked for."""

from __future__ import annotations

from core.audit import AuditFindings
from core.correction import Disclosure
from pages.common.shell import escape
from pages.common.wording import attribute

__all__ = ["DATA", "GIVEN_MODEL", "MODEL", "correction"]

DATA = (
    "The label is what the model predicts; the first group is the one whose members the attacker tries to name. A "
    "record without label or attribute is left out; so is a column that is constant, or different in most records. "
    "Categories become numbers in the order of their text.\n\n"
    "Your table may bring a model of yours: a column of predicted labels, one of scores, or both, and one that says "
    "which records it was trained on. Then these are audited, and nothing is trained.\n\n"
    "Your own table stays in this session's memory: it is not written to disk, not shared with other sessions, and "
    "gone ten minutes after you close the page."
)

GIVEN_MODEL = (
    "A point is a group's rate of positive predictions in your table, its bar the 95% interval, the dotted line "
    "everybody's rate. The unfairness is the larger distance of a group from the dotted line; the difference between "
    "groups, which Fairlearn reports, is the distance between the two outermost groups. Nothing is trained here: "
    "labels and scores count as they stand in your table.\n\n"
    "If a column says which records your model was trained on, these are the training people, and the attacks on the "
    "attribute and on membership are against them. Otherwise the people attacked are drawn with the seed: what is "
    "measured about their attribute still holds for them, but nobody can tell here who was in the training data. "
    "Whatever trains the model again (other tolerances, methods and seeds, LiRA) is not run."
)

MODEL = (
    "A point is a group's rate of positive predictions, its bar the 95% interval, the dotted line everybody's rate. "
    "The unfairness is the larger distance of a group from the dotted line; the difference between groups, which "
    "Fairlearn reports, is the distance between the two outermost groups. On the people the model learned from it is "
    "a fact, and the promise a release would make; on unseen people it is an estimate.\n\n"
    "Exponentiated gradient keeps the promise while learning (Agarwal et al. 2018) and answers by drawing among "
    "several trees; the answers are drawn once, with the seed, and used everywhere. The threshold optimizer (Hardt et "
    "al. 2016) sets a threshold for each group and needs the sensitive attribute to predict. The correlation remover "
    "subtracts from each feature what is linear in the attribute; it promises nothing about the predictions, and needs "
    "the attribute too. These methods are fairlearn's, on a decision tree of depth 8.\n\n"
    "The private tree (DP-ID3; Blum et al. 2005, Friedman and Schuster 2010) is no fairness method. It asks for "
    "several-way splits, at most 8 on a path, by counts with noise, numbers in 10 bins. ε is split among all it asks: "
    "the smaller, the noisier, and the sooner it stops, down to one answer for everybody."
)


def correction(findings: AuditFindings, now: Disclosure) -> str:
    """Explain the correction as it is set."""
    name = escape(attribute(findings.config))
    return (
        f"The attacker knows everybody's features and label, and the {name} of other people to learn from. She "
        "guesses, then hears “each group's rate is within the tolerance of everybody's”. Where her guesses do not "
        f"agree with that, she changes the cheapest ones until they do. {_price(now)}\n\n"
        "**Where the leak comes from.** Each row is the attacker's knowledge with one thing more: what most people "
        "are, their features and label, the model's predictions, the exact shares of the groups, and on top of these "
        "the promise. The last two are the closest probabilities to hers that agree with what she is told. The hollow "
        "bar is the correction of the chart at the left, which knows the promise but not the shares; it often repairs "
        "the shares more than anything else. The rows above it always use the people she keeps apart to tune on, also "
        "where the switch “As published” is on.\n\n"
        f"**What it does not show.** {_forest(findings)} balanced class weights and so may name the smaller group too "
        "often; a gain may only repair that. The strong attacker is gradient boosting without class weights, "
        "calibrated, told nothing. The interval is over people, for one seed and one model; it does not say how other "
        "seeds come out.\n\n"
        "Source: Ferry, Aïvodji, Gambs, Huguet and Siala, *Exploiting Fairness to Enhance Sensitive Attributes "
        "Reconstruction*, SaTML 2023. Tolerance and objective are recomputed from the corrected guesses themselves."
    )


def _forest(findings: AuditFindings) -> str:
    if findings.config.forest is None:
        return "The paper's forest, here with the parameters published for Adult, has"
    return "The paper's forest, here with the parameters of your search, has"


def _price(now: Disclosure) -> str:
    if now.cost == "log_odds" and len(now.groups) > 2:
        return (
            "Here she starts from calibrated probabilities, and a change costs the log-odds of the likeliest group "
            "against the second, whichever group somebody is moved to."
        )
    if now.cost == "log_odds":
        return (
            "Here she starts from calibrated probabilities, and a change costs their log-odds: the answer is the most "
            "probable one that meets the tolerance."
        )
    if now.cost == "count":
        return "Here every change costs the same."
    if now.exponent is None:
        return "No exponent worked on the held-out records; a change costs the attacker's confidence, scaled to 1 to 2."
    return f"Here a change costs the attacker's confidence, scaled to 1 to 2, to the power {now.exponent}."

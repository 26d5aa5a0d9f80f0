"""Attacks on membership: each says of the judged people how much speaks for their having been trained on."""

from core.membership.attacks.boosting import gap_attack, released_attack
from core.membership.attacks.confidence import confidence_attack
from core.membership.attacks.lira import FEWEST_SHADOWS, Shadows, Train, lira, lira_boosted, lira_from, train_shadows
from core.membership.attacks.loss import loss_attack
from core.membership.attacks.network import network_attack
from core.membership.guess import TAUGHT, MemberGuess, precision_recall, true_label_probability

__all__ = [
    "FEWEST_SHADOWS",
    "TAUGHT",
    "MemberGuess",
    "Shadows",
    "Train",
    "confidence_attack",
    "gap_attack",
    "lira",
    "lira_boosted",
    "lira_from",
    "loss_attack",
    "network_attack",
    "precision_recall",
    "released_attack",
    "train_shadows",
    "true_label_probability",
]

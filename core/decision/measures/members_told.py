"""What the two checks of membership say alike."""

from __future__ import annotations

from core.decision.audited import Audited
from core.membership import ATTACK_TITLES

__all__ = ["assumptions", "attack_title", "knows"]


def attack_title(name: str) -> str:
    """Return what to call an attack inside a sentence."""
    title = ATTACK_TITLES[name]
    return title if name == "lira" else f"the {title.lower()}"


def knows(audited: Audited, name: str) -> str:
    """Return what the attacker knows."""
    told = "Every person's features, label and score from the model"
    if name != "lira":
        return f"{told}."
    shadows = audited.plan.membership.shadows
    return f"{told}, and how the model is trained, from {shadows} models trained alike on others of these people."


def assumptions(audited: Audited) -> tuple[str, ...]:
    """Return what the numbers take for granted."""
    told = [
        "The interval is over people, the threshold's chance counted; the training is taken as it is.",
        "The attacker sees scores; where only decisions are published, less is caught.",
    ]
    if not audited.trainable:
        told.append("LiRA needs a model that can be trained again; only predictions are given, so it may catch more.")
    elif not audited.plan.membership.shadows:
        told.append("LiRA is left out by the plan; it may catch more.")
    else:
        told.append("The interval holds for both attacks, LiRA and the loss threshold, together.")
    return tuple(told)

"""What the checks of membership say alike."""

from __future__ import annotations

from core.decision.attacks.members import member_guesses
from core.decision.audited import Audited
from core.membership import TAUGHT
from core.wording import count

RANDOM = "random guessing"
"""The baseline's name."""

AVERAGE = "1% FPR is an average over people; for some non-members the chance of being called a member is far higher."
"""What a rate pooled over people does not say (Jälkö et al. 2026)."""

_IN_A_SENTENCE = {
    "loss": "the loss threshold",
    "gap": "the gap attack",
    "released": "boosting on everything released",
    "lira": "LiRA",
    "lira_boosted": "boosting on LiRA's shadows",
}


def attack_title(name: str) -> str:
    """Return what to call an attack inside a sentence."""
    return _IN_A_SENTENCE[name]


def who(audited: Audited, name: str) -> str:
    """Return what was attacked, by the attack that did best of those tried."""
    members, outsiders = audited.splits.train.size, audited.splits.test.size
    tried = member_guesses(audited)
    return (
        f"Who of {members + outsiders:,} people is among the {members:,} the model was trained on, by "
        f"{attack_title(name)}, the best of {len(tried)} attacks tried."
    )


def knows(audited: Audited, name: str) -> str:
    """Return what the attacker knows."""
    told = "Every person's true and predicted label"
    if audited.released_scores is not None:
        told = f"{told}, and score"
    if name.startswith("lira"):
        shadows = audited.plan.membership.shadows
        told += f", features, how the model is trained, and {shadows} models trained alike on others of these people"
    if name in ("released", "lira_boosted"):
        told += "; of half of the people also who is a member, to judge the other half"
    return f"{told}."


def assumptions(audited: Audited) -> tuple[str, ...]:
    """Return what the numbers take for granted."""
    tried = [attack_title(name) for name in member_guesses(audited)]
    told = [
        "The interval is over members and non-members; the model and its training are taken as they are.",
        "Training and test records are taken to be drawn alike: any other difference between them counts as a leak.",
        f"The interval holds for the attacks tried together: {', '.join(tried[:-1])} and {tried[-1]}.",
    ]
    decimals = audited.plan.outputs.decimals
    if audited.released_scores is None:
        told.append("The attacker sees labels; where scores are released, more is found.")
    elif decimals is None:
        told.append("The attacker sees scores; where only decisions are published, less is found.")
    else:
        plural = "decimal" if decimals == 1 else "decimals"
        told.append(f"The attacker sees scores with {decimals} {plural}; more may tell more.")
    if max(audited.splits.train.size + audited.splits.test.size - TAUGHT, 0) > TAUGHT:
        told.append(f"Boosting learns from {count(TAUGHT)} people of each half, drawn at random, and judges all.")
    if audited.released_scores is None:
        told.append("LiRA and the loss threshold need scores; they were not tried.")
    elif not audited.trainable:
        told.append("LiRA needs a model that can be trained again; only predictions are given, so it may find more.")
    elif not audited.plan.membership.shadows:
        told.append("LiRA is left out by the plan; it may find more.")
    return tuple(told)

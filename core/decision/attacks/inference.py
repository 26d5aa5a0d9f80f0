"""Attribute inference on the training records: the paper's attackers and the strong one, told more and more."""

from __future__ import annotations

from core import leak
from core.attack import AttackFindings, attack_model
from core.correction import Attribution, Disclosure, disclose
from core.decision.audited import Audited

__all__ = ["CORRECTED", "INFERENCE_STEPS", "attack_of", "attribution_of", "disclosure_of"]

CORRECTED = {
    "features": "the paper's attacker (A)",
    "predictions": "the paper's attacker with the predictions (A′)",
    "strong": "gradient boosting",
}
"""Attackers that are told the fairness promise, and what a sentence calls them."""

INFERENCE_STEPS = sum(len(kinds) for kinds in leak.KINDS.values())


def attack_of(audited: Audited, kind: str) -> AttackFindings:
    """Return one of `core.attack.ATTACKERS`, which keeps records of its own apart to tune on."""

    def make() -> AttackFindings:
        found = attack_model(
            kind, "held_out", audited.dataset, audited.splits, audited.model.predictions, config=audited.config
        )
        audited.progress.tick()
        return found

    return audited.once(f"attack {kind}", make)


def attribution_of(audited: Audited, name: str) -> Attribution:
    """Return the steps of one of the attackers of `core.leak.KINDS`."""

    def make() -> Attribution:
        attacks = {kind: attack_of(audited, kind) for kind in leak.KINDS[name]}
        prior = leak.known_shares(audited.dataset, audited.splits)
        return leak.attribution_of(name, attacks, audited.config, prior)

    return audited.once(f"attribution {name}", make)


def disclosure_of(audited: Audited, kind: str, tolerance: float | None = None) -> Disclosure:
    """Return what one attacker gains from a tolerance, the plan's when left out."""
    told = audited.config.tolerance if tolerance is None else tolerance

    def make() -> Disclosure:
        found = attack_of(audited, kind)
        return disclose(found.attacked, found.held_out, tolerance=told, metric=audited.config.metric)

    return audited.once(f"disclosure {kind} {told!r}", make)

"""Attribute inference on the training records: the paper's attackers and the strong one, told more and more.

What they are told of the model's fairness is true. An attacker who believes a false promise misleads herself, and that
she gains nothing says nothing about the release: where the plan's tolerance is below the model's unfairness on these
records, she is told the smallest that is not.
"""

from __future__ import annotations

from core import leak
from core.attack import AttackFindings, attack_model
from core.correction import Attribution, Disclosure, disclose, true_tolerance
from core.decision.audited import Audited

CORRECTED = {
    "features": "the paper's attacker (A)",
    "predictions": "the paper's attacker with the predictions (A′)",
    "strong": "gradient boosting",
    "strong_predictions": "gradient boosting with the predictions",
}
"""Attackers that are told the fairness promise, and what a sentence calls them."""

INFERENCE_STEPS = sum(len(kinds) for kinds in leak.KINDS.values())


def tolerance_told(audited: Audited) -> float:
    """Return the plan's tolerance, raised in steps of 0.001 until it is true of the attacked records."""
    return true_tolerance(audited.config.tolerance, audited.model.unfairness_train)


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
        return leak.attribution_of(name, attacks, audited.config, prior, tolerance=tolerance_told(audited))

    return audited.once(f"attribution {name}", make)


def disclosure_of(audited: Audited, kind: str, tolerance: float | None = None) -> Disclosure:
    """Return what one attacker gains from a tolerance; from the plan's, raised until it is true, when left out."""

    def make() -> Disclosure:
        found = attack_of(audited, kind)
        return disclose(
            found.attacked,
            found.held_out,
            tolerance=audited.config.tolerance if tolerance is None else tolerance,
            metric=audited.config.metric,
            raise_until_true=tolerance is None,
            seed=audited.config.seed,
        )

    return audited.once(f"disclosure {kind} {'true' if tolerance is None else repr(tolerance)}", make)

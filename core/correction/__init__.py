"""Reconstruction correction: what a disclosed fairness bound adds to an adversary's guesses."""

from core.correction.attribute_attacks import (
    ATTACKERS,
    KINDS,
    PROTOCOLS,
    AttackFindings,
    CorrectionResult,
    attack_model,
    protocols_of,
)
from core.correction.attribution import (
    MEASURES,
    STEP_TITLES,
    STEPS,
    Attribution,
    LeakAttribution,
    RepeatedStep,
    attribute_leak,
    attribute_over_seeds,
)
from core.correction.disclosure import COSTS, Disclosure, disclose, gain_of_best
from core.correction.exact import smallest_tolerance, true_tolerance
from core.correction.findings import false_promise
from core.correction.knowledge import (
    EstimatedConstraint,
    LeakPoint,
    MoreDisclosed,
    compare_constraints,
    disclose_more,
    estimate_constraint,
    leak_configs,
    measure_leak,
)
from core.correction.problem import Correction, Disclosed, SolverCertificate, correct, correct_jointly
from core.correction.soft import soft_correct
from core.correction.study import STUDY, CorrectionSettings, audit_key, run

__all__ = [
    "ATTACKERS",
    "COSTS",
    "KINDS",
    "MEASURES",
    "PROTOCOLS",
    "STEPS",
    "STEP_TITLES",
    "STUDY",
    "AttackFindings",
    "Attribution",
    "Correction",
    "CorrectionResult",
    "CorrectionSettings",
    "Disclosed",
    "Disclosure",
    "EstimatedConstraint",
    "LeakAttribution",
    "LeakPoint",
    "MoreDisclosed",
    "RepeatedStep",
    "SolverCertificate",
    "attack_model",
    "attribute_leak",
    "attribute_over_seeds",
    "audit_key",
    "compare_constraints",
    "correct",
    "correct_jointly",
    "disclose",
    "disclose_more",
    "estimate_constraint",
    "false_promise",
    "gain_of_best",
    "leak_configs",
    "measure_leak",
    "protocols_of",
    "run",
    "smallest_tolerance",
    "soft_correct",
    "true_tolerance",
]

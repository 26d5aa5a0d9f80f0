"""Reconstruction correction: what a disclosed fairness bound adds to an adversary's guesses."""

from .attribute_attacks import (
    ATTACKERS,
    KINDS,
    PROTOCOLS,
    CorrectionResult,
    CorrectionSettings,
    MoreDisclosed,
    attack_model,
    disclose_more,
)
from .attribution import (
    MEASURES,
    STEP_TITLES,
    STEPS,
    Attribution,
    LeakStep,
)
from .disclosure import COSTS, Disclosure, disclose
from .exact import smallest_tolerance, true_tolerance
from .findings import false_promise
from .problem import Correction, Disclosed, SolverCertificate, correct, correct_jointly
from .soft import soft_correct
from .study import STUDY, audit_key, run

__all__ = [
    "ATTACKERS",
    "COSTS",
    "KINDS",
    "MEASURES",
    "PROTOCOLS",
    "STEPS",
    "STEP_TITLES",
    "STUDY",
    "Attribution",
    "Correction",
    "CorrectionResult",
    "CorrectionSettings",
    "Disclosed",
    "Disclosure",
    "LeakStep",
    "MoreDisclosed",
    "SolverCertificate",
    "attack_model",
    "audit_key",
    "correct",
    "correct_jointly",
    "disclose",
    "disclose_more",
    "false_promise",
    "run",
    "smallest_tolerance",
    "soft_correct",
    "true_tolerance",
]

"""Reconstruction correction: what a disclosed fairness bound adds to an adversary's guesses."""

from core.studies.correction.attribute_attacks import (
    ATTACKERS,
    KINDS,
    PROTOCOLS,
    CorrectionResult,
    attack_model,
)
from core.studies.correction.attribution import (
    MEASURES,
    STEP_TITLES,
    STEPS,
    Attribution,
    LeakStep,
    attribute_over_seeds,
)
from core.studies.correction.disclosure import COSTS, Disclosure, disclose
from core.studies.correction.exact import smallest_tolerance, true_tolerance
from core.studies.correction.findings import false_promise
from core.studies.correction.knowledge import (
    LeakPoint,
    MoreDisclosed,
    disclose_more,
    leak_configs,
    measure_leak,
)
from core.studies.correction.problem import Correction, Disclosed, SolverCertificate, correct, correct_jointly
from core.studies.correction.soft import soft_correct
from core.studies.correction.study import STUDY, CorrectionSettings, audit_key, run

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
    "LeakPoint",
    "LeakStep",
    "MoreDisclosed",
    "SolverCertificate",
    "attack_model",
    "attribute_over_seeds",
    "audit_key",
    "correct",
    "correct_jointly",
    "disclose",
    "disclose_more",
    "false_promise",
    "leak_configs",
    "measure_leak",
    "run",
    "smallest_tolerance",
    "soft_correct",
    "true_tolerance",
]

"""Reconstruction correction: what a disclosed fairness bound adds to an adversary's guesses."""

from core.correction.attribution import (
    MEASURES,
    STEPS,
    Attribution,
    LeakAttribution,
    RepeatedStep,
    attribute_leak,
    attribute_over_seeds,
)
from core.correction.certificate import Correction, Disclosed, SolverCertificate
from core.correction.disclosure import (
    COSTS,
    Disclosure,
    MoreDisclosed,
    PermutedControl,
    disclose,
    disclose_more,
    gain_of_best,
    permuted_control,
    permuted_records,
)
from core.correction.estimation import (
    ConstraintComparison,
    EstimatedConstraint,
    compare_constraints,
    estimate_constraint,
    identification_rate,
)
from core.correction.problem import smallest_tolerance, true_tolerance
from core.correction.soft import soft_correct
from core.correction.solve import correct, correct_jointly

__all__ = [
    "COSTS",
    "MEASURES",
    "STEPS",
    "Attribution",
    "ConstraintComparison",
    "Correction",
    "Disclosed",
    "Disclosure",
    "EstimatedConstraint",
    "LeakAttribution",
    "MoreDisclosed",
    "PermutedControl",
    "RepeatedStep",
    "SolverCertificate",
    "attribute_leak",
    "attribute_over_seeds",
    "compare_constraints",
    "correct",
    "correct_jointly",
    "disclose",
    "disclose_more",
    "estimate_constraint",
    "gain_of_best",
    "identification_rate",
    "permuted_control",
    "permuted_records",
    "smallest_tolerance",
    "soft_correct",
    "true_tolerance",
]

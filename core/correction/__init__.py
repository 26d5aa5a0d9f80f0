"""Reconstruction correction: what a disclosed fairness bound adds to an adversary's guesses."""

from core.adversaries import AttackedRecords
from core.correction.attribution import BUILDS_ON, MEASURES, STEPS, Attribution, StepMeasures, attribute_leak
from core.correction.attribution_seeds import (
    LeakAttribution,
    LeakChange,
    RepeatedMeasure,
    RepeatedStep,
    attribute_over_seeds,
)
from core.correction.best import gain_of_best
from core.correction.certificate import Correction, SolverCertificate
from core.correction.claim import Disclosed
from core.correction.comparison import ConstraintComparison, compare_constraints
from core.correction.control import PermutedControl, permuted_control, permuted_records
from core.correction.costs import ExponentChoice, choose_exponent, log_odds_cost, published_cost
from core.correction.disclosure import COSTS, Disclosure, GroupRecognition, disclose
from core.correction.estimation import (
    IDENTIFIABLE,
    EstimatedConstraint,
    Identification,
    estimate_constraint,
    identification_rate,
)
from core.correction.further import KNOWLEDGE, MoreDisclosed, disclose_more
from core.correction.smallest import smallest_tolerance, true_tolerance
from core.correction.soft import soft_constraints, soft_correct
from core.correction.solve import SOLVERS, correct, correct_jointly

__all__ = [
    "BUILDS_ON",
    "COSTS",
    "IDENTIFIABLE",
    "KNOWLEDGE",
    "MEASURES",
    "SOLVERS",
    "STEPS",
    "AttackedRecords",
    "Attribution",
    "ConstraintComparison",
    "Correction",
    "Disclosed",
    "Disclosure",
    "EstimatedConstraint",
    "ExponentChoice",
    "GroupRecognition",
    "Identification",
    "LeakAttribution",
    "LeakChange",
    "MoreDisclosed",
    "PermutedControl",
    "RepeatedMeasure",
    "RepeatedStep",
    "SolverCertificate",
    "StepMeasures",
    "attribute_leak",
    "attribute_over_seeds",
    "choose_exponent",
    "compare_constraints",
    "correct",
    "correct_jointly",
    "disclose",
    "disclose_more",
    "estimate_constraint",
    "gain_of_best",
    "identification_rate",
    "log_odds_cost",
    "permuted_control",
    "permuted_records",
    "published_cost",
    "smallest_tolerance",
    "soft_constraints",
    "soft_correct",
    "true_tolerance",
]

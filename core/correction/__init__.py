"""Reconstruction correction: what a disclosed fairness bound adds to an adversary's guesses."""

from core.correction.certificate import Correction, SolverCertificate
from core.correction.costs import ExponentChoice, choose_exponent, log_odds_cost, published_cost
from core.correction.disclosure import COSTS, AttackedRecords, Disclosure, GroupRecognition, disclose
from core.correction.problem import smallest_tolerance
from core.correction.solve import SOLVERS, correct

__all__ = [
    "COSTS",
    "SOLVERS",
    "AttackedRecords",
    "Correction",
    "Disclosure",
    "ExponentChoice",
    "GroupRecognition",
    "SolverCertificate",
    "choose_exponent",
    "correct",
    "disclose",
    "log_odds_cost",
    "published_cost",
    "smallest_tolerance",
]

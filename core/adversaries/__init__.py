"""Attribute inference: who learns the sensitive attribute from what people do not hide."""

from .adversary import (
    ADVERSARIES,
    STRONG,
    Adversary,
    AttackedRecords,
    PlattScale,
    TunedForest,
    calibrate,
    permuted_by_set,
    permuted_predictions,
    train_adversary,
    train_strong,
    tune_forest,
)
from .imputation import Imputation, Imputed, impute, known_records, with_folds
from .output_evidence import Outputs
from .released_outputs import ReleasedAttack, attack_released

__all__ = [
    "ADVERSARIES",
    "STRONG",
    "Adversary",
    "AttackedRecords",
    "Imputation",
    "Imputed",
    "Outputs",
    "PlattScale",
    "ReleasedAttack",
    "TunedForest",
    "attack_released",
    "calibrate",
    "impute",
    "known_records",
    "permuted_by_set",
    "permuted_predictions",
    "train_adversary",
    "train_strong",
    "tune_forest",
    "with_folds",
]

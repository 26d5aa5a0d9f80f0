"""Attribute inference: who learns the sensitive attribute from what people do not hide."""

from .adversary import (
    ADVERSARIES,
    STRONG,
    AttackedRecords,
    TunedForest,
    fit_platt_scale,
    known_columns,
    permuted_by_set,
    permuted_predictions,
    train_adversary,
    tune_forest,
)
from .imputation import (
    ImputationAttacker,
    known_records,
    known_records_with_folds,
    train_imputation,
)
from .output_evidence import Outputs
from .released_outputs import AttackerPosteriors, attack_released

__all__ = [
    "ADVERSARIES",
    "STRONG",
    "AttackedRecords",
    "AttackerPosteriors",
    "ImputationAttacker",
    "Outputs",
    "TunedForest",
    "attack_released",
    "fit_platt_scale",
    "known_columns",
    "known_records",
    "known_records_with_folds",
    "permuted_by_set",
    "permuted_predictions",
    "train_adversary",
    "train_imputation",
    "tune_forest",
]

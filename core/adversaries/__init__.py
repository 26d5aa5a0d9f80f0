"""Attribute inference: who learns the sensitive attribute from what people do not hide."""

from core.adversaries.adversary import (
    ADVERSARIES,
    STRONG,
    Adversary,
    AttackedRecords,
    PlattScale,
    calibrate,
    permuted_by_set,
    permuted_predictions,
    train_adversary,
    train_strong,
)
from core.adversaries.released_outputs import Outputs, ReleasedAttack, attack_released
from core.adversaries.tuning import TunedForest, tune_forest

__all__ = [
    "ADVERSARIES",
    "STRONG",
    "Adversary",
    "AttackedRecords",
    "Outputs",
    "PlattScale",
    "ReleasedAttack",
    "TunedForest",
    "attack_released",
    "calibrate",
    "permuted_by_set",
    "permuted_predictions",
    "train_adversary",
    "train_strong",
    "tune_forest",
]

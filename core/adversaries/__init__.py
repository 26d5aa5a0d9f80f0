"""Attribute-inference adversaries: who learns the sensitive attribute from what people do not hide."""

from core.adversaries.calibration import PlattScale, calibrate
from core.adversaries.forest import ADVERSARIES, Adversary, AttackedRecords, train_adversary
from core.adversaries.parameters import PINNED, forest_parameters
from core.adversaries.permuted import permuted_by_set, permuted_predictions
from core.adversaries.released import ATTACKS, ReleasedAttack, attack_released
from core.adversaries.score_evidence import Outputs, decimals_of
from core.adversaries.strong import STRONG, train_strong
from core.adversaries.tuning import OBJECTIVES, ForestTrial, TunedForest, tune_forest

__all__ = [
    "ADVERSARIES",
    "ATTACKS",
    "OBJECTIVES",
    "PINNED",
    "STRONG",
    "Adversary",
    "AttackedRecords",
    "ForestTrial",
    "Outputs",
    "PlattScale",
    "ReleasedAttack",
    "TunedForest",
    "attack_released",
    "calibrate",
    "decimals_of",
    "forest_parameters",
    "permuted_by_set",
    "permuted_predictions",
    "train_adversary",
    "train_strong",
    "tune_forest",
]

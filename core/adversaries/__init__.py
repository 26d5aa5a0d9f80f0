"""Attribute-inference adversaries: who learns the sensitive attribute from what people do not hide."""

from core.adversaries.calibration import PlattScale, calibrate
from core.adversaries.forest import ADVERSARIES, Adversary, train_adversary
from core.adversaries.strong import train_strong

__all__ = [
    "ADVERSARIES",
    "Adversary",
    "PlattScale",
    "calibrate",
    "train_adversary",
    "train_strong",
]

"""Who tries to read the private attribute off noisy records: those who know nothing of the noise, and those who do."""

from core.attriguard.attackers.adversarial import fit_adversarial
from core.attriguard.attackers.distillation import fit_distilled
from core.attriguard.attackers.dropping import Dropping
from core.attriguard.attackers.forest import fit_forest
from core.attriguard.attackers.known import ADAPTIVE, ATTACKER_TITLES, Attacker, Fitted, Known
from core.attriguard.attackers.logistic import fit_logistic, fit_one_vs_rest
from core.attriguard.attackers.low_rank import LowRank
from core.attriguard.attackers.network import fit_network
from core.attriguard.attackers.noise_seen import NoiseSeen, drawn
from core.attriguard.attackers.region import RegionBased

__all__ = [
    "ADAPTIVE",
    "ATTACKER_TITLES",
    "Attacker",
    "Dropping",
    "Fitted",
    "Known",
    "LowRank",
    "NoiseSeen",
    "RegionBased",
    "drawn",
    "fit_adversarial",
    "fit_distilled",
    "fit_forest",
    "fit_logistic",
    "fit_network",
    "fit_one_vs_rest",
]

"""Who tries to read the private attribute off noisy records: those who know nothing of the noise, and those who do."""

from core.attriguard.attackers.adversarial import fit_adversarial
from core.attriguard.attackers.distillation import fit_distilled
from core.attriguard.attackers.dropping import Dropping
from core.attriguard.attackers.forest import fit_forest
from core.attriguard.attackers.known import Attacker, Fitted, Known
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

ATTACKER_TITLES = {
    "logistic": "Logistic regression",
    "adversarial": "Network trained against the noise",
    "network": "Neural network",
    "forest": "Random forest",
    "one_vs_rest": "One-vs-rest logistic regression",
    "dropping": "Network without the entries that carry the noise",
    "region": "Region-based network",
    "distillation": "Distilled network",
    "low_rank": "Low-rank approximation",
}
"""What to call the attackers, in the order they are tried."""

ADAPTIVE = frozenset({"adversarial", "dropping"})
"""Those who run the defence themselves, on the people they know."""

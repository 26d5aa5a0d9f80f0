"""AttriGuard: noise that misleads attribute inference, and attackers who know about it (Jia and Gong 2018)."""

from .allocation import allocate, expected_size
from .attackers import ATTACKER_TITLES, attacker_label, knows_the_noise
from .comparators import Compared, comparison
from .defense import READERS, Defense, RatingsDefense, TableDefense, attackers_fitted, table_defense, transfer
from .exposure import Exposure, ExposurePoint
from .noisy_records import Concentration, concentration
from .panda import panda, representatives
from .settings import CurveSettings, GuardPlan, GuardSettings, TableSettings
from .table import Pair, pair_rules, table_columns
from .utility import recommendation, table_utility

__all__ = [
    "ATTACKER_TITLES",
    "READERS",
    "Compared",
    "Concentration",
    "CurveSettings",
    "Defense",
    "Exposure",
    "ExposurePoint",
    "GuardPlan",
    "GuardSettings",
    "Pair",
    "RatingsDefense",
    "TableDefense",
    "TableSettings",
    "allocate",
    "attacker_label",
    "attackers_fitted",
    "comparison",
    "concentration",
    "expected_size",
    "knows_the_noise",
    "pair_rules",
    "panda",
    "recommendation",
    "representatives",
    "table_columns",
    "table_defense",
    "table_utility",
    "transfer",
]

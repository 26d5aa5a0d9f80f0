"""AttriGuard: noise that misleads attribute inference, and attackers who know about it (Jia and Gong 2018)."""

from .allocation import allocate, expected_size
from .attackers import ATTACKER_TITLES, attacker_label, knows_the_noise
from .comparators import Compared, comparison
from .exposure import Exposure, ExposurePoint
from .guard import READERS, Guard, Guarded, TableGuard, attackers_fitted, table_guard, transfer
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
    "Exposure",
    "ExposurePoint",
    "Guard",
    "GuardPlan",
    "GuardSettings",
    "Guarded",
    "Pair",
    "TableGuard",
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
    "table_guard",
    "table_utility",
    "transfer",
]

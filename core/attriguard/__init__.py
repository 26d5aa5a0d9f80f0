"""AttriGuard: noise that misleads attribute inference, and attackers who know about it (Jia and Gong 2018)."""

from core.attriguard.allocation import allocate, expected_size
from core.attriguard.attackers import ATTACKER_TITLES, attacker_label, knows_the_noise
from core.attriguard.comparators import Compared, comparison
from core.attriguard.exposure import Exposure, Point
from core.attriguard.guard import READERS, Guard, Guarded, TableGuard, attackers_fitted, table_guard, transfer
from core.attriguard.noisy_records import Concentration, concentration
from core.attriguard.panda import panda, representatives
from core.attriguard.settings import CurveSettings, GuardPlan, GuardSettings, TableSettings
from core.attriguard.table import Pair, pair_rules, table_columns
from core.attriguard.utility import recommendation, table_utility

__all__ = [
    "ATTACKER_TITLES",
    "READERS",
    "Compared",
    "Concentration",
    "CurveSettings",
    "Exposure",
    "Guard",
    "GuardPlan",
    "GuardSettings",
    "Guarded",
    "Pair",
    "Point",
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

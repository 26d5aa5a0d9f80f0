"""AttriGuard: noise that misleads attribute inference, and attackers who know about it (Jia and Gong 2018)."""

from core.studies.attriguard.allocation import allocate, expected_size
from core.studies.attriguard.attackers import ATTACKER_TITLES, attacker_label, knows_the_noise
from core.studies.attriguard.comparators import Compared, comparison
from core.studies.attriguard.exposure import Exposure, Point
from core.studies.attriguard.guard import READERS, Guard, Guarded, TableGuard, attackers_fitted, table_guard, transfer
from core.studies.attriguard.noisy_records import Concentration, concentration
from core.studies.attriguard.panda import panda, representatives
from core.studies.attriguard.settings import CurveSettings, GuardPlan, GuardSettings, TableSettings
from core.studies.attriguard.table import Pair, pair_rules, table_columns
from core.studies.attriguard.utility import recommendation, table_utility

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

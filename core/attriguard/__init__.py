"""AttriGuard: noise that misleads attribute inference, and attackers who know about it (Jia and Gong 2018)."""

from core.attriguard.allocation import TARGETS, allocate, expected_size, target_distribution
from core.attriguard.attackers import ADAPTIVE, ATTACKER_TITLES, RATING_ATTACKERS, attacker_label, knows_the_noise
from core.attriguard.comparators import COMPARATOR_TITLES, Compared, comparison
from core.attriguard.exposure import PUBLISHED_CURVE, Exposure, Guard, Guesses, Point, strongest_point
from core.attriguard.panda import ORDERS, panda, representatives
from core.attriguard.ratings_guard import MAKERS, READERS, Guarded, Transfer, transfer
from core.attriguard.records import POLICIES, Concentration, Noise, NoisyRecords, concentration
from core.attriguard.settings import DEFENDERS, CurveSettings, GuardPlan, GuardSettings, TableSettings
from core.attriguard.table_guard import TABLE_ATTACKERS, TableGuard, table_guard
from core.attriguard.utility import (
    Recommendation,
    TableUtility,
    UtilityPoint,
    recommendation,
    table_utility,
    utility_of,
)

__all__ = [
    "ADAPTIVE",
    "ATTACKER_TITLES",
    "COMPARATOR_TITLES",
    "DEFENDERS",
    "MAKERS",
    "ORDERS",
    "POLICIES",
    "PUBLISHED_CURVE",
    "RATING_ATTACKERS",
    "READERS",
    "TABLE_ATTACKERS",
    "TARGETS",
    "Compared",
    "Concentration",
    "CurveSettings",
    "Exposure",
    "Guard",
    "GuardPlan",
    "GuardSettings",
    "Guarded",
    "Guesses",
    "Noise",
    "NoisyRecords",
    "Point",
    "Recommendation",
    "TableGuard",
    "TableSettings",
    "TableUtility",
    "Transfer",
    "UtilityPoint",
    "allocate",
    "attacker_label",
    "comparison",
    "concentration",
    "expected_size",
    "knows_the_noise",
    "panda",
    "recommendation",
    "representatives",
    "strongest_point",
    "table_guard",
    "table_utility",
    "target_distribution",
    "transfer",
    "utility_of",
]

"""AttriGuard: noise that misleads attribute inference, and attackers who know about it (Jia and Gong 2018)."""

from core.attriguard.allocation import TARGETS, allocate, expected_size, target_distribution
from core.attriguard.attackers import ADAPTIVE, ATTACKER_TITLES
from core.attriguard.comparators import COMPARATOR_TITLES
from core.attriguard.concentration import Concentration, concentration
from core.attriguard.panda import ORDERS, panda, representatives
from core.attriguard.ratings_study import (
    MAKERS,
    Compared,
    Guarded,
    Transfer,
    comparison,
    study_ratings,
    transfer,
)
from core.attriguard.records import POLICIES, Noise, NoisyRecords
from core.attriguard.settings import DEFENDERS, CurveSettings, GuardSettings, TableSettings
from core.attriguard.study import PUBLISHED_CURVE, Guesses, Point, Study, strongest_point
from core.attriguard.table_guard import TableGuard
from core.attriguard.table_study import TABLE_ATTACKER_TITLES, study_steps, study_table, table_guard
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
    "TABLE_ATTACKER_TITLES",
    "TARGETS",
    "Compared",
    "Concentration",
    "CurveSettings",
    "GuardSettings",
    "Guarded",
    "Guesses",
    "Noise",
    "NoisyRecords",
    "Point",
    "Recommendation",
    "Study",
    "TableGuard",
    "TableSettings",
    "TableUtility",
    "Transfer",
    "UtilityPoint",
    "allocate",
    "comparison",
    "concentration",
    "expected_size",
    "panda",
    "recommendation",
    "representatives",
    "strongest_point",
    "study_ratings",
    "study_steps",
    "study_table",
    "table_guard",
    "table_utility",
    "target_distribution",
    "transfer",
    "utility_of",
]

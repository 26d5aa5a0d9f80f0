"""AttriGuard: noise that misleads attribute inference, and attackers who know about it (Jia and Gong 2018)."""

from core.attriguard.allocation import allocate, expected_size
from core.attriguard.attackers import ADAPTIVE, ATTACKER_TITLES
from core.attriguard.comparators import COMPARATOR_TITLES
from core.attriguard.concentration import Concentration, concentration
from core.attriguard.noise import Noise, NoisyRecords
from core.attriguard.panda import ORDERS, panda, representatives
from core.attriguard.policies import POLICIES
from core.attriguard.published import PUBLISHED_CURVE
from core.attriguard.ratings_comparison import Compared, comparison
from core.attriguard.ratings_study import Guarded, ratings_study, study_ratings
from core.attriguard.recommendation import Recommendation, recommendation
from core.attriguard.settings import DEFENDERS, GuardSettings
from core.attriguard.study import Guesses, Point, Study, strongest_point
from core.attriguard.table.attackers import TABLE_ATTACKER_TITLES
from core.attriguard.table.guard import TableGuard
from core.attriguard.table.settings import TableSettings
from core.attriguard.table_study import study_steps, study_table, table_guard, table_study
from core.attriguard.table_utility import TableUtility, UtilityPoint, table_utility, utility_of
from core.attriguard.targets import TARGETS, target_distribution
from core.attriguard.transfer import MAKERS, Transfer, transfer

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
    "ratings_study",
    "recommendation",
    "representatives",
    "strongest_point",
    "study_ratings",
    "study_steps",
    "study_table",
    "table_guard",
    "table_study",
    "table_utility",
    "target_distribution",
    "transfer",
    "utility_of",
]

"""AttriGuard: noise that misleads attribute inference, and attackers who know about it (Jia and Gong 2018)."""

from .allocation import Concentration, allocate, concentration, expected_size
from .attackers import ATTACKER_TITLES, attacker_label, knows_the_noise
from .comparators import CLEAN_ATTACKERS, Compared, comparison, transfer
from .defense import (
    Defense,
    ProtectedRecords,
    RatingsDefense,
    TableDefense,
    defense_of,
    ratings_subject,
)
from .panda import representatives
from .result import AttriGuardSettings, Exposure, ExposurePoint
from .table import Pair, pair_rules, table_columns
from .utility import recommendation, table_utility

__all__ = [
    "ATTACKER_TITLES",
    "CLEAN_ATTACKERS",
    "AttriGuardSettings",
    "Compared",
    "Concentration",
    "Defense",
    "Exposure",
    "ExposurePoint",
    "Pair",
    "ProtectedRecords",
    "RatingsDefense",
    "TableDefense",
    "allocate",
    "attacker_label",
    "comparison",
    "concentration",
    "defense_of",
    "expected_size",
    "knows_the_noise",
    "pair_rules",
    "ratings_subject",
    "recommendation",
    "representatives",
    "table_columns",
    "table_utility",
    "transfer",
]

"""AttriGuard: noise that misleads attribute inference, and attackers who know about it (Jia and Gong 2018)."""

from .allocation import allocate, expected_size
from .attackers import ATTACKER_TITLES, attacker_label, knows_the_noise
from .comparators import Compared, comparison
from .defense import READERS, Defense, RatingsDefense, TableDefense, transfer
from .exposure import Exposure, ExposurePoint
from .noisy_records import Concentration, concentration
from .panda import panda, representatives
from .records import ProtectedRecords, defense_of, ratings_subject
from .settings import AttriGuardSettings
from .table import Pair, pair_rules, table_columns
from .utility import recommendation, table_utility

__all__ = [
    "ATTACKER_TITLES",
    "READERS",
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
    "panda",
    "ratings_subject",
    "recommendation",
    "representatives",
    "table_columns",
    "table_utility",
    "transfer",
]

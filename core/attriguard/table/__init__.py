"""AttriGuard on an audited table: the unit of noise is the raw column, and changed records stay plausible."""

from core.attriguard.table.attackers import LEARNERS, TABLE_ATTACKER_TITLES, Attacker, fit_attacker
from core.attriguard.table.card import Card, Version
from core.attriguard.table.columns import Column, table_columns
from core.attriguard.table.concentration import ColumnNoise, column_noise
from core.attriguard.table.defender import TABLE_DEFENDERS, Defender, fit_defender
from core.attriguard.table.guard import TableGuard, guard_table
from core.attriguard.table.moves import Moves, table_moves
from core.attriguard.table.people import TablePeople, audit_people, people_of
from core.attriguard.table.plausibility import Plausibility, judge_plausibility
from core.attriguard.table.rules import LEAST_EXPECTED, Pair, PairRule, PairRules, find_rules, pair_rules
from core.attriguard.table.search import change_columns, table_representatives
from core.attriguard.table.settings import TableSettings

__all__ = [
    "LEARNERS",
    "LEAST_EXPECTED",
    "TABLE_ATTACKER_TITLES",
    "TABLE_DEFENDERS",
    "Attacker",
    "Card",
    "Column",
    "ColumnNoise",
    "Defender",
    "Moves",
    "Pair",
    "PairRule",
    "PairRules",
    "Plausibility",
    "TableGuard",
    "TablePeople",
    "TableSettings",
    "Version",
    "audit_people",
    "change_columns",
    "column_noise",
    "find_rules",
    "fit_attacker",
    "fit_defender",
    "guard_table",
    "judge_plausibility",
    "pair_rules",
    "people_of",
    "table_columns",
    "table_moves",
    "table_representatives",
]

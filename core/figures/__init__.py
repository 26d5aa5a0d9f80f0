"""Results drawn: each function takes a result and a palette and returns a `Drawing` (figure, alt text, table)."""

from core.figures.answers import draw_answer_errors, draw_targeted, draw_values
from core.figures.correction import draw_disclosure, draw_recognition
from core.figures.data import draw_groups
from core.figures.desk import GapRow, draw_gaps
from core.figures.drawing import DARK, LIGHT, Drawing, Palette
from core.figures.guard import CURVES_SHARE, draw_budget
from core.figures.guard_cost import DefenceRow, draw_cost, draw_defences
from core.figures.guard_people import Drawn, draw_mechanism, draw_transfer
from core.figures.guard_values import ValueNoise, draw_value_noise, value_noise
from core.figures.guard_where import draw_where
from core.figures.landscape import draw_landscape
from core.figures.membership_curves import draw_accuracy_by_epsilon, draw_attack_by_epsilon, draw_epsilon_curve
from core.figures.membership_fairpick import draw_deleted, draw_fairpick
from core.figures.membership_gaps import draw_gaps_between
from core.figures.membership_groups import draw_group_gaps
from core.figures.membership_ranges import draw_ranges
from core.figures.membership_roc import draw_roc
from core.figures.model import draw_accuracy, draw_rates
from core.figures.queries import draw_leakage
from core.figures.release_bits import bits_text, draw_fullness, draw_release_bits
from core.figures.release_people import draw_in_common, draw_pinned, draw_recognised
from core.figures.release_precision import draw_precisions, precision_text
from core.figures.search import draw_methods, draw_more, draw_search
from core.figures.trained import draw_models_accuracy, draw_models_unfairness, draw_trained
from core.figures.waterfall import draw_waterfall, rows_of_one, rows_over_seeds

__all__ = [
    "CURVES_SHARE",
    "DARK",
    "LIGHT",
    "DefenceRow",
    "Drawing",
    "Drawn",
    "GapRow",
    "Palette",
    "ValueNoise",
    "bits_text",
    "draw_accuracy",
    "draw_accuracy_by_epsilon",
    "draw_answer_errors",
    "draw_attack_by_epsilon",
    "draw_budget",
    "draw_cost",
    "draw_defences",
    "draw_deleted",
    "draw_disclosure",
    "draw_epsilon_curve",
    "draw_fairpick",
    "draw_fullness",
    "draw_gaps",
    "draw_gaps_between",
    "draw_group_gaps",
    "draw_groups",
    "draw_in_common",
    "draw_landscape",
    "draw_leakage",
    "draw_mechanism",
    "draw_methods",
    "draw_models_accuracy",
    "draw_models_unfairness",
    "draw_more",
    "draw_pinned",
    "draw_precisions",
    "draw_ranges",
    "draw_rates",
    "draw_recognised",
    "draw_recognition",
    "draw_release_bits",
    "draw_roc",
    "draw_search",
    "draw_targeted",
    "draw_trained",
    "draw_transfer",
    "draw_value_noise",
    "draw_values",
    "draw_waterfall",
    "draw_where",
    "precision_text",
    "rows_of_one",
    "rows_over_seeds",
    "value_noise",
]

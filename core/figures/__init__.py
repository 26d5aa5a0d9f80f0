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
from core.figures.model import draw_accuracy, draw_rates
from core.figures.queries import draw_leakage
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
    "draw_accuracy",
    "draw_answer_errors",
    "draw_budget",
    "draw_cost",
    "draw_defences",
    "draw_disclosure",
    "draw_gaps",
    "draw_groups",
    "draw_leakage",
    "draw_mechanism",
    "draw_methods",
    "draw_models_accuracy",
    "draw_models_unfairness",
    "draw_more",
    "draw_rates",
    "draw_recognition",
    "draw_search",
    "draw_targeted",
    "draw_trained",
    "draw_transfer",
    "draw_value_noise",
    "draw_values",
    "draw_waterfall",
    "draw_where",
    "rows_of_one",
    "rows_over_seeds",
    "value_noise",
]

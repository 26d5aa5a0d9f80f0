"""Results drawn: each function takes a result and a palette and returns a `Drawing` (figure, alt text, table)."""

from core.figures.correction import draw_disclosure, draw_recognition
from core.figures.data import draw_groups
from core.figures.drawing import DARK, LIGHT, Drawing, Palette
from core.figures.model import draw_accuracy, draw_rates
from core.figures.search import draw_methods, draw_more, draw_search
from core.figures.trained import draw_models_accuracy, draw_models_unfairness, draw_trained
from core.figures.waterfall import draw_waterfall, rows_of_one, rows_over_seeds

__all__ = [
    "DARK",
    "LIGHT",
    "Drawing",
    "Palette",
    "draw_accuracy",
    "draw_disclosure",
    "draw_groups",
    "draw_methods",
    "draw_models_accuracy",
    "draw_models_unfairness",
    "draw_more",
    "draw_rates",
    "draw_recognition",
    "draw_search",
    "draw_trained",
    "draw_waterfall",
    "rows_of_one",
    "rows_over_seeds",
]

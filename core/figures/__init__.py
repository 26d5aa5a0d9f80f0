"""Results drawn: each function takes a result and a palette and returns a `Drawing` (figure, alt text, table)."""

from core.figures.correction import draw_disclosure, draw_recognition
from core.figures.data import draw_groups
from core.figures.drawing import DARK, LIGHT, Drawing, Palette
from core.figures.model import draw_accuracy, draw_rates
from core.figures.trained import draw_trained

__all__ = [
    "DARK",
    "LIGHT",
    "Drawing",
    "Palette",
    "draw_accuracy",
    "draw_disclosure",
    "draw_groups",
    "draw_rates",
    "draw_recognition",
    "draw_trained",
]

"""Results drawn: for each study a module of functions that take a result and return a `Drawing`."""

from .drawing import Drawing
from .theme import DARK, LIGHT, Palette

__all__ = ["DARK", "LIGHT", "Drawing", "Palette"]

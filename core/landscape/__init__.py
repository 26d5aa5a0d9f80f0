"""The whole tension on one map: models made fair and private by degrees, and what attackers get out of each."""

from core.landscape.cells import Landscape, MapCell, Readings
from core.landscape.measure import landscape, landscape_steps
from core.landscape.plan import EPSILONS, MEMBER_ATTACKER, TOLERANCES, LandscapePlan
from core.landscape.stored import landscape_key, read_landscape, write_landscape

__all__ = [
    "EPSILONS",
    "MEMBER_ATTACKER",
    "TOLERANCES",
    "Landscape",
    "LandscapePlan",
    "MapCell",
    "Readings",
    "landscape",
    "landscape_key",
    "landscape_steps",
    "read_landscape",
    "write_landscape",
]

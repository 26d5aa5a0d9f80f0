"""Parts of the Start page: three doors, and the map of fair and private models."""

from pages.common.starting.doors import doors
from pages.common.starting.maps import KEPT_MAP, draw_map

__all__ = ["KEPT_MAP", "doors", "draw_map"]

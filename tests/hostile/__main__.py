"""Try every hostile file and print how long each took and how much memory: ``python -m tests.hostile``."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

from core.models.files import model_file
from core.untrusted import Child, processes
from tests.hostile.models import ENDLESS, MODELS
from tests.hostile.run import tried
from tests.hostile.tables import TABLES

_LIMIT = 10.0


def _resident(pid: int) -> int:
    try:
        kept = survived == len(TABLES) + len(MODELS) and worst_memory <= 1536 * 1024**2
    return 0 if kept and worst_seconds <= 20 and worst_late <= 5 else 1


if __name__ == "__main__":
    sys.exit(main())

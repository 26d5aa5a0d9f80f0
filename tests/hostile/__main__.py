"""Try every hostile file and print how long each took and how much memory: ``python -m tests.hostile``."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

from core.models import model_files as model_file
from core.untrusted import Child
from core.untrusted import child as processes
from tests.hostile.models import ENDLESS, MODELS
from tests.hostile.run import tried
from tests.hostile.tables import TABLES

_LIMIT = 10.0


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096
    except (OSError, IndexError):
        return 0


def _children(parent: int) -> list[int]:
    try:
        return [int(one) for one in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]
    except OSError:
        return []


class _Memory(threading.Thread):
    """Follows the largest child, above the warm process."""

    def __init__(self, warm: int) -> None:
        super().__init__(daemon=True)
        self.warm, self.most, self.over = warm, 0, threading.Event()

    def run(self) -> None:
        while not self.over.wait(0.01):
            base = _resident(self.warm)
            self.most = max([self.most, *(_resident(one) - base for one in _children(self.warm))])


def main() -> int:
    """Print a line a file and the worst of all; return 1 if one is slower or larger than is promised."""
    model_file.MAX_SECONDS = _LIMIT
    modules = ("core.models.opening_models", "sklearn.ensemble", "skops.io", "onnxruntime")
    Child("The file", modules).ask("tests.hostile.tasks:echo", {"content": b""}, seconds=60)
    warm = processes._warm._process
    assert warm is not None
    worst_seconds, worst_late, worst_memory, survived = 0.0, 0.0, 0, 0
    for kind in (*TABLES, *MODELS):
        content = {**MODELS, **TABLES}[kind][1]()
        memory = _Memory(warm.pid)
        memory.start()
        began = time.monotonic()
        told = tried(kind, content)
        took = time.monotonic() - began
        memory.over.set()
        memory.join()
        survived += warm.poll() is None
        if kind in ENDLESS:
            worst_late = max(worst_late, took - _LIMIT)
        elif told:
            worst_seconds = max(worst_seconds, took)
        worst_memory = max(worst_memory, memory.most)
        size, used = len(content), memory.most / 1024**2
        print(f"{kind} ({size:,} bytes): {took:.1f} s, {used:,.0f} MB; {told or 'read'}", flush=True)
    print(
        f"{len(TABLES)} tables and {len(MODELS)} models tried, {survived} survived; worst {worst_seconds:.1f} s, "
        f"{worst_late:.1f} s after a limit of {_LIMIT:g} s, {worst_memory / 1024**2:,.0f} MB above the warm process"
    )
    kept = survived == len(TABLES) + len(MODELS) and worst_memory <= 1536 * 1024**2
    return 0 if kept and worst_seconds <= 20 and worst_late <= 5 else 1


if __name__ == "__main__":
    sys.exit(main())

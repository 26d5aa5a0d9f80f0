"""What a hostile file could make its reader do, each asked of a child by name."""

from __future__ import annotations

import os
import signal
import time


def echo(kept, report, n):
    kept["asked"] = kept.get("asked", 0) + 1
    report(1, 2)
    return {"n": len(n) if isinstance(n, bytes) else n, "asked": kept["asked"]}, None


def sleep(kept, report, seconds):
    time.sleep(seconds)
    return {}, None


def spin(kept, report):
    while True:
        pass


def eat(kept, report):
    held = []
    while True:
        held.append(bytearray(64 * 1024**2))


def fault(kept, report, number):
    os.kill(os.getpid(), number)
    signal.pause()


def leave(kept, report):
    os._exit(7)


def much(kept, report):
    import pyarrow as pa

    return {}, pa.table({"x": pa.nulls(200_000_000, pa.int64())})


def write(kept, report):
    with open(f"/tmp/{os.getpid()}", "w") as file:
        file.write("x" * 10_000)
    return {}, None


def burst(kept, report):
    raise RuntimeError("something of the library's own")

"""What a hostile file could make its reader do, each asked of a child by name."""

from __future__ import annotations

import os
import signal
import time


def echo(kept, report, content):
    kept["asked"] = kept.get("asked", 0) + 1
    report(1, 2)
    return {"length": len(content), "asked": kept["asked"]}, None


def between(kept, report):
    report(1, 0)
    time.sleep(0.05)
    report(-1, 0)
    return {}, None


def surroundings(kept, report):
    files = len(os.listdir("/proc/self/fd")) - 1 if os.path.isdir("/proc/self/fd") else 0
    output = [os.readlink(f"/proc/self/fd/{one}") for one in (1, 2)]
    return {"environment": sorted(os.environ), "files": files, "output": output}, None


def sleep(kept, report):
    time.sleep(600)


def spin(kept, report):
    while True:
        pass


def eat(kept, report):
    held = []
    while True:
        held.append(bytearray(16 * 1024**2))


def much(kept, report):
    import pyarrow as pa

    return {}, pa.table({"x": pa.nulls(1_000_000, pa.int64())})


def leave(kept, report):
    os._exit(7)


def _ended_by(number):
    os.kill(os.getpid(), number)
    signal.pause()


def divide(kept, report):
    _ended_by(signal.SIGFPE)


def astray(kept, report):
    _ended_by(signal.SIGSEGV)


def abort(kept, report):
    os.abort()


def killed(kept, report):
    _ended_by(signal.SIGKILL)


def burst(kept, report):
    raise RuntimeError("something of the library's own")


def write(kept, report):
    with open(f"/tmp/{os.getpid()}", "w") as file:
        file.write("x" * 10_000)


def many_files(kept, report):
    held = []
    while True:
        held.append(os.open(os.devnull, os.O_RDONLY))


def talk(kept, report):
    """Send what is no message."""
    for handle in range(3, 64):
        try:
            os.write(handle, b"?" * 64)
        except OSError:
            continue
    os._exit(0)

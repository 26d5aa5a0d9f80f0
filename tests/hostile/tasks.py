"""What a hostile file could make its reader do, each asked of a child by name."""

from __future__ import annotations

import os
import signal
import time


def echo(report, content):
    report(1, 2)
    return {"length": len(content)}, None


def waiting(report):
    report(1, 2)
    time.sleep(600)


def between(report):
    report(1, 0)
    time.sleep(0.05)
    report(-1, 0)
    return {}, None


def surroundings(report):
    files = len(os.listdir("/proc/self/fd")) - 1 if os.path.isdir("/proc/self/fd") else 0
    output = [os.readlink(f"/proc/self/fd/{one}") for one in (1, 2)]
    return {"environment": sorted(os.environ), "files": files, "output": output}, None


def sleep(report):
    time.sleep(600)


def spin(report):
    while True:
        pass


def eat(report):
    held = []
    while True:
        held.append(bytearray(16 * 1024**2))


def much(report):
    import pyarrow as pa

    return {}, pa.table({"x": pa.nulls(1_000_000, pa.int64())})


def leave(report):
    os._exit(7)


def _ended_by(number):
    os.kill(os.getpid(), number)
    signal.pause()


def divide(report):
    _ended_by(signal.SIGFPE)


def killed(report):
    _ended_by(signal.SIGKILL)


def write(report):
    with open(f"/tmp/{os.getpid()}", "w") as file:
        file.write("x" * 10_000)


def many_files(report):
    held = []
    while True:
        held.append(os.open(os.devnull, os.O_RDONLY))


def talk(report):
    """Send what is no message."""
    for handle in range(3, 64):
        try:
            os.write(handle, b"?" * 64)
        except OSError:
            continue
    os._exit(0)

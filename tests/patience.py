"""How long tests wait for what must come: a minute, and again from each step of work that goes on."""

import os
import subprocess
import tempfile
import time

MINUTE = 60.0

PATIENT = MINUTE * float(os.environ.get("FAIRLEAK_TESTS_PATIENCE", 1))
"""Seconds after which a test gives up on what does not come, or on work that shows no step; no wait is longer.

On a machine with much else to do, FAIRLEAK_TESTS_PATIENCE=5 makes five minutes of each.
"""


def wait_until(condition, what="a condition", progress=lambda: None, pause=lambda: time.sleep(0.005)):
    """Wait until a condition holds, for a minute from each change of what `progress` returns.

    `pause` is called between two looks.
    """
    seen = progress()
    deadline = time.monotonic() + PATIENT
    while not condition():
        now = progress()
        if now != seen:
            seen = now
            deadline = time.monotonic() + PATIENT
        assert time.monotonic() < deadline, f"waited in vain: {what}"
        pause()


def finished(command, *, progress=lambda: None, **options):
    """Run a program to its end, and return how it ended and what it wrote.

    It may take a minute to each line that it writes, and to each change of what `progress` returns.
    """
    arguments = [str(part) for part in command]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:

        def steps():
            return os.fstat(out.fileno()).st_size, os.fstat(err.fileno()).st_size, progress()

        with subprocess.Popen(arguments, stdout=out, stderr=err, **options) as process:
            try:
                wait_until(lambda: process.poll() is not None, f"the end of {arguments}", steps)
            finally:
                process.kill()
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode())
    return subprocess.CompletedProcess(arguments, process.returncode, *texts)


def entries(folder):
    """Return how many files and folders are in a folder, as a sign of work that fills it."""
    return sum(len(folders) + len(files) for _, folders, files in os.walk(folder))

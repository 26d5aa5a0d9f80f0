"""Every test there is, in parts of under ten minutes each; a run that was interrupted goes on with the parts left.

``python -m tests.parts`` runs one part after the other, ``python -m tests.parts browser-2`` that one, whether it was
done before or not. A part is done once it has passed on the files as they are: its stamp holds their fingerprint.
"""

import hashlib
import math
import subprocess
import sys
import time

import pytest

from tests.hermetic import ROOT
from tests.order import SECONDS, UNKNOWN

STAMPS = ROOT / ".parts"


def cost(file):
    """Return about how many seconds of one core all tests of a file take; properties try ten times as much."""
    seconds = SECONDS.get(file, UNKNOWN)
    return 10 * seconds if file.startswith("tests/properties/") else seconds


def parts(root=ROOT):
    """Return the parts: the files of each folder, shared out so that its parts take about as long."""
    folders = {}
    for path in sorted((root / "tests").rglob("test_*.py")):
        file = path.relative_to(root).as_posix()
        folders.setdefault(file.split("/")[1], []).append(file)
    parts_by_name = {}
    for folder, files in folders.items():
        shares = [[] for _ in range(math.ceil(sum(map(cost, files)) / 500))]  # about four minutes on two cores
        for file in sorted(files, key=lambda file: (-cost(file), file)):
            min(shares, key=lambda share: sum(map(cost, share))).append(file)
        parts_by_name |= {f"{folder}-{number}": share for number, share in enumerate(shares, 1)}
    return parts_by_name


def state():
    """Return the SHA-256 of all files that what tests say may hang on."""
    paths = [path for ending in ("*.py", "*.toml", "*.txt", "README.md", "docs/**/*.md") for path in ROOT.glob(ending)]
    for folder in ("core", "pages", "tests", "data"):
        paths += [path for path in (ROOT / folder).rglob("*") if path.is_file() and path.suffix != ".pyc"]
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(f"{path.relative_to(ROOT)}\x00{hashlib.sha256(path.read_bytes()).hexdigest()}\x00".encode())
    return digest.hexdigest()


def run(name, files):
    began, now = time.monotonic(), state()
    spread = "worksteal" if name.startswith("properties") else "loadfile"  # ten times one property takes minutes
    options = f"-m pytest -q -n 3 --dist {spread} --no-loadscope-reorder --long"
    code = subprocess.call([sys.executable, *options.split(), *files], cwd=ROOT)
    outcome = {0: "passed", pytest.ExitCode.NO_TESTS_COLLECTED: "NO TEST RAN"}.get(code, "FAILED")
    print(f"== {name}: {outcome} after {time.monotonic() - began:.0f} s", flush=True)
    if code == 0:
        STAMPS.mkdir(exist_ok=True)
        (STAMPS / name).write_text(now)
    return code == 0


def done(name):
    stamp = STAMPS / name
    return stamp.is_file() and stamp.read_text() == state()


def main(*names):
    every = parts()
    if unknown := [name for name in names if name not in every]:
        print(f"A part must be one of {', '.join(every)}, got {unknown[0]!r}.", file=sys.stderr)
        return 2
    failed = []
    for number, name in enumerate(every, 1):
        if name not in names and (names or done(name)):
            if not names:
                print(f"== {name}: passed before, nothing has changed since", flush=True)
            continue
        print(f"== {name}: part {number} of {len(every)}", flush=True)
        if not run(name, every[name]):
            failed.append(name)
    if failed:
        print(f"Not passed: {', '.join(failed)}. The same command runs what is left.", file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except KeyboardInterrupt:
        print("\nStopped. The same command goes on with the parts that are left.", file=sys.stderr)
        sys.exit(130)

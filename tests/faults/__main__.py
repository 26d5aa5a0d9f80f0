"""``python -m tests.faults draw | list | run``: small faults of the core, and the tests that notice them.

``draw --seed 1 --count 60`` writes seed-1.json. ``run --seed 1`` makes each fault in a copy of the files git knows,
runs the tests nearest to it (by imports), a few files at a time, until one fails that passes without the fault, and
writes seed-1-caught.json; with ``--record FILE`` an interrupted run goes on. ``--files 12`` tries so many files of
tests at most, ``--long`` runs long tests and browsers too. A test that
computes for 300 s has noticed by hanging; files that do not end in an hour are noted.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests import house
from tests.faults.places import HERE, ROOT, Fault, draw, faulty, find, load, save
from tests.order import SECONDS, UNKNOWN

LATER = {"unit": 0, "properties": 1, "golden": 2, "app": 3, "reference": 4, "verdicts": 4, "hostile": 4, "browser": 8}
"""How much further away tests are than their imports say, by their folder."""

LIBRARIES = [
    "hypothesis",
    "pandas",
    "plotly.graph_objects",
    "pulp",
    "scipy.optimize",
    "scipy.stats",
    "sklearn.ensemble",
]
"""What most tests import, and what takes long."""

HANGS, ENDS = 300, 3600
"""Seconds of computing after which a test hangs (five times what the longest takes), and that some files may take."""


MODULE = re.compile(r"core(\.\w+)+(:\w+)?$")


@cache
def modules() -> dict[str, Path]:
    """Return all files by the name of their module."""
    folders = ("core", "pages", "tests")
    return {house.module_of(file): file for folder in folders for file in sorted((ROOT / folder).rglob("*.py"))}


@cache
def imports(file: Path) -> set[Path]:
    """Return the files a file takes names from; tests of pages also start the whole dashboard."""
    texts = (node.value for node in ast.walk(house.tree(file)) if isinstance(node, ast.Constant))
    later = {text.partition(":")[0] for text in texts if isinstance(text, str) and MODULE.match(text)}
    names = {house.home(module, name, modules()) for module, name in house.taken(file)} | later
    found = {modules()[name] for name in names if name in modules()}
    folder = file.relative_to(ROOT).parts[:2]
    if folder[0] == "tests":
        found |= {place / "conftest.py" for place in file.parents if (place / "conftest.py").is_file()} - {file}
        found |= set((ROOT / "pages").rglob("*.py")) if folder[1] in ("app", "golden", "browser") else set()
    return found


def distances(target: Path) -> dict[Path, int]:
    """Return how many imports lie between each file and one of the core."""
    found, border = {target: 0}, {target}
    while border:
        border = {file for file in modules().values() if file not in found and imports(file) & border}
        found |= dict.fromkeys(border, max(found.values()) + 1)
    return found


def tests_of(fault: Fault, file: str, browser: bool) -> list[str]:
    """Return the files of tests that reach a fault, the nearest first."""
    away: dict[str, float] = {}
    target = Path(file)
    name = re.compile(rf"\b({'|'.join(map(re.escape, fault.scope.split('.')))})\b")
    for path, distance in distances(ROOT / file).items():
        test = path.relative_to(ROOT)
        if not path.name.startswith("test_") or (test.parts[1] == "browser" and not browser):
            continue
        mirror = test.parts[2:-1] == target.parts[1:-1]
        alike = target.stem in path.stem or target.parent.name in path.stem
        text = path.read_text(encoding="utf-8")
        near = mirror + alike + len(set(name.findall(text))) - SECONDS.get(test.as_posix(), UNKNOWN) / 10
        away[test.as_posix()] = distance + LATER.get(test.parts[1], 2) - near
    return sorted(away, key=lambda test: (away[test], test))


class Copy:
    """A copy of the files that git knows, in which faults are made and tests run."""

    def __init__(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="faults-"))
        told = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
        for name in filter(None, told.split("\0")):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, self.root / name)

    def write(self, file: str, text: str) -> None:
        """Write a file, and throw away what was compiled of it."""
        path = self.root / file
        path.write_text(text, encoding="utf-8")
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
            compiled.unlink()

    def run(self, tests: list[str], long: bool) -> str | None:
        """Return what pytest says of tests; None if it does not end.

        Libraries are imported once, by this process, and tests run in a child that is forked from it: most of what
        a few tests take is to import.
        """
        own = ["-p", "tests.faults.limit", "-p", "no:cacheprovider", "-q", "-x", "--tb=short"]
        own += ["-W", "ignore:Module already imported:pytest.PytestAssertRewriteWarning"]
        place = self.root / "said.txt"
        child = os.fork()
        if child == 0:
            os.setsid()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.chdir(self.root)
            with place.open("wb") as out:
                os.dup2(out.fileno(), 1)
                os.dup2(out.fileno(), 2)
            for name in [each for each in sys.modules if each.partition(".")[0] in ("core", "pages", "tests")]:
                del sys.modules[name]
            sys.modules["__main__"] = type(sys)("__main__")
            sys.path[:] = [str(self.root), *(path for path in sys.path if path not in ("", str(ROOT)))]
            os.environ["FAULTS_HANG"] = str(HANGS)
            try:
                pytest.main([*own, *(["--long"] if long else ["-m", "not long"]), *tests])
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(0)
        end = time.monotonic() + ENDS
        try:
            while (ended := os.waitpid(child, os.WNOHANG)[0]) == 0 and time.monotonic() < end:
                time.sleep(0.1)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)  # and whatever its tests have started and left
        if ended == 0:
            os.waitpid(child, 0)
            return None
        said = place.read_text(encoding="utf-8", errors="replace")
        if not re.search(r"^(=+ )?\d+ (passed|failed|error|skipped|deselected)", said, re.MULTILINE):
            raise RuntimeError(f"pytest did not run {tests}:\n{said[-2000:]}")
        return said


def failed(told: str) -> str:
    """Return the test that failed, by its node id; "" if none did."""
    found = re.search(r"^(?:FAILED|ERROR) (tests/\S+?\.py(?:::.*?)?)(?: - .*)?$", told, re.MULTILINE)
    return found[1] if found else ""


def hunt(fault: Fault, copy: Copy, tried: list[str], most: int, long: bool) -> dict[str, Any]:
    """Make a fault, run what reaches it until a test fails, and return what came of it."""
    if (place := find(fault)) is None:
        return {"outcome": "gone"}
    file, node = place
    before = (ROOT / file).read_text(encoding="utf-8")
    tests = [test for test in tests_of(fault, file, long) if test not in tried][:most]
    began, slow, unfit, size = time.monotonic(), [], [], 2
    ended: dict[str, Any] = {"outcome": "survived"}
    while tests and ended["outcome"] == "survived":
        batch, tests, size = tests[:size], tests[size:], min(2 * size, 16)
        copy.write(file, faulty(before, node, fault.after))
        told = copy.run([*batch, *(f"--deselect={each}" for each in unfit)], long)
        copy.write(file, before)
        if told is None:
            slow += batch
        elif by := failed(told):
            if failed(copy.run([by.partition("[")[0]], long) or by):
                unfit.append(by)  # it fails without the fault too
                tests = batch + tests
                continue
            said = re.findall(r"^E +(.+)$", told, re.MULTILINE)
            ended = {"outcome": "caught", "by": by, "said": (said or [""])[0][:160]}
        tried += batch
    if slow and ended["outcome"] == "survived":
        ended = {"outcome": "timeout", "slow": slow}
    return ended | {"file": file, "seconds": round(time.monotonic() - began), "unfit": unfit, "files": len(tried)}


def rows(record: Path | None) -> dict[int, dict[str, Any]]:
    """Return what a record says of each fault, the latest of each."""
    lines = record.read_text(encoding="utf-8").splitlines() if record and record.is_file() else []
    return {row["number"]: row for row in map(json.loads, lines) if row["outcome"] != "gone"}


def run(options: argparse.Namespace) -> None:
    """Hunt the faults that are wanted, and write down what came of them."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    for library in LIBRARIES:
        importlib.import_module(library)
    copy = Copy()
    try:
        for fault in load(options.seed):
            known = rows(options.record).get(fault.number, {})
            settled = known.get("outcome") == "caught" or (known and not options.on)
            if fault.number not in options.only if options.only else settled:
                continue
            tried = known.get("tried", []) if options.on else []
            found = {"number": fault.number} | hunt(fault, copy, tried, options.files, options.long)
            print(f"{fault.number:3} {fault.operator:18} {fault.scope:40} {found}", flush=True)
            if options.record:
                with options.record.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(found | {"tried": tried}, ensure_ascii=False) + "\n")
    finally:
        shutil.rmtree(copy.root)


def written(options: argparse.Namespace) -> None:
    """Write down what came of each fault: as the record says, else as it was; notes stay, and who is gone is said."""
    place = HERE / f"seed-{options.seed}-caught.json"
    before = {row["number"]: row for row in json.loads(place.read_text())} if place.is_file() else {}
    known, kept = rows(options.record), []
    for fault in load(options.seed):
        old = before.get(fault.number, {})
        new = known.get(fault.number, old)
        row: dict[str, Any] = {"number": fault.number, "operator": fault.operator}
        row |= {"outcome": "not run"} | {key: new[key] for key in ("outcome", "by", "said") if new.get(key)}
        row |= {"note": old["note"]} if "note" in old else {}
        row |= {} if find(fault) else {"gone": "What it changed was written anew after it was hunted."}
        kept.append(row)
    place.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def listed(options: argparse.Namespace) -> Iterator[str]:
    """Yield a line for each fault: where it is now, and what becomes of what."""
    for fault in load(options.seed):
        place = find(fault)
        yield f"{fault.number:3} {fault.operator} in {fault.scope} ({place[0] if place else 'gone'})"
        yield f"    {fault.before}  ->  {fault.after}"


def main() -> None:
    """Do what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("verb", choices=["draw", "list", "run", "write"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--only", type=int, nargs="+", metavar="N", help="these faults, whatever the record says")
    parser.add_argument("--record", type=Path, help="keep what is done in this file, and leave out what it holds")
    parser.add_argument("--files", type=int, default=10_000, help="files of tests to try for each fault at most")
    parser.add_argument("--on", action="store_true", help="go on with the files not tried for what survived")
    parser.add_argument("--long", action="store_true", help="run long tests and browsers too")
    options = parser.parse_args()
    if options.verb == "draw":
        save(options.seed, draw(options.seed, options.count))
    elif options.verb == "list":
        print("\n".join(listed(options)))
    elif options.verb == "write":
        written(options)
    else:
        run(options)


if __name__ == "__main__":
    main()

"""``python -m tests.faults draw | list | run``: small faults of the core, and the tests that notice them.

``draw --seed 1 --count 60`` writes seed-1.json. ``run --seed 1`` makes each fault in a copy of the files git knows,
runs the test that noticed it last, then those nearest to it (by imports), a few files at a time, until one fails that
passes without the fault, and writes what came of it into seed-1-caught.json at once. ``--only 4 7`` hunts these alone,
``--files 12`` tries so many files of tests at most, ``--long`` runs long tests and browsers too. Tests that do not end
in half an hour are noted.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from tests import house
from tests.faults.places import FOLDER, ROOT, Fault, draw, faulty, find, load, save
from tests.order import SECONDS, UNKNOWN

LATER = {"unit": 0, "properties": 1, "golden": 2, "app": 3, "reference": 4, "verdicts": 4, "hostile": 4, "browser": 8}
"""How much further away tests are than their imports say, by their folder."""

ENDS = 1800
"""Seconds that some files of tests may take."""

PLUGIN_PATTERNS = {"core/studies/membership/attacks/__init__.py": "*.py", "core/studies/registry.py": "*/study.py"}
"""Files that take modules as they find them in folders, and which."""

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
    imported = {modules()[name] for name in names if name in modules()}
    if pattern := PLUGIN_PATTERNS.get(file.relative_to(ROOT).as_posix()):
        imported |= set(file.parent.glob(pattern)) - {file}
    folder = file.relative_to(ROOT).parts[:2]
    if folder[0] == "tests":
        imported |= {parent / "conftest.py" for parent in file.parents if (parent / "conftest.py").is_file()} - {file}
        imported |= set((ROOT / "pages").rglob("*.py")) if folder[1] in ("app", "golden", "browser") else set()
    return imported


def distances(target: Path) -> dict[Path, int]:
    """Return how many imports lie between each file and one of the core."""
    lengths, border = {target: 0}, {target}
    while border:
        border = {file for file in modules().values() if file not in lengths and imports(file) & border}
        lengths |= dict.fromkeys(border, max(lengths.values()) + 1)
    return lengths


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
        is_similar = target.stem in path.stem or target.parent.name in path.stem
        text = path.read_text(encoding="utf-8")
        near = mirror + is_similar + len(set(name.findall(text))) - SECONDS.get(test.as_posix(), UNKNOWN) / 10
        away[test.as_posix()] = distance + LATER.get(test.parts[1], 2) - near
    return sorted(away, key=lambda test: (away[test], test))


def copied() -> Path:
    """Return a copy of the files that git knows."""
    root = Path(tempfile.mkdtemp(prefix="faults-"))
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    for name in filter(None, listing.split("\0")):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, root / name)
    return root


def failed(root: Path, tests: list[str], long: bool) -> tuple[str, str]:
    """Run tests in a copy; return the one that failed, by its node id, and its first words, or "" and ""."""
    command = [sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider", "-q", "-x", "--tb=short"]
    command += ["--long"] if long else ["-m", "not long"]
    process = subprocess.run([*command, *tests], cwd=root, capture_output=True, text=True, timeout=ENDS, check=False)
    if not re.search(r"^(=+ )?\d+ (passed|failed|error|skipped|deselected)", process.stdout, re.MULTILINE):
        raise RuntimeError(f"pytest did not run {tests}:\n{process.stdout[-2000:]}{process.stderr[-2000:]}")
    by = re.search(r"^(?:FAILED|ERROR) (tests/\S+?\.py(?:::.*?)?)(?: - .*)?$", process.stdout, re.MULTILINE)
    error = re.search(r"^E +(.+)$", process.stdout, re.MULTILINE)
    return (by[1] if by else ""), (error[1][:160] if error else "")


def hunt(fault: Fault, root: Path, most: int, long: bool, last: str) -> dict[str, Any]:
    """Make a fault, run what reaches it until a test fails, the one that noticed it last first; return what came."""
    if (location := find(fault)) is None:
        return {"gone": "What it changed was written anew after it was hunted."}
    file, node = location
    before = (ROOT / file).read_text(encoding="utf-8")
    tests, unfit, size = tests_of(fault, file, long)[:most], [], 2
    last = last.partition("[")[0]
    home = ROOT / last.partition("::")[0]
    if home.is_file() and f"def {last.rpartition('::')[2]}(" in home.read_text(encoding="utf-8"):
        tests.insert(0, last)
    while tests:
        batch = tests[: 1 if tests[0] == last else size]
        try:
            (root / file).write_text(faulty(before, node, fault.after), encoding="utf-8")
            by, error = failed(root, [*batch, *(f"--deselect={test}" for test in unfit)], long)
            (root / file).write_text(before, encoding="utf-8")
            if by and not failed(root, [by.partition("[")[0]], long)[0]:
                return {"outcome": "caught", "by": by, "said": error}
        except subprocess.TimeoutExpired:
            return {"outcome": "timeout", "by": batch[0]}
        finally:
            (root / file).write_text(before, encoding="utf-8")
        if by:
            unfit.append(by)  # it fails without the fault too
        else:
            tests, size = tests[len(batch) :], min(2 * size, 16)
    return {"outcome": "survived"}


def run(options: argparse.Namespace) -> None:
    """Hunt the faults that are wanted, and write down what came of each; notes stay."""
    path = FOLDER / f"seed-{options.seed}-caught.json"
    rows = {row["number"]: row for row in json.loads(path.read_text())} if path.is_file() else {}
    root = copied()
    try:
        for fault in load(options.seed):
            if options.only and fault.number not in options.only:
                continue
            old = rows.get(fault.number, {})
            outcome = hunt(fault, root, options.files, options.long, old.get("by", ""))
            notes = old if "gone" in outcome else {key: old[key] for key in ("note",) if key in old}
            rows[fault.number] = {"number": fault.number, "operator": fault.operator} | notes | outcome
            print(rows[fault.number], flush=True)
            text = json.dumps([rows[number] for number in sorted(rows)], indent=1, ensure_ascii=False)
            path.write_text(f"{text}\n", encoding="utf-8")
    finally:
        shutil.rmtree(root)


def main() -> None:
    """Do what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("verb", choices=["draw", "list", "run"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--only", type=int, nargs="+", metavar="N", help="these faults, whatever came of them before")
    parser.add_argument("--files", type=int, default=10_000, help="files of tests to try for each fault at most")
    parser.add_argument("--long", action="store_true", help="run long tests and browsers too")
    options = parser.parse_args()
    if options.verb == "draw":
        save(options.seed, draw(options.seed, options.count))
    elif options.verb == "run":
        run(options)
    else:
        for fault in load(options.seed):
            location = find(fault)
            print(f"{fault.number:3} {fault.operator} in {fault.scope} ({location[0] if location else 'gone'})")
            print(f"    {fault.before}  ->  {fault.after}")


if __name__ == "__main__":
    main()

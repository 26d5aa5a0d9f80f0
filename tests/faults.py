"""``python -m tests.faults core/stats --tests tests/unit``: small faults of the source; whether a test notices each.

Cosmic Ray makes them: ``pip install cosmic-ray`` first. `--count` of them are drawn by `--seed`, each is made in a copy
of the files that git knows, and the tests run until one fails. A line of JSON a fault goes to `--record`; faults that
stand there are not tried again. What survives is a test that is missing, or a change that changes nothing.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

NOT_COMPUTED = ("annassign", "tfpdef", "decorator", "import_from", "import_name", "raise_stmt", "fstring")
"""Nodes of a syntax tree in which a change is no fault that a test should notice."""


def is_computed(node):
    """Return whether a node belongs to what is computed: no annotation, import, error text or type of a result."""
    while node.parent is not None:
        if node.parent.type in NOT_COMPUTED or node.get_previous_sibling() == "->":
            return False
        node = node.parent
    return True


def faults_of(file):
    """Yield the faults that can be made in a file: operator, its occurrence, and the line."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    tree = get_ast(file.read_text(encoding="utf-8"))
    for name in operator_names():
        try:
            operator = get_operator(name)()
        except TypeError:  # an operator that needs arguments
            continue
        occurrence = 0
        for node in ast_nodes(tree):
            for start, _ in operator.mutation_positions(node):
                if is_computed(node):
                    location = {"file": file.relative_to(ROOT).as_posix(), "line": start[0]}
                    yield location | {"operator": name, "occurrence": occurrence}
                occurrence += 1


def draw(folder, seed, count):
    """Draw faults of a file, or of all files in a folder: lines first, then what is done to one, at most one a line."""
    chance = random.Random(seed)
    files = sorted(folder.rglob("*.py")) or [folder]
    by_line = {}
    for file in files:
        for fault in faults_of(file):
            families = by_line.setdefault((fault["file"], fault["line"]), {})
            # Sixty operators replace one sign by another: they count as one.
            families.setdefault(fault["operator"].partition("_")[0], []).append(fault)
    lines = chance.sample(sorted(by_line), min(count, len(by_line)))
    return [chance.choice(by_line[line][chance.choice(sorted(by_line[line]))]) for line in lines]


def copied(folder):
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    for name in filter(None, listing.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)


def failed_test(copy, tests):
    """Run tests in a copy until one fails; return its name, "" if none does, "timeout" after half an hour."""
    command = [sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider", "-q", "-x", "--tb=no", *tests]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    try:
        run = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, timeout=1800)
    except subprocess.TimeoutExpired:
        return "timeout"
    lines = run.stdout.splitlines()
    failures = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    if failures:
        return failures[0].split()[1]
    return "" if run.returncode == 0 else f"pytest ended with {run.returncode}"


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("folder", type=Path, help="a file or folder of core")
    parser.add_argument("--tests", nargs="+", default=["tests/unit", "tests/properties"], help="what pytest runs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--record", type=Path, default=Path("faults.jsonl"))
    options = parser.parse_args()
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    tried = []
    if options.record.is_file():
        tried = [json.loads(line) for line in options.record.read_text(encoding="utf-8").splitlines()]
    earlier = [{key: row[key] for key in row if key != "noticed_by"} for row in tried]
    with tempfile.TemporaryDirectory(prefix="faults-") as name:
        copy = Path(name)
        copied(copy)
        for fault in draw((ROOT / options.folder).resolve(), options.seed, options.count):
            if fault in earlier:
                continue
            source = (ROOT / fault["file"]).read_text(encoding="utf-8")
            faulty = mutate_code(source, get_operator(fault["operator"])(), fault["occurrence"])
            (copy / fault["file"]).write_text(faulty, encoding="utf-8")
            row = fault | {"noticed_by": failed_test(copy, options.tests)}
            (copy / fault["file"]).write_text(source, encoding="utf-8")
            with options.record.open("a", encoding="utf-8") as record:
                record.write(json.dumps(row) + "\n")
            print(row, flush=True)


if __name__ == "__main__":
    main()

"""The faults that were drawn are still where they were, under whatever file's name, and each is one."""

from __future__ import annotations

import ast
import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.faults.operators import OPERATORS
from tests.faults.places import FOLDER, ROOT, Fault, draw, faulty, find, load, places

SOURCE = '''
LEVEL = 0.95

class Rates:
    def gap(self, group, n) -> float:
        """Not a fault: 1 - 2."""
        if n < 1 and not group:
            raise ValueError(f"{n - 1}")
        rate = abs(max(group[0], n - 1) - n / 2)
        return np.mean(level(group, n), axis=0) + quantile(0.5 - LEVEL / 2, rate == 1)

def first(rates):
    return rates[1:] - 1
'''


@pytest.fixture
def house(tmp_path: Path) -> Path:
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "rates.py").write_text(SOURCE)
    return tmp_path


def gone() -> dict[int, str]:
    path = FOLDER / "seed-1-caught.json"
    rows = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    return {row["number"]: row.get("gone", "") for row in rows}


@pytest.mark.long
@pytest.mark.parametrize("fault", load(1), ids=lambda fault: str(fault.number))
def test_a_fault_is_found_or_said_to_be_gone(fault: Fault):
    location = find(fault)
    if location is None:
        assert gone().get(fault.number), f"say so: python -m tests.faults run --only {fault.number}"
        return
    file, node = location
    source = (ROOT / file).read_text(encoding="utf-8")
    assert ast.dump(ast.parse(faulty(source, node, fault.after))) != ast.dump(ast.parse(source))


@pytest.mark.parametrize("operator", OPERATORS)
def test_an_operator_changes_a_node_and_leaves_the_tree_as_it_was(operator: str):
    tree = ast.parse(SOURCE)
    before = ast.dump(tree)
    changes = [
        (location.node, replacement) for location in places(tree) for replacement in OPERATORS[operator](location.node)
    ]
    assert changes and all(ast.unparse(node) != ast.unparse(replacement) for node, replacement in changes)
    assert ast.dump(tree) == before


def test_sentences_and_errors_are_left_alone():
    assert not [
        location for location in places(ast.parse(SOURCE)) if ast.unparse(location.node) in ("1 - 2", "ValueError")
    ]


def test_a_seed_draws_the_same_faults(house: Path):
    drawn = draw(3, 2, house)
    assert drawn == draw(3, 2, house) and len({(fault.file, fault.scope) for fault in drawn}) == 2


def test_a_fault_is_found_where_its_file_has_another_name(house: Path):
    line = "rate = abs(max(group[0], n - 1) - n / 2)"
    fault = replace(draw(3, 1, house)[0], scope="Rates.gap", line=line, before="n / 2", after="n / 3", occurrence=0)
    folder = house.with_name("other")
    (folder / "core").mkdir(parents=True)
    for name in ("gaps.py", "means.py"):
        (folder / "core" / name).write_text(SOURCE if name == "gaps.py" else SOURCE.replace("n / 2", "n"))
    file, node = find(fault, folder) or ("", None)
    assert find(fault, house) is not None and file == "core/gaps.py"
    text = faulty(SOURCE, node, fault.after)
    assert "abs(max(group[0], n - 1) - (n / 3))" in text and text.count("\n") == SOURCE.count("\n")

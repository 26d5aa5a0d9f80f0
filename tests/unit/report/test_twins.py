"""Two audits that differ in one small count give others the same folder, to the byte and to the names of its files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.cli.audit import write_audit
from core.compare import compare
from core.config import AuditConfig
from core.datasets import Roles, read_table
from core.policy import predictions_policy
from core.release_audit import AuditPlan, DataPlan, MembershipPlan, ModelPlan, OutputsPlan, audit_with_people
from core.report import Reports, from_json
from tests.leaky_report import Cells, leaky, people_in

PLAIN = (60, 70, 80, 90, 50, 40)
"""A group's cells: label by prediction on the test records (TP, FN, FP, TN), and labels on the others."""


def with_cells(**changes: tuple[int, ...]) -> dict[str, Cells]:
    """Return three groups, some of whose cells are other numbers."""
    return {name: changes.get(name, PLAIN) for name in ("Female", "Male", "Other people")}


def moved(cells: dict[str, Cells], one: str, other: str, *places: int) -> dict[str, Cells]:
    """Return the groups after somebody went from one to another in the first place, and back in the second."""
    made = {name: list(found) for name, found in cells.items()}
    for place, sign in zip(places, (1, -1), strict=False):
        made[one][place] -= sign
        made[other][place] += sign
    return {name: tuple(found) for name, found in made.items()}


def pairs() -> dict[str, tuple[dict[str, Cells], dict[str, Cells]]]:
    """Return twins: the totals of everybody are the same, some count of a group is small in both."""
    few = with_cells(Female=(3, 70, 80, 90, 50, 40))
    two = with_cells(Female=(3, 4, 80, 90, 50, 40))
    edge = with_cells(Female=(9, 70, 80, 90, 50, 40), Male=(10, 70, 80, 90, 50, 40))
    found = {
        "another small count": (few, moved(few, "Female", "Male", 0)),
        "none left": (few, with_cells(Female=(0, *PLAIN[1:]), Male=(63, *PLAIN[1:]))),
        "between two small cells": (two, moved(two, "Female", "Male", 0, 1)),
        "another small group": (edge, moved(edge, "Male", "Female", 0)),
        "the small count of another group": (few, with_cells(Male=(3, 70, 80, 90, 50, 40))),
        "another small cell of the group": (few, with_cells(Female=(66, 7, 80, 90, 50, 40))),
        "outside the test": (
            with_cells(Female=(60, 70, 80, 90, 2, 40)),
            with_cells(Female=(60, 70, 80, 90, 3, 40), Male=(60, 70, 80, 90, 49, 40)),
        ),
    }
    rng = np.random.default_rng(18)
    for number in range(4):
        cells = {name: tuple(rng.integers(15, 90, 6).tolist()) for name in ("Female", "Male", "Other people")}
        one, other = rng.permutation(list(cells))[:2]
        place = int(rng.integers(6))
        small = list(cells[one])
        small[place] = int(rng.integers(1, 10))
        first = cells | {one: tuple(small)}
        found[f"drawn {number}"] = first, moved(first, one, other, place)
    return found


def external(reports: Reports, folder: Path) -> dict[str, bytes]:
    """Return what a folder for others holds: path -> content."""
    write_audit(reports, folder)
    outside = folder / "disclosure"
    return {str(path.relative_to(outside)): path.read_bytes() for path in sorted(outside.rglob("*"))}


@pytest.mark.parametrize("named", pairs())
def test_twins_give_others_the_same_folder(named: str, tmp_path: Path):
    """Each audit tells its counts in every sentence, detail, table, title of a table, rate, gain and interval."""
    twins = pairs()[named]
    assert twins[0] != twins[1]
    folders = [
        external(Reports(leaky(cells), people_in(cells)), tmp_path / str(number)) for number, cells in enumerate(twins)
    ]
    assert folders[0] == folders[1] and "report.html" in folders[0]


def promised(tolerance: float, kind: str) -> Reports:
    """Return the reports of a model with a small group, under the tolerance its plan begins with."""
    audit = leaky(with_cells(Female=(3, 70, 80, 90, 50, 40)))
    plan = replace(audit.plan, model=ModelPlan(kind=kind), config=replace(audit.plan.config, tolerance=tolerance))
    return Reports(replace(audit, plan=plan, model=replace(audit.model, kind=kind, tolerance=tolerance)))


def test_the_smallest_tolerance_that_given_predictions_keep_to_is_their_unfairness_and_is_withheld(tmp_path: Path):
    folders = [external(promised(one, "predictions"), tmp_path / str(one)) for one in (0.277, 0.402)]
    assert folders[0] == folders[1]
    text = folders[0]["report.json"].decode()
    assert "within a tolerance withheld here" in text
    assert "tolerance withheld" in folders[0]["report.html"].decode()
    inside, outside = promised(0.277, "predictions").document(), from_json(text)
    assert not [one for one in compare(inside, outside).changed if "tolerance" in one.what]
    trained = promised(0.277, "train").document("disclosure")
    assert trained["model"]["tolerance"] == 0.277, "which was chosen, not measured"


ROLES = Roles(
    label="hired",
    positive="yes",
    favourable="yes",
    sensitive="origin",
    group=("north",),
    prediction="said",
    score="score",
    sets="set",
)
PLAN = AuditPlan(
    data=DataPlan(dataset="", file="people.csv"),
    model=ModelPlan(kind="predictions"),
    config=AuditConfig(dataset="upload", method="given", roles=ROLES, tolerance=0.1, seed=3),
    membership=MembershipPlan(shadows=0),
    outputs=OutputsPlan(decimals=2),
)


def table(changed: tuple[int, ...] = ()) -> pd.DataFrame:
    """Return 600 people with given answers, of whom some changed their group."""
    rng = np.random.default_rng(5)
    n = 600
    x = rng.normal(size=(n, 2)).round(2)
    origin = np.where(rng.random(n) < 0.3, "north", "south")
    hired = x[:, 0] + rng.normal(size=n) > 0
    score = (1 / (1 + np.exp(-x[:, 0] - 0.3 * rng.normal(size=n)))).round(2)
    said = score >= 0.5
    sets = np.repeat(["train", "attack", "validation", "test"], (200, 150, 50, 200))
    few = np.flatnonzero((sets == "test") & (origin == "north") & hired & ~said)[3:]
    origin[few] = "south"  # three of the north are hired and were refused
    for row in changed:
        origin[row] = "south" if origin[row] == "north" else "north"
    columns = {"age": x[:, 0], "pay": x[:, 1], "origin": origin, "score": score, "set": sets}
    return pd.DataFrame(columns | {"hired": np.where(hired, "yes", "no"), "said": np.where(said, "yes", "no")})


def audited(changed: tuple[int, ...]) -> Reports:
    read = read_table(table(changed).to_csv(index=False).encode(), "people.csv")
    audit, people = audit_with_people(PLAN, read, predictions_policy())
    return Reports(audit, people)


@pytest.mark.long
def test_two_tables_that_differ_in_one_small_cell_give_others_the_same_folder(tmp_path: Path):
    """Whole audits of two files, by every attack on given answers: test people and training records move."""
    cells = {key: part.index for key, part in table().groupby(["set", "origin", "hired", "said"])}
    few, many, train = (
        cells[key]
        for key in (("test", "north", "yes", "no"), ("test", "south", "yes", "no"), ("train", "north", "yes", "no"))
    )
    assert (len(few), len(train)) == (3, 5)
    reports = [audited(changed) for changed in ((train[0],), (train[1], few[0], few[1], many[0]))]
    assert reports[0].document() != reports[1].document()
    one, other = (external(told, tmp_path / str(place)) for place, told in enumerate(reports))
    assert one == other

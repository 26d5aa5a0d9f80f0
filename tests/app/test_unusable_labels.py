"""Labels of which no audit can be made: one sentence by page and command, and never a failure of FairLeak itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from core.__main__ import main
from tests.app.dashboard import Dashboard

COUNT = 400


def people() -> pd.DataFrame:
    """Invented people with a label that follows from their income, and not from their sex."""
    rng = np.random.default_rng(5)
    income = rng.normal(50, 10, COUNT).round(1)
    columns = {
        "age": rng.integers(18, 70, COUNT),
        "income": income,
        "sex": rng.choice(["f", "m"], COUNT),
        "hired": np.where(income + rng.normal(0, 8, COUNT) > 52, "yes", "no"),
    }
    return pd.DataFrame(columns)


def attribute_copied() -> pd.DataFrame:
    frame = people()
    return frame.assign(hired=frame.sex.map({"m": "yes", "f": "no"}))


def feature_missing() -> pd.DataFrame:
    frame = people()
    return frame.assign(age=frame.age.where(frame.hired == "no"))


def attribute_missing() -> pd.DataFrame:
    frame = people()
    return frame.assign(sex=frame.sex.where(frame.hired == "no"))


@dataclass(frozen=True)
class Unusable:
    """A table, what is said of it, and the roles that make its label unusable."""

    frame: pd.DataFrame
    says: str
    roles: dict[str, Any] = field(default_factory=dict)


CASES = {
    "attribute copied": Unusable(attribute_copied(), "The label hired follows from sex in every record."),
    "feature missing": Unusable(feature_missing(), "hired is no in all", {"missing": "drop"}),
    "attribute missing": Unusable(attribute_missing(), "hired is no in all"),
}


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
def test_the_data_page_says_so_and_applies_no_roles(dashboard: Dashboard, case: str):
    table = CASES[case]
    dashboard.open("data").upload("people.csv", table.frame.to_csv(index=False).encode())
    dashboard.draft(label="hired", positive="yes", sensitive="sex", **table.roles)
    assert table.says in dashboard.page_text.replace("*", "")
    assert dashboard.button("use_roles").disabled and not dashboard.test.error
    assert "Something went wrong" not in dashboard.page_text


def planned(folder: Path, frame: pd.DataFrame, capsys: pytest.CaptureFixture[str]) -> Path:
    """Write a table and its plan."""
    table, plan = folder / "people.csv", folder / "plan.toml"
    frame.to_csv(table, index=False)
    columns = ["--label", "hired", "--attribute", "sex", "--favourable", "yes"]
    assert main(["init", "--file", str(table), *columns, "-o", str(plan), "-q"]) == 0
    capsys.readouterr()
    return plan


def refused(plan: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the sentence with which an audit of a plan is refused, before anything is written."""
    out = plan.parent / "out"
    assert main(["audit", str(plan), "--out", str(out), "--no-self-test", "-q"]) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("fairleak audit: ") and line.endswith((".", ").")) and not out.exists()
    return line


@pytest.mark.parametrize("case", CASES)
def test_the_command_says_so_and_ends_in_3(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    table = CASES[case]
    plan = planned(tmp_path, table.frame, capsys)
    if table.roles:
        plan.write_text(plan.read_text().replace('missing = "keep"', 'missing = "drop"'))
    assert table.says in refused(plan, capsys)


def test_one_column_as_label_and_attribute_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    plan = planned(tmp_path, people(), capsys)
    text = plan.read_text().replace('sensitive = "sex"', 'sensitive = "hired"')
    plan.write_text(text.replace('group = ["f"]', 'group = ["no"]').replace('group = ["m"]', 'group = ["no"]'))
    assert "hired is label and sensitive attribute at once" in refused(plan, capsys)
    assert main(["init", "--file", str(tmp_path / "people.csv"), "--label", "hired", "--attribute", "hired"]) == 3
    assert "Label and sensitive attribute must be two columns" in capsys.readouterr().err

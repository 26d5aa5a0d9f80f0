"""Labels of which no audit can be made: one sentence, and never a failure of FairLeak itself."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from core.__main__ import main
from tests import samples

PEOPLE = samples.frame(400)
NOT_HIRED = PEOPLE["hired"] == "no"
CASES = {
    "attribute copied": (
        PEOPLE.assign(hired=PEOPLE["origin"].map({"north": "yes", "south": "no"})),
        "The label hired follows from origin in every record.",
    ),
    "feature missing": (PEOPLE.assign(skill=PEOPLE["skill"].where(NOT_HIRED)), "hired is no in all"),
    "attribute missing": (PEOPLE.assign(origin=PEOPLE["origin"].where(NOT_HIRED)), "hired is no in all"),
    "one column twice": (PEOPLE, "hired is label and sensitive attribute at once"),
}
"""Table, and what is said of it where records without a value are dropped."""


@pytest.mark.parametrize("case", CASES)
def test_the_command_says_so_and_ends_in_3(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    frame, sentence = CASES[case]
    table, plan, out = (tmp_path / name for name in ("people.csv", "plan.toml", "out"))
    frame.to_csv(table, index=False)
    columns = ["--label", "hired", "--attribute", "origin", "--favourable", "yes"]
    assert main(["init", "--file", str(table), *columns, "-o", str(plan), "-q"]) == 0
    text = plan.read_text().replace('missing = "keep"', 'missing = "drop"')
    if case == "one column twice":
        text = text.replace('sensitive = "origin"', 'sensitive = "hired"')
        text = re.sub(r'group = \["\w+"\]', 'group = ["no"]', text)
    plan.write_text(text)
    capsys.readouterr()
    assert main(["audit", str(plan), "--out", str(out), "--no-self-test", "-q"]) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("fairleak audit: ") and sentence in line and not out.exists()

"""An audit in Python: three lines, a verdict, and what a notebook shows."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core import audit
from core.__main__ import main
from core.base.caveats import Caveat, CaveatKind
from core.base.errors import InputError
from core.cli.notebook import AuditResult
from core.report import Reports, board_html
from tests import samples
from tests.unit.test_architecture import HEAVY, loaded_by


def people() -> pd.DataFrame:
    """A small table with the predictions of a model that looks at the town."""
    frame = samples.frame(400)
    return frame.assign(predicted=(frame["skill"] > 0.4 * (frame["town"] == "up")).map({True: "yes", False: "no"}))


@pytest.fixture(scope="module")
def result() -> AuditResult:
    return audit(people(), label="hired", attribute="origin", predictions="predicted", favourable="yes")


def test_importing_it_loads_nothing_heavy():
    loaded = loaded_by("import core\nassert core.__version__")
    assert not {name.partition(".")[0] for name in loaded} & (HEAVY | {"numpy"})
    assert "core.cli.notebook" in loaded_by("from core import audit")


def test_it_says_what_the_command_says(result, tmp_path, capsys):
    people().to_csv(tmp_path / "table.csv", index=False)
    plan, folder, out = tmp_path / "plan.toml", tmp_path / "here", tmp_path / "out"
    answers = ["--label", "hired", "--attribute", "origin", "--favourable", "yes"]
    assert main(["init", "--file", str(tmp_path / "table.csv"), *answers, "-o", str(plan)]) == 0
    capsys.readouterr()
    arguments = [str(plan), "--out", str(out), "--policy", "predictions", "--no-self-test", "--quiet"]
    assert main(["audit", *arguments]) == {"pass": 0, "fail": 1}.get(result.verdict, 2)
    output = capsys.readouterr()
    assert (output.err.splitlines(), output.out.splitlines()[0]) == ([result.verdict], result.headline)
    result.write(folder)
    ours, theirs = (json.loads((f / "internal" / "report.json").read_text("utf-8")) for f in (folder, out))
    assert ours["measurements"] == theirs["measurements"] and ours["verdict"] == theirs["verdict"]
    with pytest.raises(InputError, match="must be a new or an empty folder"):
        result.write(folder)


def test_a_notebook_shows_the_board_of_the_report(result):
    page_text, rows = html.unescape(result._repr_html_()), result.reports.document.rows
    assert board_html(rows) in page_text
    assert "sandbox" in page_text and "<script" not in page_text
    limited = [row for row in rows if row.limit]
    headline, _, _, _, *lines = result._repr_markdown_().splitlines()
    assert headline.startswith(f"**{result.headline}** ")
    assert all(row.title in line for row, line in zip(limited, lines[: len(limited)], strict=True))
    assert list(result.checks["check"])[: len(limited)] == [row.check for row in limited]


def test_the_frame_of_a_notebook_is_higher_with_more_caveats(result):
    release, heights = result.reports.audit, []
    for many in (0, 5, 10):
        caveats = tuple(Caveat(CaveatKind.PERSONS_REPEATED, f"Caveat {i}.") for i in range(many))
        frame = AuditResult(Reports(replace(release, verdict=replace(release.verdict, caveats=caveats))))._repr_html_()
        heights.append(float(re.search(r"height: (\d+)rem", frame)[1]))
    assert np.diff(heights).min() >= 5


@pytest.mark.parametrize(
    ("data", "more", "message"),
    [
        ("nothing.csv", {}, "data must be a file that can be read, got 'nothing.csv'"),
        (7, {}, "data must be the name of a dataset, a file or a DataFrame, got int."),
        ("demo", {"label": "approved"}, "label must be left out with a dataset by its name, got 'approved'."),
        ("demo", {"favourable": "yes"}, "favourable must be left out with a dataset by its name, got 'yes'."),
        (people(), {"favourable": "perhaps"}, "The favourable value must be one that 'hired' takes"),
        ("demo", {"attribute": "shoes"}, "attribute must be one of sex, origin, age/ranges, got 'shoes'"),
        (people(), {"predictions": "nobody"}, "The prediction must be a column of the table, got"),
        (people(), {"label": "hired", "attribute": "origin", "policy": "none.toml"}, "policy must be a file"),
    ],
)
def test_unusable_input_is_one_sentence(data, more, message):
    with pytest.raises(InputError) as caught:
        audit(data, **more)
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_an_answer_that_is_missing_is_listed_with_its_key():
    with pytest.raises(InputError) as caught:
        audit(people(), label="hired", attribute="origin", predictions="predicted")
    first, last = str(caught.value).splitlines()
    assert first.startswith("data.favourable: ") and 'data.favourable = "yes"' in first
    assert "arguments of audit" in last

"""``fairleak card``: the findings and figures in text, CSV and JSON, typed numbers, exit codes, bad input."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from core.__main__ import main
from core.auditing import load_table
from core.auditing.card_plan import ReleasePlan, people_of, read_release, study_of
from core.cli.model_card import _verdict
from core.datasets import Table
from core.studies.model_card import Draws, ModelCardResult, ReleasedPeople
from tests import samples
from tests.release_samples import card
from tests.unit.datasets.bad_tables import GOOD

Capture = pytest.CaptureFixture[str]

CARD = """
[data]
dataset = "demo"
[model]
method = "unmitigated"
[models]
family = "seeds"
count = 3
[people]
most = 150
[publish]
decimals = 3
"""


@cache
def table() -> Table:
    """Return a small table with two models that differ in one person."""
    base = samples.table(900)
    first = np.random.default_rng(4).integers(0, 2, 900)
    second = np.where(np.arange(900) == 0, 1 - first, first)
    return replace(base, frame=base.frame.assign(one=first, two=second))


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small table under the name of the demo, and no folders of this machine."""
    monkeypatch.setattr("core.cli.model_card.load_table", lambda *_, **__: table())
    monkeypatch.delenv("FAIRLEAK_DATA", raising=False)


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, capsys: Capture) -> Run:
    """Run the command on a card; return its exit code and what it printed on both streams."""

    def of(text: str, *arguments: str) -> tuple[int, str, str]:
        path = tmp_path / "card.toml"
        path.write_text(text, encoding="utf-8")
        code = main(["card", str(path), *arguments])
        output = capsys.readouterr()
        return code, output.out, output.err

    return of


@cache
def expected() -> tuple[ReleasePlan, ReleasedPeople, ModelCardResult]:
    """Return plan, people and study of the card as core makes them."""
    plan = read_release(CARD)
    people = people_of(plan, table())
    return plan, people, study_of(plan, people)


def test_typed_numbers(run: Run, tmp_path: Path):
    _, _, study = expected()
    rows = []
    for number in study.published.numbers:
        value = f"{number.value}" if number.model else f"{number.value:.0f}"
        rows.append(f'[[number]]\nmodel = "{number.model}"\nstatistic = "{number.statistic}"\nvalue = {value}\n')
    numbers = "".join(rows).replace('model = ""\n', "")
    out = tmp_path / "typed.json"
    _, text, _ = run(CARD + numbers, "--json", str(out))
    assert "(typed, 3 decimals): " in text and "Statistics: statistical parity gap" in text
    assert "group sizes" in text and "Precision" not in text
    typed = json.loads(out.read_text("utf-8"))
    assert typed["measured"]["bits"]["value"] == pytest.approx(study.measured.bits.value, abs=1e-6)
    code, _, error = run(CARD + '[[number]]\nstatistic = "size"\nvalue = 50\n' + numbers)
    assert code == 3 and "[number 2]: size must be given once, number 1 gives it too." in error


def test_flags_stand_in_place_of_what_the_file_says(run: Run):
    noise = ("--publish-epsilon", "3", "--decimals", "none", "--seed", "8", "--count", "2", "--people", "80")
    _, text, _ = run(CARD, *noise, "--no-advice")
    assert "DP noise drawn once, from seed 8.\nAnybody can draw the same noise" in text
    assert "80 people of" in text and "Models (seeds): 2; " in text and "numbers (noise, ε = 3): " in text
    for flags, rule in (
        (
            ["--publish-epsilon", "3"],
            "card.toml: [publish]: A release is rounded or has privacy noise, got",
        ),
        (["--decimals", "99"], "card: --decimals must be from 0 to 12, got 99."),
        (["--statistics", "beauty"], "card: --statistics must be some of sp_gap, "),
    ):
        code, _, error = run(CARD, *flags)
        assert code == 3 and rule in error


BAD = {
    "[people]\ngroup = 'east'": "card.toml: group must be one of south, north, got 'east'",
    '[models]\nfamily = "given"\ncolumns = ["one", "three"]': (
        "card.toml: models.columns must name columns of the table, got 'three'"
    ),
    '[models]\nfamily = "given"\ncolumns = ["hired"]': "card.toml: [data]: A prediction column must have no other role",
    '[models]\nfamily = "seeds"\nwithout = ["nothing"]': "card.toml: without must be one of ",
    "[[number]]\nstatistic = 'size'\nvalue = 99999": "card.toml: [number 1]: size must be at most 297, got 99999",
    "[people]\nmost = 100\n[[number]]\nstatistic = 'size_label_1'\nvalue = 101": "size_label_1 must be at most ",
}


@pytest.mark.parametrize("text", BAD)
def test_bad_input_is_one_sentence_before_anything_is_trained(text: str, run: Run, monkeypatch: pytest.MonkeyPatch):
    def trained(*_: object, **__: object) -> None:
        raise AssertionError("nothing may be trained")

    monkeypatch.setattr("core.studies.model_card.card_people.prior_of", trained)
    code, _, error = run(f"{text}\n[data]\ndataset = 'demo'")
    message = error.strip().splitlines()[-1]
    assert code == 3 and BAD[text] in message and message.endswith(".") and "Traceback" not in message


def test_a_table_that_cannot_be_read_is_told_with_its_key(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("core.cli.model_card.load_table", load_table)
    roles = "label = 'hired'\npositive = 'yes'\nfavourable = 'yes'\nsensitive = 'sex'\ngroup = ['F']"
    (tmp_path / "empty.csv").write_bytes(b"")
    (tmp_path / "good.csv").write_bytes(GOOD)
    code, out, error = run("[publish]\ndecimals = 2")
    assert (code, out) == (3, "") and error == (
        "fairleak card: card.toml: [data] must name a dataset of the catalogue or a file, got neither.\n"
    )
    for file, message in (
        ("none.csv", "data.file must be a file that can be read, got 'none.csv': no such file or directory."),
        ("empty.csv", "data.file: The file 'empty.csv' is empty"),
        ("good.csv", "[data]: The first group must be made of values of 'sex', got 'X'."),
    ):
        group = roles.replace("'F'", "'X'") if file == "good.csv" else roles
        code, _, error = run(f"[data]\nfile = '{file}'\n{group}")
        assert code == 3 and f"card.toml: {message}" in error and error.count("\n") == 1


def noisy(count: int, worst: int, *, computed: bool = True) -> ModelCardResult:
    """Return a card with noise of which one draw discloses so many and the worst of 20 so many."""
    study, guesses = card(12, epsilon=10.0), np.zeros(count, dtype=np.uint8)
    some = replace(study.pinned, people=np.arange(count), count=count, said=guesses, right=1.0 if count else None)
    return replace(study, pinned=some, draws=Draws(count=20, pinned=worst, known=computed))


@pytest.mark.parametrize(
    ("study", "verdict"),
    [
        (noisy(0, 1), "fail"),
        (noisy(2, 5), "fail"),
        (noisy(0, 0), "pass"),
        (noisy(0, 0, computed=False), "inconclusive"),
    ],
)
def test_somebody_disclosed_in_any_draw_of_the_noise_is_somebody(study: ModelCardResult, verdict: str):
    assert _verdict(study) == verdict
    assert study.to_dict()["pinned"]["most in any draw"] == (study.draws.pinned if study.draws else 0)


def test_a_typed_number_that_the_table_contradicts(run: Run, tmp_path: Path):
    _, people, _ = expected()
    prediction, origin = people.predictions[0], people.sensitive
    true = prediction[origin == 1].mean() - prediction[origin == 0].mean()
    typed = true + 0.3 if true < 0.5 else true - 0.3
    number = '[[number]]\nmodel = "audited model"\nstatistic = "sp_gap"\nvalue = '
    out = tmp_path / "card.json"
    code, text, _ = run(f"{CARD}{number}{typed:.3f}", "--json", str(out))
    assert code == 2 and "\nTyped numbers that this table does not give: 1.\nsp_gap of audited model: typed " in text
    assert "Models (seeds): 3; numbers (typed, 3 decimals): 1\nStatistics: statistical parity gap\n" in text
    assert "Typed numbers replace those that publish.statistics" in text
    assert json.loads(out.read_text("utf-8"))["disputed"][0]["table"] == pytest.approx(true)
    code, text, _ = run(f"{CARD}{number}{true:.3f}")
    assert code in (0, 1) and "that this table does not give" not in text
    code, _, error = run(f"{CARD}{number.replace('audited model', '9 tree')}0")
    assert code == 3 and "sp_gap must belong to a model of this card (audited model, 1 " in error

"""``python -m core reveal``: every noise, every number in the file, and one sentence for bad input."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

from core.__main__ import main
from core.config import AuditConfig
from core.datasets import Table, build_dataset, demo_table
from core.queries import DECODERS, NOISES, Answering, QueryPool, noise_text, query_pool
from tests import samples

Capture = pytest.CaptureFixture[str]

SMALL = ["reveal", "--method", "unmitigated", "--people", "30", "--repeats", "4"]
ROW = r"(\d+) +(\d+\.\d) \[(\d+\.\d), (\d+\.\d)\] +(\d+\.\d) \[.*\] +(\d+\.\d) \[.*\]"
ADULT = Path(os.environ.get("FAIRLEAK_DATA", "/nowhere"))


@cache
def sample() -> Table:
    return samples.table(1500)


@cache
def pool(config: AuditConfig) -> QueryPool:
    """The pool of the small table, whose model is trained once for all questions about it."""
    return query_pool(config, build_dataset(sample(), config.roles))


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A small table under the demo's name, and no folders of this machine."""
    monkeypatch.setattr("core.cli.arguments.load", lambda name, **_: sample())
    monkeypatch.setattr("core.cli.reveal.query_pool", lambda config, dataset: pool(config))
    monkeypatch.setattr("core.cli.arguments.default_cache_folder", lambda: tmp_path / "cache")
    monkeypatch.delenv("FAIRLEAK_DATA", raising=False)


@pytest.fixture
def whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo itself."""
    monkeypatch.setattr("core.cli.arguments.load", lambda name, **_: demo_table())
    monkeypatch.setattr("core.cli.reveal.query_pool", query_pool)


def rows(text: str) -> list[tuple[float, ...]]:
    """Return answers, the strongest decoder's leakage and interval, and the other decoders', row by row."""
    return [tuple(float(x) for x in found) for found in re.findall(f"^{ROW}$", text, re.MULTILINE)]


@pytest.mark.parametrize("noise", NOISES)
def test_every_noise(noise: str, capsys: Capture):
    assert main([*SMALL, "--noise", noise, "--questions", "0,6,18", "--epsilon", "20"]) == 0
    told = capsys.readouterr()
    found = rows(told.out)
    assert [row[0] for row in found] == [0, 6, 18]
    assert all(0 <= row[2] <= row[1] <= row[3] <= 100 for row in found)
    assert found[0][4:] == (50.0, 50.0) and found[0][1] > 60
    assert (
        f"answers: {noise_text(Answering(noise=noise, epsilon=20))}" in told.out and "30 people of Sample" in told.out
    )
    kept = noise in ("laplace", "cauchy", "noisy_sums")  # what keeps its epsilon
    assert ("Bound for any attacker" in told.out) == kept and "Features alone give" in told.out
    assert told.err.splitlines()[-1].startswith("3 of 3 numbers of answers")
    if noise == "exact":
        assert found[-1][1] == 100.0


def test_every_number_goes_to_the_file(tmp_path: Path, capsys: Capture):
    path = tmp_path / "out.csv"
    assert main([*SMALL, "--questions", "2,9,9", "--csv", str(path)]) == 0
    told = capsys.readouterr()
    table = pd.read_csv(path)
    assert list(table["number of answers"]) == [2] * 3 + [9] * 3 and list(table["decoder"]) == list(DECODERS) * 2
    assert f"Every number is in {path}." in told.err
    assert set(table["answers"]) == {"exact"} and table["seed"].nunique() == table["draws"].nunique() == 1
    strongest = table[table.decoder == "strongest"]
    for row, (_, found) in zip(rows(told.out), strongest.iterrows(), strict=True):
        assert row[1:4] == tuple(round(100 * found[name], 1) for name in ("leakage", "low", "high"))


BAD = [
    (["--people", "100000"], "got 100,000"),
    (["--model-epsilon", "2"], "--model-epsilon is for the method dp_id3 alone, got 2 with unmitigated."),
    (["--questions", "1,x"], "--questions must be a list of whole numbers, got '1,x'"),
    (["--questions", "5,1000"], "--questions must be in 0 to 18, got 1000"),
]


@pytest.mark.parametrize("arguments, words", BAD, ids=[" ".join(a) for a, _ in BAD])
def test_bad_input_is_one_sentence_and_code_3(arguments: list[str], words: str, capsys: Capture):
    try:
        code = main([*SMALL, *arguments])
    except SystemExit as left:
        code = int(left.code or 0)
    told = capsys.readouterr()
    assert code == 3 and words in told.err and not told.out
    assert told.err.strip().count("\n") == 0


def test_four_groups_are_refused(whole: None, capsys: Capture):
    assert main([*SMALL, "--attribute", "age/ranges"]) == 3
    told = capsys.readouterr()
    assert "compare two groups, got 4" in told.err and not told.out and told.err.count("\n") == 1


@pytest.fixture
def really(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables from where they are, and no network."""
    from core.datasets import load

    monkeypatch.setattr("core.cli.arguments.load", load)
    monkeypatch.setattr("core.cli.reveal.query_pool", query_pool)

    def none(*_: object, **__: object) -> None:
        raise OSError("no network in tests")

    monkeypatch.setattr("urllib.request.OpenerDirector.open", none)


def test_the_table_without_data_says_where_to_put_it(really: None, tmp_path: Path, capsys: Capture):
    folder = tmp_path / "data"
    folder.mkdir()
    assert main(["reveal", "--table", "--data", str(folder)]) == 3
    told = capsys.readouterr()
    assert "adult/adult.data" in told.err and "FAIRLEAK_DATA" in told.err
    assert not told.out and told.err.strip().count("\n") == 0


@pytest.mark.long
@pytest.mark.skipif(not (ADULT / "adult" / "adult.data").is_file(), reason="Adult is not here: set FAIRLEAK_DATA")
def test_the_table_has_all_four_rows(really: None, tmp_path: Path, capsys: Capture):
    path = tmp_path / "table.csv"
    assert main(["reveal", "--table", "--repeats", "2", "--data", str(ADULT), "--csv", str(path)]) == 0
    told = capsys.readouterr()
    found = re.findall(r"^ *n = (\d+), m = (\d+) +2 +(\d+) .* (\d+) queries$", told.out, re.MULTILINE)
    expected = [("100", "25", "63", "2"), ("100", "40", "100", "2"), ("1000", "300", "79", "20")]
    assert found == [*expected, ("1000", "400", "100", "20")]
    table = pd.read_csv(path)
    assert len(table) == 16 and list(table["attack"].unique()) == ["l1", "nonnegative", "box", "box_with_prior"]
    last = table[(table.n == 1000) & (table.m == 400)]
    assert (last.value == 1.0).all() and (table.value > 0.5).all()
    for n in (100, 1000):
        assert f"everybody is known in each of 2 draws, n = {n}:" in told.out

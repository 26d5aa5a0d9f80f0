"""The desk on the command line: its answers are near the truth, its ledger is where it says, its records hold."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from core.studies.bias_queries import statistical_parity_gap
from tests import desk_files
from tests.refusals import exit_code

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path, monkeypatch, capsys) -> Run:
    """Run commands in a folder with a test set and two models, with a ledger in the user's data folder."""
    (tmp_path / "people.csv").write_bytes(desk_files.test_set())
    for seed, name in enumerate(("one", "two")):
        (tmp_path / f"{name}.csv").write_bytes(desk_files.predictions(seed=seed))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("FAIRLEAK_LEDGER", raising=False)

    def command(text):
        code, output = exit_code("desk", *shlex.split(text)), capsys.readouterr()
        return code, output.out, output.err

    return command


REGISTER = "register loans --test-set people.csv --id person --attribute sex --advantaged Male --budget 100"
ASK = "ask loans --test-set people.csv --predictions one.csv --answer-epsilon 40 --asker me"


def test_an_answer_is_near_the_truth_and_its_record_fails_once_it_is_changed(run, tmp_path):
    code, out, err = run(f"{REGISTER} --label repaid --positive yes")
    assert code == 0 and err == f"The ledger is '{tmp_path / 'data' / 'fairleak' / 'ledger.sqlite'}'.\n"
    code, out, err = run(ASK)
    assert code == 0 and not err
    gap = float(re.search(r": ([+-]\d\.\d{4}) \[", out).group(1))
    people, model = (pd.read_csv(f"{name}.csv", index_col="person") for name in ("people", "one"))
    truth = statistical_parity_gap(model.score[people.index], people.sex == "Male")[0]
    assert gap == pytest.approx(truth, abs=0.01)
    assert run(f"{ASK.replace('40', '60').replace('one', 'two')} --quote")[0] == 1
    code, seal, err = run("export record.jsonl")
    assert code == 0 and len(seal.strip()) == 64 and "record.jsonl" in err
    code, out, _ = run(f"verify record.jsonl --noted {seal[:32]}")
    assert code == 0 and "record.jsonl passed. Entries 3 · Answers 1" in out and "It contains the noted hash." in out
    text = Path("record.jsonl").read_text(encoding="utf-8")
    Path("record.jsonl").write_text(text.replace('"asker":"me"', '"asker":"her"'), encoding="utf-8")
    code, out, err = run("verify record.jsonl")
    assert code == 1 and err == "fail\n"
    assert "Verification failed: the hash of entry 3" in out and "Good entries before: 2." in out


def test_the_documented_sample_can_be_followed(run):
    """The files and commands of the page work as they stand there, in their order."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "how-to" / "query-desk.md").read_text("utf-8")
    blocks = re.findall(r"^```\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    for name, block in zip(("people.csv", "model.csv"), blocks[:2], strict=True):
        assert block.startswith("person,") and block.count("\n") == 5
        Path(name).write_text(block, encoding="utf-8")
    lines = [line.partition(" desk ")[2] for line in blocks[2].splitlines()]
    assert [line.split()[0] for line in lines] == ["register", "ask", "status", "export", "verify"]
    for line in lines:
        code, out, err = run(line)
        assert code == 0 and out, err

"""``python -m core release``: the page's numbers in text, CSV and JSON, typed numbers, exit codes, and bad input."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.__main__ import main
from core.datasets import Table
from core.decision.release_plan import ReleasePlan, read_release
from core.decision.release_sources import people_of, some_people, study_of
from core.errors import InputError
from core.release import Published, ReleasedPeople, advise, release_of
from tests import samples
from tests.release_samples import people as made_up

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
    own = samples.table(900)
    rng = np.random.default_rng(4)
    one = rng.integers(0, 2, 900)
    two = one.copy()
    two[0] = 1 - two[0]
    return Table(
        name=own.name,
        title=own.title,
        frame=own.frame.assign(one=one, two=two),
        source=own.source,
        roles=own.roles,
        fingerprint=own.fingerprint,
    )


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small table under the name of the demo, and no folders of this machine."""
    monkeypatch.setattr("core.commands.release.load_table", lambda *_, **__: table())
    monkeypatch.delenv("FAIRLEAK_DATA", raising=False)


def written(folder: Path, text: str) -> str:
    path = folder / "card.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def expected(text: str) -> tuple[ReleasePlan, ReleasedPeople]:
    plan = read_release(text)
    return plan, people_of(plan, table())


def test_text_csv_and_json_say_what_core_says(tmp_path: Path, capsys: Capture):
    csv, out = tmp_path / "card.csv", tmp_path / "card.json"
    code = main(["release", written(tmp_path, CARD), "--csv", str(csv), "--json", str(out)])
    told = capsys.readouterr()
    plan, people = expected(CARD)
    study = study_of(plan, people)
    assert code == int(study.pinned.count > 0)
    assert f"150 people of {table().title} (test records); origin: north, south" in told.out
    assert f"3 models (seeds), {study.n_numbers} numbers, 3 decimals: statistical parity gap" in told.out
    assert re.search(rf"predicted by the meter +{study.meter.df_bits:.1f}\n", told.out)
    bits = study.measured.bits
    assert f"{bits.value:.1f} [{bits.low:.1f}, {bits.high:.1f}]" in told.out
    assert "Pinned down: " in told.out and "\nAdvice: " in told.out
    pd.testing.assert_frame_equal(pd.read_csv(csv), study.to_frame())
    content = json.loads(out.read_text("utf-8"))
    assert content["meter"]["df_bits"] == study.meter.df_bits
    assert content["pinned"]["rows"] == people.rows[study.pinned.people].tolist()
    assert len(content["published"]) == study.n_numbers and content["models"][0] == "audited model"
    advice = advise(people.posterior, release_of(people, plan.settings), sensitive=people.sensitive)
    assert [row["pinned"] for row in content["advice"]["tried"]] == [row.pinned for row in advice.tried]


def test_twin_models_name_the_person_they_differ_in(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch):
    text = '[models]\nfamily = "given"\ncolumns = ["one", "two"]\n[people]\non = "train"\n'
    _, people = expected(text)
    unsure = int(np.argmin(np.abs(people.posterior - 0.5)))
    row = int(people.rows[unsure])
    twins = table().frame.assign(two=table().frame["one"])
    twins.loc[row, "two"] = 1 - twins.loc[row, "one"]
    monkeypatch.setattr("core.commands.release.load_table", lambda *_, **__: replace(table(), frame=twins))
    out = tmp_path / "twins.json"
    assert main(["release", written(tmp_path, text), "--no-advice", "--json", str(out)]) == 1
    pinned = json.loads(out.read_text("utf-8"))["pinned"]
    assert row in pinned["rows"] and pinned["right"]["value"] == 1.0
    assert pinned["said"][pinned["rows"].index(row)] == people.sensitive[unsure]
    told = capsys.readouterr().out
    assert "Advice" not in told and "2 models (given)" in told
    assert "the median pinned person shares label and all predictions with 0 others" in told


def test_typed_numbers(tmp_path: Path, capsys: Capture):
    plan, people = expected(CARD)
    true = study_of(plan, people).published
    numbers = "".join(
        f'[[number]]\nmodel = "{n.model}"\nstatistic = "{n.statistic}"\nvalue = {n.value}\n'
        if n.model
        else f'[[number]]\nstatistic = "{n.statistic}"\nvalue = {n.value:.0f}\n'
        for n in true.numbers
    )
    out = tmp_path / "typed.json"
    main(["release", written(tmp_path, CARD + numbers), "--json", str(out)])
    told = capsys.readouterr().out
    assert "typed, 3 decimals: statistical parity gap" in told and "group sizes" in told and "Advice" not in told
    typed = json.loads(out.read_text("utf-8"))
    assert typed["measured"]["bits"]["value"] == pytest.approx(study_of(plan, people).measured.bits.value, abs=1e-6)
    wrong = (
        CARD + '[[number]]\nstatistic = "size"\nvalue = 50\n' + numbers.replace(f"{true.numbers[0].value:.0f}", "51", 1)
    )
    assert main(["release", written(tmp_path, wrong)]) == 3
    assert "told once for a model" in capsys.readouterr().err


def test_noise_that_can_be_drawn_again_is_not_for_publishing(tmp_path: Path, capsys: Capture):
    main(["release", written(tmp_path, CARD.replace("decimals = 3", "epsilon = 3\nseed = 8")), "--no-advice"])
    assert "Noise drawn with seed 8, and anybody can draw it again: not numbers to publish" in (capsys.readouterr().out)


def test_a_posterior_that_is_not_known_pins_not_nobody(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
):
    _, people = expected(CARD)
    certain = replace(people, posterior=(1 - people.sensitive).astype(float))  # of the wrong group of everybody
    monkeypatch.setattr("core.commands.release.people_of", lambda *_, **__: certain)
    assert main(["release", written(tmp_path, CARD)]) == 2
    told = capsys.readouterr().out
    assert "Pinned down: not known" in told and "nobody of" not in told and "Not to be relied on: " in told
    assert "even exact numbers" not in told and "at most" not in told


def test_two_answers_that_contradict_each_other(tmp_path: Path, capsys: Capture):
    plan, people = expected(CARD)
    size, gap = '[[number]]\nstatistic = "size"\nvalue = 0\n', '[[number]]\nstatistic = "sp_gap"\nvalue = 0.5\n'
    both = f'{size}{gap}model = "audited model"'
    assert main(["release", written(tmp_path, f"{CARD}{both}")]) == 3
    message = capsys.readouterr().err.strip().splitlines()[-1]
    assert message.startswith("python -m core release: ") and message.endswith(".")
    with pytest.raises(InputError) as caught:
        Published.from_values(release_of(people, plan.settings), {("", "size"): 0, ("audited model", "sp_gap"): 0.5})
    assert message.removeprefix("python -m core release: ") == str(caught.value)


BAD = {
    "[publish]\nstatistics = []": "publish.statistics must name at least one statistic",
    "[people]\ngroup = 'east'": "people.group must be one of south, north, got",
    '[models]\nfamily = "given"\ncolumns = ["one", "three"]': "must be a column of the table, got",
    '[models]\nfamily = "seeds"\nwithout = ["nothing"]': "must be one of",
    "[publish]\nepsilon = 1\nsizes = false": "publish.sizes must be true with privacy noise",
    "[publish": "is not TOML",
}


@pytest.mark.parametrize("text", BAD)
def test_bad_input_is_one_sentence(text: str, tmp_path: Path, capsys: Capture):
    assert main(["release", written(tmp_path, text)]) == 3
    message = capsys.readouterr().err.strip().splitlines()[-1]
    assert BAD[text] in message and message.endswith(".") and "Traceback" not in message


def test_files_that_cannot_be_read_or_written(tmp_path: Path, capsys: Capture):
    assert main(["release", str(tmp_path / "none.toml")]) == 3
    assert "FILE must be a file that can be read" in capsys.readouterr().err
    assert main(["release", written(tmp_path, CARD), "--json", str(tmp_path / "no" / "x.json")]) == 3
    assert "--json must be a file in a folder that exists" in capsys.readouterr().err


def test_some_people_are_drawn_once_and_for_all():
    everybody = made_up()
    some = some_people(everybody, 40, seed=1)
    assert some.n == 40 and len(some.columns) == 40 and some.predictions.shape == (12, 40)
    places = [int(np.flatnonzero(everybody.rows == row)[0]) for row in some.rows]
    assert places == sorted(places) and np.array_equal(some.posterior, everybody.posterior[places])
    assert np.array_equal(some_people(everybody, 40, seed=1).rows, some.rows)
    assert not np.array_equal(some_people(everybody, 40, seed=2).rows, some.rows)
    assert some_people(everybody, 0, seed=1) is everybody and some_people(everybody, 300, seed=1) is everybody

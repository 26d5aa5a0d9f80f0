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
from core.errors import InputError
from core.model_card import (
    Published,
    ReleasedPeople,
    ReleaseSettings,
    ReleaseStudy,
    advise,
    drawn_again,
    release_of,
    study,
)
from core.release_audit import load_table
from core.release_audit.card_plan import ReleasePlan, people_of, read_release, some_people, study_of
from tests import samples
from tests.release_samples import people as made_up
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
    monkeypatch.setattr("core.cli.model_card.load_table", lambda *_, **__: table())
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
    assert "\nA gap is the rate of north minus that of south\n" in told.out and "not everybody" not in told.out
    assert f"150 people of {table().title} (test records); origin: north, south" in told.out
    assert f"3 models (seeds), {study.n_numbers} numbers, 3 decimals: statistical parity gap" in told.out
    predicted, draws = study.prediction.bits, study.prediction.draws
    assert f"gain of the attacker, predicted from {draws} draws of the attribute" in told.out and draws
    assert f"{predicted.value:.1f} [{predicted.low:.1f}, {predicted.high:.1f}]" in told.out
    bits = study.measured.bits
    assert f"{bits.value:.1f} [{bits.low:.1f}, {bits.high:.1f}]" in told.out
    assert "Pinned down: " in told.out and "\nAdvice: " in told.out
    pd.testing.assert_frame_equal(pd.read_csv(csv), study.to_frame())
    content = json.loads(out.read_text("utf-8"))
    assert content["meter"]["df_bits"] == study.meter.df_bits
    assert content["prediction"]["bits"]["value"] == predicted.value
    assert content["pinned"]["rows"] == people.rows[study.pinned.people].tolist()
    assert len(content["published"]) == study.n_numbers and content["models"][0] == "audited model"
    advice = advise(people.posterior, release_of(people, plan.settings), sensitive=people.sensitive)
    assert [row["pinned"] for row in content["advice"]["tried"]] == [row.pinned for row in advice.tried]


def test_twin_models_name_the_person_they_differ_in(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch):
    text = '[data]\ndataset = "demo"\n[models]\nfamily = "given"\ncolumns = ["one", "two"]\n[people]\non = "train"\n'
    _, people = expected(text)
    unsure = int(np.argmin(np.abs(people.posterior - 0.5)))
    row = int(people.rows[unsure])
    twins = table().frame.assign(two=table().frame["one"])
    twins.loc[row, "two"] = 1 - twins.loc[row, "one"]
    monkeypatch.setattr("core.cli.model_card.load_table", lambda *_, **__: replace(table(), frame=twins))
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
    wrong = CARD + '[[number]]\nstatistic = "size"\nvalue = 50\n' + numbers
    assert main(["release", written(tmp_path, wrong)]) == 3
    size = f"{true.numbers[0].value:.0f}"
    assert f"[number 2] must not tell size again: number 1 says 50, this one {size}." in capsys.readouterr().err


def test_noise_that_can_be_drawn_again_is_not_for_publishing(tmp_path: Path, capsys: Capture):
    card = written(tmp_path, CARD)
    main(["release", card, "--epsilon", "3", "--decimals", "none", "--seed", "8", "--count", "2", "--no-advice"])
    told = capsys.readouterr().out
    assert "Noise drawn with seed 8, and anybody can draw it again: not numbers to publish" in told
    assert "2 models (seeds), " in told and "with noise of epsilon 3: " in told  # in place of what the card says
    for words, rule in (
        (["--epsilon", "3"], "card.toml: publish.epsilon must be left out where decimals are told, got 3.0."),
        (["--decimals", "99"], "release: --decimals must be from 0 to 12, got 99."),
        (["--statistics", "beauty"], "release: --statistics must be some of sp_gap, "),
    ):
        assert main(["release", card, *words]) == 3
        assert rule in capsys.readouterr().err


def test_a_posterior_that_is_not_known_pins_not_nobody(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
):
    _, people = expected(CARD)
    certain = replace(people, posterior=(1 - people.sensitive).astype(float))  # of the wrong group of everybody
    monkeypatch.setattr("core.cli.model_card.people_of", lambda *_, **__: certain)
    assert main(["release", written(tmp_path, CARD)]) == 2
    told = capsys.readouterr().out
    assert "Pinned down: not known" in told and "nobody of" not in told and "Not to be relied on: " in told
    assert "even exact numbers" not in told and "Advice: at most" not in told


def test_two_answers_that_contradict_each_other(tmp_path: Path, capsys: Capture):
    plan, people = expected(CARD)
    size, gap = '[[number]]\nstatistic = "size"\nvalue = 0\n', '[[number]]\nstatistic = "sp_gap"\nvalue = 0.5\n'
    both = f'{size}{gap}model = "audited model"'
    assert main(["release", written(tmp_path, f"{CARD}{both}")]) == 3
    message = capsys.readouterr().err.strip().splitlines()[-1]
    assert message.startswith("python -m core release: ") and message.endswith(".")
    with pytest.raises(InputError) as caught:
        Published.from_values(release_of(people, plan.settings), {("", "size"): 0, ("audited model", "sp_gap"): 0.5})
    assert message.removeprefix("python -m core release: card.toml: [[number]]: ") == str(caught.value)


BAD = {
    "[publish]\nstatistics = []": "publish.statistics must name at least one",
    "[people]\ngroup = 'east'": "card.toml: people.group must be one of south, north, got 'east'",
    '[models]\nfamily = "given"\ncolumns = ["one", "three"]': (
        "card.toml: models.columns must name columns of the table, got 'three'"
    ),
    '[models]\nfamily = "given"\ncolumns = ["hired"]': "card.toml: [data]: A prediction column must have no other role",
    '[models]\nfamily = "seeds"\nwithout = ["nothing"]': (
        "card.toml: models.without must name features of the table, got 'nothing'"
    ),
    "[[number]]\nstatistic = 'size'\nvalue = 99999": (
        "card.toml: number 1.value must be at most 297, the people of this release, for size, got 99999"
    ),
    "[people]\nmost = 100\n[[number]]\nstatistic = 'size_label_1'\nvalue = 101": "number 1.value must be at most ",
    "[[number]]\nmodel = 'audited model'\nstatistic = 'sp_gap'\nvalue = 1.5": "number 1.value must be in [-1, 1], as",
    "[publish]\nepsilon = 1\nsizes = false": "publish.sizes must be true with privacy noise",
    "[publish": "is not TOML",
}


@pytest.mark.parametrize("text", BAD)
def test_bad_input_is_one_sentence_before_anything_is_trained(
    text: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
):
    def trained(*_: object, **__: object) -> ReleasedPeople:
        raise AssertionError("nothing may be trained")

    monkeypatch.setattr("core.release_audit.card_plan.released_people", trained)
    assert main(["release", written(tmp_path, f"{text}\n[data]\ndataset = 'demo'")]) == 3
    message = capsys.readouterr().err.strip().splitlines()[-1]
    assert BAD[text] in message and message.endswith(".") and "Traceback" not in message


def test_files_that_cannot_be_read_or_written(tmp_path: Path, capsys: Capture):
    assert main(["release", str(tmp_path / "none.toml")]) == 3
    assert "FILE must be a file that can be read" in capsys.readouterr().err
    assert main(["release", written(tmp_path, CARD), "--json", str(tmp_path / "no" / "x.json")]) == 3
    assert "--json must be a file in a folder that exists" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "[publish]\ndecimals = 2", "[data]"])
def test_a_card_that_names_no_table_is_refused(text: str, tmp_path: Path, capsys: Capture):
    assert main(["release", written(tmp_path, text)]) == 3
    told = capsys.readouterr()
    assert not told.out and told.err == (
        "python -m core release: card.toml: [data] must name a dataset of the catalogue or a file, got neither.\n"
    )


def test_a_table_that_cannot_be_read_is_told_with_its_key(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("core.cli.model_card.load_table", load_table)
    roles = "label = 'hired'\npositive = 'yes'\nsensitive = 'sex'\ngroup = ['F']"
    (tmp_path / "empty.csv").write_bytes(b"")
    (tmp_path / "good.csv").write_bytes(GOOD)
    for file, words in (
        (
            "none.csv",
            "card.toml: data.file must be a file that can be read, got 'none.csv': no such file or directory.",
        ),
        ("empty.csv", "card.toml: data.file: The file 'empty.csv' is empty"),
        ("good.csv", "card.toml: [data]: The first group must be made of values of 'sex', got 'X'."),
    ):
        group = roles.replace("'F'", "'X'") if file == "good.csv" else roles
        assert main(["release", written(tmp_path, f"[data]\nfile = '{file}'\n{group}")]) == 3
        told = capsys.readouterr().err
        assert words in told and told.count("\n") == 1


def noisy(monkeypatch: pytest.MonkeyPatch, *, epsilon: float, here: bool) -> tuple[str, ReleaseStudy]:
    """Return a card with noise, made-up people, whose draw on show pins somebody or does not while another does."""
    monkeypatch.setattr("core.cli.model_card.people_of", lambda *_, **__: made_up())
    for seed in range(40):
        settings = ReleaseSettings(count=12, decimals=None, epsilon=epsilon, seed=seed)
        found = drawn_again(study(made_up(), settings), made_up())
        if found.most_pinned and (found.pinned.count > 0) == here:
            card = CARD.replace("count = 3", "count = 12").replace(
                "decimals = 3", f"epsilon = {epsilon}\nseed = {seed}"
            )
            return card, found
    raise AssertionError("no such draw")


@pytest.mark.parametrize("here", [False, True])
def test_somebody_pinned_in_any_draw_of_the_noise_is_somebody(
    here: bool, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
):
    card, found = noisy(monkeypatch, epsilon=30.0, here=here)
    out = tmp_path / "card.json"
    assert main(["release", written(tmp_path, card), "--json", str(out)]) == 1
    told = capsys.readouterr().out
    assert found.draws is not None
    start = f"Pinned down: in this draw of the noise {found.pinned.count if here else 'nobody'} of "
    assert start in told and f", in the worst of {found.draws.count} draws {found.most_pinned};" in told
    assert re.search(rf"epsilon 30 +{found.most_pinned} +{found.draws.count} ", told)  # the table of precisions
    content = json.loads(out.read_text("utf-8"))
    assert content["draws"]["pinned"] == content["pinned"]["most in any draw"] == found.most_pinned
    (row,) = [row for row in content["advice"]["tried"] if row["epsilon"] == 30.0]
    assert (row["pinned"], row["draws"]) == (found.most_pinned, found.draws.count)


def test_nobody_pinned_in_any_draw_is_nobody(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("core.cli.model_card.people_of", lambda *_, **__: made_up())
    card = CARD.replace("count = 3", "count = 12").replace("decimals = 3", "epsilon = 0.1")
    assert main(["release", written(tmp_path, card), "--no-advice"]) == 0
    assert re.search(r"Pinned down: nobody of \d+ people .*, in any of 20 draws of the noise;", capsys.readouterr().out)


def test_a_typed_number_that_the_table_contradicts_is_told_first(tmp_path: Path, capsys: Capture):
    _, people = expected(CARD)
    prediction, origin = people.predictions[0], people.sensitive
    true = prediction[origin == 1].mean() - prediction[origin == 0].mean()
    typed = true + 0.3 if true < 0.5 else true - 0.3
    number = '[[number]]\nmodel = "audited model"\nstatistic = "sp_gap"\nvalue = '
    out = tmp_path / "card.json"
    assert main(["release", written(tmp_path, f"{CARD}{number}{typed:.3f}"), "--json", str(out)]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == (
        f"Not what this table gives: number 1, sp_gap of audited model, typed as {float(f'{typed:.3f}'):g}, but the "
        f"table gives {true:.6g}; a gap is the rate of north minus that of south."
    )
    assert lines[1] == "Everything below is as if the typed numbers were true and so rounded."
    assert "3 models (seeds), 1 number, typed, 3 decimals: statistical parity gap" in lines
    assert any(line.startswith("Typed numbers stand in place of those that publish.statistics") for line in lines)
    assert any(line.startswith("Pinned down, if what is typed were true: ") for line in lines)
    assert json.loads(out.read_text("utf-8"))["disputed"][0]["table"] == pytest.approx(true)
    assert main(["release", written(tmp_path, f"{CARD}{number}{true:.3f}")]) in (0, 1)
    assert "Not what this table gives" not in capsys.readouterr().out
    assert main(["release", written(tmp_path, f"{CARD}{number.replace('audited model', '9 tree')}0")]) == 3
    assert "card.toml: number 1.model must be a model of this card (audited model, 1 " in capsys.readouterr().err


def test_records_without_a_prediction_are_counted(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch):
    holes = table().frame.assign(one=table().frame["one"].astype(float))
    holes.loc[:39, "one"] = np.nan
    monkeypatch.setattr("core.cli.model_card.load_table", lambda *_, **__: replace(table(), frame=holes))
    text = '[data]\ndataset = "demo"\n[models]\nfamily = "given"\ncolumns = ["one"]'
    assert main(["release", written(tmp_path, text), "--no-advice"]) in (0, 1)
    told = capsys.readouterr().out
    assert "Of 900 records of the table not everybody is looked at: 40 records without one are left out." in told


def test_all_settled_as_what_most_people_are(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch):
    everybody = made_up()
    monkeypatch.setattr("core.cli.model_card.people_of", lambda *_, **__: everybody)
    found = study(everybody, ReleaseSettings(count=12, decimals=None))
    some = replace(found, pinned=replace(found.pinned, said=np.zeros(found.pinned.count, dtype=np.uint8)))
    monkeypatch.setattr("core.cli.model_card.study_of", lambda *_, **__: some)
    share = 100 * (everybody.sensitive == 0).mean()
    assert main(["release", written(tmp_path, CARD), "--no-advice"]) == 1
    assert share > 50 and f" of them rightly, all as south, as {share:.0f}% of people are; " in capsys.readouterr().out


def test_more_gained_than_chance_gives_is_explained(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch):
    q = made_up().posterior
    sure = replace(made_up(), posterior=np.clip(q**2 / (q**2 + 3 * (1 - q) ** 2), 0.01, 0.99))
    for people, told in ((sure, True), (made_up(), False)):
        monkeypatch.setattr("core.cli.model_card.people_of", lambda *_, people=people, **__: people)
        main(["release", written(tmp_path, CARD.replace("decimals = 3", "")), "--no-advice"])
        assert ("More was gained than chance gives: with the attribute drawn" in capsys.readouterr().out) == told


def test_some_people_are_drawn_once_and_for_all():
    everybody = made_up()
    some = some_people(everybody, 40, seed=1)
    assert some.n == 40 and len(some.columns) == 40 and some.predictions.shape == (12, 40)
    places = [int(np.flatnonzero(everybody.rows == row)[0]) for row in some.rows]
    assert places == sorted(places) and np.array_equal(some.posterior, everybody.posterior[places])
    assert np.array_equal(some_people(everybody, 40, seed=1).rows, some.rows)
    assert not np.array_equal(some_people(everybody, 40, seed=2).rows, some.rows)
    assert some_people(everybody, 0, seed=1) is everybody and some_people(everybody, 300, seed=1) is everybody

"""Commands that measure: what they print stands in their files too, settings change it, bad input is one sentence."""

import json
from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.base.settings_text import parsed, quoted
from core.cli.console import table, visible
from core.datasets import demo_table
from core.stats.estimates import Estimate, percent
from core.studies.attriguard import ATTACKER_TITLES
from core.studies.bias_queries import DECODER_TITLES, DECODERS, NOISES, mechanism_of
from tests import ratings_samples, samples
from tests.refusals import exit_code, refused
from tests.samples_report import sample, with_texts


@pytest.fixture
def small(monkeypatch):
    """A small table under the name of the demo, and no folders of this machine."""
    monkeypatch.setattr("core.cli.arguments.load", lambda name, **_: samples.table(1500))
    monkeypatch.setattr("core.studies.attriguard.defense.demo_ratings", ratings_samples.ratings)
    monkeypatch.setattr("core.studies.attriguard.defense.read_ratings", lambda folder: ratings_samples.ratings())
    monkeypatch.delenv("FAIRLEAK_DATA", raising=False)


@pytest.fixture
def run(small, tmp_path, capsys):
    """A function that runs a command and returns what it printed, beside it, and the content of its files."""

    def measure(command, *arguments):
        rows, everything = tmp_path / "numbers.csv", tmp_path / "everything.json"
        assert exit_code(*command.split(), *arguments, "--csv", rows, "--json", everything) == 0
        output, frame = capsys.readouterr(), pd.read_csv(rows)
        content = json.loads(everything.read_text("utf-8"), parse_constant=pytest.fail)
        for title, rows_of_table in content["tables"].items():
            assert len(frame[frame.table == title]) == len(rows_of_table), title
            assert not rows_of_table or f"\n{title}\n" in output.out or title in output.out.splitlines()[-1], title
        for finding in content["findings"]:
            assert finding["point"] in output.out and finding["evidence"] in output.out
        return output.out, output.err, content

    return measure


def test_membership_attacks_of_ones_own_choice_on_a_private_tree(run):
    command = "attack membership --method dp_id3 --train-epsilon 1 --shadows 4"
    out, _, content = run(command, "--attacks", "loss,network")
    attacks = {row["attack"] for row in content["tables"]["Membership attacks"]}
    assert attacks == {"Loss threshold", "Zhang et al.'s attack"} and "model dp_id3" in out
    assert content["settings"] == {"shadows": 4, "attacks": ["loss", "network"]}


REVEAL = "attack bias_queries --method unmitigated --people 30 --repeats 4 --questions 18"


@pytest.mark.parametrize("noise", NOISES)
def test_every_noise(noise, run):
    out, err, content = run(REVEAL, "--mechanism", noise, "--answer-epsilon", "1")
    assert f"(answers: 18, {mechanism_of(noise, epsilon=1).text})" in " ".join(out.split())
    assert err.splitlines()[2].startswith("3 of 3 steps")
    rows, name = content["tables"]["Planned answers"], "balanced accuracy"
    assert [row["attacker"] for row in rows[1:]] == [DECODER_TITLES[decoder] for decoder in DECODERS]
    assert [row["answers"] for row in rows] == [0, 18, 18, 18]
    assert all(0 <= row[f"{name}, low"] <= row[name] <= row[f"{name}, high"] <= 1 for row in rows)
    keeps_epsilon = noise in ("laplace", "cauchy", "noisy_sums")
    assert ("If the prior is right, no attacker can expect more than" in out) == keeps_epsilon
    best = max(rows[1:], key=lambda row: row[name])
    best_estimate = Estimate(value=best[name], low=best[f"{name}, low"], high=best[f"{name}, high"], n=4)
    assert f"\nBest decoder: {percent(best_estimate)} balanced accuracy" in out


GUARD = "attack attriguard --dataset demo_ratings"


def test_attriguard_on_ratings_prints_the_study(run):
    _, _, content = run(GUARD, "--budget", "1", "--attackers", "logistic,forest")
    rows = content["tables"]["AttriGuard"]
    titles = [ATTACKER_TITLES[name] for name in ("logistic", "forest")]
    assert [(row["attacker"], row["budget"]) for row in rows] == [(title, at) for at in (0, 1) for title in titles]
    out, _, _ = run(GUARD, "--budget", "1", "--margin", "100", "--attackers", "logistic")
    assert "No noise was found that" in out and "None was found for 300 of 300" in out


# what one setting's own bounds refuse is in test_settings
BAD = {
    "attack attriguard --dataset nowhere": "--dataset must be one of demo, adult, ",
    "attack attriguard --dataset ratings": "cannot be downloaded; name their folder with --data or FAIRLEAK_DATA",
    "attack attriguard --dataset ratings --data /no/such/folder": "--data (or FAIRLEAK_DATA) must be a folder",
    f"{GUARD} --attribute sex": "--attribute is for tables, got it with --dataset demo_ratings",
    f"{GUARD} --csv /no/such/folder/out.csv": "--csv must be a file in a folder that exists",
    f"{REVEAL} --design bits": "a whole number from 0 to 1 with bits questions about 30 people, got 18",
    "attack membership --attacks magic": "--attacks must be some of",
    "experiment --jobs 0": "n_jobs must be a whole number of at least 1",
    "experiment --store /dev/null/store": "The store must be a file in a folder that exists",
    "experiment --seeds 1 --vary model.seed=2": "--seeds must be left out where --vary names model.seed, got '1'",
    "attack bias_queries --set beauty=1": "--set must be KEY=VALUE with a key among dataset,",
    "attack model_card --file none.csv": "--file must be a file that can be read",
    "attack correction --train-epsilon 2": "is for the methods dp_id3, private_fair alone, got 2 with exponentiated",
    "attack beauty": "ACTION must be one of attribute, attriguard, bias_queries, correction,",
}


@pytest.mark.parametrize("line", BAD)
def test_bad_input_is_one_sentence_and_code_3(line, small, monkeypatch, capsys):
    monkeypatch.setattr("core.cli.arguments.load", lambda name, **_: demo_table())
    message = refused(capsys, *line.split())
    command = "attack" if line == "attack beauty" else " ".join(word for word in line.split()[:2] if word[0] != "-")
    assert BAD[line] in message and message.startswith(f"fairleak {command}: ")


HOSTILE = "a\x1b]0;pass\x07\x1b[2J\r\u202eb\nPass: nothing leaks.\x9b\u2028c\u200fd"


def check_lines(text):
    """Check that a stream holds printable lines and none that a name made up; return them."""
    assert text.endswith("\n")
    lines = text[:-1].split("\n")
    assert all(line.isprintable() for line in lines), lines
    assert not [line for line in lines if line.startswith("Pass: nothing leaks.")]
    return lines


@settings(max_examples=200)
@given(st.text(st.characters()))
def test_any_text_is_one_printable_line(text):
    seen = visible(text)
    assert seen.isprintable() and len(seen) == len(text) and visible(seen) == seen
    assert seen == text if text.isprintable() else seen != text


def test_an_audit_of_hostile_names(tmp_path, monkeypatch, capsys):
    audit = with_texts(sample(), lambda text: f"{text} {HOSTILE}" if " " in text else text)
    groups = tuple(replace(group, group=HOSTILE) for group in audit.groups)
    audit = replace(audit, groups=groups, data=replace(audit.data, title=HOSTILE, attribute=HOSTILE))
    monkeypatch.setattr("core.cli.audit.run_audit", lambda *_, **__: audit)
    monkeypatch.setattr("core.cli.audit.write_audit", lambda *_, **__: None)
    (tmp_path / "plan.toml").write_text('[data]\ndataset = "demo"', "utf-8")
    exit_code("audit", tmp_path / "plan.toml", "--out", tmp_path / f"out{HOSTILE}", "--no-self-test")
    output = capsys.readouterr()
    assert sum("Pass: nothing leaks." in line for line in check_lines(output.out)) >= 8
    check_lines(output.err)


BROKEN = "broken\n\x1b.toml"


@pytest.mark.parametrize(
    "arguments",
    [
        *(["audit", plan, "--out", "out"] for plan in (f"{HOSTILE}.toml", BROKEN)),
        ["audit", "plan.toml", "--out", f"{HOSTILE}/out"],
        ["audit", "plan.toml", "--out", "out", HOSTILE],
        *(["report", action, path] for action in ("verify", "replay") for path in (f"{HOSTILE}.json", BROKEN)),
        ["init", "--dataset", HOSTILE],
        ["init", "--file", f"{HOSTILE}.csv"],
        [HOSTILE],
    ],
)
def test_errors_are_one_printable_line(arguments, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.toml").write_text('[data]\ndataset = "demo"', "utf-8")
    (tmp_path / BROKEN).write_text("a = [", "utf-8")
    assert len(check_lines(refused(capsys, *arguments))) == 1


def test_a_plan_for_a_table_of_hostile_names(tmp_path, monkeypatch, capsys):
    """Column names and values are printed so that they can be copied, and read back as they are."""
    people = samples.frame(200).rename(columns={"hired": f"hired {HOSTILE}"})
    people["origin"] = people["origin"].str.replace("north", HOSTILE)
    people.to_csv(tmp_path / "people.csv", index=False)
    assert exit_code("init", "--file", tmp_path / "people.csv") == 0
    output = capsys.readouterr()
    check_lines(output.err)
    assert all(line.isprintable() for line in output.out.split("\n"))
    assert parsed(output.out, name="The plan")["data"]["label"] == f"hired {HOSTILE}"


@settings(max_examples=200)
@given(st.text(st.characters(codec="utf-8")))
@example('a\n"""b"""')
@example("a\\\nb")
@example("\n\n x ")
@example("end\\")
@example("\r\n\x00\x7f\x85")
def test_a_text_in_toml_is_seen_and_read_back(text):
    written = quoted(text)
    assert parsed(f"a = {written}\nb = 1", name="It") == {"a": text, "b": 1}
    assert not {"\x1b", "\r", "\u202e", "\u2066", "\u200f", "\u2028"} & set(written)


def test_table_has_the_first_column_flush_left_and_numbers_flush_right():
    lines = table([{"who": "a", "n": "1"}, {"who": "bcde", "n": "23"}]).splitlines()
    assert lines == ["who    n", "----  --", "a      1", "bcde  23"]

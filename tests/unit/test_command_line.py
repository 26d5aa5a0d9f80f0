"""The command line: tables on one stream, progress on the other, exit codes, and one sentence for bad input."""

from __future__ import annotations

import argparse
import csv
import io
import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from core.__main__ import main, parser
from core.auditing import read_plan
from core.cli import commands
from core.experiments.engine import FileStore
from core.studies.subject import TRAINED_TOLERANCE
from tests import samples
from tests.patience import PATIENT, wait_until
from tests.refusals import refused

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The user's cache, which finished configurations go to, of all tests here."""
    return tmp_path_factory.mktemp("user") / "cache"


@contextmanager
def small_demo(cache: Path) -> Iterator[pytest.MonkeyPatch]:
    """A small table under the demo's name, and no folders of this machine."""
    with pytest.MonkeyPatch.context() as patch:
        table = samples.table(500)
        patch.setattr("core.cli.arguments.load", lambda name, **_: table)
        patch.setattr("core.cli.arguments.default_cache_folder", lambda: cache / "datasets")
        patch.setattr("core.experiments.engine.default_cache_folder", lambda: cache / "datasets")
        patch.delenv("FAIRLEAK_DATA", raising=False)
        yield patch


@pytest.fixture(autouse=True)
def monkeypatch(cache: Path) -> Iterator[pytest.MonkeyPatch]:
    with small_demo(cache) as patch:
        yield patch


Streams = tuple[str, str]
MEASURES = ["--measures", "attack_before,attack_after,attack_gain,tolerance_holds"]
GRID = ["experiment", "--vary", "model.tolerance=0.05,0.1", "--seeds", "0-1", *MEASURES]
METHODS = ["--vary", "model.method=exponentiated_gradient,unmitigated"]


def streams_of(*arguments: str) -> Streams:
    """Run a command that ends well, and return what it wrote on both streams."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        assert main(arguments) == 0
    return out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def measured(cache: Path) -> Streams:
    """An experiment; its numbers are in the user's cache and in rows.csv beside it."""
    with small_demo(cache):
        return streams_of(*GRID, *METHODS, "--csv", str(cache.parent / "rows.csv"))


def test_an_experiment_prints_the_means_of_the_numbers_that_it_writes(measured: Streams, cache: Path):
    out, err = measured
    rows = [line for line in out.splitlines() if line.startswith(("0.05", "0.1"))]
    assert len(rows) == 4 * 4 and "over seeds (Student's t)" in out
    assert re.fullmatch(r"0 of 8 .*\n1 of 8 .*\n(.*\n)*8 of 8 models\nEvery number.*\n", err)
    with open(cache.parent / "rows.csv", encoding="utf-8-sig", newline="") as file:
        written = list(csv.DictReader(file))
    assert len(written) == 4 * 2 * 4
    values = [
        float(row["value"])
        for row in written
        if (row["model.tolerance"], row["model.method"]) == ("0.05", "unmitigated") and row["check"] == "attack_before"
    ]
    (line,) = (row for row in rows if re.match(r"0\.05 +unmitigated .* attack_before", row))
    assert len(values) == 2 and re.search(rf"2 of 2 +{sum(values) / 2:.4f} \[", line)


def test_a_single_seed(measured: Streams):
    out, err = streams_of("experiment", "--vary", "model.tolerance=0.1", "--seeds", "0", *MEASURES)
    assert "intervals over people" in out and err == "1 of 1 models\n"


def test_what_is_finished_is_not_measured_again(measured: Streams, cache: Path):
    store = cache / "experiments.sqlite"
    assert len(FileStore(store)) == 8
    out, err = streams_of(*GRID, *METHODS, "--jobs", "2", "--store", str(store))
    assert out == measured[0] and err == "8 of 8 models\n"
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("UPDATE points SET body = 'damaged' WHERE rowid IN (SELECT rowid FROM points LIMIT 1)")
    out, err = streams_of(*GRID, *METHODS)
    assert out == measured[0] and "is ignored and measured again" in err


def test_no_command_is_a_usage_error(capsys: pytest.CaptureFixture[str]):
    assert refused(capsys)


def command_process(*arguments: str, **settings: Any) -> subprocess.Popen[str]:
    """Start the command line as a user does, who can interrupt it even if these tests run where Ctrl-C is ignored."""
    command = [sys.executable, "-m", "core", *arguments]
    if os.name == "posix":
        settings = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)} | settings
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=ROOT, start_new_session=True, **streams, **settings)


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is sent as a signal")
@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.long)])
def test_ctrl_c_stops_says_that_it_resumes_and_leaves_130(jobs: str, tmp_path: Path):
    store = tmp_path / "store"
    seeds = ["--vary", "model.method=exponentiated_gradient", "--seeds", "0-48", *MEASURES]
    running = command_process("experiment", *seeds, "--jobs", jobs, "--store", str(store))
    wait_until(lambda: running.poll() is not None or (store.exists() and len(FileStore(store))), "the first model")
    assert running.poll() is None
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does: to the workers as well
    out, err = running.communicate(timeout=PATIENT)
    assert running.returncode == 130 and not out
    assert "Traceback" not in err and "KeyboardInterrupt" not in err
    assert err.rstrip().endswith(f"Stopped; what is finished is in {store}.\nThe same command goes on from there.")
    assert 1 <= len(FileStore(store)) < 49


def test_a_reader_who_has_seen_enough_is_no_error():
    running = command_process("init")
    assert running.stdout is not None
    running.stdout.close()
    running.stdout = None
    _, err = running.communicate(timeout=PATIENT)
    assert running.returncode == 0 and "Traceback" not in err


def test_the_keys_of_set_are_the_flags():
    settings = [word for key in ("method=unmitigated", "seed=2", "train_share=0.4") for word in ("--set", key)]
    flags = ["--method", "unmitigated", "--seed", "2", "--train-share", "0.4"]
    assert streams_of("attack", "fairness", *settings)[0] == streams_of("attack", "fairness", *flags)[0]


def leaves(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield the parser of every command."""
    inner = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    for action in inner:
        for subparser in action.choices.values():
            yield from leaves(subparser)
    if not inner:
        yield parser


def test_the_commands_in_the_documentation_are_commands():
    used = set()
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        for line in re.findall(r"^fairleak ([^>#\n]+)", page.read_text("utf-8"), re.MULTILINE):
            used.add(parser().parse_args(shlex.split(line)).command)
    assert used == set(commands())
    for command_parser in (parser(), *leaves(parser())):
        for line in re.findall(r"^  fairleak (.+)$", command_parser.epilog or "", re.MULTILINE):
            parser().parse_args(shlex.split(line))


def test_every_help_is_a_sentence_and_a_flag_has_one_meaning():
    for command_parser in leaves(parser()):
        assert re.fullmatch(r"[A-Z].*\.", command_parser.description or ""), command_parser.prog
        for action in command_parser._actions[1:]:
            assert re.fullmatch(r"[A-Z].*\.", action.help or "", re.DOTALL), (
                command_parser.prog,
                action.option_strings,
            )
            assert "(default " not in str(action.help) and "when left out" not in str(action.help)
    # flags of one name have one help, but where a dataset, a subject or a file of the command's own is meant
    helps: dict[str, set[str]] = {}
    for command_parser in leaves(parser()):
        for action in command_parser._actions:
            for flag in action.option_strings:
                helps.setdefault(flag, set()).add(str(action.help))
    for flag in ("--train-epsilon", "--answer-epsilon", "--data", "--out", "--output", "--policy", "--csv", "--seeds"):
        openings = {re.split(r"[ ;:]", text)[0] for text in helps[flag]}
        assert len(openings) == 1, (flag, openings)
    assert "--epsilon" not in helps and "--again" not in helps and len(helps["--policy"]) == 1


def test_quiet_leaves_only_results_and_errors(measured: Streams, capsys: pytest.CaptureFixture[str], tmp_path: Path):
    line = ["experiment", "--vary", "model.tolerance=0.1", "--seeds", "0", *MEASURES]
    assert main([*line, "--csv", str(tmp_path / "a.csv")]) == 0 and "models" in capsys.readouterr().err
    assert main([*line, "--csv", str(tmp_path / "a.csv"), "-q"]) == 0 and not capsys.readouterr().err
    assert main([*line, "--vary", "model.seed=-2", "-q"]) == 3 and "must be" in capsys.readouterr().err


def test_a_plan_for_the_demo_has_the_tolerance_of_the_dashboard(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["init", "-o", str(tmp_path / "plan.toml")]) == 0
    assert f"The plan is in {tmp_path / 'plan.toml'}" in capsys.readouterr().err
    plan = read_plan((tmp_path / "plan.toml").read_text("utf-8"))
    assert plan.config.tolerance == TRAINED_TOLERANCE
    assert main(["init", "-o", str(tmp_path / "plan.toml")]) == 3  # it is never overwritten

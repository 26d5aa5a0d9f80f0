"""The command line: tables on one stream, progress on the other, exit codes, and one sentence for bad input."""

import argparse
import io
import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager, redirect_stderr, redirect_stdout
from functools import partial

import pandas as pd
import pytest

from core.__main__ import main, parser
from core.cli import commands
from core.experiments.engine import FileStore
from tests import samples
from tests.hermetic import ROOT
from tests.patience import PATIENT, wait_until


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """The user's cache, which finished configurations go to, of all tests here."""
    return tmp_path_factory.mktemp("user") / "cache"


@contextmanager
def small_demo(cache):
    """A small table under the demo's name, and no folders of this machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("core.cli.arguments.load", lambda name, **_: samples.table(500))
        for module in ("core.cli.arguments", "core.experiments.engine"):
            patch.setattr(f"{module}.default_cache_folder", lambda: cache / "datasets")
        patch.delenv("FAIRLEAK_DATA", raising=False)
        yield patch


@pytest.fixture(autouse=True)
def monkeypatch(cache):
    with small_demo(cache) as patch:
        yield patch


MEASURES = ["--measures", "attack_before,attack_after,attack_gain,tolerance_holds"]
GRID = ["experiment", "--vary", "model.tolerance=0.05,0.1", "--seeds", "0-1", *MEASURES]
METHODS = ["--vary", "model.method=threshold_optimizer,unmitigated"]


def streams_of(*arguments):
    """Run a command that ends well, and return what it wrote on both streams."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        assert main(arguments) == 0
    return out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def measured(cache):
    """An experiment; its numbers are in the user's cache and in rows.csv beside it."""
    with small_demo(cache):
        return streams_of(*GRID, *METHODS, "--csv", str(cache.parent / "rows.csv"))


def test_an_experiment_prints_the_means_of_the_numbers_that_it_writes(measured, cache):
    out, err = measured
    assert re.fullmatch(r"0 of 8 .*\n1 of 8 .*\n(.*\n)*8 of 8 models\nEvery number.*\n", err)
    written = pd.read_csv(cache.parent / "rows.csv")
    groups = written.groupby(["model.tolerance", "model.method", "check"])["value"]
    assert len(written) == 4 * 2 * 4 and set(groups.size()) == {2}
    mean = groups.mean()[0.05, "unmitigated", "attack_before"]
    (line,) = re.findall(r"^0\.05 +unmitigated .* attack_before.*$", out, re.MULTILINE)
    assert re.search(rf"2 of 2 +{mean:.4f} \[", line)


def test_what_is_finished_is_not_measured_again(measured, cache):
    store = cache / "experiments.sqlite"
    assert len(FileStore(store)) == 8
    out, err = streams_of(*GRID, *METHODS, "--jobs", "2", "--store", str(store))
    assert out == measured[0] and err == "8 of 8 models\n"
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("UPDATE points SET body = 'damaged' WHERE rowid IN (SELECT rowid FROM points LIMIT 1)")
    out, err = streams_of(*GRID, *METHODS)
    assert out == measured[0] and "is ignored and measured again" in err


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is sent as a signal")
@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.long)])
def test_ctrl_c_stops_says_that_it_resumes_and_leaves_130(jobs, tmp_path):
    store = tmp_path / "store"
    grid = ["--vary", "model.method=exponentiated_gradient", "--seeds", "0-48", *MEASURES]
    command = [sys.executable, "-m", "core", "experiment", *grid, "--jobs", jobs, "--store", str(store)]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    streams["preexec_fn"] = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # also where Ctrl-C is ignored
    running = subprocess.Popen(command, cwd=ROOT, start_new_session=True, **streams)
    wait_until(lambda: running.poll() is not None or (store.exists() and len(FileStore(store))), "the first model")
    assert running.poll() is None
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does: to the workers as well
    out, err = running.communicate(timeout=PATIENT)
    assert running.returncode == 130 and not out and "Traceback" not in err and "KeyboardInterrupt" not in err
    assert err.rstrip().endswith(f"Stopped; what is finished is in {store}.\nThe same command goes on from there.")
    assert 1 <= len(FileStore(store)) < 49


def leaves(parser):
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

"""An uploaded file calls nobody: from import to the report nothing leaves this machine or is written elsewhere.

Each program runs under strace with folders of its own, which are empty before: home, cache, temporary files. The
server is in `tests.browser.test_privacy`.
"""

import os
import re
import sys
import time
from uuid import uuid4

import numpy as np
import pytest

from tests import model_samples
from tests.hermetic import ROOT
from tests.hostile.system_calls import calls, can_trace, changed_outside, reached, semaphores_left, under
from tests.markers import holding
from tests.patience import finished

pytestmark = pytest.mark.skipif(not can_trace(), reason="no strace here, or it may not look at processes (ptrace)")

FOLDERS = {f"XDG_{name}_HOME": name.lower() for name in ("CACHE", "CONFIG", "DATA", "STATE")}
FOLDERS |= {"HOME": "home", "TMPDIR": "tmp"}


class Quiet:
    """A user with folders of their own, and the programs they run."""

    def __init__(self, folder):
        self.working_folder = folder / "place"
        self.working_folder.mkdir()
        self._strace = folder / "strace"
        self.folders = {name: folder / part for name, part in FOLDERS.items()}
        for path in self.folders.values():
            path.mkdir()

    def run(self, *arguments, codes=(0,)):
        """Run Python in the user's place, under strace, and check its exit code."""
        # This process has imported FairLeak: what that sets is to be set anew.
        left_out = ("FAIRLEAK_DATA", "JOBLIB_", "ORT_")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
        changed = {name: str(path) for name, path in self.folders.items()} | {"PYTHONDONTWRITEBYTECODE": "1"}
        changed["PYTHONPATH"] = str(ROOT)
        command = [*under(self._strace), sys.executable, *arguments]

        def noted():
            return sum(path.stat().st_size for path in self._strace.glob("*"))

        done = finished(command, cwd=self.working_folder, env=environment | changed, progress=noted)
        assert done.returncode in codes and "Traceback" not in done.stderr, done.stderr

    def calls(self):
        return calls(self._strace, self.working_folder)

    def assert_quiet(self):
        """Check that nobody was called, and nothing written but in the place and, for a while, as temporary files."""
        traced = self.calls()
        assert reached(traced) == []
        assert changed_outside(traced, self.working_folder, self.folders["TMPDIR"]) == []
        assert [path for path in self.folders.values() if any(path.iterdir())] == []
        assert semaphores_left(traced) == []


@pytest.fixture
def quiet(tmp_path):
    return Quiet(tmp_path)


def people(**columns):
    """Return people of the model files with a sex and somebody's answers; columns may be renamed."""
    frame = model_samples.people()[[*model_samples.NUMBERS, "approved"]]
    right = np.random.default_rng(3).random(len(frame)) < 0.8
    predictions = np.where(right == (frame["approved"] == "yes"), "yes", "no")
    frame = frame.assign(sex=["F" if i % 3 else "M" for i in range(len(frame))], told=predictions)
    return frame.rename(columns=columns)


def test_importing_calls_nobody(quiet):
    """The runtime of ONNX models would, some of a second later."""
    quiet.run("-c", "import core, onnxruntime, time; time.sleep(1)")
    quiet.assert_quiet()


def test_the_runtime_of_models_is_not_quiet_by_itself(quiet):
    quiet.run("-c", "import onnxruntime, time; time.sleep(1)")
    if not changed_outside(quiet.calls(), quiet.working_folder, quiet.folders["TMPDIR"]):
        pytest.skip("this build of onnxruntime has no telemetry")


@pytest.mark.long
def test_an_audit_in_a_notebook_calls_nobody(quiet):
    people().to_csv(quiet.working_folder / "people.csv", index=False)
    call = 'audit(pd.read_csv("people.csv"), label="approved", attribute="sex", predictions="told", favourable="yes")'
    quiet.run("-c", f"import pandas as pd\nfrom core import audit\nassert {call}._repr_html_()")
    quiet.assert_quiet()
    assert [path.name for path in quiet.working_folder.iterdir()] == ["people.csv"]


@pytest.mark.long
def test_an_audit_of_a_model_file_calls_nobody_and_leaves_the_report_alone(quiet):
    marker, moment = f"marker{uuid4().hex}", time.time() - 1
    names = ("people.csv", "m.onnx", "plan.toml", "report")
    table, model, plan, report = (quiet.working_folder / name for name in names)
    frame = people(age=marker, told=f"told_{marker}").replace({"sex": {"F": f"F {marker}"}})
    frame.to_csv(table, index=False)
    model.write_bytes(model_samples.as_onnx(model_samples.logistic(), model_samples.numbers()[:1]))
    arguments = ["init", "--file", table, "--model", model, "--label", "approved", "--favourable", "yes"]
    written = finished([sys.executable, "-m", "core", *arguments], cwd=ROOT)
    assert written.returncode == 0, written.stderr
    text = written.stdout
    for name, value in {"questions": 0, "canaries": 100, "repeats": 200}.items():  # which would take long
        text = re.sub(rf"(?m)^{name} = \d+", f"{name} = {value}", text)
    plan.write_text(text, encoding="utf-8")

    arguments = ["audit", str(plan), "--out", str(report), "--no-self-test", "--quiet"]
    quiet.run("-m", "core", *arguments, codes=(0, 1, 2))
    quiet.assert_quiet()
    assert sorted(quiet.working_folder.iterdir()) == sorted((table, model, plan, report))
    # A worker's own temporary folder need not be the one above this place.
    paths = set(holding(marker, moment, quiet.working_folder))
    report_paths = {path for path in paths if report in path.parents}
    assert report_paths and paths == report_paths | {table, plan}

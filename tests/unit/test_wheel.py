"""The wheel: what it holds, and that FairLeak runs from it in another environment and another folder."""

import email
import http.client
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from contextlib import closing
from functools import partial

import pytest

from tests.browser.driver import free_port, wait_for_answer
from tests.hermetic import ROOT
from tests.patience import PATIENT, entries, finished


def printed(*command, cwd=ROOT, progress=lambda: None):
    """Run a program without what this environment would lend it, and return what it prints."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = finished(command, progress=progress, cwd=cwd, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    printed(sys.executable, "-m", "pip", "wheel", ROOT, "--no-deps", "--no-build-isolation", "-q", "-w", folder)
    (built,) = folder.glob("fairleak-*.whl")
    return built


def status_of(port, path, host):
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        connection.request("GET", path, headers={"Host": host})
        with connection.getresponse() as answer:
            return answer.status


def test_it_holds_what_runs_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = [name for name in names if name.endswith("METADATA")]
        needs = email.message_from_bytes(archive.read(metadata)).get_all("Requires-Dist") or []
    folders = {name.partition("/")[0] for name in names if ".dist-info" not in name}
    assert folders == {"app.py", "serve.py", "core", "pages", "data", ".streamlit"}
    assert {".streamlit/config.toml", "data/demo_loans.csv", "core/auditing/policy/default.toml"} <= set(names)
    assert "streamlit" in " ".join(needs) and not [line for line in needs if line.startswith("-")]
    pinned = [line for line in (ROOT / "requirements.txt").read_text("utf-8").splitlines() if "==" in line]
    assert len([line for line in needs if "extra" not in line]) == len(pinned)


def test_it_runs_in_another_environment_from_any_folder(wheel, tmp_path):
    environment = tmp_path / "own"
    venv.create(environment, with_pip=False, symlinks=True)
    pip = (sys.executable, "-m", "pip", "--python", environment / "bin" / "python")
    printed(*pip, "install", "--no-deps", wheel, progress=partial(entries, environment))
    command = environment / "bin" / "fairleak"
    (site,) = (environment / "lib").glob("python*/site-packages")
    (site / "lent.pth").write_text(sysconfig.get_paths()["purelib"], "utf-8")  # what FairLeak stands on
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert printed(command, "--version", cwd=elsewhere).startswith("FairLeak ")
    assert 'dataset = "demo"' in printed(command, "init", "--dataset", "demo", cwd=elsewhere)
    port = free_port()
    server = subprocess.Popen([command, "dashboard", "--headless", "--port", str(port)], cwd=elsewhere)
    try:
        wait_for_answer(server, f"http://127.0.0.1:{port}/_stcore/health")
        assert status_of(port, "/", f"localhost:{port}") == 200
        assert status_of(port, "/", "foreign.example") == 403  # its own config.toml was found
        assert status_of(port, "/_stcore/metrics", f"localhost:{port}") == 404
    finally:
        server.terminate()
        server.wait(PATIENT)

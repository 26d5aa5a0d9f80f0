"""A child's death, whatever its cause, is one sentence; it has nothing of the server's, and children do not pile up."""

import os
import sys
import threading
from functools import partial

import pytest

from core.__main__ import main
from core.base.errors import InputError
from core.base.untrusted import ask_child
from core.base.untrusted import child as processes
from core.base.untrusted.confinement import ALLOW_UNCONFINED, PROTECTIONS, UNCONFINED
from core.cli import start
from core.models import model_files
from core.models.model_files import read_model
from tests.hermetic import ROOT
from tests.hostile import tasks
from tests.model_samples import as_skops, logistic
from tests.patience import finished

TASKS = "tests.hostile.tasks"

ENDINGS = {
    "waiting": "was stopped after 1 seconds",
    "spin": "was stopped after 1 seconds",
    "eat": "needs more than 256 MB of memory",
    "much": "unpacks to more than 1 MB",
    "leave": r"crash \(exit status 7\)",
    "divide": r"crash \(signal SIGFPE\)",
    "killed": "was stopped by the system",
    "write": r"broke its reader \(PermissionError\)",
    "many_files": r"broke its reader \(PermissionError\)",
    "talk": "unpacks to more than 1 MB",
}


@pytest.fixture(params=["forked", "fresh"])
def way(request, monkeypatch):
    """Make children both ways."""
    if request.param == "fresh":
        monkeypatch.setattr(processes, "FORKS", False)
    elif not processes.FORKS:
        pytest.skip("this system does not fork safely")
    return request.param


@pytest.mark.parametrize("task", ENDINGS)
def test_every_ending_is_one_sentence(way, task, monkeypatch):
    monkeypatch.setattr(processes, "MEMORY", 256 * 1024**2)
    monkeypatch.setattr(processes, "ANSWER", 1024**2)
    seconds = 1 if task in ("waiting", "spin") else 30
    with pytest.raises(InputError, match=ENDINGS[task]) as caught:
        ask_child("The file 'a'", f"{TASKS}:{task}", {}, seconds=seconds, modules=("pyarrow",))
    message = str(caught.value)
    assert message.startswith("The file 'a' ") and message.endswith(".") and "\n" not in message


def test_a_child_answers_and_reports(way):
    heard = []
    answer, table = ask_child(
        "The file 'a'", f"{TASKS}:echo", {"content": bytes(10**6)}, seconds=30, report=lambda *step: heard.append(step)
    )
    assert answer == {"length": 10**6} and table is None and heard == [(1, 2)]


def test_what_stops_the_one_who_asks_ends_the_child(way):
    def stop(*_):
        raise KeyboardInterrupt

    for _ in range(processes.MOST_AT_ONCE + 1):  # each gives its place back
        with pytest.raises(KeyboardInterrupt):
            ask_child("The file 'a'", f"{TASKS}:waiting", {}, seconds=60, report=stop)


def test_a_child_has_nothing_of_the_servers(way, monkeypatch):
    monkeypatch.setenv("FAIRLEAK_SECRET", "postgresql://user:password@host")
    held = os.open(os.devnull, os.O_RDONLY)
    os.set_inheritable(held, True)
    try:
        answer, _ = ask_child("The file 'a'", f"{TASKS}:surroundings", {}, seconds=30)
    finally:
        os.close(held)
    assert answer["environment"] == []
    # Standard output and error lead nowhere; what is open besides is the connection to the one who asked.
    if way == "forked":
        assert answer["files"] == [0, 1, 2] and len(answer["lines"]) == 1
    else:
        assert answer["files"] == [1, 2] and len(answer["lines"]) == 2


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux confines a process")
def test_a_child_can_open_nothing(way, tmp_path, monkeypatch):
    (tmp_path / "secret.txt").write_text("secret")
    monkeypatch.chdir(tmp_path)
    answer, _ = ask_child("The file 'a'", f"{TASKS}:attempts", {}, seconds=60)
    assert answer == {"done": []}
    assert ask_child("The file 'a'", f"{TASKS}:threads", {}, seconds=60)[0] == {"made": [1]}


def test_what_a_child_tries_succeeds_elsewhere(tmp_path, monkeypatch):
    """The attempts of the test before are real ones: most of them do something here."""
    (tmp_path / "secret.txt").write_text("secret")
    monkeypatch.chdir(tmp_path)
    harmless = ("a file by its path", "a file beside", "a list of files", "whether a file is there", "where it is")
    for name in (*harmless, "its own environment", "a pipe", "a module", "a name of the network"):
        tasks.ATTEMPTS[name]()
    assert tasks.ATTEMPTS["a file beside"]() == b"secret"


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="needs root, to become somebody else")
def test_a_child_of_an_ordinary_user_can_open_nothing():
    script = (
        "import os\n"
        "from core.base.untrusted.confinement import PROTECTIONS, confine\n"
        "from tests.hostile.tasks import attempts, threads\n"
        "import encodings.idna\n"
        "os.setgroups([]), os.setgid(65534), os.setuid(65534)\n"
        "print(confine() == PROTECTIONS, attempts(None)[0], threads(None)[0], flush=True)\n"
        "os._exit(0)"
    )
    ran = finished([sys.executable, "-c", script], cwd=ROOT)
    assert ran.stdout.strip() == "True {'done': []} {'made': [1]}", ran.stderr


def test_where_nothing_confines_a_process_model_files_are_refused_unless_that_is_allowed(monkeypatch):
    monkeypatch.setattr(processes, "FORKS", False)
    monkeypatch.delenv(ALLOW_UNCONFINED, raising=False)
    lost = f"{TASKS}:lose_confinement"
    monkeypatch.setattr(model_files, "_MODULES", {kind: (*names, lost) for kind, names in model_files._MODULES.items()})
    content = as_skops(logistic())
    with pytest.raises(InputError) as caught:
        read_model(content, "m.skops")
    assert str(caught.value) == UNCONFINED
    monkeypatch.setenv(ALLOW_UNCONFINED, "1")
    assert read_model(content, "m.skops").width == 3
    monkeypatch.delenv(ALLOW_UNCONFINED)
    answer, _ = ask_child("The file 'a'", f"{TASKS}:echo", {"content": b"x"}, seconds=30, modules=(lost,))
    assert answer == {"length": 1}  # tables are opened


@pytest.mark.parametrize(
    ("refused", "allowed", "lines"),
    [
        (True, "", ("opening a file: refused", "Tables and model files are opened there.")),
        (False, "", ("opening a connection: possible", "Model files are not opened here")),
        (False, "1", ("model files too, because that was allowed",)),
    ],
    ids=["refused", "possible", "allowed"],
)
def test_the_command_says_what_a_process_was_refused(refused, allowed, lines, monkeypatch, capsys):
    outcome = dict.fromkeys(PROTECTIONS, refused)
    monkeypatch.setattr(start, "ask_child", lambda *_, **__: (outcome, None))
    monkeypatch.setenv(ALLOW_UNCONFINED, allowed)
    assert main(["dashboard", "--check"]) == 0
    text = capsys.readouterr().out
    assert [line for line in lines if line not in text] == []


def test_two_at_a_time_and_the_third_waits():
    begun, together, most = threading.Lock(), [0], [0]

    def count(step, _):
        with begun:
            together[0] += step
            most[0] = max(most[0], together[0])

    ask = partial(ask_child, "The file 'a'", f"{TASKS}:between", {}, seconds=60, report=count)
    workers = [threading.Thread(target=ask) for _ in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert together[0] == 0 and 1 <= most[0] <= processes.MOST_AT_ONCE


@pytest.mark.skipif(not processes.FORKS, reason="this system does not fork safely")
def test_the_warm_process_is_started_again():
    ask_child("The file 'a'", f"{TASKS}:echo", {"content": b""}, seconds=30)
    warm = processes._warm._process
    warm.kill()
    warm.wait()
    assert ask_child("The file 'b'", f"{TASKS}:echo", {"content": b"x"}, seconds=30)[0]["length"] == 1

"""Every command with every special file in every place that takes a path, in one process with a memory cap.

``python -m tests.hostile.special_files FOLDER RESULTS SHARE`` writes a line of JSON for each try: command, file, how it
ended. Of a share of 3 every argument is tried with a third of the files, and every file in a third of the arguments.
"""

import io
import json
import os
import resource
import signal
import socket
import sys
import traceback
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import replace
from pathlib import Path

from core.__main__ import main
from core.auditing import AuditPlan, DataPlan, ModelPlan
from core.datasets import Roles
from core.report import report_document, to_json
from core.report.report import strict
from core.studies.subject import AuditConfig
from tests.samples_report import sample

CAP = 3 * 1024**3
"""Bytes of address space, libraries and all; what a device holds has no end."""

ASK = "desk ask loans --ledger ledger --answer-epsilon 0.1 --asker me"

READ = {
    "audit PLAN": "audit X --out new",
    "audit --policy": "audit plan.toml --out new --policy X",
    "audit --sign": "audit plan.toml --out new --sign X",
    "report verify REPORT": "report verify X",
    "report verify --signer": "report verify report.json --signer X",
    "report sign REPORT": "report sign X --key key.pem",
    "report sign --key": "report sign report.json --key X",
    "report replay REPORT": "report replay X",
    "report replay --file": "report replay table.json --file X",
    "report replay --model": "report replay model.json --file people.csv --model X",
    "init --file": "init --file X",
    "init --model": "init --file people.csv --model X",
    "attack --plan": "attack model_card --plan X",
    "desk register --test-set": "desk register a --test-set X --attribute sex --budget 1 --ledger new",
    "desk ask --test-set": f"{ASK} --test-set X --predictions one.csv",
    "desk ask --predictions": f"{ASK} --test-set people.csv --predictions X",
    "desk verify FILE": "desk verify X",
    "desk status --ledger": "desk status --ledger X",
    "attack attriguard --data": "attack attriguard --dataset ratings --data X",
}
"""Argument -> a command in which X stands for a file that is read."""

BESIDE = {
    "report verify REPORT.sig": ("signed.json.sig", "report verify signed.json"),
    "audit data.file": ("inside.csv", "audit inside.toml --out new"),
    "attack data.file": ("inside.csv", "attack model_card --plan inside.toml"),
}
"""Argument -> a link that leads to the file, and a command that reads where it leads."""

WRITTEN = {
    **{
        f"{command} {flag}": f"{command} {flag} X"
        for command, flags in {
            "attack correction": ("--csv", "--json", "--data"),
            "experiment": ("--csv", "--store", "--data"),
            "attack bias_queries": ("--csv", "--data"),
            "attack attriguard --dataset demo_ratings": ("--csv", "--json"),
            "attack membership": ("--csv", "--json", "--data"),
            "attack model_card --people 100": ("--csv", "--json", "--data"),
            "audit plan.toml": ("--out",),
            "audit demo.toml --out new": ("--data",),
        }.items()
        for flag in flags
    },
    "desk register --ledger": "desk register a --test-set people.csv --id id --attribute sex --advantaged m "
    "--budget 1 --ledger X",
    "desk export FILE": "desk export X --ledger ledger",
    "report sign --new-key": "report sign --new-key X",
}
"""Argument -> a command in which X stands for what is written, or for a folder of data."""


def special_files(folder):
    """Make every special file and return what it is -> its path."""
    os.mkfifo(folder / "pipe.csv")
    listening = socket.socket(socket.AF_UNIX)
    listening.bind("socket.csv")
    open_handles.append(listening)
    (folder / "folder.csv").mkdir()
    with open(folder / "huge.csv", "wb") as huge:
        huge.truncate(1 << 38)
    with open(folder / "gone", "wb") as gone:
        open_handles.append(os.dup(gone.fileno()))
    for name, target in {
        "zero.csv": "/dev/zero",
        "piped.csv": "pipe.csv",
        "itself.csv": "itself.csv",
        "there.csv": "back.csv",
        "back.csv": "there.csv",
        "nothing.csv": "not-there.csv",
        "nowhere.csv": "no/such/folder.csv",
    }.items():
        (folder / name).symlink_to(target)
    return {
        "device without end": "/dev/zero",
        "device without content": "/dev/null",
        "full device": "/dev/full",
        "random device": "/dev/urandom",
        "terminal": "/dev/tty",
        "pipe": "pipe.csv",
        "standard input": "/dev/stdin",
        "process substitution": f"/dev/fd/{os.pipe()[0]}",
        "socket": "socket.csv",
        "folder": "folder.csv",
        "root": "/",
        "here": ".",
        "link to a device": "zero.csv",
        "link to a pipe": "piped.csv",
        "link to itself": "itself.csv",
        "links in a circle": "there.csv",
        "link to nothing": "nothing.csv",
        "link into no folder": "nowhere.csv",
        "through a file": "people.csv/people.csv",
        "through a pipe": "pipe.csv/people.csv",
        "missing": "missing.csv",
        "newline": "two\nlines\x1b[2J.csv",
        "long name": f"{'n' * 3000}.csv",
        "long path": f"{'n/' * 3000}n.csv",
        "zero byte": "people\0.csv",
        "half a letter": "people\ud800.csv",
        "memory of the process": "/proc/self/mem",
        "file of the system": "/proc/version",
        "huge": "huge.csv",
        "unreadable": "/proc/kmsg" if os.geteuid() else "/proc/self/task/0/mem",
    }


open_handles = []
"""What must stay open."""


class Hangs(BaseException):
    """Raised in a command that takes more than a minute."""


def ended(arguments):
    """Return how a command ended: its exit code, or what it raised, and what it wrote."""
    out, err = io.StringIO(), io.StringIO()

    def hangs(number, frame):
        raise Hangs

    signal.signal(signal.SIGALRM, hangs)
    signal.alarm(60)
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = main(arguments)
    except SystemExit as left:
        code = left.code
    except BaseException as error:
        code = f"{type(error).__name__}: {''.join(traceback.format_tb(error.__traceback__)[-2:])}"
    finally:
        signal.alarm(0)
    return {"code": code, "out": out.getvalue(), "err": err.getvalue()}


def prepare(folder):
    """Write the files that the commands need besides, all of them good."""
    answers = ("yes", "no")
    rows = [f"p{i},{'wm'[i % 2]},{20 + i % 37},{answers[i % 3 > 0]},{answers[i % 5 > 1]}" for i in range(200)]
    (folder / "people.csv").write_text("\n".join(["id,sex,age,paid,said", *rows, ""]))
    (folder / "one.csv").write_text("\n".join(["id,score", *(f"p{i},0.5" for i in range(200)), ""]))
    roles = "label = 'paid'\npositive = 'yes'\nsensitive = 'sex'\ngroup = ['w']"
    (folder / "plan.toml").write_text(f"[data]\nfile = 'people.csv'\n{roles}\n")
    (folder / "demo.toml").write_text("[data]\ndataset = 'demo'\n")
    (folder / "inside.toml").write_text(f"[data]\nfile = 'inside.csv'\n{roles}\n")
    report = to_json(report_document(sample()))
    for name in ("report", "signed"):
        (folder / f"{name}.json").write_text(report)
    predictions, model = ModelPlan(kind="predictions"), ModelPlan(kind="file", file="m.onnx")
    usual = Roles(label="paid", positive="yes", favourable="yes", sensitive="sex", group=("w",))
    for name, kind, column in (("table", predictions, "said"), ("model", model, "")):
        config = AuditConfig(dataset="upload", roles=replace(usual, prediction=column), method="given", tolerance=0.1)
        plan = AuditPlan(title="x", data=DataPlan(dataset="", file="people.csv"), model=kind, config=config)
        (folder / f"{name}.json").write_text(json.dumps(json.loads(report) | {"plan": strict(plan)}))
    assert ended(["report", "sign", "--new-key", "key.pem"])["code"] == 0
    register = "desk register loans --test-set people.csv --id id --attribute sex --advantaged m --budget 2"
    outcome = ended([*register.split(), "--ledger", "ledger"])
    assert outcome["code"] == 0, outcome


def tries(files):
    """Yield what the argument is, what the file is, and the command."""
    for commands in (READ, WRITTEN):
        for argument, command in commands.items():
            flag = argument.rpartition(" ")[2]
            for kind, path in files.items():
                writes = commands is WRITTEN and flag != "--data"
                # Where a file can be written, and is.
                if writes and kind in ("missing", "newline", "link to nothing", "huge"):
                    continue
                # What is in a folder is not these tests' concern.
                if commands is WRITTEN and flag in ("--data", "--out") and os.path.isdir(path):
                    continue
                yield argument, kind, [path if part == "X" else part for part in command.split(" ")]
    for argument, (link, command) in BESIDE.items():
        for kind, path in files.items():
            if kind == "file of the system" or "self" in path:  # files, or other ones for whoever follows the link
                continue
            with suppress(OSError, ValueError):
                os.unlink(link)
            with suppress(OSError, ValueError):
                os.symlink(path, link)
                yield argument, kind, command.split(" ")


def run(folder, write, share):
    os.chdir(folder)
    os.environ.pop("FAIRLEAK_DATA", None)
    os.environ |= {"XDG_DATA_HOME": str(folder / "data"), "XDG_CACHE_HOME": str(folder / "cache")}
    prepare(folder)
    files = special_files(folder)
    resource.setrlimit(resource.RLIMIT_AS, (CAP, CAP))
    arguments, kinds = [*READ, *WRITTEN, *BESIDE], list(files)
    for argument, kind, command in tries(files):
        if (arguments.index(argument) + kinds.index(kind)) % share:
            continue
        write(json.dumps({"argument": argument, "kind": kind, **ended(command)}) + "\n")
    # Not ru_maxrss: that counts the process this one was forked from.
    status = Path("/proc/self/status").read_text()
    most = int(status.partition("VmHWM:")[2].split()[0]) * 1024
    write(json.dumps({"argument": "all", "kind": "memory", "code": most, "out": "", "err": ""}) + "\n")


if __name__ == "__main__":
    with open(sys.argv[2], "w", encoding="utf-8", buffering=1) as results:
        run(Path(sys.argv[1]), results.write, int(sys.argv[3]))

"""Every command's help and output, the internal report and its public summary are as they were.

`FAIRLEAK_GOLDEN_RENEW=1 pytest --long tests/golden` writes them anew. Commands run in this order, in one folder.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from core.report.brief_files import PDF_NAME
from tests import samples
from tests.golden.make import FILES, compare, helps, html_text, json_text, normal, printed

PLAN = """\
schema = 1
title = "A small audit of the demo"
[data]
dataset = "demo"
attribute = "sex"
[model]
method = "unmitigated"
tolerance = 0.05
[bias_queries]
questions = 5
people = 50
mechanism = "noisy_sums"
epsilon = 0.5
repeats = 3
[membership]
shadows = 4
"""
GIVEN_PLAN = """\
schema = 1
title = "Given answers"
policy = "predictions"
[data]
file = "people.csv"
label = "hired"
positive = "yes"
favourable = "yes"
sensitive = "origin"
group = ["north"]
prediction = "said"
[model]
kind = "predictions"
tolerance = 0.1
seed = 3
"""
CARD = """\
schema = 1
[data]
dataset = "demo"
[model]
method = "unmitigated"
[model_card]
family = "seeds"
count = 3
people = 150
decimals = 3
"""

QUICK: dict[str, tuple[str, ...]] = {
    "datasets": (
        "datasets",
        "datasets adult",
    ),
    "init": (
        "init",
        "init --file people.csv --label hired --attribute origin",
    ),
    "compare": (
        "compare audit/internal audit/internal/report.html",
        "compare audit/internal audit/public/summary.json --margin 0.01",
    ),
    "report-verify": (
        "report verify audit/internal/report.json",
        "report verify audit/public/summary.html",
        "report verify people.csv",
    ),
    "report-sign": (
        "report sign --new-key officer.pem",
        "report sign audit/internal/report.json --key fixed.pem",
        "report verify audit/internal/report.json --signer fixed.public.pem",
    ),
    "report-card": (
        "report card audit/public/summary.json",
        "report card audit/internal",
    ),
    "report-brief": (
        "report brief audit/internal/report.json -o brief.pdf",
        "report brief people.csv",
    ),
    "report-replay": (
        "audit given.toml --out given --no-self-test",
        "report replay given/internal/report.json --file people.csv",
    ),
    "attack-queries": ("attack bias_queries --method unmitigated --people 30 --repeats 4 --questions 18",),
    "card": ("attack model_card --plan card.toml --csv release.csv",),
    "attack-membership": (
        "attack membership --method dp_id3 --train-epsilon 0.5 --depth 3 --shadows 8 --csv members.csv",
    ),
    "experiment": (
        "experiment --vary model.method=private_fair,unmitigated --vary model.epsilon=3 --studies attribute,fairness",
    ),
    "bad-input": (
        "audit none.toml --out x",
        "attack membership --shadows 3",
        "attack attriguard --budget x",
        "experiment --vary model.metric=beauty",
        "report verify none.json",
        "desk status --ledger none",
        "magic",
    ),
}
"""What costs a few seconds each; `report verify` and `report sign` look at the audit of the fixture."""

LONG: dict[str, tuple[str, ...]] = {
    "experiment-seeds": (
        "experiment --vary model.tolerance=0.05 --vary correction.adversary=features,strong --seeds 0-1 --store none "
        "--measures attack_before,attack_after,attack_gain,tolerance_holds,accuracy_test",
    ),
}


@pytest.fixture(scope="module")
def folder(workspace: Path) -> Path:
    """The folder, with the files that the commands are given."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    people = samples.frame(400)
    people["person"] = [f"p{i}" for i in range(400)]
    people["said"] = (people["skill"] > 0.4 * (people["town"] == "up")).map({True: "yes", False: "no"})
    people.to_csv("people.csv", index=False)
    scores = people.assign(score=(people["skill"] > 0.1).astype(float))[["person", "score"]]
    scores.to_csv("model.csv", index=False)
    for name, text in (("plan", PLAN), ("given", GIVEN_PLAN), ("card", CARD)):
        Path(f"{name}.toml").write_text(text, encoding="utf-8")
    key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    public = key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo)
    Path("fixed.pem").write_bytes(private)
    Path("fixed.public.pem").write_bytes(public)
    return workspace


@pytest.fixture(scope="module")
def audit(folder: Path) -> str:
    """What the audit of the demo printed; its reports are in the folder."""
    return printed(["audit", "plan.toml", "--out", "audit", "--no-self-test"], folder)


def test_helps(workspace: Path):
    from core.cli import commands

    texts = dict(helps())
    assert {f"fairleak-{name}" for name in commands()} <= set(texts)
    for name, text in texts.items():
        compare(f"help/{name}.txt", text)
    assert {path.stem for path in (FILES / "help").iterdir()} == set(texts)


def test_an_audit(audit: str, folder: Path):
    compare("commands/audit.txt", audit)


@pytest.mark.parametrize("kind", ["internal", "public"])
def test_reports(kind: str, audit: str, folder: Path):
    report_folder = folder / "audit" / kind
    expected = {path.name.removesuffix(".txt") for path in (FILES / "report" / kind).iterdir()}
    assert {*expected, *([PDF_NAME] if kind == "internal" else [])} == set(os.listdir(report_folder))
    for path in sorted(path for path in report_folder.iterdir() if path.name != PDF_NAME):
        text = path.read_text(encoding="utf-8-sig")
        write: Callable[[str, Path], str] = {".json": json_text, ".html": html_text}.get(path.suffix, normal)
        compare(f"report/{kind}/{path.name}{'.txt' if path.suffix == '.html' else ''}", write(text, folder))


@pytest.mark.parametrize("name", QUICK)
def test_commands(name: str, audit: str, folder: Path):
    run(name, QUICK[name], folder)


@pytest.mark.long
@pytest.mark.parametrize("name", LONG)
def test_long_commands(name: str, folder: Path):
    run(name, LONG[name], folder)


def test_every_command_has_a_golden_output():
    from core.cli import CommandGroup, commands
    from core.cli.attack import attack_studies

    elsewhere = {"desk", "history"}  # in test_golden_printed.py
    generic = {f"attack-{name}" for name in attack_studies()}  # which have tests of their own
    generic |= {"choose"}  # what trains many models has tests of its own
    names = {
        f"{name}-{part}" if part else name
        for name, command in commands().items()
        for part in (command.commands if isinstance(command, CommandGroup) and name not in elsewhere else [""])
    }
    covered = {*QUICK, *LONG, *elsewhere, "audit", "dashboard"}  # the tests of the wheel start the last one
    assert names - generic <= covered


def run(name: str, command_lines: tuple[str, ...], folder: Path) -> None:
    """Run some commands after one another, and compare what they print and the tables they write."""
    lines = [line.split() for line in command_lines]
    compare(f"commands/{name}.txt", "\n".join(printed(line, folder) for line in lines))
    for line in lines:
        if "--csv" in line:
            table = line[line.index("--csv") + 1]
            compare(f"commands/{table}", normal(Path(table).read_text(encoding="utf-8-sig"), folder))

"""Every command's help and output, and both editions of a report, are as they were.

`FAIRLEAK_GOLDEN_RENEW=1 pytest --long tests/golden` writes them anew. Commands run in this order, in one folder.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path

import pytest

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
[answers]
questions = 5
people = 50
mechanism = "noisy_sums"
epsilon = 0.5
repeats = 3
[membership]
shadows = 4
"""
GIVEN = """\
schema = 1
title = "Given answers"
policy = "predictions"
[data]
file = "people.csv"
label = "hired"
positive = "yes"
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
[models]
family = "seeds"
count = 3
[people]
most = 150
[publish]
decimals = 3
"""

QUICK: dict[str, list[list[str]]] = {
    "gen-config": [["gen-config"], ["gen-config", "--file", "people.csv", "--label", "hired", "--attribute", "origin"]],
    "verify": [
        ["verify", "audit/internal/report.json"],
        ["verify", "audit/disclosure/report.html"],
        ["verify", "people.csv"],
    ],
    "sign": [
        ["sign", "--new-key", "officer.pem"],
        ["sign", "audit/internal/report.json", "--key", "fixed.pem"],
        ["verify", "audit/internal/report.json", "--signer", "fixed.public.pem"],
    ],
    "replay": [
        ["audit", "given.toml", "--out", "given", "--no-self-test"],
        ["replay", "given/internal/report.json", "--file", "people.csv"],
    ],
    "reveal": [["reveal", "--method", "unmitigated", "--people", "30", "--repeats", "4", "--questions", "0,6,18"]],
    "queries": [
        ["queries", *words.split()]
        for words in (
            "register loans --test-set people.csv --id person --attribute origin --advantaged south --budget 100",
            "ask loans --test-set people.csv --predictions model.csv --epsilon 40 --asker me --quote",
            "ask loans --test-set people.csv --predictions model.csv --epsilon 40 --asker me",
            "ask loans --test-set people.csv --predictions model.csv --epsilon 40 --asker you",
            "status",
            "status loans",
            "export record.jsonl",
            "verify record.jsonl",
        )
    ],
    "attack": [
        [
            "attack",
            "queries",
            *["--set", "method=unmitigated", "--set", "people=30", "--set", "repeats=4", "--set", "questions=0,6,18"],
        ]
    ],
    "release": [["release", "card.toml", "--csv", "release.csv"]],
    "membership": [["membership", "--epsilon", "inf,0.5", "--shadows", "8", "--depth", "3", "--csv", "members.csv"]],
    "landscape": [["landscape", "--seeds", "1", "--out", "map.json", "--csv", "map.csv"]],
    "bad-input": [
        ["audit", "none.toml", "--out", "x"],
        ["sweep", "--tolerances", "1.4"],
        ["membership", "--epsilon", "0"],
        ["attriguard", "--budgets", "x"],
        ["landscape", "--metric", "beauty"],
        ["verify", "none.json"],
        ["queries", "status", "--ledger", "none"],
        ["magic"],
    ],
}
"""What costs a few seconds each; `verify` and `sign` look at the audit of the fixture."""

LONG: dict[str, list[list[str]]] = {
    "sweep": [
        ["sweep", "--tolerances", "0.05", "--seeds", "0-1", "--store", "none", "--csv", "sweep.csv"],
        ["sweep", "--tolerances", "0.05", "--methods", "unmitigated,dp_id3", "--store", "none"],
    ],
    "attribution": [["attribution", "--tolerance", "0.05", "--seeds", "0-1", "--store", "none", "--csv", "steps.csv"]],
    "attriguard": [
        ["attriguard", "--dataset", "demo_ratings", "--budgets", "0.5,3", "--csv", "ratings.csv"],
        ["attriguard", "--budgets", "0.25", "--csv", "guard.csv"],
    ],
}

NOISE = r"[+-]\d\.\d{4}|(?<=standard error  )(about )?\d\.\d{4}|(?<=about )\d+, \d+ to \d+|(?<=about ±)0\.\d{4}"
"""What the desk's noise decides."""


@pytest.fixture(scope="module")
def folder(place: Path) -> Path:
    """The folder, with the files that the commands are given."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    people = samples.frame(400)
    people["person"] = [f"p{i}" for i in range(400)]
    people["said"] = (people["skill"] > 0.4 * (people["town"] == "up")).map({True: "yes", False: "no"})
    people.to_csv("people.csv", index=False)
    scores = people.assign(score=(people["skill"] > 0.1).astype(float))[["person", "score"]]
    scores.to_csv("model.csv", index=False)
    for name, text in (("plan", PLAN), ("given", GIVEN), ("card", CARD)):
        Path(f"{name}.toml").write_text(text, encoding="utf-8")
    key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    public = key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo)
    Path("fixed.pem").write_bytes(private)
    Path("fixed.public.pem").write_bytes(public)
    return place


@pytest.fixture(scope="module")
def audit(folder: Path) -> str:
    """What the audit of the demo printed; its reports are in the folder."""
    return printed(["audit", "plan.toml", "--out", "audit", "--no-self-test"], folder)


def test_helps(place: Path):
    from core.cli import COMMANDS

    found = dict(helps())
    assert {f"fairleak-{command.NAME}" for command in COMMANDS} <= set(found)
    for name, text in found.items():
        compare(f"help/{name}.txt", text)


def test_an_audit(audit: str, folder: Path):
    compare("commands/audit.txt", audit)


@pytest.mark.parametrize("edition", ["internal", "disclosure"])
def test_reports(edition: str, audit: str, folder: Path):
    own = folder / "audit" / edition
    assert {path.name.removesuffix(".txt") for path in (FILES / "report" / edition).iterdir()} == set(os.listdir(own))
    for path in sorted(own.iterdir()):
        text = path.read_text(encoding="utf-8-sig")
        write: Callable[[str, Path], str] = {".json": json_text, ".html": html_text}.get(path.suffix, normal)
        compare(f"report/{edition}/{path.name}{'.txt' if path.suffix == '.html' else ''}", write(text, folder))


@pytest.mark.parametrize("name", QUICK)
def test_commands(name: str, audit: str, folder: Path):
    run(name, QUICK[name], folder, NOISE if name == "queries" else "")


@pytest.mark.long
@pytest.mark.parametrize("name", LONG)
def test_long_commands(name: str, folder: Path):
    run(name, LONG[name], folder)


def test_every_command_has_a_golden_output():
    from core.__main__ import parser

    (commands,) = (a.choices for a in parser()._actions if isinstance(a, argparse._SubParsersAction))
    assert set(commands) <= {*QUICK, *LONG, "audit", "dashboard"}  # which tests of the wheel and browsers start


def run(name: str, lines: list[list[str]], folder: Path, mask: str = "") -> None:
    """Run some commands after one another, and compare what they print and the tables they write."""
    compare(f"commands/{name}.txt", "\n".join(printed(line, folder, mask) for line in lines))
    for line in lines:
        if "--csv" in line:
            table = line[line.index("--csv") + 1]
            compare(f"commands/{table}", normal(Path(table).read_text(encoding="utf-8-sig"), folder))

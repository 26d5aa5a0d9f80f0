"""Every command's help, what an audit prints, the internal report and its public summary are as they were."""

import os
from pathlib import Path

import pytest

from core.report.brief_files import PDF_NAME
from tests.golden.texts import FILES, helps, html_text, json_text, normal, printed

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


@pytest.fixture(scope="module")
def audit(workspace):
    """What the audit of the demo printed; its reports are in the folder."""
    Path("plan.toml").write_text(PLAN, encoding="utf-8")
    return printed(["audit", "plan.toml", "--out", "audit", "--no-self-test"], workspace)


def test_helps(workspace, compare):
    from core.cli import commands

    texts = dict(helps())
    assert {f"fairleak-{name}" for name in commands()} <= set(texts)
    for name, text in texts.items():
        compare(f"help/{name}.txt", text)
    assert {path.stem for path in (FILES / "help").iterdir()} == set(texts)


def test_an_audit(audit, compare):
    compare("commands/audit.txt", audit)


@pytest.mark.parametrize("kind", ["internal", "public"])
def test_reports(kind, audit, workspace, compare):
    report_folder = workspace / "audit" / kind
    expected = {path.name.removesuffix(".txt") for path in (FILES / "report" / kind).iterdir()}
    assert {*expected, *([PDF_NAME] if kind == "internal" else [])} == set(os.listdir(report_folder))
    for path in sorted(path for path in report_folder.iterdir() if path.name != PDF_NAME):
        text = path.read_text(encoding="utf-8-sig")
        write = {".json": json_text, ".html": html_text}.get(path.suffix, normal)
        compare(f"report/{kind}/{path.name}{'.txt' if path.suffix == '.html' else ''}", write(text, workspace))

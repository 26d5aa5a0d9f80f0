"""What a study finds is said once: `Study.findings` is what page, terminal and report show, word for word."""

from __future__ import annotations

import contextlib
import html
import importlib
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.__main__ import main
from core.studies import STUDIES
from core.study import Finding
from pages.common import panels
from tests.app.dashboard import Dashboard
from tests.app.test_bias_queries import ends, few
from tests.app.test_membership import Gate, gate

__all__ = ["ends", "few", "gate"]

PLAN = """\
schema = 1
title = "Every study"
[data]
dataset = "demo"
attribute = "sex"
[model]
method = "unmitigated"
tolerance = 0.05
[answers]
questions = 4
people = 40
mechanism = "noisy_sums"
epsilon = 0.5
repeats = 2
[membership]
shadows = 0
[guard]
budget = 1.0
"""
Found = dict[str, tuple[Finding, ...]]


@contextlib.contextmanager
def recorded() -> Iterator[Found]:
    """Yield what every study's `findings` returned last, by its name."""
    found: Found = {}

    def keeping(name: str, own: Callable[..., tuple[Finding, ...]]) -> Callable[..., tuple[Finding, ...]]:
        def findings(*given: Any) -> tuple[Finding, ...]:
            found[name] = own(*given)
            return found[name]

        return findings

    with pytest.MonkeyPatch.context() as patch:
        for name, study in STUDIES.items():
            patch.setattr(study, "findings", keeping(name, study.findings), raising=False)
        yield found


def printed(*arguments: str) -> str:
    """Return what a command prints, as one line."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
        main(list(arguments))
    return " ".join(out.getvalue().split())


def sentences(found: tuple[Finding, ...]) -> list[str]:
    return [" ".join(text.split()) for one in found for text in (one.point, one.evidence) if text]


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> tuple[Found, str, Path]:
    """Every study's findings in one small audit, what the command printed, and the folder of its reports."""
    folder = tmp_path_factory.mktemp("wording")
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    with recorded() as found:
        told = printed("audit", str(folder / "plan.toml"), "--out", str(folder / "out"), "--no-self-test")
    return found, told, folder / "out" / "internal"


AUDITED = [name for name in STUDIES if name not in ("model_card", "two_models")]
"""Studies that are part of an audit of one model."""


@pytest.mark.parametrize("name", AUDITED)
def test_report_and_audit_say_what_the_study_says(name: str, audited: tuple[Found, str, Path]):
    found, told, folder = audited
    (chapter,) = [one for one in json.loads((folder / "report.json").read_text())["findings"] if one["study"] == name]
    for own, stated in zip(found[name], chapter["findings"], strict=True):
        assert {key: stated[key] for key in ("point", "evidence", "so_what", "to_do", "redacted")} == {
            key: getattr(own, key) for key in ("point", "evidence", "so_what", "to_do", "redacted")
        }
    page = html.unescape(re.sub(r"<[^>]+>", " ", (folder / "report.html").read_text().partition("<pre")[0]))
    words = " ".join(page.split())
    for sentence in sentences(found[name]):
        assert sentence in words, sentence
    assert f"{STUDIES[name].title}: {found[name][0].point}" in told


def shown(dashboard: Dashboard) -> str:
    """Return everything a page says, without its marks."""
    test = dashboard.test
    elements = (*test.markdown, *test.caption, *test.info, *test.warning)
    words = " ".join(str(element.value) for element in elements)
    return " ".join(re.sub(r"\\(.)", r"\1", words.replace("**", "")).split())


MARK = "said once"

READERS = {
    "membership": (
        "attack membership --shadows 4 --train-epsilons inf --depth 3 --attacks loss,network",
        ["core.membership.findings:findings", "core.cli.membership:findings"],
        ["core.membership.findings:tables", "core.cli.membership:tables"],
    ),
    "bias_queries": (
        "attack queries --method unmitigated --people 30 --repeats 4 --questions 0,6",
        [f"core.{at}:{name}" for at in ("queries", "cli.queries") for name in ("findings", "curve_finding")],
        ["core.queries.findings:tables", "core.cli.queries:tables"],
    ),
    "attriguard": (
        "defend attriguard --budgets 0.25",
        ["core.attriguard.findings:findings", "core.cli.attriguard:findings"],
        ["core.attriguard.findings:tables", "core.cli.attriguard:tables"],
    ),
    "correction": (
        "attack correction --decompose --seeds 0 --store none --tolerance 0.05",
        ["core.correction.findings:constraint_effect", "core.cli.correction:constraint_effect"],
        ["core.correction.findings:step_rows"],
    ),
}
"""Page -> the command of its study, whence both have their sentences, and whence their tables."""


def marked(made: Any, name: str) -> Any:
    """Return findings with a mark each, or tables or rows with one more that is marked."""
    if isinstance(made, Finding):
        return replace(made, point=f"{made.point} {MARK} by {name}")
    if isinstance(made, tuple):
        return tuple(replace(one, point=f"{one.point} {MARK} by {name} {i}") for i, one in enumerate(made))
    if isinstance(made, dict):
        return {**made, MARK: [{"step": MARK}]}
    return [*made, {"step": MARK}]


@contextlib.contextmanager
def marking(places: Iterable[str]) -> Iterator[set[str]]:
    """Mark what these functions return; yield the marks that were set in sentences."""
    found: set[str] = set()

    def marks(own: Callable[..., Any], name: str) -> Callable[..., Any]:
        def made(*given: Any, **more: Any) -> Any:
            whole = marked(own(*given, **more), name)
            said = whole if isinstance(whole, tuple) else [whole] if isinstance(whole, Finding) else []
            found.update(f"{MARK} by{one.point.rpartition(f'{MARK} by')[2]}" for one in said)
            return whole

        return made

    with pytest.MonkeyPatch.context() as patch:
        for place in places:
            module, _, name = place.partition(":")
            where = importlib.import_module(module)
            patch.setattr(where, name, marks(getattr(where, name), name))
        yield found


@pytest.mark.parametrize("page", READERS)
def test_page_and_command_have_their_sentences_and_tables_from_one_function(
    page: str, dashboard: Dashboard, gate: Gate, ends: None, monkeypatch: pytest.MonkeyPatch
):
    numbers: list[str] = []
    monkeypatch.setattr(panels, "numbers", lambda tables, key: numbers.append(f"{dict(tables)}"))
    command, sentences, tables = READERS[page]
    with marking((*sentences, *tables)) as marks:
        told = printed(*command.split())
        there = {*marks}
        marks.clear()
        dashboard.open(page)
        words = shown(dashboard)
    assert there and marks, "a function that was to say it was not asked"
    assert [mark for mark in there if mark not in told] == []
    assert [mark for mark in marks if mark not in words] == []
    bare = told
    for mark in there:
        bare = bare.replace(mark, "")
    assert MARK in bare and any(MARK in table for table in numbers)

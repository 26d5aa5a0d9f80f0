"""What a study finds is said once: page, audit and report show what `Study.findings` says, word for word."""

from __future__ import annotations

import contextlib
import html
import importlib
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from core.__main__ import main
from core.studies import STUDIES
from core.study import Finding
from tests.app.dashboard import Dashboard, plain
from tests.app.test_bias_queries import ends, few
from tests.app.test_membership import Coming, gate

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
def recorded(places: Mapping[str, tuple[Any, str]]) -> Iterator[Found]:
    """Yield what these functions, each an owner and its attribute, returned last, by what they are called here."""
    found: Found = {}

    def keeping(name: str, own: Callable[..., Any]) -> Callable[..., Any]:
        def findings(*given: Any, **more: Any) -> Any:
            made = own(*given, **more)
            found[name] = (made,) if isinstance(made, Finding) else made
            return made

        return findings

    with pytest.MonkeyPatch.context() as patch:
        for name, (owner, attribute) in places.items():
            patch.setattr(owner, attribute, keeping(name, getattr(owner, attribute)), raising=False)
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
    with recorded({name: (study, "findings") for name, study in STUDIES.items()}) as found:
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
    return " ".join(plain(" ".join(str(element.value) for element in elements).replace("**", "")).split())


SAID = {
    "membership": ["core.membership.findings:findings"],
    "bias_queries": ["core.queries:findings", "core.queries:curve_finding"],
    "attriguard": ["core.attriguard.findings:findings"],
}
"""Page -> whence it, and the command of its study, have their sentences; other pages' are their study's own."""


@pytest.mark.parametrize("page", SAID)
def test_a_page_says_what_core_says(page: str, dashboard: Dashboard, gate: Coming, ends: None):
    places = {place: place.split(":") for place in SAID[page]}
    with recorded({place: (importlib.import_module(at), name) for place, (at, name) in places.items()}) as found:
        dashboard.open(page)
    assert found.keys() == places.keys()
    words = shown(dashboard)
    for made in found.values():
        for sentence in (*sentences(made[:1]), *(" ".join(one.point.split()) for one in made)):
            assert sentence in words, sentence

"""What reports say of many invented audits is as it was: tables, summaries, and reports judged again.

Kept are digests of parts, so that a difference names its part, sentences as they are, and numbers that are computed.
"""

from __future__ import annotations

import copy
import hashlib
import html
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.auditing import AttriGuardSettings, BiasQueriesSettings, ModelPlan, ReleaseAudit, SelfTest
from core.auditing.policy import CHECKS, Limit, Policy
from core.auditing.policy.limits import in_range
from core.auditing.result import GroupSummary, Provenance
from core.base.errors import InputError
from core.cli.notebook import AuditResult
from core.report import Reports, codec, page, report_fingerprint, summary_html, summary_markdown, tables
from core.report.brief import brief_content
from core.report.codec import report_of
from core.report.page import to_html
from core.report.report import strict
from core.report.verification import contradictions
from core.stats.estimates import Estimate, certain, proportion
from core.studies.study import Measurement, Outcome
from core.studies.subject import OutputsPlan
from tests.golden.make import compare, normal
from tests.golden.numbers import compare_numbers
from tests.samples_report import absent_group, gap_and_ratio, group, judged_audit, sample

SEEDS = range(12)

COUNTS = (0, 1, 9, 10, 11, 60, 437)
"""Numbers of people, few and many."""

LARGEST = {"bits": 3.0, "columns": 20.0}


def audit(seed: int) -> ReleaseAudit:
    """Return an audit of two to four groups, few limits or many, numbers at their limits and far from them."""
    rng = np.random.default_rng(seed)
    large = seed % 2 == 1
    groups = tuple(
        _group(name, rng, large=large) for name in ("ash", "birch", "cedar", "elm")[: int(rng.choice([2, 2, 3, 4]))]
    )
    groups = tuple(
        group_summary if group_summary.test_rate.n else absent_group(group_summary.group) for group_summary in groups
    )
    measured = tuple(
        _measurement(check, rng, groups) for check in CHECKS if check == "unfairness" or rng.random() < 0.8
    )
    policy = Policy(name="p", version="1", level=float(rng.choice([0.9, 0.95])), limits=tuple(_limits(measured, rng)))
    kind = str(rng.choice(["train", "file", "predictions"]))
    base = sample(groups)
    roles = replace(base.plan.config.roles, sets="set" if rng.random() < 0.3 else "")
    plan = replace(
        base.plan,
        title=str(rng.choice(["", "Loans", "people", "Adult census"])),
        model=ModelPlan(kind=kind, file="m.onnx" if kind == "file" else ""),
        config=replace(base.plan.config, roles=roles, tolerance=float(rng.choice([0.0, 0.001, 0.2]))),
        bias_queries=BiasQueriesSettings(questions=int(rng.choice([0, 25]))),
        attriguard=AttriGuardSettings(budget=float(rng.choice([0.0, 3.0]))),
        outputs=OutputsPlan(released=str(rng.choice(["scores", "labels"]))),
    )
    model = replace(
        base.model,
        kind=kind,
        tolerance=plan.config.tolerance,
        achieved=float(rng.choice([0.0, 0.0304, 0.12345])),
        accuracy_test=proportion(*sorted(rng.choice([3, 9, 10, 800], 2).tolist())),
    )
    tests = tuple(
        SelfTest(
            attack=name,
            false_alarms=proportion(int(rng.choice([0, 4, 11])), 100),
            detected=proportion(int(rng.choice([79, 80, 100])), 100),
            passed=bool(rng.random() < 0.8),
            told="planted",
        )
        for name in ("correction", "membership")
    )
    data = replace(base.data, synthetic=seed % 3 == 0, features=("age", "religion", "sex")[: seed % 4])
    started = ("2026-11-20T09:15:00Z", "2026-02-28", "")[seed % 3]
    times = {"seconds": 0.25 * seed} | ({"started": started} if started else {})
    draft = replace(base, plan=plan, measurements=measured, model=model, data=data, times=times)
    return judged_audit(draft, policy=policy, tests=tests[: int(rng.choice([0, 0, 1, 2]))])


def _group(name: str, rng: np.random.Generator, *, large: bool) -> GroupSummary:
    """Return a group whose smallest part is just large enough to be told, or any."""
    cells = tuple(rng.choice(COUNTS[3 * large :], 4).tolist())
    labelled, unlabelled = (int(n) for n in rng.choice([10, 11, 400] if large else [0, 9, 10, 400], 2))
    return group(name, cells, cells[0] + cells[1] + labelled, sum(cells) + labelled + unlabelled)


def _measurement(check: str, rng: np.random.Generator, groups: Any) -> Measurement:
    if check not in ("unfairness", "four_fifths") and rng.random() < 0.25:
        outcome = Outcome.NOT_RUN if rng.random() < 0.6 else Outcome.FAILED
        return Measurement(check=check, outcome=outcome, reason=f"Reason {int(rng.integers(2))}.")
    most = LARGEST.get(CHECKS[check].unit, 1.0)
    value, half = most * round(float(rng.random()), 3), float(rng.choice([0.0, 0.002, 0.0349, 0.035, 0.0351, 0.2]))
    n = int(rng.choice([5, 9, 10, 300, 5000]))
    if check in ("unfairness", "four_fifths"):
        value, half, n = (
            gap_and_ratio(groups)[check == "four_fifths"],
            min(half, 0.03),
            sum(g.test_rate.n for g in groups),
        )
    estimate = (
        certain(value, 0) if not half else Estimate(value=value, low=max(0, value - half), high=value + half, n=n)
    )
    control = replace(estimate, value=estimate.low, high=estimate.high) if rng.random() < 0.5 else None
    return Measurement(
        check=check,
        estimate=estimate,
        freedom=int(rng.choice([1, 4, 19])) if half and rng.random() < 0.2 else None,
        control=control,
        control_name="chance" if control else "",
        attacked="Whom, " * int(rng.integers(1, 30)),
        assumptions=("One.", "Two.")[: int(rng.integers(3))],
        details={"seeds": 5, "share": 0.25} if rng.random() < 0.5 else None,
    )


def _limits(measured: tuple[Measurement, ...], rng: np.random.Generator) -> Iterator[Limit]:
    estimates = {
        measurement.check: measurement.estimate for measurement in measured if measurement.estimate is not None
    }
    checks = [name for name in CHECKS if rng.random() < 0.6] or ["unfairness"]
    for check in rng.permutation(checks).tolist():
        estimate = estimates.get(check) or certain(0.3, 0)
        near = rng.choice(
            [
                estimate.value,
                estimate.low,
                estimate.high,
                estimate.value - 0.01,
                estimate.value + 0.1,
                round(estimate.value, 2),
            ]
        )
        value = float(near) if in_range(float(near), check) else 0.5
        source, author = (str(word) for word in rng.choice(["", "Law 3", "Anna"], 2))
        required, allowed = bool(rng.random() < 0.7), str(rng.choice(["blocks", "allowed"]))
        yield Limit(check=check, value=value, required=required, if_not_run=allowed, source=source, author=author)


def sealed(value: Any) -> str:
    """Return a digest of a text, or of parts of a document."""
    text = (
        value
        if isinstance(value, str)
        else json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False, default=str)
    )
    return hashlib.sha256(normal(text).encode()).hexdigest()[:10]


REPORTS = {seed: Reports(audit(seed)) for seed in SEEDS}


@pytest.mark.parametrize("seed", SEEDS)
def test_parts_of_reports(seed: int) -> None:
    entries = []
    document = replace(REPORTS[seed].document, fingerprint="f" * 64, provenance=Provenance(**PROVENANCE))
    parts = strict(document)
    entries += [f"internal {name}: {sealed(parts[name])}" for name in sorted(parts)]
    for measurement in parts["measurements"]:
        entries.append(f"internal {measurement['check']}: {sealed(measurement)}")
    for table in tables.report_tables(document):
        table_text = table.formatted
        display = sealed([table_text.columns, table_text.rows, sorted(table.numeric)])
        entries.append(f"internal {table.name}: {sealed([table.rows])} {display}")
    drawn = re.sub(r"(?s)<style.*?</style>|<pre.*?</pre>", "", to_html(document))
    entries.append(f"internal html: {sealed(drawn)} {sealed(str(_contents_of(document)))}")
    content = brief_content(document)
    entries += [f"internal brief {name}: {sealed(content[name])}" for name in content]
    summary = replace(REPORTS[seed].summary, fingerprint="f" * 64, fairleak="1")
    summarised = strict(summary)
    entries += [f"summary {name}: {sealed(summarised[name])}" for name in sorted(summarised)]
    entries.append(f"summary markdown: {sealed(summary_markdown(summary))}")
    entries.append(f"summary html: {sealed(re.sub(r'(?s)<style.*?</style>', '', summary_html(summary)))}")
    display = AuditResult(REPORTS[seed])
    board = re.sub(r"(?s)<style.*?</style>", "", html.unescape(display._repr_html_()))
    forms = (display._repr_markdown_(), board, f"{display!r} {display}", display.verdict)
    entries += [f"notebook: {sealed(part)}" for part in forms]
    compare(f"audits/{seed}.txt", "\n".join(entries) + "\n")


PROVENANCE = {
    **dict.fromkeys(("policy", "plan", "code"), "0" * 64),
    **{"fairleak": "1", "python": "3", "platform": "p", "packages": {"a": "1"}, "seeds": {"audit": 3}},
}
"""Where the numbers come from, the same for every code and machine."""


def _contents_of(document: Any) -> Any:
    return page._template_values(document)["contents"]


def _leaves(part: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths to all numbers, verdicts and yes or no in a part of a document."""
    if isinstance(part, dict | list):
        for key, child in part.items() if isinstance(part, dict) else enumerate(part):
            yield from _leaves(child, (*path, key))
    elif isinstance(part, int | float) or path[-1] in ("verdict", "overall", "started", "metric", "why", "headline"):
        yield path


TEXTS = {"2026": "2026-02-30", "": "2026-02-30", "stat": "equal_opportunity"}


def _replacement(value: Any, rng: np.random.Generator) -> Any:
    """Return another value in the place of one, often next to it."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return TEXTS.get(value[:4]) or str(rng.choice(["pass", "fail", "inconclusive", "not_run"]))
    if isinstance(value, int):
        return value + int(rng.choice([-1, 1, 7, -value, 10_000]))
    return value + float(rng.choice([-0.01, 0.01, -0.001, 0.001, 5e-4, 2e-6, 5e-7, -value, 1 - 2 * value]))


ALTERED = ("groups", "model", "measurements", "verdict", "policy", "data", "self_tests", "plan", "tables", "times")
ALTERED += 2 * ("measurements", "verdict", "groups")


def _altered(document: Any, rng: np.random.Generator) -> tuple[str, Any]:
    """Return a document in which one value is another, and which."""
    altered = copy.deepcopy(document)
    part = str(rng.choice(ALTERED))
    paths = [path for path in _leaves(altered[part], (part,)) if path[-1] not in ("level", "blocks")]
    path = paths[int(rng.integers(len(paths)))] if paths else ("times", "started")
    inside = altered
    for key in path[:-1]:
        inside = inside[key]
    old = inside.get(path[-1], "") if isinstance(inside, dict) else inside[path[-1]]
    inside[path[-1]] = _replacement(old, rng)
    return f"{'/'.join(map(str, path))} {old!s:.9} to {inside[path[-1]]!s:.9}", altered


def test_reports_judged_again() -> None:
    entries = []
    for seed in SEEDS:
        document, rng = strict(REPORTS[seed].document), np.random.default_rng(seed)
        assert contradictions(REPORTS[seed].document) == []
        for name, altered in (_altered(document, rng) for _ in range(18)):
            entries.append(f"{name}: {_sentences(altered)}")
    compare("audits/judged_internal.txt", normal("\n".join(entries)))


def _sentences(document: Any) -> str:
    """Return the first thing that is said of a document, and a digest of all."""
    try:
        sentences = contradictions(report_of(document))
    except InputError as error:
        sentences = [f"refused: {error}"]
    every = [normal(sentence) for sentence in sentences]
    return f"{len(every)} {every[0].strip():.40} {sealed(every)}" if every else "fine"


PRECISIONS = ((0.5, 0.465, 0.535), (0.5, 0.4651, 0.535), (0.1234, 0.1234, 0.1234), (0.1235, 0.0885, 0.1586))


def _canonical() -> Iterator[tuple[str, Any]]:
    """Yield numbers as reports have them: at ties, unknown and infinite."""
    values = (0.0, -0.0004, 0.0005, 0.12345, -0.12345, 0.9999, 1.0, 3.14159, float("inf"), float("nan"))
    for value in values:
        yield (
            f"strict {value}",
            [f"{number!r:.20}" for number in strict([value, 1e300 * value, value * 1000])],
        )
        yield f"shown {value}", [tables.cell_text(value), tables.cell_text(1e4 * value)]
    for value, low, high in PRECISIONS:
        estimate = Estimate(value=value, low=low, high=high, n=1234)
        yield f"words {low}", [tables.rate_text(estimate), tables.rate_text(estimate, of=True)]
    odd = ["inf", "-inf", "x", True, None, 1234, -1234, 999.96, -0.00001, 1e-5, 999.9, -1000.4]
    yield "cells", [tables.cell_text(cell) for cell in odd]
    yield "fingerprint", report_fingerprint({"a": [1, "\u202e"], "times": {}, "b": None})


def test_numbers_of_reports() -> None:
    compare_numbers("report_canonical", _canonical())


def _paths(part: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths to all values in a part of a document, objects and lists too."""
    if isinstance(part, dict | list):
        for key, child in part.items() if isinstance(part, dict) else enumerate(part):
            yield (*path, key)
            yield from _paths(child, (*path, key))


WRONG: tuple[Any, ...] = (None, True, -1, 0.5, 1, "x", "inf", [], {}, [None], {"x": 1})


@pytest.mark.long
def test_reports_of_another_form() -> None:
    entries = []
    document, rng = strict(REPORTS[1].document), np.random.default_rng(1)
    assert not codec.schema_error(document)
    by_depth: dict[str, tuple[Any, ...]] = {}
    for path in _paths(document):
        by_depth.setdefault("/".join(str(key) for key in path if not isinstance(key, int)), path)
    for name, path in by_depth.items():
        altered = copy.deepcopy(document)
        inside = altered
        for key in path[:-1]:
            inside = inside[key]
        wrong = WRONG[int(rng.integers(len(WRONG)))]
        if rng.random() < 0.2 and isinstance(inside, dict):
            del inside[path[-1]]
            wrong = "left out"
        elif rng.random() < 0.1 and isinstance(inside, dict):
            inside["more"] = wrong
        else:
            inside[path[-1]] = wrong
        error = codec.schema_error(altered).removeprefix("A report must follow its schema; ")
        entries.append(f"{name} {wrong}: {error or 'fine':.60}")
    compare("audits/form_internal.txt", normal("\n".join(entries)))

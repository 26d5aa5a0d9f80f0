"""What commands print of invented results is as it was, and of everything that can be asked of desk and history."""

from __future__ import annotations

import argparse
import hashlib
import io
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from core.auditing import AuditPlan
from core.auditing.policy import default_policy
from core.base.errors import FairLeakError
from core.base.settings_text import from_arguments
from core.cli import arguments as shared
from core.cli import attack, audit, console, experiment
from core.cli import report as reporting
from core.cli.console import Block, Console
from core.experiments.choose import ChooseSettings
from core.report import public_summary, report_document, to_json
from core.report.changes import compare_runs
from core.report.codec import report_of
from core.report.comparison import compare as compared
from core.report.report import strict
from core.stats.estimates import Estimate
from tests import samples
from tests.golden.make import compare, normal, printed
from tests.golden.test_golden_audits import REPORTS, SEEDS, _altered
from tests.samples_report import POLICY, SMALL_GROUPS, judged_audit, sample
from tests.unit.charts import nasty_studies as nasty


def text_of(lines: Any) -> str:
    """Return what a console makes of lines."""
    out = io.StringIO()
    Console(out, out).results(lines)
    return out.getvalue()


def sealed(text: str) -> str:
    return hashlib.sha256(normal(text).encode()).hexdigest()[:10]


def refused(call: Callable[[], Any]) -> str:
    """Return what a call gives, or the sentence it refuses with."""
    try:
        return str(call())
    except FairLeakError as error:
        return f"refused: {error}"


def _audits() -> Iterator[tuple[str, str]]:
    for seed in SEEDS:
        yield f"audit {seed}", text_of(audit._printed(REPORTS[seed]))


def _compared() -> Iterator[tuple[str, str]]:
    for before in SEEDS:
        for margin in (None, 0.02):
            old = REPORTS[before].document
            for name, new in (
                ("next", REPORTS[(before + 1) % len(SEEDS)].document),
                ("altered", _altered(strict(old), np.random.default_rng(before))[1]),
            ):
                output = refused(lambda old=old, new=new, margin=margin: _comparison(old, new, margin))
                yield f"{before} internal {margin} {name}", output


def _comparison(old: Any, new: Any, margin: float | None) -> str:
    reports = (report_of({**strict(document), "fingerprint": "f" * 64}) for document in (old, new))
    comparison = compared(*reports, margin=margin)
    return f"{comparison.verdict}\n{text_of(reporting._comparison_lines(comparison))}"


def _replayed() -> Iterator[tuple[str, str]]:
    for seed in SEEDS:
        old, rng = strict(REPORTS[seed].document), np.random.default_rng(seed)
        new = old
        for times in range(4):
            new = _altered(new, rng)[1]
            output = refused(lambda old=old, new=new: text_of(reporting._printed(compare_runs(old, new))))
            yield f"{seed} altered {times + 1} times", output
    for value in (None, True, 1.5, "x" * 40, "x" * 41):
        yield f"value {value!s:.9}", reporting._value(value)


def _chosen() -> Iterator[tuple[str, str]]:
    data = SimpleNamespace(dataset=samples.dataset(300))
    for seed in range(16):
        choice = nasty.choice(np.random.default_rng([seed, 3]))
        outcome = experiment._outcome(choice, data, AuditPlan(), default_policy(), ChooseSettings())
        yield f"choice {seed} {outcome.content['outcome']}", text_of(console._lines(outcome))


def _estimates() -> Iterator[tuple[str, str]]:
    rows = [["a", "1", "x\x1b[31m"], ["long name", "12,345", ""], ["\u202eab", "", "\u00a0z"]]
    for left in ((), (0,), (0, 2), range(3)):
        yield f"aligned {left}", str(console.aligned(["name", "n", "last"], rows, left=left))
    yield "table", console.table([{"a": "1", "b": "22"}, {"a": "3", "b": "4"}])
    yield "block", Block.of(["a\tb", "c"])
    for value, low in ((0.5, 0.4), (0.5, float("nan")), (float("nan"), 0.1), (-0.12345, -0.2)):
        estimate = Estimate(value=value, low=low, high=0.6, n=9)
        texts = [console.interval_text(estimate, signed=s, percent=p) for s in (False, True) for p in (False, True)]
        yield f"estimate {value} {low}", "; ".join(texts)
    seconds = (0.4, 89.4, 89.6, 90.0, 5399.0, 5400.0, 9000.0)
    yield "durations", "; ".join(map(console._duration, seconds))
    for text in (
        "0",
        "0,1,5-9",
        "3-3",
        "5-4",
        "0-9999",
        "0-10000",
        "1,,2",
        "a",
        "-1",
        "1-",
        "4294967295",
        "4294967296",
    ):
        yield f"seeds {text}", refused(lambda text=text: str(shared.seeds_in(text))[-60:])


def _counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, str]]:
    for every, first in ((1, 0), (4, 0), (3, 2)):
        now = iter(range(0, 10_000, 40))
        monkeypatch.setattr(console.time, "monotonic", lambda now=now: next(now))
        out = io.StringIO()
        report = Console(out, out).counting("steps", every=every, first=first)
        for done in range(12):
            report(done, 11)
        yield f"counting {every} {first}", out.getvalue()


def _set() -> Iterator[tuple[str, str]]:
    parser = attack.StudyParser(prog="p")
    parser.add_argument("name")
    parser.add_argument("-c", "--count-it", type=int)
    parser.add_argument("--yes", action="store_true")
    parser.add_argument("--on", action=argparse.BooleanOptionalAction)
    for arguments in (
        ("x", "--set", "count_it=3"),
        ("--set=name=x", "--set", "yes=true", "--set", "on=false"),
        ("x", "--set", "yes=false", "--set", "on=true"),
        ("x", "--set", "yes=1"),
        ("x", "--set", "no=1"),
        ("x", "--set", "yes"),
        ("x", "--set"),
        ("x", "y"),
        ("x", "--count-it", "z"),
    ):
        yield f"set {' '.join(arguments)}", _parsed(parser, arguments)


def _parsed(parser: Any, arguments: tuple[str, ...]) -> str:
    err = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stderr", err)
        try:
            return str(sorted(vars(parser.parse_args(arguments)).items()))
        except SystemExit as left:
            return f"{left.code}: {err.getvalue()}"


PRINTED: dict[str, tuple[Callable[[], Iterator[tuple[str, str]]], int]] = {
    "audits": (_audits, 2),
    "compared": (_compared, 2),
    "replayed": (_replayed, 3),
    "chosen": (_chosen, 2),
    "words": (_estimates, 99),
    "set": (_set, 99),
}
"""What is printed, and how many are kept as they are; of the others the first line and a digest."""


@pytest.mark.long
@pytest.mark.parametrize("name", PRINTED)
def test_printed(name: str) -> None:
    source, full_count = PRINTED[name]
    entries = []
    for i, (title, text) in enumerate(source()):
        first = normal(text).partition("\n")[0]
        entries.append(f"== {title}\n{text}" if i < full_count else f"== {title}: {sealed(text)} {first:.70}")
    compare(f"printed/{name}.txt", normal("\n".join(entries)))


def test_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    compare("printed/progress.txt", "\n".join(f"{title}\n{text}" for title, text in _counted(monkeypatch)))


NOISE = (
    r" *[+−]?\d\.\d{2,3}(?=[],]| \[)|(?<=standard error  )(about )?\d\.\d{4}|(?<=about )\d+, \d+ to \d+"
    r"|(?<=about ±)0\.\d{4}"
)
"""What the desk's noise decides."""

HISTORY_MASK = r"\d{4}-\d\d-\d\d(T[\d:]+Z)?|\b[0-9a-f]{4} [0-9a-f]{4}\b|\b[0-9a-f]{64}\b"
"""When an audit was kept, and its fingerprint."""

DESK = (
    "desk status",
    "desk register small --test-set people.csv --id person --attribute town --budget 3 --count-epsilon 3",
    "desk register loans --test-set people.csv --id person --attribute origin --advantaged south --label hired"
    " --positive yes --budget 60 --count-epsilon 0.5",
    "desk register loans --test-set people.csv --id person --attribute origin --budget 1",
    "desk ask loans --test-set people.csv --predictions model.csv --answer-epsilon 20",
    "desk ask loans --test-set people.csv --predictions model.csv --answer-epsilon 20 --quote",
    "desk ask loans --test-set people.csv --predictions model.csv --answer-epsilon 20 --asker A",
    "desk ask loans --test-set people.csv --predictions model.csv --answer-epsilon 20 --asker B",
    "desk ask loans --test-set people.csv --predictions model.csv --answer-epsilon 40 --quote",
    "desk ask loans --test-set people.csv --predictions model.csv --answer-epsilon 20 --asker B --fresh",
    "desk ask loans --test-set people.csv --predictions scores.csv --score p --answer-epsilon 30 --asker C",
    "desk ask loans --test-set people.csv --predictions scores.csv --answer-epsilon 1 --asker C",
    "desk ask loans --test-set people.csv --predictions scores.csv --score p --answer-epsilon 5"
    " --metric equal_opportunity --asker C",
    "desk ask loans --test-set other.csv --predictions model.csv --answer-epsilon 1 --asker A",
    "desk ask nobody --test-set people.csv --predictions model.csv --answer-epsilon 1 --asker A",
    "desk status",
    "desk status loans",
    "desk export record.jsonl",
    "desk export record.jsonl",
    "desk verify record.jsonl",
    "desk verify record.jsonl --noted 00000000000000000000000000000000",
    "desk verify record.jsonl --noted 12",
    "desk verify people.csv",
)

AUDITED = (
    "history list --history kept.sqlite",
    "history register Loans --purpose Lending --owner Risk --review 2031-05-01 --who Ada --history kept.sqlite",
    "history register Loans --purpose Lending --owner Risk --review soon --who Ada --history kept.sqlite",
    "history keep 1.json --who Ada --history kept.sqlite",
    "history keep 1.json --model Loans --version 1.0 --who Ada --history kept.sqlite",
    "history keep 4.json --model loans --version 1.1 --who Bob --history kept.sqlite",
    "history keep 3.json --model Cards --version 7 --who Bob --history kept.sqlite",
    "history keep 3e.json --model Cards --version 7 --who Bob --history kept.sqlite",
    "history sign Loans 1.0 --decision release --name Ada --role DPO --history kept.sqlite",
    "history sign Loans 1.0 --decision accept_risk --name Ada --role DPO --history kept.sqlite",
    "history sign Loans 1.0 --decision accept_risk --name Ada --role DPO --reason Pilot --until 2031-01-01"
    " --history kept.sqlite",
    "history sign Loans 1.1 --decision do_not_release --name Cy --role CEO --reason No. --history kept.sqlite",
    "history sign Loans 1.1 --decision accept_risk --name Cy --role CEO --reason Yes. --until 2031-01-01"
    " --history kept.sqlite",
    "history sign Cards 7 --decision release --name Cy --role CEO --history kept.sqlite",
    "history list --history kept.sqlite",
    "history list Loans --history kept.sqlite",
    "history list None --history kept.sqlite",
    "compare released latest --model Loans --history kept.sqlite",
    "compare 1.0 1.1 --model Loans --history kept.sqlite",
    "compare released latest --model Cards --history kept.sqlite",
    "compare 1.json 3.json --margin 0.01",
    "history show Loans --history kept.sqlite",
    "history show Loans 1.0 --report new.json --history kept.sqlite",
    "history show Loans 1.0 --report new.json --history kept.sqlite",
    "history keep 2.json --model Loans --version 1.0 --who Ada --history kept.sqlite",
    "history show Loans 1.1 --history kept.sqlite",
    "history show Loans 9 --history kept.sqlite",
    "history revoke Loans 1.1 --name Ada --role DPO --reason Repaired. --history kept.sqlite",
    "history revoke Loans 1.1 --name Ada --role DPO --reason Again. --history kept.sqlite",
    "history delete Loans 1.0 --audit 1234 --who me --history kept.sqlite",
    "history delete Loans 1.1 --reason again --who me --history kept.sqlite",
    "history delete Loans 1.1 --who me --history kept.sqlite",
    "history expire --days 0 --model Cards --who me --history kept.sqlite",
    "history expire --days 1 --who me --history kept.sqlite",
    "history list Loans --deleted --history kept.sqlite",
    "history verify --history kept.sqlite",
    "history verify --hash 12 --history kept.sqlite",
    "report verify 1.json --fingerprint 1234567",
    "report verify 1.json --fingerprint 12345678",
    "report verify 1e.json",
    "report card 1.json",
    "report card 1e.json",
    "report sign 1.json --new-key k.pem",
    "report sign --key k.pem",
    "report replay 1e.json",
    "report replay 1.json",
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with people, answers and reports, and none of this machine's data."""
    monkeypatch.chdir(tmp_path)
    for name in ("FAIRLEAK_DATA", "FAIRLEAK_LEDGER", "FAIRLEAK_HISTORY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("CACHE", "DATA"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    people = samples.frame(300)
    people["person"] = [f"p{i}" for i in range(300)]
    people.to_csv("people.csv", index=False)
    people[1:].to_csv("other.csv", index=False)
    scores = people[["person"]].assign(p=np.linspace(0.1, 0.9, 300).round(3), q=0.5)
    scores.to_csv("scores.csv", index=False)
    people.assign(score=(people["skill"] > 0.1).astype(float))[["person", "score"]].to_csv("model.csv", index=False)
    later, few = {"started": "2026-12-01T23:59:00Z", "seconds": 1.0}, replace(POLICY, limits=POLICY.limits[4:6])
    held = (
        judged_audit(),
        judged_audit(policy=few),
        judged_audit(sample(SMALL_GROUPS)),
        judged_audit(replace(sample(), times=later)),
    )
    for number, report in enumerate(held, start=1):
        document = report_document(report)
        Path(f"{number}.json").write_text(to_json(document), encoding="utf-8")
        Path(f"{number}e.json").write_text(to_json(public_summary(document)), encoding="utf-8")
    return tmp_path


@pytest.mark.long
@pytest.mark.parametrize(("name", "commands", "mask"), [("desk", DESK, NOISE), ("history", AUDITED, HISTORY_MASK)])
def test_commands_in_sequence(name: str, commands: tuple[str, ...], mask: str, folder: Path) -> None:
    outputs = [printed(line.split(), folder, mask) for line in commands]
    compare(f"printed/{name}.txt", "\n".join(outputs))


def test_folders_that_hold_something_else(tmp_path: Path) -> None:
    entries = []
    for wrong in ("", "note.txt", "internal/note.txt", "public", "internal/report.json", "internal/table-a.csv"):
        out = tmp_path / (wrong.replace("/", "-") or "none")
        for kind, name, document in (
            ("internal", "report.json", REPORTS[1].document),
            ("public", "summary.json", REPORTS[1].summary),
        ):
            (out / kind).mkdir(parents=True)
            (out / kind / name).write_text(to_json(document), encoding="utf-8")
        if wrong == "public":
            shutil.rmtree(out / wrong)
        if wrong:
            (out / wrong).write_text("{}", encoding="utf-8")
        for force in (False, True):
            entries.append(
                f"{wrong} {force}: {refused(lambda out=out, force=force: audit.check_folder(out, force=force))}"
            )
    compare("printed/folders.txt", normal("\n".join(entries), tmp_path))


def test_plans_of_several_models(folder: Path) -> None:
    plan = 'schema = 1\n[data]\ndataset = "demo"\n[model]\nmethod = "{}"\ntolerance = {}\n'
    for name, method, tolerance in (("a", "unmitigated", 0.05), ("b", "unmitigated", 0.05), ("c", "dp_id3", 0.1)):
        Path(f"{name}.toml").write_text(plan.format(method, tolerance), encoding="utf-8")
    plan_template = 'schema = 1\n[data]\nfile = "{}.csv"\nlabel = "hired"\npositive = "yes"\nfavourable = "yes"\n'
    plan_template += 'sensitive = "origin"\n'
    plan_template += 'group = ["north"]\nprediction = "said"\n[model]\nkind = "predictions"\n'
    frame = samples.frame(300).assign(said=np.resize(["yes", "no", "no"], 300))
    (folder / "under").mkdir()
    for stem in ("p", "q", "under/p"):
        frame.to_csv(f"{stem}.csv", index=False)
        Path(f"{stem}.toml").write_text(plan_template.format(stem[-1]), encoding="utf-8")
    parser = argparse.ArgumentParser()
    experiment._add_choose(parser)
    entries = []
    for line in (
        "a.toml",
        "a.toml b.toml",
        "a.toml c.toml",
        "p.toml",
        "p.toml q.toml a.toml",
        "p.toml under/p.toml",
        "a.toml c.toml --seeds 1,2",
        "a.toml --seeds 1-3 --methods dp_id3",
        "a.toml --dataset adult",
    ):
        arguments = parser.parse_args(line.split())
        entries.append(f"{line}: {refused(lambda current=arguments: _choice_lines(current))}")
    compare("printed/plans.txt", normal("\n".join(entries), folder))


def _choice_lines(arguments: argparse.Namespace) -> list[str]:
    candidate_sets = experiment._of_plans(arguments, from_arguments(arguments, ChooseSettings))
    return [
        f"{candidate_set.name or 'trained'} {len(candidate_set.configs)} {candidate_set.configs[0].method}"
        for candidate_set in candidate_sets
    ]

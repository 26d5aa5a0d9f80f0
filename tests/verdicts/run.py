"""The audit run on entries of the bank, and its verdicts counted against what is true."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from core.config import AuditConfig
from core.datasets import Roles, Table
from core.fingerprint import code_fingerprint, fingerprint_frame
from core.models import GIVEN
from core.policy import Verdict, default_policy, judge, predictions_policy
from core.release_audit import (
    AuditPlan,
    DataPlan,
    MembershipPlan,
    ModelPlan,
    audit_with_people,
    dataset_of,
    kept_tolerance,
)
from tests.verdicts.bank import BANK, Entry
from tests.verdicts.people import People
from tests.verdicts.releases import Release

POLICIES = {"default": default_policy, "predictions": predictions_policy}

_WORST_FIRST = ("fail", "not_run", "inconclusive", "pass")
_GROUPS = "abcdefgh"
_SOURCES = ("entry.py", "harmless.py", "leaking.py", "people.py", "planted.py", "releases.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What the audit said of one entry at one seed.

    Attributes
    ----------
    name : str
    seed : int
    code : str
        Fingerprint of FairLeak's code and of the bank.
    seconds : float
        Of the audit.
    overall : dict
        Policy -> verdict on the release.
    checks : dict
        Policy -> check -> verdict, of the checks it requires.
    values : dict
        Check -> value and interval, of those that were measured.
    """

    name: str
    seed: int
    code: str
    seconds: float
    overall: dict[str, str]
    checks: dict[str, dict[str, str]]
    values: dict[str, list[float]]

    def outcome(self, policy: str) -> str:
        """Return the verdict on the release; of an unfair entry by all checks but that of unfairness."""
        if not BANK[self.name].unfair:
            return self.overall[policy]
        rest = {verdict for check, verdict in self.checks[policy].items() if check != "unfairness"}
        return next(verdict for verdict in _WORST_FIRST if verdict in rest)

    def asked(self, policy: str) -> bool:
        """Return whether the policy requires a check that is meant for one of the entry's leaks."""
        return bool(self.checks[policy].keys() & set(BANK[self.name].meant))

    def caught(self, policy: str) -> list[str]:
        """Return the checks meant for the entry's leaks that failed."""
        return [check for check in BANK[self.name].meant if self.checks[policy].get(check) == "fail"]


def table_and_plan(people: People, release: Release, seed: int) -> tuple[Table, AuditPlan]:
    """Return the table whoever releases would hand to an audit, and the plan for it."""
    groups = np.array(list(_GROUPS[: people.groups]), dtype=object)
    columns: dict[str, Any] = {"attribute": groups[people.attribute], "label": people.label, "set": people.sets}
    columns["prediction"] = release.prediction
    if release.score is not None:
        columns["score"] = release.score
    frame = people.features.assign(**columns)
    roles = Roles(
        label="label",
        positive="1",
        sensitive="attribute",
        group=("b",) if people.groups == 2 else (),
        each=people.groups > 2,
        prediction="prediction",
        score="score" if release.score is not None else "",
        sets="set",
    )
    table = Table(name="upload", title="Bank", frame=frame, source="Of the bank.", fingerprint=fingerprint_frame(frame))
    plan = AuditPlan(
        data=DataPlan(dataset="", file="bank.csv"),
        model=ModelPlan(kind="predictions"),
        config=AuditConfig(dataset="upload", roles=roles, method=GIVEN, seed=seed),
        membership=MembershipPlan(shadows=0),
    )
    kept = kept_tolerance(dataset_of(plan, table), plan.config)
    return table, replace(plan, config=replace(plan.config, tolerance=kept))


def run(entry: Entry, seed: int) -> Run:
    """Audit an entry once, and judge it by each policy."""
    table, plan = table_and_plan(*entry.make(seed), seed)
    started = time.perf_counter()
    audit = audit_with_people(plan, table, default_policy())[0]
    seconds = time.perf_counter() - started
    judged = {name: judge(policy(), audit.measurements, attribute="attribute") for name, policy in POLICIES.items()}
    assert judged["default"].overall == audit.verdict.overall
    return Run(
        name=entry.name,
        seed=seed,
        code=code(),
        seconds=round(seconds, 1),
        overall={name: verdict.overall for name, verdict in judged.items()},
        checks={name: _required(verdict) for name, verdict in judged.items()},
        values={
            found.check: [round(end, 5) for end in (found.estimate.value, found.estimate.low, found.estimate.high)]
            for found in audit.measurements
            if found.estimate is not None
        },
    )


def runs(entries: Iterable[Entry], seeds: Iterable[int], record: Path | None = None) -> Iterator[Run]:
    """Yield one run an entry and seed; those that a record holds of the same code are not done again."""
    kept = {(one.name, one.seed): one for one in _read(record) if one.code == code()}
    for seed in seeds:
        for entry in entries:
            done = kept.get((entry.name, seed)) or run(entry, seed)
            if record is not None and (entry.name, seed) not in kept:
                with record.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(done)) + "\n")
            yield done


def code() -> str:
    """Return the fingerprint of FairLeak's code and of the bank's."""
    own = b"".join((Path(__file__).parent / name).read_bytes() for name in _SOURCES)
    return hashlib.sha256(code_fingerprint().encode() + own).hexdigest()[:16]


def line(done: Run) -> str:
    """Return one run as a line: verdicts, the checks that failed, and the numbers of those meant for its leaks."""
    entry = BANK[done.name]
    verdicts = " ".join(f"{policy} {done.outcome(policy):12}" for policy in POLICIES)
    failed = sorted({check for rows in done.checks.values() for check, verdict in rows.items() if verdict == "fail"})
    shown = entry.meant or ("attribute_excess", "attribute_balanced", "membership_caught")
    numbers = ", ".join(f"{check} {done.values[check][0]:.3f}" for check in shown if check in done.values)
    kind = "leaks" if entry.leaks else "harmless"
    return (
        f"{done.name:33} {done.seed} {kind:8} {verdicts} {done.seconds:5.1f} s  "
        f"failed: {', '.join(failed) or 'none'}; {numbers}"
    )


def totals(done: Iterable[Run]) -> dict[str, Counter[str]]:
    """Return counts, a line of the totals each: kind of entry and policy -> what was said how often."""
    counted: dict[str, Counter[str]] = {}
    for one in (one for one in done if BANK[one.name].judged):
        entry = BANK[one.name]
        for policy in POLICIES:
            if not entry.leaks:
                size = "large" if entry.large_enough else "small"
                key, said = f"harmless, {size}, {policy}", one.outcome(policy)
            elif one.asked(policy):
                key = f"leaking, {policy}"
                said = "failed by its check" if one.caught(policy) else f"missed, {one.overall[policy]}"
            else:
                key, said = f"leaking, {policy}, its check not asked for", one.overall[policy]
            counted.setdefault(key, Counter())[said] += 1
    return dict(sorted(counted.items()))


def _required(verdict: Verdict) -> dict[str, str]:
    return {row.check: row.verdict for row in verdict.rows if row.limit is not None and row.limit.required}


def _read(record: Path | None) -> list[Run]:
    if record is None or not record.is_file():
        return []
    return [Run(**json.loads(each)) for each in record.read_text(encoding="utf-8").splitlines()]

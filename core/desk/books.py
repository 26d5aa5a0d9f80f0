"""Budgets as the entries give them, whose they are, and the check of an export.

The log is the truth, and following it is how its arithmetic is checked; the same pass serves the desk before each
answer and an export's verification. An export contains no attribute, no predictions (only their digests) and no key.
What follows from the predictions is taken as written: the bounds of the intervals, the scores' totals, the reach of the
noise.

People are found again by the normal form of their identifiers, so that nobody gets a second budget for the same people
and attribute. The ledger has no identifiers, so it cannot see that others only look equal: identifiers in another
script than those of registered people are refused. Test sets that only overlap are not noticed; their budgets add up
for people in both.

First stands what a ledger is asked and says: settings, registrations, quotes and answers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

from ..base.errors import FORMAT, FormatError, InputError, check_format
from ..base.files import content_of
from ..base.serialize import Result
from ..base.settings import Param, Settings
from ..datasets.columns import quoted
from ..datasets.roles import Roles
from ..stats.estimates import Estimate, not_measured
from ..store.chain import TIME, Damaged, Link, Record, canonical
from .noise import (
    GRID,
    HALF_STEP,
    LEVEL,
    NOTHING,
    NoisyNumber,
    epsilon_of,
    gap_value,
    standard_error,
)
from .registration import TestSet, roles_of_entry, same_text

METRICS = ("statistical_parity", "equal_opportunity")
"""Gaps a ledger answers: of all people, and of those with label 1."""

NO_GAP = not_measured()


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterSettings(Settings):
    """What a test set is registered with, unchangeable; budgets are text, because they are counted to the millionth."""

    budget: Annotated[
        str,
        Param(
            "Total budget ε",
            "Total privacy budget (epsilon) of all answers; it cannot be increased.",
        ),
    ]
    count_epsilon: Annotated[
        str | None,
        Param(
            "Price of the count", "Price of the noisy group size (default: a tenth of the budget)."
        ),
    ] = None
    another_attribute: Annotated[
        bool,
        Param(
            "People registered before, for another attribute",
            "Statement, on record and believed, that people with a budget are registered for another attribute.",
        ),
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AskSettings(Settings):
    """One question."""

    epsilon: Annotated[
        str,
        Param(
            "Price ε of a new answer",
            "Privacy budget of a new answer; half of it means twice the noise. Equal opportunity costs the count of "
            "its group besides, once.",
            flag="--answer-epsilon",
        ),
    ]
    metric: Annotated[
        str,
        Param(
            "Gap",
            "Gap between groups, of all people or of those with a positive label: {options}; of scores the answer is a "
            "difference of means, of labels one of rates.",
            options=METRICS,
        ),
    ] = METRICS[0]
    again: Annotated[
        bool,
        Param(
            "Pay for a new noisy answer",
            "New noisy answer, charged although earlier ones exist.",
            flag="--fresh",
        ),
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote(Result):
    """What a question costs and how precise its answer is; nothing is charged or released for a quote."""

    reason: str | None = None
    """Why it is refused, in one sentence: it costs more than is left; never a matter of anybody's attribute."""
    charged: float = 0.0
    """Epsilon; 0 for a question that was answered before, and for scores that are all the same."""
    remaining: float
    """Budget that is left: now, or after an answer."""
    standard_error: float = math.nan
    """About how far the answer is from the truth."""
    fresh_error: float | None = None
    """The standard error of a new answer at the price offered (`again`), where a quote is about an earlier one."""

    @property
    def refused(self) -> bool:
        """Whether the question costs more than is left; then nothing is charged, released or written."""
        return self.reason is not None

    @property
    def from_past(self) -> bool:
        """Whether it costs nothing."""
        return self.charged == 0 and not self.refused

    @property
    def coarse(self) -> bool:
        """Whether a new answer would be far more precise than the earlier one."""
        return self.fresh_error is not None and self.standard_error > 3 * self.fresh_error


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerAnswer(Quote):
    """One question's answer, as it stands in the ledger; or why there is none."""

    metric: str
    asker: str
    time: str = ""
    """When, UTC, ISO 8601."""
    question: str = ""
    """SHA-256 of the predictions that enter the answer, in the order of the registered people."""
    gap: Estimate = NO_GAP
    """Advantaged minus disadvantaged, with an interval that follows from the public noise alone; nan where refused."""
    number: int | None = None
    """Its entry in the ledger; the earlier one if the same question was answered before."""
    seal: str | None = None
    """The hash of that entry; noted elsewhere, it proves later that nothing up to there was rewritten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerStatus(Result):
    """A test set and an attribute with a budget for their lifetime, and the state of that budget."""

    name: str
    registered: str
    """When, UTC, ISO 8601."""
    roles: Roles
    """How the test set's table is read."""
    n_people: int
    n_positive: int | None
    """People with label 1; None without labels, and then there is no equal opportunity to ask for."""
    budget: float
    """Epsilon for everything that is ever released."""
    count_epsilon: float
    """What the noisy size of the disadvantaged group was charged, and will be once for those with label 1."""
    least_epsilon: float
    """The least a question may offer, a thousandth of the budget."""
    n_disadvantaged: Estimate
    """The noisy size, with its interval."""
    spent: float
    remaining: float
    answers: tuple[LedgerAnswer, ...]
    """In the order they were given."""
    wrong_files: int
    """How many different files about these people were tried that were not the registered one."""
    seal: str
    """The ledger's last hash."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportVerification(Result):
    """Whether an export is consistent."""

    reason: str | None
    """What is wrong, in one sentence; None if nothing is."""
    n_entries: int
    """Entries that were found good, from the first."""
    seal: str | None
    """The last good hash."""
    budgets: tuple[LedgerStatus, ...]
    """What the good entries add up to, by name."""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return self.reason is None


_CLOSE = 1e-9


@dataclass(slots=True)
class Account:
    """One registration: its entry, what was released and answered, which wrong files came; amounts in millionths."""

    body: dict[str, Any]
    budget: int
    count_epsilon: int
    spent: int
    roles: Roles
    """How the test set's table is read."""
    script: str
    """Script of its people's identifiers."""
    released: dict[tuple[int, str], NoisyNumber]
    """By the entry that released it and its part, "sum" or "count"."""
    answers: list[LedgerAnswer] = field(default_factory=list)
    wrong_files: list[str] = field(default_factory=list)
    """Seals of files about the registered people that were not the registered one."""

    @property
    def name(self) -> str:
        """Return what it is called."""
        return str(self.body["name"])

    @property
    def least(self) -> int:
        """Return the least price of a sum in millionths, which bounds how many there can be."""
        return -(-self.budget // 1000)

    @property
    def remaining(self) -> int:
        """Return what is left in millionths."""
        return self.budget - self.spent

    def n(self, metric: str) -> int:
        """Return how many people a metric is about."""
        if metric == "statistical_parity":
            return int(self.body["n"])
        return int(self.body["n_positive"])

    def count(self, metric: str) -> tuple[int, NoisyNumber] | None:
        """Return the noisy size of the disadvantaged group and its entry, None where it is not released yet."""
        metrics = {answer.number: answer.metric for answer in self.answers}
        counts = (
            (entry, number)
            for (entry, part), number in self.released.items()
            if part == "count" and metrics.get(entry, METRICS[0]) == metric
        )
        return next(counts, None)

    def earlier(self, metric: str, question: str) -> LedgerAnswer | None:
        """Return the most precise answer to a question with this digest, the latest of equals; None without any."""
        same = [
            answer
            for answer in reversed(self.answers)
            if (answer.metric, answer.question) == (metric, question)
        ]
        return min(same, key=lambda answer: answer.standard_error, default=None)

    @property
    def n_disadvantaged(self) -> Estimate:
        """Return the noisy size of the disadvantaged group, with its interval."""
        count = self.released[next(iter(self.released))]
        n = self.n("statistical_parity")
        reach = count.bound(LEVEL)
        value = min(max(count.value, 0.0), float(n))
        return Estimate(
            value=value,
            low=max(value - reach, 0.0),
            high=min(value + reach, float(n)),
            n=n,
            level=LEVEL,
        )

    def status(self, seal: str) -> LedgerStatus:
        """Return what anybody may know of it, where the ledger's last hash is this one."""
        return LedgerStatus(
            name=self.name,
            registered=self.body["time"],
            roles=self.roles,
            n_people=self.n("statistical_parity"),
            n_positive=self.body["n_positive"],
            budget=epsilon_of(self.budget),
            count_epsilon=epsilon_of(self.count_epsilon),
            least_epsilon=epsilon_of(self.least),
            n_disadvantaged=self.n_disadvantaged,
            spent=epsilon_of(self.spent),
            remaining=epsilon_of(self.remaining),
            answers=tuple(self.answers),
            wrong_files=len(self.wrong_files),
            seal=seal,
        )


@dataclass(slots=True, kw_only=True)
class LedgerState(Record):
    """Everything a ledger's entries say: accounts by name, and the key's SHA-256."""

    accounts: dict[str, Account] = field(default_factory=dict)
    key_hash: str = ""

    def account(self, name: str) -> Account | None:
        """Account of a name in any spelling of its normal form; None without one."""
        return next(
            (account for account in self.accounts.values() if same_text(account.name, name)), None
        )

    def status(self, name: str) -> LedgerStatus:
        """State of a budget."""
        return self.accounts[name].status(self.hash)

    def follow(self, kind: str, link: Link, body: dict[str, Any]) -> None:
        """Open, register, answer, or note a wrong file."""
        match kind:
            case "opened":
                self.key_hash = str(body["key"])
            case "registered":
                self._register(link, body)
            case "answered":
                self._answer(link, body)
            case "mismatched":
                self.accounts[body["name"]].wrong_files.append(str(body["file"]))
            case _:
                raise ValueError(kind)

    def _register(self, entry: Link, body: dict[str, Any]) -> None:
        name = str(body["name"])
        price = _integer(body["count_epsilon"])
        budget = _integer(body["budget"])
        _require(
            self.account(name) is None, f"entry {entry.number} registers {name!r} a second time"
        )
        is_charged = body["charged"] == body["spent"] == price
        _require(is_charged, f"entry {entry.number} charges something else than its price")
        _require(0 < price <= budget, f"entry {entry.number} charges more than its budget")
        count = NoisyNumber(1, price, 1.0, _integer(body["count"]))
        released = {(entry.number, "count"): count}
        account = Account(
            body,
            budget=budget,
            count_epsilon=price,
            spent=price,
            roles=roles_of_entry(body["roles"]),
            script=str(body["script"]),
            released=released,
        )
        account.status(entry.hash)  # has all it needs
        self.accounts[name] = account

    def _answer(self, entry: Link, body: dict[str, Any]) -> None:
        number = entry.number
        account = self.accounts[body["name"]]
        _require(body["metric"] in METRICS, f"entry {number} answers an unknown metric")
        new = dict(_new_releases(number, body, account))
        charged = sum(number.epsilon for number in new.values())
        _require(
            _integer(body["charged"]) == charged,
            f"entry {number} charges something else than what it released",
        )
        _require(
            _integer(body["spent"]) == account.spent + charged,
            f"entry {number} adds up the budget wrongly",
        )
        _require(
            account.spent + charged <= account.budget, f"entry {number} spends more than the budget"
        )
        error = _standard_error(number, body, account.n(body["metric"]), account.released | new)
        answer = LedgerAnswer(
            metric=body["metric"],
            asker=body["asker"],
            time=body["time"],
            question=str(body["question"]),
            gap=Estimate(
                value=body["gap"],
                low=body["low"],
                high=body["high"],
                n=_integer(body["n"]),
                level=LEVEL,
            ),
            standard_error=error,
            charged=epsilon_of(charged),
            remaining=epsilon_of(account.remaining - charged),
            number=number,
            seal=entry.hash,
        )
        account.spent += charged
        account.released |= new
        account.answers.append(answer)


def _require(holds: bool, violation: str) -> None:
    if not holds:
        raise Damaged(violation)


def _integer(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError
    return value


def _new_releases(
    number: int, body: dict[str, Any], account: Account
) -> Iterable[tuple[tuple[int, str], NoisyNumber]]:
    """Yield what an answer released, by its name: a sum, a count, both, or nothing."""
    for part, unit in (("sum", HALF_STEP), ("count", 1.0)):
        release = body[part]
        if release is None:
            continue
        price = _integer(release["epsilon"])
        reach = _integer(release["reach"])
        if part == "sum":
            agreed = _integer(body["epsilon"])
        else:
            agreed = account.count_epsilon
        _require(price == agreed, f"entry {number} releases a {part} at another price than agreed")
        _require(
            part == "count" or price >= account.least,
            f"entry {number} releases a sum below the least price",
        )
        longest_reach = {"sum": GRID, "count": 1}[part]
        _require(
            0 < reach <= longest_reach, f"entry {number} releases a {part} of an impossible reach"
        )
        yield (
            (number, part),
            NoisyNumber(reach, price, unit, _integer(release["units"])),
        )


def _standard_error(
    number: int, body: dict[str, Any], n: int, released: dict[tuple[int, str], NoisyNumber]
) -> float:
    """Return an answer's standard error, if the answer follows from what was released, as far as can be computed again.

    Sum and count, the gap, its standard error and the number of people are computed again. The total of the scores, the
    reach of the noise and the bounds of the interval come from the predictions, which no entry holds.
    """
    _require(
        _integer(body["n"]) == n,
        f"entry {number} is about another number of people than registered",
    )
    entry = body["size_from"]
    count = NOTHING
    if entry is not None:
        count = released[_integer(entry), "count"]
    part = released.get((number, "sum"), NOTHING)
    for value, stated in ((part.value, body["part"]), (count.value, body["size"])):
        close = math.isclose(value, stated, rel_tol=_CLOSE, abs_tol=_CLOSE * n)
        _require(close, f"entry {number} does not follow from what was released")
    low = body["low"]
    gap = body["gap"]
    high = body["high"]
    value = min(max(gap_value(body["total"], body["part"], body["size"], n), low), high)
    good = -1 <= low <= gap <= high <= 1 and math.isclose(value, gap, abs_tol=_CLOSE)
    _require(good, f"entry {number} tells another gap than the released numbers give")
    error = standard_error(
        n,
        total=body["total"],
        part=body["part"],
        deviation=part.deviation,
        count=body["size"],
        count_deviation=count.deviation,
    )
    good = math.isclose(error, body["standard_error"], rel_tol=1e-6, abs_tol=_CLOSE)
    _require(good, f"entry {number} tells another standard error than the released numbers give")
    return error


def refuse_a_second_budget(
    state: LedgerState,
    name: str,
    roles: Roles,
    test_set: TestSet,
    key: bytes,
    *,
    another_attribute: bool,
) -> None:
    """Refuse a name that is taken, and people who have a budget, unless for what is said to be another attribute."""
    if state.account(name) is not None:
        raise InputError(
            f"The name {quoted(name)} is registered already; a budget is for a lifetime."
        )
    seal = test_set.seal_of_people(key)
    for account in state.accounts.values():
        if account.script != test_set.script:
            raise InputError(
                f"The identifiers must be written in the script of those of {quoted(account.name)}, {account.script}, "
                f"as letters of two may look equal, got {test_set.script}; number these people, or open another ledger."
            )
        if account.body["seals"]["people"] != seal:
            continue
        if same_text(account.roles.sensitive, roles.sensitive):
            raise InputError(
                f"These people have a budget for this attribute already, under the name {quoted(account.name)}; "
                "a second one would let askers spend twice."
            )
        if not another_attribute:
            raise InputError(
                f"These people have a budget already, as {quoted(account.name)} for "
                f"{quoted(account.roles.sensitive)}; if {quoted(roles.sensitive)} is another attribute, that must be "
                "said, and goes on record."
            )


_KIND = "FairLeak ledger export"
_CLOCKS = timedelta(hours=1)
"""How far the clocks of machines that share a ledger may lie apart."""

_NOTED = 32  # digits: who forges a chain can try many, and must not meet so many by chance


def export_bytes(entries: list[Link]) -> bytes:
    """Return the export of all entries as the bytes of a file."""
    lines = [_header(len(entries), entries[-1].hash), *(_line(entry) for entry in entries)]
    return ("\n".join(lines) + "\n").encode("ascii")


def _header(entries: int, last: str) -> str:
    return canonical({"kind": _KIND, "version": FORMAT, "entries": entries, "hash": last})


def _line(entry: Link) -> str:
    return canonical({"entry": json.loads(entry.text), "hash": entry.hash})


def verify_export(export: str | Path | bytes, *, noted: str | None = None) -> ExportVerification:
    """Return whether an export is consistent.

    Raises `InputError` if the file cannot be read, is no export at all or one of another format, or `noted` is too
    short.

    Parameters
    ----------
    export : path or bytes
        The file, or what is in it.
    noted : str or None
        A hash somebody noted earlier (at least its first 32 digits); the chain must contain it. Without one, an export
        whose whole chain was rewritten by a forger would pass.
    """
    if noted is not None and (len(noted) < _NOTED or set(noted.lower()) - set("0123456789abcdef")):
        raise InputError(f"A noted hash must be at least {_NOTED} hex digits, got {noted!r}.")
    header, first, lines = _read(export)
    state = LedgerState()
    seen = False
    reason = None
    latest = datetime.min
    try:
        for number, line in enumerate(lines, 1):
            entry = _entry(number, line)
            state.add(entry)
            latest = max(latest, _time(number, entry, latest))
            seen = seen or (noted is not None and entry.hash.startswith(noted.lower()))
        if (header.get("entries"), header.get("hash")) != (state.number, state.hash):
            raise Damaged(
                f"it ends with entry {state.number} and should end with entry {header.get('entries')}"
            )
        if first != _header(state.number, state.hash):
            raise Damaged("its first line holds something else than those of exports do")
        if noted is not None and not seen:
            raise Damaged("it does not contain the noted hash")
    except Damaged as error:
        reason = f"Verification failed: {error}."
    except FormatError as error:
        reason = f"Verification failed: {error}"
    seal = state.hash if state.number else None
    return ExportVerification(
        reason=reason,
        n_entries=state.number,
        seal=seal,
        budgets=tuple(state.status(name) for name in sorted(state.accounts)),
    )


def _read(export: str | Path | bytes) -> tuple[dict[str, Any], str, list[str]]:
    """Return an export's header, the line it stands on, and the lines of its entries."""
    if isinstance(export, bytes):
        name = "given"
        content = export
    else:
        name = quoted(export, 200)
        content = content_of(export, what="The export")
    first, _, rest = content.partition(b"\n")
    try:
        header = json.loads(first)
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict) or header.get("kind") != _KIND:
        raise InputError(f"The file {name} is not an export of a FairLeak ledger.")
    check_format(header.get("version"), thing=f"The export {name}")
    lines = []
    if rest:
        lines = rest.decode("utf-8", "replace").removesuffix("\n").split("\n")
    return header, first.decode("utf-8", "replace"), lines


def _entry(number: int, line: str) -> Link:
    try:
        fields = json.loads(line)
        entry = Link(number, canonical(fields["entry"]), str(fields["hash"]))
    except (ValueError, TypeError, KeyError, RecursionError):
        raise Damaged(f"entry {number} cannot be read") from None
    if line != _line(
        entry
    ):  # the same key twice, other spaces: what is seen must be what is hashed
        raise Damaged(f"entry {number} is not written as exports are")
    return entry


def _time(number: int, entry: Link, latest: datetime) -> datetime:
    """Return when an entry was written, which is not before the latest one of those above it."""
    stated = json.loads(entry.text).get("time")
    try:
        time = datetime.strptime(stated, TIME)
    except (TypeError, ValueError):
        raise Damaged(f"entry {number} does not say when it was written") from None
    if latest - time > _CLOCKS:
        raise Damaged(
            f"entry {number} was written at {stated}, and one before it at {latest:%Y-%m-%dT%H:%M:%SZ}"
        )
    return time

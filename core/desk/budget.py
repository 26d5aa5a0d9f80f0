"""Budgets as the entries tell them, and whose they are.

The log is the truth, and following it is how its arithmetic is checked; the same pass serves the desk before each
answer and whoever verifies an export.

People are found again by the normal form of their identifiers, under each registration in the form of its time, so that
nobody gets a second budget for the same people and attribute. Test sets that only overlap are not recognised; their
budgets add up for whoever is in both. Nor are people registered in form 1 who come with spellings that only a later
form makes equal: the ledger has no identifiers to form anew.

Whether a file is the registered one is a fact about the attribute. So all wrong files are told the same sentence; one
with the registered people and anything else different is put on record as a guess, once; and after `MOST_WRONG` of them
within a day no file is looked at, right or wrong.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, ClassVar

from core.datasets.columns import quoted
from core.desk.noise import GRID, LEVEL, Noise, epsilon_of, gap_value, standard_error
from core.desk.record import FIRST, METRICS, TIME, Damaged, Entry, LoggedAnswer, Registration, checked_body
from core.desk.registration import FORMS, Columns, TestSet, normal_form
from core.errors import InputError
from core.estimates import Estimate

FORMAT = 1
_CLOSE = 1e-9


@dataclass(frozen=True, slots=True)
class Released:
    """One noisy number: the "sum" of a question, by its digest, or a "count"; itself in units of its noise.

    `entry` released it, and `metric` says which people it is about.
    """

    entry: int
    part: str
    metric: str
    question: str | None
    units: int
    noise: Noise

    @property
    def value(self) -> float:
        """Return the number in the sum's own terms."""
        return self.units * self.noise.unit


@dataclass(frozen=True, slots=True)
class WrongFile:
    """A file about the registered people that was not the registered one: when it was tried, and its seal."""

    time: str
    seal: str


@dataclass(slots=True)
class Account:
    """One registration: its entry, what was released and answered, which wrong files came; amounts in millionths."""

    name: str
    body: dict[str, Any]
    budget: int
    count_epsilon: int
    spent: int
    form: int
    """Of the identifiers in its seals and in the order of its people."""
    released: list[Released] = field(default_factory=list)
    answers: list[LoggedAnswer] = field(default_factory=list)
    wrong_files: list[WrongFile] = field(default_factory=list)

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
        return int(self.body["n"] if metric == "statistical_parity" else self.body["n_positive"])

    def registration(self) -> Registration:
        """Return what may be told about the registration."""
        count, n = self.released[0], self.n("statistical_parity")
        reach = count.noise.bound(LEVEL)
        size = Estimate(
            value=min(max(count.value, 0.0), float(n)),
            low=max(min(count.value - reach, float(n)), 0.0),
            high=min(max(count.value + reach, 0.0), float(n)),
            n=n,
            level=LEVEL,
        )
        return Registration(
            name=self.name,
            registered=self.body["time"],
            columns=Columns(**self.body["columns"]),
            form=self.form,
            n_people=n,
            n_positive=self.body["n_positive"],
            budget=epsilon_of(self.budget),
            count_epsilon=epsilon_of(self.count_epsilon),
            least_epsilon=epsilon_of(self.least),
            n_disadvantaged=size,
        )


@dataclass(slots=True)
class Books:
    """Everything a ledger's entries say: accounts by name, the last good entry's number and hash, the key's SHA-256."""

    accounts: dict[str, Account] = field(default_factory=dict)
    number: int = 0
    hash: str = FIRST
    key_hash: str = ""

    def add(self, entry: Entry) -> None:
        """Follow one more entry, or raise `Damaged` and leave everything as it was."""
        number = self.number + 1
        body = checked_body(entry, number, self.hash)
        if (body.get("kind") == "opened") != (number == 1):
            raise Damaged(f"entry {number} is not of a kind that may stand there")
        try:
            self._kinds[body["kind"]](self, number, body)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, ZeroDivisionError):
            raise Damaged(f"entry {number} lacks something or holds something of another kind") from None
        self.number, self.hash = number, entry.hash

    def _opened(self, number: int, body: dict[str, Any]) -> None:
        _rule(body["format"] == FORMAT, f"format {body['format']} is not the one this version knows ({FORMAT})")
        self.key_hash = str(body["key"])

    def _registered(self, number: int, body: dict[str, Any]) -> None:
        name, price, budget = body["name"], _whole(body["count_epsilon"]), _whole(body["budget"])
        _rule(name not in self.accounts, f"entry {number} registers {name!r} a second time")
        _rule(body["charged"] == body["spent"] == price, f"entry {number} charges something else than its price")
        _rule(0 < price <= budget, f"entry {number} charges more than its budget")
        form = int(body.get("form", 1))
        _rule(form in FORMS, f"entry {number} has identifiers in form {form}, which is not known here")
        account = Account(name=str(name), body=body, budget=budget, count_epsilon=price, spent=price, form=form)
        count = Released(number, "count", METRICS[0], None, _whole(body["count"]), Noise(1, price, 1.0))
        account.released.append(count)
        account.registration()  # has all it needs
        self.accounts[name] = account

    def _answered(self, number: int, body: dict[str, Any]) -> None:
        account = self.accounts[body["name"]]
        _rule(body["metric"] in METRICS, f"entry {number} answers an unknown metric")
        new = list(_new_releases(number, body, account))
        charged = sum(one.noise.epsilon for one in new)
        _rule(_whole(body["charged"]) == charged, f"entry {number} charges something else than what it released")
        _rule(_whole(body["spent"]) == account.spent + charged, f"entry {number} adds up the budget wrongly")
        _rule(account.spent + charged <= account.budget, f"entry {number} spends more than the budget")
        _check_answer(number, body, account.n(body["metric"]), [*account.released, *new])
        gap = Estimate(value=body["gap"], low=body["low"], high=body["high"], n=_whole(body["n"]), level=LEVEL)
        answer = LoggedAnswer(
            number=number,
            asked=body["time"],
            asker=body["asker"],
            metric=body["metric"],
            question=body["question"][:12],
            gap=gap,
            standard_error=body["standard_error"],
            charged=epsilon_of(charged),
            from_past=charged == 0,
        )
        account.spent += charged
        account.released += new
        account.answers.append(answer)

    def _mismatched(self, number: int, body: dict[str, Any]) -> None:
        self.accounts[body["name"]].wrong_files.append(WrongFile(str(body["time"]), str(body["file"])))

    _kinds: ClassVar = {"opened": _opened, "registered": _registered, "answered": _answered, "mismatched": _mismatched}


def follow(entries: Iterable[Entry]) -> Books:
    """Follow all entries from the first; raise `Damaged` at one that does not follow."""
    books = Books()
    for entry in entries:
        books.add(entry)
    if not books.number:
        raise Damaged("it has no entries")
    return books


def _rule(kept: bool, otherwise: str) -> None:
    if not kept:
        raise Damaged(otherwise)


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError
    return value


def _new_releases(number: int, body: dict[str, Any], account: Account) -> Iterable[Released]:
    """Yield what an answer released: a sum, a count, both, or nothing."""
    for part, unit in (("sum", 0.5 / GRID), ("count", 1.0)):
        told = body[part]
        if told is None:
            continue
        price, reach = _whole(told["epsilon"]), _whole(told["reach"])
        agreed = _whole(body["epsilon"]) if part == "sum" else account.count_epsilon
        _rule(price == agreed, f"entry {number} releases a {part} at another price than agreed")
        _rule(part == "count" or price >= account.least, f"entry {number} releases a sum below the least price")
        _rule(0 < reach <= (GRID if part == "sum" else 1), f"entry {number} releases a {part} of an impossible reach")
        question = str(body["question"]) if part == "sum" else None
        yield Released(number, part, body["metric"], question, _whole(told["units"]), Noise(reach, price, unit))


def _check_answer(number: int, body: dict[str, Any], n: int, released: list[Released]) -> None:
    """Check that the answer follows from what was released: the same arithmetic, as far as no prediction is needed.

    Sum and count, the gap, its standard error and the number of people are computed again. The total of the scores, the
    reach of the noise and the bounds of the interval come from the predictions, which no entry holds.
    """
    by_name = {(one.entry, one.part): one for one in released}
    _rule(_whole(body["n"]) == n, f"entry {number} is about another number of people than registered")
    deviations = {}
    for what in ("part", "size"):
        used = [(coefficient, by_name[entry, part]) for entry, part, coefficient in body[f"{what}_from"]]
        value = sum(coefficient * one.value for coefficient, one in used)
        deviations[what] = math.sqrt(2 * sum((coefficient * one.noise.scale) ** 2 for coefficient, one in used))
        close = math.isclose(value, body[what], rel_tol=_CLOSE, abs_tol=_CLOSE * n)
        _rule(close, f"entry {number} does not follow from what was released")
    low, gap, high = body["low"], body["gap"], body["high"]
    value = min(max(gap_value(body["total"], body["part"], body["size"], n), low), high)
    good = -1 <= low <= gap <= high <= 1 and math.isclose(value, gap, abs_tol=_CLOSE)
    _rule(good, f"entry {number} tells another gap than the released numbers give")
    part, count = {"part": body["part"], "deviation": deviations["part"]}, body["size"]
    error = standard_error(n, total=body["total"], **part, count=count, count_deviation=deviations["size"])
    good = math.isclose(min(error, (high - low) / 2), body["standard_error"], rel_tol=1e-6, abs_tol=_CLOSE)
    _rule(good, f"entry {number} tells another standard error than the released numbers give")


MOST_WRONG = 20
"""Wrong files about the registered people within a day, after which the test set is closed."""

_LONGEST = 80


def turned_away(account: Account, test_set: TestSet, key: bytes, now: str) -> tuple[str, str | None] | None:
    """Return why a file is refused and, if it is a new guess, its seal for the record; None for the registered one."""
    if len(account.wrong_files) >= MOST_WRONG:
        until = (datetime.strptime(account.wrong_files[-MOST_WRONG].time, TIME) + timedelta(days=1)).strftime(TIME)
        if now < until:
            return (
                f"The test set {quoted(account.name)} is closed until {until}: {MOST_WRONG} files that were not the "
                "registered one were tried within a day.",
                None,
            )
    whole, sealed = test_set.seal(key, account.form), account.body["seals"]
    if whole == sealed["whole"]:
        return None
    theirs = test_set.seal_of_people(key, account.form) == sealed["people"]
    guess = theirs and all(one.seal != whole for one in account.wrong_files)
    told = f"The test set must be the one registered as {quoted(account.name)}; this file is not the registered one."
    return told, whole if guess else None


def refuse_a_second_budget(
    books: Books, name: str, columns: Columns, test_set: TestSet, key: bytes, *, another_attribute: bool
) -> None:
    """Refuse a name that is taken, and people who have a budget, unless for what is said to be another attribute."""
    if name in books.accounts:
        raise InputError(f"The name {quoted(name)} is registered already; a budget is for a lifetime.")
    sealed = {form: test_set.seal_of_people(key, form) for form in {one.form for one in books.accounts.values()}}
    for other in books.accounts.values():
        if other.body["seals"]["people"] != sealed[other.form]:
            continue
        theirs = str(other.body["columns"]["attribute"])
        if normal_form(theirs) == normal_form(columns.attribute):
            raise InputError(
                f"These people have a budget for this attribute already, under the name {quoted(other.name)}; "
                "a second one would let askers spend twice."
            )
        if not another_attribute:
            raise InputError(
                f"These people have a budget already, as {quoted(other.name)} for {quoted(theirs)}; if "
                f"{quoted(columns.attribute)} is another attribute, that must be said, and goes on record."
            )


def title(text: str, *, name: str) -> str:
    """Return a name of something or somebody, trimmed, if it is short and printable."""
    told = text.strip() if isinstance(text, str) else ""
    if not told or len(told) > _LONGEST or not told.isprintable():
        raise InputError(f"{name} must be 1 to {_LONGEST} printable characters, got {quoted(text)}.")
    return told

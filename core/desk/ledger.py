"""The desk itself: open it, register a test set, ask, quote, look at a budget, export.

A question releases the noisy sum of its scores over the disadvantaged, and for equal opportunity once the noisy size of
that group; the gap follows from the two. What it costs follows from questions and prices alone, which all who ask may
know, never from anybody's attribute. A question that was answered before is free: it gets the earlier answer.
"""

from __future__ import annotations

import hashlib
import random
import secrets
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from ..base.errors import InputError
from ..base.files import write_file
from ..base.validation import Floats, Mask, choice
from ..datasets.columns import quoted
from ..datasets.roles import Roles
from ..studies.bias_queries.gaps import score_matrix
from .books import (
    METRICS,
    Account,
    LedgerAnswer,
    LedgerState,
    LedgerStatus,
    Quote,
    export_bytes,
    refuse_a_second_budget,
)
from .noise import (
    HALF_STEP,
    LEVEL,
    MILLION,
    NOTHING,
    Amount,
    NoisyNumber,
    RandBelow,
    amount_text,
    centred,
    discrete_laplace,
    epsilon_of,
    gap_interval,
    millionths,
    on_grid,
    release,
    standard_error,
)
from .registration import TestSet, normal_form, roles_entry, visible_text

if TYPE_CHECKING:
    from ..store.database import Store
    from .ledger_tables import LedgerTransaction

MOST_WRONG_FILES = 20
"""Files with the registered people and other values that are compared with the registered one, in its lifetime."""

_LONGEST = 80
_ENOUGH = (1 + LEVEL) / 2  # sum and count each may miss in half of the remaining cases

T = TypeVar("T")


class _Plan:
    """A question about the registered people, checked, in the ledger's order of people, and what its answer takes.

    `people`, (n,), says whom the metric is about; `values`, (n,), are the scores in half steps of the grid, centred,
    and 0 for others; `digest` is of the scores that enter the sum. `earlier` is the answer of the past, if it shall do;
    then nothing is released. `count` is the noisy size that is known, and its entry.
    """

    def __init__(
        self,
        account: Account,
        test_set: TestSet,
        scores: npt.ArrayLike,
        *,
        epsilon: Amount,
        metric: str,
        again: bool,
    ) -> None:
        price = millionths(epsilon, name="epsilon")
        if price < account.least:
            raise InputError(
                f"epsilon must be at least {amount_text(account.least)}, a thousandth of the budget of "
                f"{quoted(account.name)}, got {amount_text(price)}."
            )
        flat = np.asarray(scores)
        if flat.ndim != 1:
            raise InputError(f"scores must be one value a person, got {flat.ndim} dimensions.")
        order = test_set.order
        steps = on_grid(score_matrix(flat, n=test_set.n)[0])[order]
        people = np.ones(test_set.n, dtype=bool)
        if choice(metric, METRICS, name="metric") == "equal_opportunity":
            if test_set.labels is None or test_set.labels.sum() < 2:
                positives = "no labels" if test_set.labels is None else test_set.labels.sum()
                raise InputError(
                    f"Equal opportunity needs two people with label 1 at least, {quoted(account.name)} has {positives}."
                )
            people = test_set.labels[order] == 1
        self.metric = metric
        self.price = price
        self.people = people
        self.digest = hashlib.sha256(steps[people].astype("<i4").tobytes()).hexdigest()
        self.values, reach = centred(steps, people)
        self.count = account.count(metric)
        self.earlier = account.earlier(metric, self.digest)
        if again and reach:  # of scores that are all the same the answer is exact
            self.earlier = None
        self.new_sum = NOTHING
        self.new_count = NOTHING
        if reach and self.earlier is None:
            self.new_sum = NoisyNumber(reach, price, HALF_STEP)
            if self.count is None:
                self.new_count = NoisyNumber(1, account.count_epsilon, 1.0)

    @property
    def charged(self) -> int:
        """Return the price in millionths."""
        return sum(number.epsilon for number in (self.new_sum, self.new_count) if number.reach)


class Ledger:
    """Registered test sets, their budgets, and every answer ever given; made by `open_ledger`.

    Safe to share between threads; any number of processes may use the same place at once.
    """

    def __init__(self, store: Store[LedgerTransaction], randbelow: RandBelow) -> None:
        self._store = store
        self._randbelow = randbelow

    @property
    def location(self) -> str:
        """Return what the ledger is called in sentences: its path or its URL without the password."""
        return self._store.location

    def register(
        self,
        name: str,
        test_set: TestSet,
        *,
        budget: Amount,
        roles: Roles,
        count_epsilon: Amount | None = None,
        another_attribute: bool = False,
    ) -> LedgerStatus:
        """Give a test set and an attribute their one budget, and release the noisy size of the disadvantaged group.

        Raises `InputError` if the name is taken, the labels are the attribute, the identifiers are in another script
        than those of people who are registered, or people with these identifiers have a budget: for an attribute of
        this name, or for another one and `another_attribute` is not said.

        Parameters
        ----------
        name : str
            What askers will call it, in any spelling of its normal form.
        budget : number in [0.000001, 1000]
            Epsilon for everything ever released about the attribute; it cannot be raised later.
        roles : Roles
            How the test set's table is read; kept, so that it is read the same way at every question.
        count_epsilon : number or None
            What the group's noisy size costs, once for all people and once for those with label 1 when equal
            opportunity is first asked for; a tenth of the budget when None.
        another_attribute : bool
            Says, on record, that people who have a budget are registered for an attribute that is another one. It is
            believed: looking at the attribute would tell whether a guess of it is right.
        """
        name = _title(name, name="name")
        normal_form(roles.sensitive, noun="The name of the sensitive attribute")
        total = millionths(budget, name="budget")
        price = _count_price(total, count_epsilon)
        if test_set.labels_tell_attribute:
            raise InputError(
                "The true outcome must say something else than the sensitive attribute, got the same for everybody: "
                "how many have the outcome is public."
            )
        with self._store.write_transaction() as change:
            state = change.record()
            key = change.key()
            refuse_a_second_budget(
                state, name, roles, test_set, key, another_attribute=another_attribute
            )
            body = _registered(test_set, price, key, self._randbelow)
            body |= {
                "name": name,
                "time": state.next_time(),
                "roles": roles_entry(roles),
                "budget": total,
            }
            body["another_attribute"] = bool(another_attribute)
            change.charge(name, total, price)
            change.add(state, body)
        return state.status(name)

    def ask(
        self,
        name: str,
        test_set: TestSet,
        scores: npt.ArrayLike,
        *,
        epsilon: Amount,
        metric: str = METRICS[0],
        asker: str,
        again: bool = False,
    ) -> LedgerAnswer:
        """Answer one question; when this returns, charge and answer are in the ledger to stay.

        Raises `InputError` if there is no such registration, the file is not the registered one, or a parameter breaks
        its rule.

        Parameters
        ----------
        test_set : TestSet
            The registered one; the order of its people may differ.
        scores : array-like of shape (n,), in [0, 1]
            The model's predictions, in the order of `test_set.ids`.
        epsilon : number
            The price of a new answer, a thousandth of the budget at least. Nothing is charged for a question that was
            answered before, nor for scores that are all the same; equal opportunity's first answer costs the noisy
            size of its group besides.
        metric : str
            One of `METRICS`.
        asker : str
            Who asks, for the record; an earlier answer stays that of who asked first.
        again : bool
            Pay for a new answer, with new noise, although there is an earlier one.
        """
        asker = _title(asker, name="asker")

        def answer(
            change: LedgerTransaction, state: LedgerState, account: Account, plan: _Plan
        ) -> LedgerAnswer:
            left = epsilon_of(account.remaining)
            if plan.earlier is not None:
                return replace(plan.earlier, charged=0.0, remaining=left)
            if (reason := _over_budget(account, plan)) is not None:
                return LedgerAnswer(metric=metric, asker=asker, reason=reason, remaining=left)
            secret = (test_set.attribute[test_set.order] == 0) & plan.people
            body = _answered(state.number + 1, plan, secret, self._randbelow)
            body |= {"name": account.name, "asker": asker, "time": state.next_time()}
            body["spent"] = account.spent + plan.charged
            change.charge(account.name, account.budget, plan.charged)
            change.add(state, body)
            return account.answers[-1]

        return self._about(
            name, test_set, scores, answer, epsilon=epsilon, metric=metric, again=again
        )

    def quote(
        self,
        name: str,
        test_set: TestSet,
        scores: npt.ArrayLike,
        *,
        epsilon: Amount,
        metric: str = METRICS[0],
        again: bool = False,
    ) -> Quote:
        """Return what `ask` would charge and about how precise it would be; nothing is charged or released."""

        def quoted_price(
            change: LedgerTransaction, state: LedgerState, account: Account, plan: _Plan
        ) -> Quote:
            error = _expected_error(account, plan, plan.new_sum)
            fresh = None
            if plan.earlier is not None and plan.values.any():
                error = plan.earlier.standard_error
                fresh = _expected_error(
                    account, plan, NoisyNumber(int(plan.values.max()), plan.price, HALF_STEP)
                )
            return Quote(
                reason=_over_budget(account, plan),
                charged=epsilon_of(plan.charged),
                remaining=epsilon_of(account.remaining),
                standard_error=error,
                fresh_error=fresh,
            )

        return self._about(
            name, test_set, scores, quoted_price, epsilon=epsilon, metric=metric, again=again
        )

    def _about(
        self,
        name: str,
        test_set: TestSet,
        scores: npt.ArrayLike,
        do: Callable[[LedgerTransaction, LedgerState, Account, _Plan], T],
        **question: Any,
    ) -> T:
        """Do something with a question about the registered people; a file that is not theirs goes on record."""
        with self._store.write_transaction() as change:
            state = change.record()
            account = _account(state, name)
            if _is_registered(change, state, account, test_set):
                return do(change, state, account, _Plan(account, test_set, scores, **question))
        # What was put on record is committed before anybody hears of it.
        raise InputError(
            f"The test set must be the one registered as {quoted(name)}; this file is not the registered one."
        )

    def status(self, name: str) -> LedgerStatus:
        """Return the state of one budget and everything that was answered from it."""
        state = self._current_state()
        return state.status(_account(state, name).name)

    def statuses(self) -> tuple[LedgerStatus, ...]:
        """Return the state of every budget at one moment, in the order they were registered."""
        state = self._current_state()
        return tuple(map(state.status, state.accounts))

    def export(self, path: str | Path) -> str:
        """Write all entries to a new file for `verify_export`, and return the last hash, to be noted elsewhere."""
        content, seal = self.record()
        write_file(path, content, what="The export", new=True, mode=0o600)
        return seal

    def record(self) -> tuple[bytes, str]:
        """Return all entries as the bytes of an export, and the last hash."""
        with self._store.read_transaction() as look:
            look.record()
            entries = look.entries()
        return export_bytes(entries), entries[-1].hash

    def _current_state(self) -> LedgerState:
        with self._store.read_transaction() as look:
            return look.record()


def _title(text: str, *, name: str) -> str:
    """Name of something or somebody as it is shown; refused if it is long, not printable, or looks like another one."""
    title = visible_text(text) if isinstance(text, str) else ""
    if not title or len(title) > _LONGEST or not title.isprintable():
        raise InputError(
            f"{name} must be 1 to {_LONGEST} printable characters, got {quoted(text)}."
        )
    normal_form(title, noun=name)
    return title


def _account(state: LedgerState, name: str) -> Account:
    """Account of a registration, or the sentence which there are."""
    account = state.account(name)
    if account is None:
        listed = ", ".join(list(state.accounts)[:10]) or "nothing yet"
        raise InputError(
            f"There is no registration {quoted(name)} in the ledger; registered: {listed}."
        )
    return account


def _is_registered(
    change: LedgerTransaction, state: LedgerState, account: Account, test_set: TestSet
) -> bool:
    """Return whether a file is the registered one, which is a fact about the attribute.

    So all wrong files get the same answer, and one with the registered people and anything else different is put on
    record as a guess, once. After `MOST_WRONG_FILES` of these no file is looked at any more, not even the right one.
    """
    if len(account.wrong_files) >= MOST_WRONG_FILES:
        raise InputError(
            f"{quoted(account.name)} is closed: {MOST_WRONG_FILES} files with its people and other values were tried, "
            "and each tells whether a guess of the attribute is right."
        )
    key = change.key()
    sealed = account.body["seals"]
    seal = test_set.seal(key)
    if seal == sealed["whole"]:
        return True
    if test_set.seal_of_people(key) == sealed["people"] and seal not in account.wrong_files:
        change.add(
            state,
            {"kind": "mismatched", "name": account.name, "time": state.next_time(), "file": seal},
        )
    return False


def _count_price(budget: int, count_epsilon: Amount | None) -> int:
    """Price of a noisy group size in millionths; a tenth of the budget when none is named."""
    if count_epsilon is None:
        return max(1, budget // 10)
    price = millionths(count_epsilon, name="count_epsilon")
    if price > budget:
        raise InputError(
            f"count_epsilon must be at most the budget of {amount_text(budget)}, got {amount_text(price)}."
        )
    return price


def _registered(test_set: TestSet, price: int, key: bytes, randbelow: RandBelow) -> dict[str, Any]:
    """Release the noisy size of the disadvantaged group and return the entry's body, but for what is not of it."""
    size = int((test_set.attribute == 0).sum())
    return {
        "kind": "registered",
        "n": test_set.n,
        "n_positive": test_set.n_positive,
        **dict.fromkeys(("count_epsilon", "charged", "spent"), price),
        "count": size + discrete_laplace(MILLION, price, randbelow),
        "script": test_set.script,
        "seals": {"whole": test_set.seal(key), "people": test_set.seal_of_people(key)},
    }


def _over_budget(account: Account, plan: _Plan) -> str | None:
    """Return why a plan is refused: a matter of prices only."""
    if plan.charged <= account.remaining:
        return None
    return (
        f"The question costs epsilon {amount_text(plan.charged)}, and {amount_text(account.remaining)} of "
        f"{amount_text(account.budget)} is left for {quoted(account.name)}."
    )


def _expected_error(account: Account, plan: _Plan, of_sum: NoisyNumber) -> float:
    """Return the standard error an answer with this noise would have if the gap were zero."""
    n = int(plan.people.sum())
    total = float(plan.values.sum() * HALF_STEP)
    if plan.count is None:
        of_count = plan.new_count
        first = account.n_disadvantaged
        size = first.value / first.n * n
    else:
        of_count = plan.count[1]
        size = of_count.value
    return standard_error(
        n,
        total=total,
        part=total * size / n,
        deviation=of_sum.deviation,
        count=size,
        count_deviation=of_count.deviation,
    )


def _answered(number: int, plan: _Plan, secret: Mask, randbelow: RandBelow) -> dict[str, Any]:
    """Release what the plan needs and return the entry's body, but for who asked, when, and of what budget."""
    new = {}
    part = plan.new_sum
    entry, size = plan.count or (None, NOTHING)
    if plan.new_sum.reach:
        units = release(plan.values, secret, plan.new_sum, randbelow)
        part = new["sum"] = replace(plan.new_sum, units=units)
    if plan.new_count.reach:
        entry = number
        units = release(plan.people.astype(np.int64), secret, plan.new_count, randbelow)
        size = new["count"] = replace(plan.new_count, units=units)
    scores: Floats = plan.values[plan.people] * np.float64(HALF_STEP)
    total = float(scores.sum())
    n = scores.size
    gap = gap_interval(
        scores,
        part=part.value,
        reach=part.bound(_ENOUGH),
        count=size.value,
        count_reach=size.bound(_ENOUGH),  # scores all the same need no count
    )
    error = standard_error(
        n,
        total=total,
        part=part.value,
        deviation=part.deviation,
        count=size.value,
        count_deviation=size.deviation,
    )
    parts = {
        name: {"units": r.units, "reach": r.reach, "epsilon": r.epsilon} for name, r in new.items()
    }
    return {
        "kind": "answered",
        "metric": plan.metric,
        "question": plan.digest,
        "epsilon": plan.price,
        "charged": plan.charged,
        "sum": parts.get("sum"),
        "count": parts.get("count"),
        "n": n,
        "total": total,
        "part": part.value,
        "size": size.value,
        "size_from": entry,
        "gap": gap.value,
        "low": gap.low,
        "high": gap.high,
        "standard_error": error,
    }


def default_ledger() -> Path:
    """Return where a user's ledger lies unless they say otherwise: in their data folder, outside any repository."""
    from platformdirs import user_data_path

    return user_data_path("fairleak") / "ledger.sqlite"


def open_ledger(
    location: str | Path,
    *,
    create: bool = False,
    randbelow: RandBelow = secrets.randbelow,
) -> Ledger:
    """Open a ledger, after checking it whole.

    Raises `InputError` if there is none, it is damaged or something else; the file then stays as it is, byte by byte.
    Raises `FairLeakError` if the database cannot be reached or stays busy.

    Parameters
    ----------
    location : path or URL
        A SQLite file on a disk of this machine (its locks do not hold on network drives), or a PostgreSQL database
        such as postgresql://user@host/database for several machines.
    create : bool
        Make it if it is not there. What is there is never replaced.
    randbelow : callable
        Where noise comes from: the operating system's entropy. Anything that can be repeated is for tests only.
    """
    from ..store.database import open_store
    from .ledger_tables import LedgerTransaction

    return Ledger(open_store(LedgerTransaction, location, create=create), randbelow)


def example_ledger(seed: int) -> Ledger:
    """Return an empty ledger in memory whose noise follows from a seed, so never one for real people."""
    import sqlalchemy as sa

    from ..store.database import Store
    from .ledger_tables import LedgerTransaction

    engine = sa.create_engine(
        "sqlite+pysqlite://",
        poolclass=sa.pool.StaticPool,
        connect_args={"check_same_thread": False},
    )
    store = Store(LedgerTransaction, engine, "in memory")
    store.fill()
    return Ledger(store, random.Random(seed).randrange)

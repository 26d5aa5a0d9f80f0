"""The desk itself: open it, register a test set, ask, quote, look at a budget, export."""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy.typing as npt

from core.desk.answers import (
    Plan,
    Question,
    account_of,
    answered,
    over_budget,
    packed,
    planned,
    quoted_price,
    same_answer,
    told,
)
from core.desk.budget import Account, Books, refuse_a_second_budget, title, turned_away
from core.desk.export import export_bytes
from core.desk.noise import Amount, RandBelow, amount_text, discrete_laplace, epsilon_of, millionths
from core.desk.record import METRICS, LedgerAnswer, LedgerStatus, Quote, Registration, now
from core.desk.registration import FORM, Columns, TestSet, check_different
from core.errors import InputError
from core.files import write_file

if TYPE_CHECKING:
    from core.desk.database import Store, Transaction


class Ledger:
    """Registered test sets, their budgets, and every answer ever given; made by `open_ledger`.

    Safe to share between threads; any number of processes may use the same place at once.
    """

    def __init__(self, store: Store, randbelow: RandBelow) -> None:
        self._store, self._randbelow = store, randbelow

    @property
    def place(self) -> str:
        """Return what the ledger is called in sentences: its path or its URL without the password."""
        return self._store.place

    def register(
        self,
        name: str,
        test_set: TestSet,
        *,
        budget: Amount,
        columns: Columns,
        count_epsilon: Amount | None = None,
        another_attribute: bool = False,
    ) -> Registration:
        """Give a test set and an attribute their one budget, and release the noisy size of the disadvantaged group.

        Raises `InputError` if the name is taken, two identifiers have one normal form, or people with these identifiers
        have a budget: for an attribute of this name, or for another one and `another_attribute` is not said.

        Parameters
        ----------
        name : str
            What askers will call it.
        budget : number in [0.000001, 1000]
            Epsilon for everything ever released about the attribute; it cannot be raised later.
        columns : Columns
            How the test set's file is read; kept, so that the file is read the same way at every question.
        count_epsilon : number or None
            What the group's noisy size costs, once for all people and once for those with label 1 when equal
            opportunity is first asked for; a tenth of the budget when None.
        another_attribute : bool
            Says, on record, that people who have a budget are registered for an attribute that is another one. It is
            believed: looking at the attribute would tell whether a guess of it is right.
        """
        name = title(name, name="name")
        whole = millionths(budget, name="budget")
        price = max(1, whole // 10) if count_epsilon is None else millionths(count_epsilon, name="count_epsilon")
        if price > whole:
            told = amount_text(price)
            raise InputError(f"count_epsilon must be at most the budget of {amount_text(whole)}, got {told}.")
        check_different(test_set.ids, FORM)
        with self._store.writing() as change:
            books, key = change.books(), change.key()
            refuse_a_second_budget(books, name, columns, test_set, key, another_attribute=another_attribute)
            noisy = int((test_set.attribute == 0).sum()) + discrete_laplace(10**6, price, self._randbelow)
            body = {
                "kind": "registered",
                "time": now(),
                "name": name,
                "columns": columns.to_dict(),
                "another_attribute": bool(another_attribute),
                "n": test_set.n,
                "n_positive": test_set.n_positive,
                "budget": whole,
                "count_epsilon": price,
                "count": noisy,
                "charged": price,
                "spent": price,
                "form": FORM,
                "seals": {"whole": test_set.seal(key), "people": test_set.seal_of_people(key)},
            }
            change.charge(name, whole, price)
            change.append(books, body, question=None)
        return books.accounts[name].registration()

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

        A question that was answered just so before, at no cost now, is not written a second time. Raises `InputError`
        if there is no such registration, the file is not the registered one or too many of those came within a day, or
        a parameter breaks its rule.

        Parameters
        ----------
        test_set : TestSet
            The registered one; the order of its people may differ.
        scores : array-like of shape (n,), in [0, 1]
            The model's predictions, in the order of `test_set.ids`.
        epsilon : number
            The price of a new sum, a thousandth of the budget at least. Nothing is charged where the past answers the
            question; equal opportunity's first new sum costs the noisy size of its group besides.
        metric : str
            One of `METRICS`.
        asker : str
            Who asks, for the record.
        again : bool
            Pay for a new sum although the past answers the question; the answer then combines all of them.
        """
        asker = title(asker, name="asker")
        with self._store.writing() as change:
            books = change.books()
            account = account_of(books, name)
            reason = _turned_away(change, books, account, test_set)  # a guess is committed before anybody hears of it
            if reason is None:
                made = planned(
                    account, test_set, scores, epsilon=epsilon, metric=metric, again=again, load=change.questions
                )
                return self._asked(change, books, account, test_set, asker, *made)
        raise InputError(reason)

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
        with self._store.writing() as change:  # one after the other, so that guesses are counted
            books = change.books()
            reason = _turned_away(change, books, account_of(books, name), test_set)
        if reason is not None:
            raise InputError(reason)
        with self._store.reading() as look:
            account = account_of(look.books(), name)
            question, plan, price = planned(
                account, test_set, scores, epsilon=epsilon, metric=metric, again=again, load=look.questions
            )
        return quoted_price(account, question, plan, price)

    def names(self) -> tuple[str, ...]:
        """Return the names of all registrations, in the order they were made."""
        return tuple(self._books().accounts)

    def registration(self, name: str) -> Registration:
        """Return one registration, which says how the test set's file is read."""
        return account_of(self._books(), name).registration()

    def status(self, name: str) -> LedgerStatus:
        """Return the state of one budget and everything that was answered from it."""
        books = self._books()
        return _status(account_of(books, name), books)

    def statuses(self) -> tuple[LedgerStatus, ...]:
        """Return the state of every budget at one moment, in the order they were registered."""
        books = self._books()
        return tuple(_status(account, books) for account in books.accounts.values())

    def export(self, path: str | Path) -> str:
        """Write all entries to a new file for `verify_export`, and return the last hash, to be noted elsewhere."""
        content, seal = self.record()
        write_file(path, content, what="The export", new=True, mode=0o600)
        return seal

    def record(self) -> tuple[bytes, str]:
        """Return all entries as the bytes of an export, and the last hash."""
        with self._store.reading() as look:
            look.books()
            entries = look.entries()
        return export_bytes(entries), entries[-1].hash

    def _books(self) -> Books:
        with self._store.reading() as look:
            return look.books()

    def _asked(
        self,
        change: Transaction,
        books: Books,
        account: Account,
        test_set: TestSet,
        asker: str,
        question: Question,
        plan: Plan,
        price: int,
    ) -> LedgerAnswer:
        """Write one question's answer and return it, to be shown when it is committed."""
        name, left = account.name, epsilon_of(account.remaining)
        if (reason := over_budget(account, plan)) is not None:
            return LedgerAnswer(
                name=name, metric=question.metric, asker=asker, refused=True, reason=reason, remaining=left
            )
        body = answered(books.number + 1, account, question, plan, test_set, self._randbelow)
        if (before := same_answer(account, body)) is not None:
            return told(books, account, before, asker=asker, repeated=True)
        digest, content = packed(question.steps)
        if plan.new_sum is not None:
            change.keep_question(digest, content)
        change.charge(name, account.budget, plan.charged)
        body |= {"asker": asker, "epsilon": price, "name": name, "time": now()}
        change.append(books, body, question=digest if plan.new_sum is not None else None)
        return told(books, account, account.answers[-1], asker=asker, repeated=False)


def _turned_away(change: Transaction, books: Books, account: Account, test_set: TestSet) -> str | None:
    """Return why a file is refused, after putting a new guess on record; None for the registered one."""
    found = turned_away(account, test_set, change.key(), now())
    if found is None:
        return None
    reason, guess = found
    if guess is not None:
        body = {"kind": "mismatched", "name": account.name, "time": now(), "file": guess}
        change.append(books, body, question=None)
    return reason


def _status(account: Account, books: Books) -> LedgerStatus:
    return LedgerStatus(
        registration=account.registration(),
        spent=epsilon_of(account.spent),
        remaining=epsilon_of(account.remaining),
        answers=tuple(account.answers),
        wrong_files=len(account.wrong_files),
        seal=books.hash,
    )


def default_ledger() -> Path:
    """Return where a user's ledger lies unless she says otherwise: in her data folder, outside any repository."""
    from platformdirs import user_data_path

    return user_data_path("fairleak") / "ledger.sqlite"


def open_ledger(
    place: str | Path,
    *,
    create: bool = False,
    randbelow: RandBelow = secrets.randbelow,
    on_step: Callable[[str], None] = lambda step: None,
) -> Ledger:
    """Open a ledger, after checking it whole.

    Raises `InputError` if there is none, it is damaged or something else; the file then stays as it is, byte by byte.
    Raises `FairLeakError` if the database cannot be reached or stays busy.

    Parameters
    ----------
    place : path or URL
        A SQLite file on a disk of this machine (its locks do not hold on network drives), or a PostgreSQL database
        such as postgresql://user@host/database for several machines.
    create : bool
        Make it if it is not there. What is there is never replaced.
    randbelow : callable
        Where noise comes from: the operating system's entropy. Anything that can be repeated is for tests only.
    on_step : callable
        Told the name of each step of a change as soon as it is done.
    """
    from core.desk.database import open_store

    return Ledger(open_store(place, create=create, on_step=on_step), randbelow)


def example_ledger(seed: int) -> Ledger:
    """Return an empty ledger in memory whose noise follows from a seed, so never one for real people."""
    import sqlalchemy as sa

    from core.desk.database import Store, fill

    engine = sa.create_engine(
        "sqlite+pysqlite://", poolclass=sa.pool.StaticPool, connect_args={"check_same_thread": False}
    )
    store = Store(engine, "in memory", lambda step: None)
    fill(store)
    return Ledger(store, random.Random(seed).randrange)

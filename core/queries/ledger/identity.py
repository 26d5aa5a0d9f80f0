"""Who is who: names, the registered test set found again, and no second budget for the same people and attribute.

People are found again by the normal form of their identifiers, under each registration in the form of its time. Test
sets that only overlap are not recognised; their budgets add up for whoever is in both. Nor are people registered in
form 1 who come with spellings that only a later form makes equal: the ledger has no identifiers to form anew.

Whether a file is the registered one is a fact about the attribute. So all wrong files are told the same sentence; one
with the registered people and anything else different is put on record as a guess, once; and after `MOST_WRONG` of them
within a day no file is looked at, right or wrong.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from core.datasets.columns import quoted
from core.errors import InputError
from core.queries.ledger.accounts import Account, Books
from core.queries.ledger.chain import TIME
from core.queries.ledger.normal_form import normal_form
from core.queries.ledger.people import Columns, TestSet

MOST_WRONG = 20
"""Wrong files about the registered people within a day, after which the test set is closed."""

_LONGEST = 80


def turned_away(account: Account, test_set: TestSet, key: bytes, now: str) -> tuple[str, str | None] | None:
    """Return why a file is refused and, if it is a new guess, its seal for the record; None for the registered one."""
    if (until := _closed_until(account, now)) is not None:
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


def _closed_until(account: Account, now: str) -> str | None:
    if len(account.wrong_files) < MOST_WRONG:
        return None
    until = (datetime.strptime(account.wrong_files[-MOST_WRONG].time, TIME) + timedelta(days=1)).strftime(TIME)
    return until if now < until else None


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

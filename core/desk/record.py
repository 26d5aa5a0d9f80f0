"""What a ledger says: its chain of entries, registrations, answers and verdicts.

Each hash covers an entry's text and the hash before it: whoever changes, drops or inserts an entry changes every hash
after it. Hashes without a key do not stop somebody who writes the whole chain anew: that shows when the last hash was
noted elsewhere before.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from core.desk.registration import Columns
from core.estimates import Estimate
from core.serialize import Result

if TYPE_CHECKING:
    import pandas

TIME = "%Y-%m-%dT%H:%M:%SZ"

FIRST = "0" * 64
"""What stands for the hash before the first entry."""


class Damaged(Exception):
    """A ledger does not hold together; ``str(error)`` is a clause such as "entry 7 does not follow from entry 6"."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the ledger: its number, from 1, its text and its hash."""

    number: int
    text: str
    hash: str


def now() -> str:
    """Return the time, UTC, ISO 8601 to the second."""
    return datetime.now(UTC).strftime(TIME)


def canonical(body: dict[str, Any]) -> str:
    """Return a body as the one text that is hashed and stored: JSON, keys sorted, ASCII, on one line."""
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def chained(previous: str, text: str) -> str:
    """Return the hash (64 hex digits) of an entry that follows a hash."""
    return hashlib.sha256(f"{previous}\n{text}".encode()).hexdigest()


def checked_body(entry: Entry, number: int, previous: str) -> dict[str, Any]:
    """Return an entry's body if it is the next one of the chain, or raise `Damaged`."""
    if entry.number != number:
        raise Damaged(f"entry {number} is missing")
    if entry.hash != chained(previous, entry.text):
        raise Damaged(f"the hash of entry {number} does not follow from its text and the entry before")
    try:
        body = json.loads(entry.text)
    except ValueError:
        raise Damaged(f"entry {number} is not JSON") from None
    if not isinstance(body, dict):
        raise Damaged(f"entry {number} is not a record")
    return body


METRICS = ("statistical_parity", "equal_opportunity")
"""Gaps a ledger answers: of all people, and of those with label 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration(Result):
    """A test set and an attribute with a budget for their lifetime."""

    name: str
    registered: str
    """When, UTC, ISO 8601."""
    columns: Columns
    """How the test set's file is read."""
    form: int
    """The form in which its identifiers are compared; see `core.desk.registration`."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote(Result):
    """What a question would cost, and how precise its answer would be; nothing is charged or released for it."""

    refused: bool
    """It would cost more than is left."""
    reason: str | None
    """Why it would be refused, in one sentence."""
    charged: float
    """Epsilon it would cost, 0 when the past answers it."""
    remaining: float
    """Budget left now."""
    from_past: bool
    """Whether the released answers of the past answer it."""
    standard_error: float
    """About how far the answer would be from the truth."""
    fresh_error: float | None = None
    """The same for a fresh look at the price offered (`again`), where the past has an answer."""

    @property
    def coarse(self) -> bool:
        """Whether a fresh look would be far more precise than what the past has for free."""
        return self.fresh_error is not None and self.standard_error > 3 * self.fresh_error


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerAnswer(Result):
    """One question's answer, as it stands in the ledger; or why there is none."""

    name: str
    metric: str
    asker: str
    refused: bool
    """The question costs more than is left; nothing was charged, released or written."""
    reason: str | None = None
    """Why it was refused, in one sentence; a matter of prices, never of anybody's attribute."""
    gap: Estimate | None = None
    """Advantaged minus disadvantaged, with an interval that follows from the public noise alone."""
    standard_error: float | None = None
    """About how far the answer is from the truth."""
    charged: float = 0.0
    remaining: float
    """Epsilon this answer cost, and what is left."""
    from_past: bool = False
    """Whether it follows from what was released before; then it costs nothing."""
    number: int | None = None
    """Its entry in the ledger; an earlier one if the same question was answered just so before."""
    seal: str | None = None
    """The ledger's last hash, which covers this entry; noted elsewhere, it proves later that nothing was rewritten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedAnswer(Result):
    """An answer of the past."""

    number: int
    """Its entry in the ledger."""
    asked: str
    """When, UTC, ISO 8601."""
    asker: str
    metric: str
    question: str
    """The first 12 hex digits of the SHA-256 of the predictions."""
    gap: Estimate
    standard_error: float
    charged: float
    from_past: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerStatus(Result):
    """The state of one budget."""

    registration: Registration
    spent: float
    remaining: float
    answers: tuple[LoggedAnswer, ...]
    """In the order they were given."""
    wrong_files: int
    """How many different files about these people were tried that were not the registered one."""
    seal: str
    """The ledger's last hash."""

    def to_frame(self) -> pandas.DataFrame:
        """Return one row an answer."""
        import pandas as pd

        rows = []
        for answer in self.answers:
            row = answer.to_dict()
            gap = row.pop("gap")
            rows.append(row | {"gap": gap["value"], "gap_low": gap["low"], "gap_high": gap["high"]})
        names = ["number", "asked", "asker", "metric", "question", "gap", "gap_low", "gap_high"]
        return pd.DataFrame(rows, columns=[*names, "standard_error", "charged", "from_past"])


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedBudget(Result):
    """What an export's entries add up to for one registration, and the form its identifiers are compared in."""

    name: str
    form: int
    budget: float
    spent: float
    n_answers: int
    n_charged: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification(Result):
    """Whether an export holds together."""

    ok: bool
    reason: str | None
    """What is wrong, in one sentence."""
    n_entries: int
    """Entries that were found good, from the first."""
    seal: str | None
    """The last good hash."""
    budgets: tuple[VerifiedBudget, ...]

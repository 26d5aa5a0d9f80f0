"""The history itself: open it, keep an audit, read, sign, delete."""

from __future__ import annotations

import hashlib
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import __version__
from ...base.errors import InputError
from ...base.validation import choice, whole_number
from ...datasets.columns import quoted
from ...report import from_json, report_fingerprint, to_json
from ...report.canonical import parse_json
from ..chain import TIME, now
from .events import (
    DECISIONS,
    Deletion,
    Entry,
    Events,
    Signature,
    needs_reason,
    not_releasable,
    parts_of,
)

if TYPE_CHECKING:
    from ..database import Store
    from .history_tables import HistoryTransaction

_LONGEST, _LONGEST_REASON = 80, 2000


def default_history() -> Path:
    """Return where a user's history lies unless they say otherwise: in their data folder."""
    from platformdirs import user_data_path

    return user_data_path("fairleak") / "history.sqlite"


def history_place(place: str | Path = "") -> str | Path:
    """Return where the history lies: the place said, that of FAIRLEAK_HISTORY, or the default file."""
    said = str(place).strip() or os.environ.get("FAIRLEAK_HISTORY", "").strip()
    if not said:
        return default_history()
    return said if "://" in said else Path(os.path.expanduser(said))


class History:
    """Audits kept of projects, their signatures, and what was deleted; made by `History.open`.

    Safe to share between threads; any number of processes may use the same place at once.
    """

    def __init__(self, store: Store[HistoryTransaction]) -> None:
        self._store = store

    @classmethod
    def open(cls, place: str | Path = "", *, create: bool = True) -> History:
        """Open a history, after checking it whole.

        Raises `InputError` if there is none, it is damaged, of another format, or something else; a file then stays as
        it is. Raises `FairLeakError` if the database cannot be reached or stays busy.

        Parameters
        ----------
        place : path or URL
            A SQLite file on a disk of this machine, or a PostgreSQL database such as postgresql://user@host/database;
            "" is the place FAIRLEAK_HISTORY names, or else a file in the user's data folder.
        create : bool
            Make it if it is not there. What is there is never replaced.
        """
        from ..database import open_store
        from .history_tables import HistoryTransaction

        return cls(open_store(HistoryTransaction, history_place(place), create=create))

    @property
    def place(self) -> str:
        """Return what the history is called in sentences: its path or its URL without the password."""
        return self._store.place

    def keep(self, document: dict[str, Any], *, project: str, who: str) -> Entry:
        """Keep an audit's internal report; the same one twice in a project is one entry.

        Raises `InputError` if it is no internal report, or its fingerprint is not that of its content.
        """
        project, who = check_line(project, "project"), check_line(who, "who")
        text = to_json(document)
        from_json(text)
        if report_fingerprint(document) != document["fingerprint"]:
            raise InputError("A report must have the fingerprint of its content to be kept, got one that was altered.")
        with self._store.writing() as change:
            events = change.record()
            if (there := events.kept(project, document["fingerprint"])) is not None:
                return there
            policy = document["policy"]
            body = {
                "project": project,
                "fingerprint": document["fingerprint"],
                "when": now(),
                "who": who,
                "verdict": document["verdict"]["overall"],
                "dataset": document["data"]["title"],
                "attribute": document["data"]["attribute"],
                "policy": f"{policy['name']}, version {policy['version']}",
                "parts": parts_of(document),
                "digest": _digest(text),
            }
            change.add(events, {"kind": "kept", **body})
            change.keep(events.number, text)
            return events.entries[events.number]

    def entries(self, project: str | None = None, *, deleted: bool = False) -> tuple[Entry, ...]:
        """Return the audits kept, of a project or all, newest first; `deleted` ones too, which have no document."""
        found = reversed(self._events().entries.values())
        return tuple(one for one in found if project in (None, one.project) and (deleted or one.deleted is None))

    def projects(self) -> tuple[str, ...]:
        """Return the projects that have or had audits, the one kept in last first."""
        return tuple(dict.fromkeys(one.project for one in self.entries(deleted=True)))

    def find(self, audit: str, *, project: str | None = None) -> Entry:
        """Return the entry with a number, or the beginning of a fingerprint (8 digits or more)."""
        wanted = "".join(audit.split()).lower()
        there = self.entries(project, deleted=True)
        by_number = [one for one in there if str(one.id) == wanted]
        found = by_number or [one for one in there if len(wanted) >= 8 and one.fingerprint.startswith(wanted)]
        if not found:
            where = f" of the project {quoted(project)}" if project else ""
            raise InputError(f"There is no audit {quoted(audit)}{where} in the history {self.place}.")
        if len(found) > 1:
            numbers = ", ".join(str(one.id) for one in found)
            raise InputError(f"Several audits have the fingerprint {quoted(audit)}: name one by its number, {numbers}.")
        return found[0]

    def document(self, entry: Entry) -> dict[str, Any]:
        """Return an entry's document; InputError if it was deleted, or is not what was kept."""
        with self._store.reading() as look:
            return self._document(look, look.record(), entry)

    def _document(self, look: HistoryTransaction, events: Events, entry: Entry) -> dict[str, Any]:
        digest, text = self._entry(events, entry).digest, look.document(entry.id)
        if text is None or _digest(text) != digest:
            found = "is missing, and nobody deleted it" if text is None else "was changed after it was kept"
            raise InputError(f"The document of audit {entry.id} {found}, in the history {self.place}.")
        return parse_json(text)

    def _entry(self, events: Events, entry: Entry) -> Entry:
        """Return an entry as it is now; InputError if it was deleted."""
        there = events.entries.get(entry.id)
        if there is None or there.fingerprint != entry.fingerprint:
            raise InputError(f"There is no audit {entry.id} with the fingerprint {entry.short} in {self.place}.")
        if there.deleted is not None:
            raise InputError(f"The document of audit {entry.id} was deleted {_by(there.deleted)}.")
        return there

    def sign(
        self, entry: Entry, *, decision: str, name: str, role: str, reason: str = "", proven: bool = False
    ) -> Signature:
        """Sign an audit, with a decision of `DECISIONS`; the same signature twice is one.

        A reason is required to accept the risk, and for another decision than that of a signature that stands. Raises
        `InputError` if one is missing, or "release" is signed although a required check does not pass or a limit has no
        source; or if the audit was deleted or changed.

        Parameters
        ----------
        proven : bool
            Whether the name is that of a signed-in user.
        """
        choice(decision, DECISIONS, name="decision")
        told: dict[str, Any] = {
            "decision": decision,
            "name": check_line(name, "name"),
            "role": check_line(role, "role"),
            "proven": proven,
        }
        told["reason"] = check_line(reason, "reason", most=_LONGEST_REASON) if reason.strip() else ""
        with self._store.writing() as change:
            events = change.record()
            document = self._document(change, events, entry)
            if decision == "release" and (missing := not_releasable(document)):
                raise InputError(f"“Release” cannot be signed. {missing}")
            signed = [one for one in events.signatures if one.covers(entry)]
            for one in signed:
                if not one.void and all(getattr(one, key) == value for key, value in told.items()):
                    return one
            if not told["reason"] and (wanted := needs_reason(decision, signed)):
                raise InputError(wanted)
            body = {"entry": entry.id, **told, "when": now(), "fairleak": __version__}
            change.add(events, {"kind": "signed", **body})
            return events.signatures[-1]

    def signatures(self, entry: Entry | None = None, *, project: str | None = None) -> tuple[Signature, ...]:
        """Return what was signed, of an audit, a project or all, in its order; deleted audits' too."""
        return tuple(
            one
            for one in self._events().signatures
            if project in (None, one.project) and (entry is None or one.covers(entry))
        )

    def delete(self, *entries: Entry, who: str, reason: str = "") -> tuple[Entry, ...]:
        """Delete the documents of audits; who did it, when and why stays on record, and so do their signatures."""
        with self._store.writing() as change:
            events = change.record()
            there = {one.id: self._entry(events, one) for one in entries}  # each once
            return self._delete(change, events, list(there.values()), who, reason)

    def expire(self, *, days: int, who: str, project: str | None = None) -> tuple[Entry, ...]:
        """Delete the documents kept more than some days ago, of a project or all; not those whose sign-off stands."""
        limit = datetime.now(UTC) - timedelta(days=whole_number(days, name="days", least=0, most=36_500))
        with self._store.writing() as change:
            events = change.record()
            standing = [one for one in events.signatures if not one.void]
            old = [
                one
                for one in events.entries.values()
                if one.deleted is None
                and project in (None, one.project)
                and not any(signed.covers(one) for signed in standing)
                and datetime.strptime(one.when, TIME).replace(tzinfo=UTC) <= limit
            ]
            return self._delete(change, events, old, who, f"kept for {days} days")

    def _delete(
        self, change: HistoryTransaction, events: Events, entries: list[Entry], who: str, reason: str
    ) -> tuple[Entry, ...]:
        who = check_line(who, "who")
        told = {"who": who, "reason": check_line(reason, "reason", most=_LONGEST_REASON) if reason.strip() else ""}
        for one in entries:
            change.drop(one.id)
            change.add(events, {"kind": "deleted", "entry": one.id, **told, "when": now()})
        return tuple(events.entries[one.id] for one in entries)

    def _events(self) -> Events:
        with self._store.reading() as look:
            return look.record()


def _by(deletion: Deletion) -> str:
    why = f": {deletion.reason.rstrip('.')}" if deletion.reason else ""
    return f"by {deletion.who} on {deletion.when[:10]}{why}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def check_line(value: str, name: str, *, most: int = _LONGEST) -> str:
    """Return a name or a reason without the blanks around it; `InputError` unless it is a line that can be printed."""
    text = " ".join(str(value).split())
    if not text or len(text) > most or not text.isprintable():
        raise InputError(f"{name} must be 1 to {most:,} printable characters, got {quoted(value, 100)}.")
    return text

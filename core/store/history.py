"""The history of audits: the reports kept of a project, who signed them, and what voided a signature.

An entry keeps a report's document as `report.json` holds it, never the table. What was kept, signed and deleted, by
whom and when, is a chain of entries like the desk's ledger (`core.store.chain`): to change one is noticed. Deleting
takes the document away; that it was there, its fingerprint and its signatures stay on record.

A signature covers the fingerprint of one document. It is void as soon as the project goes on with another one: when
that is kept, or signed. Void signatures stay, with what changed.
"""

from __future__ import annotations

import hashlib
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..auditing.policy import Policy, policy_text, read_policy
from ..base.errors import InputError
from ..base.validation import choice, whole_number
from ..datasets.columns import quoted
from ..report import Report, from_json, to_json
from .chain import TIME, now
from .events import (
    DECISIONS,
    Deletion,
    Entry,
    Events,
    SavedPolicy,
    Signature,
    needs_reason,
    not_releasable,
    parts_of,
)

if TYPE_CHECKING:
    from .database import Store
    from .history_tables import HistoryTransaction

_LONGEST = 80
_LONGEST_REASON = 2000


def default_history() -> Path:
    """Return where a user's history lies unless they say otherwise: in their data folder."""
    from platformdirs import user_data_path

    return user_data_path("fairleak") / "history.sqlite"


def history_location(location: str | Path = "") -> str | Path:
    """Return where the history lies: the place said, that of FAIRLEAK_HISTORY, or the default file."""
    address = str(location).strip() or os.environ.get("FAIRLEAK_HISTORY", "").strip()
    if not address:
        return default_history()
    if "://" in address:
        return address
    return Path(os.path.expanduser(address))


class History:
    """Audits kept of projects, their signatures, and what was deleted; made by `History.open`.

    Safe to share between threads; any number of processes may use the same place at once.
    """

    def __init__(self, store: Store[HistoryTransaction]) -> None:
        self._store = store

    @classmethod
    def open(cls, location: str | Path = "", *, create: bool = True) -> History:
        """Open a history, after checking it whole.

        Raises `InputError` if there is none, it is damaged, of another format, or something else; a file then stays as
        it is. Raises `FairLeakError` if the database cannot be reached or stays busy.

        Parameters
        ----------
        location : path or URL
            A SQLite file on a disk of this machine, or a PostgreSQL database such as postgresql://user@host/database;
            "" is the place FAIRLEAK_HISTORY names, or else a file in the user's data folder.
        create : bool
            Make it if it is not there. What is there is never replaced.
        """
        from .database import open_store
        from .history_tables import HistoryTransaction

        return cls(open_store(HistoryTransaction, history_location(location), create=create))

    @property
    def location(self) -> str:
        """Return what the history is called in sentences: its path or its URL without the password."""
        return self._store.location

    def keep(self, report: Report, *, project: str, who: str) -> Entry:
        """Keep an audit's internal report; the same one twice in a project is one entry.

        Raises `InputError` if it is no internal report, or its fingerprint is not that of its content.
        """
        project = check_line(project, "project")
        who = check_line(who, "who")
        text = to_json(report)
        from_json(text)
        if report.content_fingerprint != report.fingerprint:
            raise InputError(
                "A report must have the fingerprint of its content to be kept, got one that was altered."
            )
        with self._store.write_transaction() as change:
            events = change.record()
            if (entry := events.entry_of(project, report.fingerprint)) is not None:
                return entry
            body = {
                "project": project,
                "fingerprint": report.fingerprint,
                "when": now(),
                "who": who,
                "verdict": report.verdict.overall,
                "dataset": report.data.title,
                "attribute": report.data.attribute,
                "policy": f"{report.policy.name}, version {report.policy.version}",
                "parts": parts_of(report),
                "digest": _digest(text),
            }
            change.add(events, {"kind": "kept", **body})
            change.keep(events.number, text)
            return events.entries[events.number]

    def entries(self, project: str | None = None, *, deleted: bool = False) -> tuple[Entry, ...]:
        """Return the audits kept, of a project or all, newest first; `deleted` ones too, which have no document."""
        entries = reversed(self._events().entries.values())
        return tuple(
            entry
            for entry in entries
            if project in (None, entry.project) and (deleted or entry.deleted is None)
        )

    def projects(self) -> tuple[str, ...]:
        """Return the projects that have or had audits, the one kept in last first."""
        return tuple(dict.fromkeys(entry.project for entry in self.entries(deleted=True)))

    def find(self, audit: str, *, project: str | None = None) -> Entry:
        """Return the entry with a number, or the beginning of a fingerprint (8 digits or more)."""
        identifier = "".join(audit.split()).lower()
        entries = self.entries(project, deleted=True)
        by_number = [entry for entry in entries if str(entry.id) == identifier]
        matches = by_number or [
            entry
            for entry in entries
            if len(identifier) >= 8 and entry.fingerprint.startswith(identifier)
        ]
        if not matches:
            where = f" of the project {quoted(project)}" if project else ""
            raise InputError(
                f"There is no audit {quoted(audit)}{where} in the history {self.location}."
            )
        if len(matches) > 1:
            numbers = ", ".join(str(entry.id) for entry in matches)
            raise InputError(
                f"Several audits have the fingerprint {quoted(audit)}: name one by its number, {numbers}."
            )
        return matches[0]

    def document(self, entry: Entry) -> Report:
        """Return an entry's report; InputError if it was deleted, or is not what was kept."""
        with self._store.read_transaction() as look:
            return self._report(look, look.record(), entry)

    def _report(self, look: HistoryTransaction, events: Events, entry: Entry) -> Report:
        digest = self._entry(events, entry).digest
        text = look.document(entry.id)
        if text is None or _digest(text) != digest:
            if text is None:
                problem = "is missing, and nobody deleted it"
            else:
                problem = "was changed after it was kept"
            raise InputError(
                f"The document of audit {entry.id} {problem}, in the history {self.location}."
            )
        return from_json(text)

    def _entry(self, events: Events, entry: Entry) -> Entry:
        """Return an entry as it is now; InputError if it was deleted."""
        current = events.entries.get(entry.id)
        if current is None or current.fingerprint != entry.fingerprint:
            raise InputError(
                f"There is no audit {entry.id} with the fingerprint {entry.short} in {self.location}."
            )
        if current.deleted is not None:
            raise InputError(
                f"The document of audit {entry.id} was deleted {_by(current.deleted)}."
            )
        return current

    def sign(
        self,
        entry: Entry,
        *,
        decision: str,
        name: str,
        role: str,
        reason: str = "",
        proven: bool = False,
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
        statement: dict[str, Any] = {
            "decision": decision,
            "name": check_line(name, "name"),
            "role": check_line(role, "role"),
            "proven": proven,
        }
        statement["reason"] = (
            check_line(reason, "reason", most=_LONGEST_REASON) if reason.strip() else ""
        )
        with self._store.write_transaction() as change:
            events = change.record()
            report = self._report(change, events, entry)
            if decision == "release" and (missing := not_releasable(report)):
                raise InputError(f"“Release” cannot be signed. {missing}")
            signed = [signature for signature in events.signatures if signature.covers(entry)]
            for signature in signed:
                if not signature.void and all(
                    getattr(signature, key) == value for key, value in statement.items()
                ):
                    return signature
            if not statement["reason"] and (message := needs_reason(decision, signed)):
                raise InputError(message)
            body = {"entry": entry.id, **statement, "when": now(), "fairleak": __version__}
            change.add(events, {"kind": "signed", **body})
            return events.signatures[-1]

    def signatures(
        self, entry: Entry | None = None, *, project: str | None = None
    ) -> tuple[Signature, ...]:
        """Return what was signed, of an audit, a project or all, in its order; deleted audits' too."""
        return tuple(
            signature
            for signature in self._events().signatures
            if project in (None, signature.project) and (entry is None or signature.covers(entry))
        )

    def save_policy(self, policy: Policy, *, who: str, reason: str) -> SavedPolicy:
        """Save a version of a policy, which never changes; the same one twice is one.

        Raises `InputError` if no file could say it, or another policy has its name and version.

        Parameters
        ----------
        who : str
            Who answers for saving it.
        reason : str
            Why this version is there, such as what changed since the one before.
        """
        text = policy_text(policy)
        read_policy(text, name="The policy")
        who = check_line(who, "who")
        reason = check_line(reason, "reason", most=_LONGEST_REASON)
        with self._store.write_transaction() as change:
            events = change.record()
            for saved in events.policies:
                if (saved.name, saved.version) != (policy.name, policy.version):
                    continue
                if saved.text == text:
                    return saved
                raise InputError(
                    f"A changed policy must have a version of its own: version {quoted(policy.version)} of "
                    f"{quoted(policy.name)} was saved by {saved.who} on {saved.when[:10]}."
                )
            body = {"name": policy.name, "version": policy.version, "text": text}
            change.add(
                events, {"kind": "policy", **body, "who": who, "when": now(), "reason": reason}
            )
            return events.policies[-1]

    def policies(self, name: str | None = None) -> tuple[SavedPolicy, ...]:
        """Return the versions of policies that were saved, of a name or all, newest first."""
        saved = reversed(self._events().policies)
        return tuple(entry for entry in saved if name in (None, entry.name))

    def delete(self, *entries: Entry, who: str, reason: str = "") -> tuple[Entry, ...]:
        """Delete the documents of audits; who did it, when and why stays on record, and so do their signatures."""
        with self._store.write_transaction() as change:
            events = change.record()
            entries_by_id = {entry.id: self._entry(events, entry) for entry in entries}  # each once
            return self._delete(change, events, list(entries_by_id.values()), who, reason)

    def expire(self, *, days: int, who: str, project: str | None = None) -> tuple[Entry, ...]:
        """Delete the documents kept more than some days ago, of a project or all; not those whose sign-off stands."""
        limit = datetime.now(UTC) - timedelta(
            days=whole_number(days, name="days", least=0, most=36_500)
        )
        with self._store.write_transaction() as change:
            events = change.record()
            valid_signatures = [signature for signature in events.signatures if not signature.void]
            signed = {
                entry.id
                for entry in events.entries.values()
                for signature in valid_signatures
                if signature.covers(entry)
            }
            old = [
                entry
                for entry in events.entries.values()
                if entry.deleted is None
                and project in (None, entry.project)
                and entry.id not in signed
                and datetime.strptime(entry.when, TIME).replace(tzinfo=UTC) <= limit
            ]
            return self._delete(change, events, old, who, f"kept for {days} days")

    def _delete(
        self,
        change: HistoryTransaction,
        events: Events,
        entries: list[Entry],
        who: str,
        reason: str,
    ) -> tuple[Entry, ...]:
        who = check_line(who, "who")
        reason = reason.strip()
        if reason:
            reason = check_line(reason, "reason", most=_LONGEST_REASON)
        for entry in entries:
            change.drop(entry.id)
            deletion = {"kind": "deleted", "entry": entry.id, "who": who, "reason": reason}
            change.add(events, {**deletion, "when": now()})
        return tuple(events.entries[entry.id] for entry in entries)

    def _events(self) -> Events:
        with self._store.read_transaction() as look:
            return look.record()


def _by(deletion: Deletion) -> str:
    why = ""
    if deletion.reason:
        why = f": {deletion.reason.rstrip('.')}"
    return f"by {deletion.who} on {deletion.when[:10]}{why}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def check_line(value: str, name: str, *, most: int = _LONGEST) -> str:
    """Return a name or a reason without the blanks around it; `InputError` unless it is a line that can be printed."""
    text = " ".join(str(value).split())
    if not text or len(text) > most or not text.isprintable():
        raise InputError(
            f"{name} must be 1 to {most:,} printable characters, got {quoted(value, 100)}."
        )
    return text

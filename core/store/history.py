"""The register: models with their versions, the audits of each, what was decided about them, and saved policies.

An entry keeps a report's document as `report.json` holds it, never the table. What was registered, kept, signed,
revoked and deleted, by whom and when, is a chain of entries like the desk's ledger (`core.store.chain`): to change one
is noticed. Deleting takes the document away; that it was there, its fingerprint and its decisions stay on record.

An audit is bound to a version of a model, and a decision to the version of the audit that it was signed on
(`core.store.events` says what ends one).
"""

from __future__ import annotations

import hashlib
import os
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..auditing.policy import Policy, policy_text, read_policy
from ..base.errors import InputError
from ..base.validation import choice, whole_number
from ..datasets.columns import quoted
from ..report import Report, from_json, to_json
from ..report.report import DECISIONS
from .chain import TIME, Damaged, now
from .events import (
    BAN,
    Entry,
    Events,
    RegisteredModel,
    SavedPolicy,
    Signature,
    is_banned,
    missing_parts,
    name_key,
    not_releasable,
    parts_of,
)

if TYPE_CHECKING:
    from .database import Store
    from .history_tables import HistoryTransaction

_LONGEST = 80
_LONGEST_VERSION = 40
_LONGEST_PURPOSE = 200
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


def today() -> str:
    """Return the day, UTC, YYYY-MM-DD."""
    return now()[:10]


class History:
    """The register of models, with their audits and decisions; made by `History.open`.

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

    # Models -----------------------------------------------------------------------------------------------------------

    def register(
        self, model: str, *, purpose: str, owner: str, review: str = "", who: str
    ) -> RegisteredModel:
        """Register a model, or change what is said of it; what was said before stays on record.

        Parameters
        ----------
        model : str
            Its name; upper and lower case count as the same.
        review : str
            Day by which it is to be looked at again, YYYY-MM-DD; "" for none.
        """
        statement = {
            "name": check_line(model, "model"),
            "purpose": check_line(purpose, "purpose", most=_LONGEST_PURPOSE),
            "owner": check_line(owner, "owner"),
            "review": check_day(review, "review"),
        }
        with self._store.write_transaction() as change:
            events = change.record()
            return _register(change, events, statement, who)

    def models(self) -> tuple[RegisteredModel, ...]:
        """Return the models with their audits and decisions: the next review first, then the last audited."""
        events = self._events()
        models = [events.model(name) for name in events.models]
        present = [model for model in models if model is not None]
        present.sort(key=lambda model: model.last.id if model.last else 0, reverse=True)
        return tuple(sorted(present, key=lambda model: model.next_review or "9999"))

    def model(self, name: str) -> RegisteredModel:
        """Return the model of a name; InputError if there is none."""
        events = self._events()
        if (model := events.model(name)) is not None:
            return model
        names = [registered.name for registered in events.models.values()]
        has = "it has none yet"
        if names:
            has = f"it has {', '.join(map(quoted, names))}"
        raise InputError(f"There is no model {quoted(name)} in the history {self.location}; {has}.")

    # Audits -----------------------------------------------------------------------------------------------------------

    def keep(self, report: Report, *, who: str, model: str = "", version: str = "") -> Entry:
        """Keep an audit's internal report under a version of a model; the same one twice in a version is one entry.

        What its plan says of the model under [register] registers a model that is new, and fills in what the register
        does not say yet. Raises `InputError` if it is no internal report, its fingerprint is not that of its content,
        nobody says which version of which model it is about, or its plan says another one.
        """
        who = check_line(who, "who")
        stated = report.plan.register
        for name, typed, planned in (
            ("model", model, stated.model),
            ("version", version, stated.version),
        ):
            if typed.strip() and planned and name_key(typed) != name_key(planned):
                raise InputError(
                    f"{name} must be what the plan of the audit says, {quoted(planned)}, got {quoted(typed)}."
                )
        model = check_line(stated.model or model, "model")
        version = check_line(stated.version or version, "version", most=_LONGEST_VERSION)
        text = to_json(report)
        from_json(text)
        if report.content_fingerprint != report.fingerprint:
            raise InputError(
                "A report must have the fingerprint of its content to be kept, got one that was altered."
            )
        with self._store.write_transaction() as change:
            events = change.record()
            registered = events.model(model)
            statement = {"name": model, "purpose": "", "owner": "", "review": ""}
            if registered is not None:
                statement |= {key: getattr(registered, key) for key in statement}
            for key in ("purpose", "owner", "review"):
                statement[key] = statement[key] or " ".join(getattr(stated, key).split())
            model = _register(change, events, statement, who).name
            entry = events.entry_of(model, version, report.fingerprint)
            if entry is not None:
                return entry
            body = {
                "model": model,
                "version": version,
                "released": report.plan.outputs.released,
                "decimals": report.plan.outputs.decimals,
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

    def entries(self, model: str | None = None, *, deleted: bool = False) -> tuple[Entry, ...]:
        """Return the audits kept, of a model or all, newest first; `deleted` ones too, which have no document."""
        return tuple(
            entry
            for entry in reversed(self._events().entries.values())
            if (model is None or name_key(entry.model) == name_key(model))
            and (deleted or entry.deleted is None)
        )

    def find(self, model: str, version: str = "", *, audit: str = "") -> Entry:
        """Return the last audit of a version of a model, the newest version where none is said.

        Parameters
        ----------
        audit : str
            Beginning of the fingerprint of another audit than the last (8 digits or more).
        """
        registered = self.model(model)
        mark = "".join(audit.split()).lower()
        if mark and len(mark) < 8:
            raise InputError(
                f"audit must be the first 8 or more digits of a fingerprint, got {quoted(audit)}."
            )
        entries = [
            entry
            for entry in registered.entries
            if not version.strip() or name_key(entry.version) == name_key(version)
        ]
        if not entries:
            has = "nothing is kept of it"
            if registered.versions:
                has = f"it has {', '.join(map(quoted, registered.versions))}"
            of_version = f" of version {quoted(version)}" if version.strip() else ""
            raise InputError(
                f"There is no audit{of_version} of {quoted(registered.name)} in the history "
                f"{self.location}; {has}."
            )
        matches = [entry for entry in entries if entry.fingerprint.startswith(mark)]
        if not matches:
            raise InputError(
                f"There is no audit {quoted(audit)} of {quoted(registered.name)} in the history "
                f"{self.location}."
            )
        return next((entry for entry in matches if entry.deleted is None), matches[0])

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
                f"The document of {_audit(entry)} {problem}, in the history {self.location}."
            )
        return from_json(text)

    def _entry(self, events: Events, entry: Entry) -> Entry:
        """Return an entry as it is now; InputError if it was deleted."""
        current = events.entries.get(entry.id)
        if current is None or current.fingerprint != entry.fingerprint:
            raise InputError(f"There is no {_audit(entry)} in the history {self.location}.")
        if current.deleted is not None:
            raise InputError(
                f"The document of {_audit(entry)} was deleted {current.deleted.sentence}."
            )
        return current

    # Decisions --------------------------------------------------------------------------------------------------------

    def sign(
        self,
        entry: Entry,
        *,
        decision: str,
        name: str,
        role: str,
        reason: str = "",
        condition: str = "",
        until: str = "",
        proven: bool = False,
    ) -> Signature:
        """Sign a decision of `DECISIONS` about the version of an audit; the same signature twice is one.

        Accepting the risk needs a reason and a last day; "Do not release", and another decision than one that stands, a
        reason. Raises `InputError` if one is missing, the version or its answers are banned, or "release" is signed
        although a required check does not pass or a limit has no source; or if the audit was deleted or changed.

        Parameters
        ----------
        condition : str
            Under which the decision holds, such as "No scores to partners."
        until : str
            Last day on which it stands, YYYY-MM-DD; a ban has none.
        proven : bool
            Whether the name is that of a signed-in user.
        """
        choice(decision, DECISIONS, name="decision")
        statement: dict[str, Any] = {
            "decision": decision,
            "name": check_line(name, "name"),
            "role": check_line(role, "role"),
            "reason": _optional_line(reason, "reason"),
            "condition": _optional_line(condition, "condition"),
            "until": check_day(until, "until"),
            "proven": proven,
        }
        if statement["until"] and decision == BAN:
            raise InputError(
                f"until must be left out where the decision is {quoted(BAN)}, which stands until it is "
                f"revoked, got {statement['until']}."
            )
        if statement["until"] and statement["until"] < today():
            raise InputError(f"until must not be over, got {statement['until']}.")
        with self._store.write_transaction() as change:
            events = change.record()
            report = self._report(change, events, entry)
            of_model = [
                signature
                for signature in reversed(events.signatures.values())
                if signature.model == entry.model
            ]
            if message := is_banned(
                decision, of_model, version=entry.version, answers=entry.answers
            ):
                raise InputError(message)
            signed = [signature for signature in of_model if signature.version == entry.version]
            if decision == "release" and (missing := not_releasable(report)):
                raise InputError(f"“Release” cannot be signed. {missing}")
            for signature in signed:
                if (
                    signature.covers(entry)
                    and signature.stands
                    and all(getattr(signature, key) == value for key, value in statement.items())
                ):
                    return signature
            if message := missing_parts(
                decision, signed, reason=statement["reason"], until=statement["until"]
            ):
                raise InputError(message)
            body = {"entry": entry.id, **statement, "when": now(), "fairleak": __version__}
            change.add(events, {"kind": "signed", **body})
            return events.signatures[events.number]

    def revoke(
        self, *signatures: Signature, name: str, role: str, reason: str, proven: bool = False
    ) -> tuple[Signature, ...]:
        """Revoke decisions that stand, by name and with a reason; nothing else ends a ban."""
        who = f"{check_line(name, 'name')}, {check_line(role, 'role')}"
        reason = check_line(reason, "reason", most=_LONGEST_REASON)
        with self._store.write_transaction() as change:
            events = change.record()
            for signature in signatures:
                current = events.signatures.get(signature.number)
                if current is None or current.fingerprint != signature.fingerprint:
                    raise InputError(
                        f"There is no decision {signature.number} in the history {self.location}."
                    )
                if not current.stands:
                    raise InputError(
                        f"“{current.title}” on {current.model} {current.version} stands no more: {current.end}."
                    )
                body = {"signature": signature.number, "who": who, "when": now()}
                change.add(events, {"kind": "revoked", **body, "reason": reason, "proven": proven})
            return tuple(events.signatures[signature.number] for signature in signatures)

    def signatures(self, entry: Entry | None = None) -> tuple[Signature, ...]:
        """Return what was signed, on an audit or all, in its order; on deleted audits too."""
        return tuple(
            signature
            for signature in self._events().signatures.values()
            if entry is None or signature.covers(entry)
        )

    # Policies ---------------------------------------------------------------------------------------------------------

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

    # Deleting and checking --------------------------------------------------------------------------------------------

    def delete(self, *entries: Entry, who: str, reason: str = "") -> tuple[Entry, ...]:
        """Delete the documents of audits; who did it, when and why stays on record, and so do their decisions."""
        with self._store.write_transaction() as change:
            events = change.record()
            entries_by_id = {entry.id: self._entry(events, entry) for entry in entries}  # each once
            return self._delete(change, events, list(entries_by_id.values()), who, reason)

    def expire(self, *, days: int, who: str, model: str | None = None) -> tuple[Entry, ...]:
        """Delete the documents kept more than some days ago, of a model or all; not those a standing decision is on."""
        limit = datetime.now(UTC) - timedelta(
            days=whole_number(days, name="days", least=0, most=36_500)
        )
        with self._store.write_transaction() as change:
            events = change.record()
            signatures = [entry for entry in events.signatures.values() if entry.stands]
            signed = {
                entry.id
                for entry in events.entries.values()
                for signature in signatures
                if signature.covers(entry)
            }
            old = [
                entry
                for entry in events.entries.values()
                if entry.deleted is None
                and (model is None or name_key(entry.model) == name_key(model))
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
        reason = _optional_line(reason, "reason")
        for entry in entries:
            change.drop(entry.id)
            deletion = {"kind": "deleted", "entry": entry.id, "who": who, "reason": reason}
            change.add(events, {**deletion, "when": now()})
        return tuple(events.entries[entry.id] for entry in entries)

    def verify(self) -> tuple[int, str]:
        """Check every entry and every document that was not deleted; return the number and hash of the last entry.

        The hash, noted elsewhere, later shows that the chain was not replaced: see `has_hash`.
        """
        with self._store.read_transaction() as look:
            events = look.record()
            for entry in events.entries.values():
                if entry.deleted is None:
                    self._report(look, events, entry)
            return events.number, events.hash

    def has_hash(self, mark: str) -> bool:
        """Return whether an entry of the chain has this hash, so that everything before it is as it was then."""
        with self._store.read_transaction() as look:
            look.record()
            return mark.strip().lower() in {link.hash for link in look.entries()}

    def _events(self) -> Events:
        with self._store.read_transaction() as look:
            return look.record()


def _register(
    change: HistoryTransaction, events: Events, statement: dict[str, str], who: str
) -> RegisteredModel:
    """Record what is said of a model, unless it was said before; its name stays as it was first written."""
    before = events.model(statement["name"])
    if before is not None:
        statement = statement | {"name": before.name}
    if before is None or any(getattr(before, key) != text for key, text in statement.items()):
        body = {**statement, "who": check_line(who, "who"), "when": now()}
        change.add(events, {"kind": "registered", **body})
    registered = events.model(statement["name"])
    if registered is None:
        raise Damaged(f"the model {statement['name']!r} is missing")
    return registered


def _audit(entry: Entry) -> str:
    return f"audit {entry.short} of {entry.title}"


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


def _optional_line(value: str, name: str) -> str:
    if value.strip():
        return check_line(value, name, most=_LONGEST_REASON)
    return ""


def check_day(value: str, name: str) -> str:
    """Return a day, YYYY-MM-DD, or "" for none; `InputError` if it is none of the calendar."""
    text = str(value).strip()
    try:
        if not text or date.fromisoformat(text).isoformat() == text:
            return text
    except ValueError:
        pass
    raise InputError(f"{name} must be a day written YYYY-MM-DD, got {quoted(value, 40)}.")

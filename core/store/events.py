"""What the entries of a history say: what was kept, signed and deleted, what can be signed, and what is void."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..auditing.policy import Policy, read_policy
from ..base.serialize import Result, content_fingerprint, short_fingerprint
from ..report import Report
from ..report.report import strict
from .chain import Link, Record

DECISIONS: Mapping[str, str] = {
    "release": "Release",
    "accept_risk": "Accept the risk",
    "do_not_release": "Do not release",
}
"""Decision -> its words."""

_MOST_NAMES = 3
"""Checks and limits that a sentence calls by their names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion(Result):
    """By whom, when and why a document was deleted."""

    who: str
    when: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry(Result):
    """An audit kept in a project."""

    id: int
    """The number of its entry in the history."""
    project: str
    fingerprint: str
    """Of the report's document."""
    when: str
    """UTC, ISO 8601."""
    who: str
    verdict: str
    """pass, fail, inconclusive or not_run."""
    dataset: str
    """The table's title."""
    attribute: str
    policy: str
    """Name and version."""
    parts: dict[str, str]
    """Fingerprints of data, model, plan, policy, self-test and code."""
    digest: str
    """SHA-256 of the document's text."""
    deleted: Deletion | None = None

    @property
    def short(self) -> str:
        """Return the beginning of the fingerprint as pages print it."""
        return short_fingerprint(self.fingerprint)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature(Result):
    """A decision about one audit, signed."""

    number: int
    entry: int
    project: str
    fingerprint: str
    parts: dict[str, str]
    """Those of the signed audit."""
    decision: str
    name: str
    role: str
    reason: str
    proven: bool
    """Whether the name is that of a signed-in user rather than typed."""
    when: str
    fairleak: str
    """Version that signed."""
    void: str = ""
    """Why it is void, as "the audit changed since (policy)"; "" while it stands."""

    @property
    def title(self) -> str:
        """Return the decision in words."""
        return DECISIONS[self.decision]

    @property
    def short(self) -> str:
        """Return the beginning of the signed fingerprint as pages print it."""
        return short_fingerprint(self.fingerprint)

    @property
    def sentence(self) -> str:
        """Return who signed what, when and why, and whether it is void, as one line."""
        reason = f": {self.reason}" if self.reason else ""
        void = f". Void: {self.void}" if self.void else ""
        typed = "" if self.proven else " (name typed)"
        signer = f"{self.name}{typed}, {self.role}, {self.when[:10]}, FairLeak {self.fairleak}"
        return f"{self.title} ({self.short}), {signer}{reason.rstrip('.')}{void}."

    def covers(self, entry: Entry) -> bool:
        """Return whether it is about an entry's document, even one that was deleted and kept again."""
        return (self.project, self.fingerprint) == (entry.project, entry.fingerprint)

    def beside(self, fingerprint: str, parts: Mapping[str, str]) -> Signature:
        """Return it as it stands beside a document with these parts (`parts_of`): void unless it is the signed one."""
        if self.void or fingerprint == self.fingerprint:
            return self
        return replace(self, void=f"the audit changed since ({changed_parts(self.parts, parts)})")


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedPolicy(Result):
    """A version of a policy as it was saved, by whom, when and why; it never changes."""

    number: int
    name: str
    version: str
    text: str
    """Its file, which `policy` reads."""
    who: str
    when: str
    """UTC, ISO 8601."""
    reason: str

    @property
    def policy(self) -> Policy:
        """The policy; InputError if it limits a check that FairLeak has no more."""
        return read_policy(self.text, name=f"The policy {self.name}, version {self.version}")


@dataclass(slots=True, kw_only=True)
class Events(Record):
    """Everything a history's entries say, in their order."""

    entries: dict[int, Entry] = field(default_factory=dict)
    signatures: list[Signature] = field(default_factory=list)
    policies: list[SavedPolicy] = field(default_factory=list)

    def entry_of(self, project: str, fingerprint: str) -> Entry | None:
        """Return the entry of a document in a project; None where it is not there, or deleted."""
        same = (
            entry
            for entry in self.entries.values()
            if (entry.project, entry.fingerprint) == (project, fingerprint)
        )
        return next((entry for entry in same if entry.deleted is None), None)

    def follow(self, kind: str, link: Link, body: dict[str, Any]) -> None:
        """Open, keep, sign or delete."""
        number = link.number
        match kind:
            case "opened":
                pass
            case "kept":
                self.entries[number] = entry = Entry(id=number, **body)
                self._go_on_with(entry)
            case "signed":
                entry = self.entries[body["entry"]]
                project = entry.project
                mark = entry.fingerprint
                parts = entry.parts
                signature = Signature(
                    number=number, project=project, fingerprint=mark, parts=parts, **body
                )
                _ = signature.title  # a decision that is known
                self._go_on_with(entry)
                self.signatures.append(signature)
            case "deleted":
                entry = self.entries[body.pop("entry")]
                self.entries[entry.id] = replace(entry, deleted=Deletion(**body))
            case "policy":
                self.policies.append(SavedPolicy(number=number, **body))
            case _:
                raise ValueError(kind)

    def _go_on_with(self, entry: Entry) -> None:
        """Void what was signed in the project about another document."""
        for at, signature in enumerate(self.signatures):
            if signature.project == entry.project:
                self.signatures[at] = signature.beside(entry.fingerprint, entry.parts)


def needs_reason(decision: str, signatures: Iterable[Signature]) -> str:
    """Return why a decision needs a reason: by itself, or as the dissent from signatures that stand; "" for none."""
    if decision == "accept_risk":
        return "“Accept the risk” needs a reason."
    dissenting = [
        signature
        for signature in signatures
        if not signature.void and signature.decision != decision
    ]
    if dissenting:
        return f"{dissenting[-1].name} signed “{dissenting[-1].title}”: another decision needs a reason."
    return ""


def not_releasable(report: Report) -> str:
    """Return why "Release" cannot be signed, naming what is missing; "" where it can."""
    verdict = report.verdict
    limits = report.policy.limits
    titles = {row.check: row.title for row in verdict.checks}
    blocking = [row.title for row in verdict.checks if row.blocks]
    unsourced = [
        titles.get(limit.check, limit.check) for limit in limits if not limit.source.strip()
    ]
    missing = []
    if blocking:
        missing.append(f"Required and not passed: {_listed(blocking)}.")
    elif verdict.overall != "pass":
        missing.append(verdict.headline)
    if unsourced:
        missing.append(f"Limits without a source: {_listed(unsourced)}.")
    return " ".join(missing)


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    if more < 2:
        return "; ".join(names)
    return f"{'; '.join(names[:_MOST_NAMES])}; and {more} more"


def parts_of(report: Report) -> dict[str, str]:
    """Return the fingerprints of what a report is made of, by what people call it."""
    origin = report.provenance
    return {
        "data": report.data.fingerprint,
        "model": report.model.fingerprint,
        "plan": origin.plan,
        "policy": origin.policy,
        "self-test": content_fingerprint(strict(report.self_tests)),
        "FairLeak": origin.code,
    }


def changed_parts(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Return what differs between the parts of two reports, such as "data, policy"."""
    return (
        ", ".join(name for name, mark in before.items() if mark != after.get(name)) or "run again"
    )

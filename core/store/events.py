"""What the entries of a history say: models and their versions, audits, decisions and what ended them, policies.

An audit is bound to a version of a model, and so is a decision. "Do not release" stands until a person revokes it, by
name and with a reason, whatever else is audited or deleted. Other decisions stand until one of another kind is signed
about the version, the same person signs again, or somebody revokes them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from enum import StrEnum
from typing import Any

from ..auditing.policy import Policy, read_policy
from ..base.serialize import Result, content_fingerprint, short_fingerprint
from ..report import Report
from ..report.report import DECISIONS, strict
from .chain import Link, Record

BAN = "do_not_release"
"""The decision that only a revocation ends."""

ACCEPTED = "accept_risk"
"""The decision that ends on its last day, and needs one."""

Answers = tuple[str, str]
"""Fingerprint of a model's answers, and what is released of them, as `Entry.outputs` has it."""

_MOST_NAMES = 3
"""Checks and limits that a sentence calls by their names."""


def name_key(name: str) -> str:
    """Return what names of models that count as the same one have in common."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Retraction(Result):
    """By whom, when and why a document was deleted, or a decision revoked."""

    who: str
    when: str
    reason: str
    proven: bool = False
    """Whether the name is that of a signed-in user rather than typed."""

    @property
    def sentence(self) -> str:
        """Return by whom, when and why, as a clause."""
        reason = f": {self.reason.rstrip('.')}" if self.reason else ""
        return f"by {self.who} on {self.when[:10]}{reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry(Result):
    """An audit of a version of a model."""

    id: int
    """The number of its entry in the history."""
    model: str
    version: str
    released: str
    decimals: int | None
    """What is released of the model, as `OutputsPlan` has it."""
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
    deleted: Retraction | None = None

    @property
    def short(self) -> str:
        """Return the beginning of the fingerprint as pages print it."""
        return short_fingerprint(self.fingerprint)

    @property
    def title(self) -> str:
        """Return the model with its version."""
        return f"{self.model} {self.version}"

    @property
    def outputs(self) -> str:
        """Return what is released, in a few letters: "labels", "scores", "scores .01"."""
        return _outputs_text(self.released, self.decimals)

    @property
    def answers(self) -> Answers:
        """Return what is released of which model, whatever the two are called."""
        return self.parts["model"], self.outputs


def _outputs_text(released: str, decimals: int | None) -> str:
    if released == "labels" or decimals is None:
        return released
    return f"scores {10.0**-decimals:.{decimals}f}".replace(" 0.", " .")


class DecisionState(StrEnum):
    """What has become of a decision."""

    STANDS = "stands"
    LAPSED = "lapsed"
    SUPERSEDED = "superseded"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature(Result):
    """A decision about a version of a model, signed on one audit of it."""

    number: int
    entry: int
    model: str
    version: str
    outputs: str
    """What is released by the signed audit."""
    fingerprint: str
    parts: dict[str, str]
    """Those of the signed audit."""
    decision: str
    name: str
    role: str
    reason: str
    condition: str
    """Under which it was decided; "" for none."""
    until: str
    """Last day on which it stands, YYYY-MM-DD; "" where it has no end."""
    proven: bool
    """Whether the name is that of a signed-in user rather than typed."""
    when: str
    fairleak: str
    """Version that signed."""
    superseded: str = ""
    """When a later decision took its place; "" where none has."""
    revoked: Retraction | None = None

    @property
    def title(self) -> str:
        """Return the decision in words."""
        return DECISIONS[self.decision]

    @property
    def short(self) -> str:
        """Return the beginning of the signed fingerprint as pages print it."""
        return short_fingerprint(self.fingerprint)

    @property
    def stands(self) -> bool:
        """Whether nobody has revoked it or decided otherwise since; its last day may be over."""
        return self.revoked is None and not self.superseded

    def state(self, today: str) -> DecisionState:
        """Return what has become of it by a day, YYYY-MM-DD."""
        if self.revoked is not None:
            return DecisionState.REVOKED
        if self.superseded:
            return DecisionState.SUPERSEDED
        if self.until and self.until < today:
            return DecisionState.LAPSED
        return DecisionState.STANDS

    @property
    def end(self) -> str:
        """Return what has ended it, or when it ends, as a clause; "" where it has no end."""
        if self.revoked is not None:
            return f"revoked {self.revoked.sentence}"
        if self.superseded:
            return f"superseded on {self.superseded[:10]}"
        if self.until:
            return f"until {self.until}"
        return ""

    @property
    def signer(self) -> str:
        """Return who signed, in which role and when."""
        typed = "" if self.proven else " (name typed)"
        return f"{self.name}{typed}, {self.role}, {self.when[:10]}"

    @property
    def sentence(self) -> str:
        """Return who decided what about which version, when, why, and until when, as one line."""
        reason = f": {self.reason.rstrip('.')}" if self.reason else ""
        condition = f". Condition: {self.condition.rstrip('.')}" if self.condition else ""
        end = f". {self.end[:1].upper()}{self.end[1:]}" if self.end else ""
        signer = f"{self.signer}, FairLeak {self.fairleak}"
        about = f"{self.version} ({self.outputs}; {self.short})"
        return f"{self.title}: {about}, {signer}{reason}{condition}{end}."

    def covers(self, entry: Entry) -> bool:
        """Return whether it was signed on an entry's document, even one that was deleted and kept again."""
        return (self.model, self.version, self.fingerprint) == (
            entry.model,
            entry.version,
            entry.fingerprint,
        )

    def covers_answers(self, answers: Answers) -> bool:
        """Return whether answers hand out what it was signed on; scores are handed out with their labels."""
        model, outputs = answers
        return self.parts["model"] == model and self.outputs in (outputs, "labels")


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredModel(Result):
    """A model of the register, with its audits and decisions, newest first."""

    name: str
    purpose: str
    """What it is used for; "" where nobody has said."""
    owner: str
    review: str
    """Day by which it is to be looked at again, YYYY-MM-DD; "" for none."""
    who: str
    """Who registered it so."""
    when: str
    entries: tuple[Entry, ...] = ()
    """Deleted audits too, whose documents are gone."""
    signatures: tuple[Signature, ...] = ()

    @property
    def versions(self) -> tuple[str, ...]:
        """The versions that were audited, the one that came last first."""
        first = dict.fromkeys(entry.version for entry in reversed(self.entries))
        return tuple(reversed(first))

    @property
    def last(self) -> Entry | None:
        """The last audit; None before the first."""
        return next(iter(self.entries), None)

    def last_of(self, version: str) -> Entry | None:
        """Return the last audit of a version."""
        return next((entry for entry in self.entries if entry.version == version), None)

    def current_decisions(self, today: str) -> tuple[Signature, ...]:
        """Return the decisions that stand on a day, newest first."""
        return tuple(
            signature
            for signature in self.signatures
            if signature.state(today) == DecisionState.STANDS
        )

    def bans(self) -> tuple[Signature, ...]:
        """Return the bans that nobody has revoked, newest first."""
        return tuple(
            signature
            for signature in self.signatures
            if signature.decision == BAN and signature.stands
        )

    def banned_answers(self) -> tuple[tuple[Entry, Signature], ...]:
        """Return the last audit of each version that was kept with the answers of a banned one, with the ban."""
        bans = self.bans()
        banned = {name_key(ban.version) for ban in bans}
        same: dict[str, tuple[Entry, Signature]] = {}
        for entry in self.entries:
            ban = next((ban for ban in bans if ban.covers_answers(entry.answers)), None)
            if ban is not None and name_key(entry.version) not in banned:
                same.setdefault(entry.version, (entry, ban))
        return tuple(same.values())

    def contradicted(self, today: str) -> tuple[Entry, ...]:
        """Return later audits that do not pass, the last of each version that a decision still releases."""
        entries = []
        for signature in self.current_decisions(today):
            last = self.last_of(signature.version)
            if signature.decision == BAN or last is None or last in entries:
                continue
            if last.id > signature.number and last.verdict != "pass":
                entries.append(last)
        return tuple(entries)

    @property
    def next_review(self) -> str:
        """The first day on which somebody must look again: its review, or the last day of a decision; "" for none."""
        days = [self.review] + [
            signature.until
            for signature in self.signatures
            if signature.stands and signature.decision != BAN
        ]
        return min(filter(None, days), default="")


def days_until(day: str, today: str) -> int:
    """Return how many days a day lies after another; below 0 where it is over."""
    return (date.fromisoformat(day) - date.fromisoformat(today)).days


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

    models: dict[str, RegisteredModel] = field(default_factory=dict)
    """`name_key` -> model, without its audits and decisions."""
    entries: dict[int, Entry] = field(default_factory=dict)
    signatures: dict[int, Signature] = field(default_factory=dict)
    policies: list[SavedPolicy] = field(default_factory=list)

    def model(self, name: str) -> RegisteredModel | None:
        """Return a model with all that is recorded of it; None where there is none of this name."""
        registered = self.models.get(name_key(name))
        if registered is None:
            return None
        entries = reversed(self.entries.values())
        signatures = reversed(self.signatures.values())
        return replace(
            registered,
            entries=tuple(entry for entry in entries if entry.model == registered.name),
            signatures=tuple(entry for entry in signatures if entry.model == registered.name),
        )

    def entry_of(self, model: str, version: str, fingerprint: str) -> Entry | None:
        """Return the entry of a document of a version; None where it is not there, or deleted."""
        identity = (model, version, fingerprint)
        same = (
            entry
            for entry in self.entries.values()
            if (entry.model, entry.version, entry.fingerprint) == identity
        )
        return next((entry for entry in same if entry.deleted is None), None)

    def follow(self, kind: str, link: Link, body: dict[str, Any]) -> None:
        """Open, register, keep, sign, revoke, delete, or save a policy."""
        number = link.number
        match kind:
            case "opened":
                pass
            case "registered":
                model = RegisteredModel(**body)
                self.models[name_key(model.name)] = model
            case "kept":
                entry = Entry(id=number, **body)
                if self.models[name_key(entry.model)].name != entry.model:
                    raise ValueError(entry.model)
                self.entries[number] = entry
            case "signed":
                self._sign(number, body)
            case "revoked":
                signature = self.signatures[body.pop("signature")]
                retraction = Retraction(**body)
                self.signatures[signature.number] = replace(signature, revoked=retraction)
            case "deleted":
                entry = self.entries[body.pop("entry")]
                self.entries[entry.id] = replace(entry, deleted=Retraction(**body))
            case "policy":
                self.policies.append(SavedPolicy(number=number, **body))
            case _:
                raise ValueError(kind)

    def _sign(self, number: int, body: dict[str, Any]) -> None:
        """Take in a decision, which takes the place of those it supersedes."""
        entry = self.entries[body["entry"]]
        signature = Signature(
            number=number,
            model=entry.model,
            version=entry.version,
            outputs=entry.outputs,
            fingerprint=entry.fingerprint,
            parts=entry.parts,
            **body,
        )
        _ = signature.title  # a decision that is known
        for before in self.signatures.values():
            about = (before.model, before.version) == (signature.model, signature.version)
            differs = before.decision != signature.decision or before.name == signature.name
            if about and differs and before.stands and before.decision != BAN:
                self.signatures[before.number] = replace(before, superseded=signature.when)
        self.signatures[number] = signature


def missing_parts(
    decision: str, signatures: Iterable[Signature], *, reason: str, until: str
) -> str:
    """Return what a decision still needs, by itself or as it ends others of its version; "" for nothing."""
    parts = []
    if not reason:
        parts.append("a reason")
    if decision == ACCEPTED and not until:
        parts.append("a last day")
    if not parts:
        return ""
    needs = f"needs {' and '.join(parts)}."
    dissenting = [
        signature for signature in signatures if signature.stands and signature.decision != decision
    ]
    if dissenting and decision != ACCEPTED:
        last = max(dissenting, key=lambda signature: signature.number)
        return f"{last.name} signed “{last.title}”: another decision {needs}"
    if decision in (ACCEPTED, BAN):
        return f"“{DECISIONS[decision]}” {needs}"
    return ""


def is_banned(
    decision: str, signatures: Iterable[Signature], *, version: str, answers: Answers
) -> str:
    """Return why a decision cannot be signed beside a ban of the version, or of its answers; "" where it can."""
    if decision == BAN:
        return ""
    bans = [signature for signature in signatures if signature.stands and signature.decision == BAN]
    for ban in bans:
        if name_key(ban.version) == name_key(version):
            return (
                f"{ban.model} {ban.version} is banned by {ban.name} since {ban.when[:10]}: "
                "only revoking the ban opens another decision."
            )
    for ban in bans:
        if ban.covers_answers(answers):
            return (
                f"The same answers were banned as {ban.version} by {ban.name} on {ban.when[:10]}: "
                "only revoking that ban opens another decision."
            )
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


def answers_of(report: Report) -> Answers:
    """Return what a report's plan releases of which model."""
    outputs = report.plan.outputs
    return report.model.fingerprint, _outputs_text(outputs.released, outputs.decimals)


def changed_parts(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Return what differs between the parts of two reports, such as "data, policy"."""
    return (
        ", ".join(name for name, mark in before.items() if mark != after.get(name)) or "run again"
    )

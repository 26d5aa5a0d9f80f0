"""Whether a report is as it was written, is judged as its numbers are, and who answers for it.

The fingerprint is over all of the document, the start of the audit too, and the numbers are judged again by the policy
in it (`contradictions`). Sentences and sizes are covered by the fingerprint alone, and neither shows that the
numbers were measured: somebody who knows FairLeak can write a report about made-up numbers, with a fingerprint of its
own; `replay` measures them again.

Who answers for a report says an Ed25519 signature (RFC 8032) over the exact bytes of its file, in a JSON file beside
it with the public key and the signature, both base64: the holder of the private key signed these bytes. Private keys
are PEM files (PKCS 8) without a password: who can read the file can sign. The package `cryptography` is needed for
this and nothing else.
"""

from __future__ import annotations

import base64
import importlib
import json
import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..auditing import failed_tests
from ..auditing.policy import CheckVerdict, judge
from ..base.errors import FairLeakError, InputError, check_format
from ..base.serialize import Result, code_fingerprint
from ..base.untrusted import ask_child
from .changes import changed_values
from .codec import checked, is_number, is_report, report_of, verdict_section
from .page import embedded_document, to_html
from .public_summary import SUMMARY_KIND, is_summary_page
from .report import Report, parse_json, report_fingerprint, strict

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )


Parsed = dict[str, Any]
"""What a file holds as JSON, unchecked."""

Holds = tuple[bool, str]
"""Whether a part of a report holds, and the sentence that says so."""


@dataclass(frozen=True, slots=True)
class VerificationIssue(Result):
    """One thing that was verified, with one sentence: `name` is a part of the report, "signed" or "signature".

    A `note` says what was not verified.
    """

    name: str
    holds: bool
    sentence: str
    note: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification(Result):
    """Everything that was verified about one report; `fingerprint` is as it states it, empty where it states none."""

    fingerprint: str
    findings: tuple[VerificationIssue, ...]

    @property
    def holds(self) -> bool:
        """Whether everything holds."""
        return all(finding.holds for finding in self.findings)

    @property
    def broken(self) -> VerificationIssue | None:
        """The first thing that does not hold; None if there is none."""
        return next((finding for finding in self.findings if not finding.holds), None)


def verify_report(text: str, *, signed: str = "", name: str = "The file") -> Verification:
    """Verify a report, JSON or page, by the content of its file, which sentences call by its `name`.

    `signed` is the fingerprint, or its beginning of at least 8 digits, as it stands on a signed page. InputError if the
    text is no report, or `signed` no fingerprint.
    """
    prefix = "".join(signed.split()).lower()
    if signed and (len(prefix) < 8 or not set(prefix) <= set("0123456789abcdef")):
        raise InputError(
            f"A fingerprint must be at least 8 of the digits 0 to 9 and a to f, got {signed[:80]!r}."
        )
    document = document_in(text, name=name)
    stated = document.get("fingerprint")
    if not isinstance(stated, str):
        stated = ""
    findings = verified_document(document)
    if _is_page(text) and all(finding.holds for finding in findings if finding.name == "schema"):
        findings.append(_tried("page", _page, report_of(document), text))
    if signed:
        same = bool(stated) and stated.startswith(prefix)
        if same:
            sentence = "It is the report with the fingerprint given."
        else:
            sentence = "It is not the report with that fingerprint."
        findings.append(VerificationIssue("signed", same, sentence))
    return Verification(fingerprint=stated, findings=tuple(findings))


def verified_document(document: Parsed) -> list[VerificationIssue]:
    """Fingerprint, schema and verdict of a parsed report, verified."""
    schema = _tried("schema", _schema, document)
    findings = [_tried("content", _content, document), schema]
    if schema.holds:
        findings.append(_tried("verdict", _verdict, report_of(document)))
    return findings


def _is_page(text: str) -> bool:
    return text.lstrip("\ufeff \t\r\n")[:15].lower() == "<!doctype html>"


_NO_SUMMARY = (
    "must be an internal report, got a public summary, which holds no number that can "
    "be verified, judged or compared."
)


def document_in(text: str, *, name: str = "The file") -> Parsed:
    """Return what a report holds, JSON or page, parsed and unchecked; InputError for a text that is no report."""
    page = _is_page(text)
    rule = f"{name} must be a report of FairLeak, report.json or report.html"
    if page and is_summary_page(text):
        raise InputError(f"{name} {_NO_SUMMARY}")
    if not page and not text.lstrip("\ufeff \t\r\n").startswith("{"):
        raise InputError(f"{rule}, got something else.")
    try:
        if page:
            document = embedded_document(text)
        else:
            document = parse_json(text.removeprefix("\ufeff"))
    except InputError as error:
        reason = str(error)
        raise InputError(f"{rule}; {reason[:1].lower()}{reason[1:]}") from None
    if document.get("kind") == SUMMARY_KIND:
        raise InputError(f"{name} {_NO_SUMMARY}")
    if not is_report(document):
        raise InputError(f"{rule}, got one that does not call itself that.")
    check_format(document.get("schema"), thing=name)
    return document


def readable(text: str, *, name: str) -> Report:
    """Report in a report.json or report.html whose fingerprint and verdict hold; sentences call the file by `name`.

    InputError says in one sentence what does not hold. How a page looks is not verified: its document is read.
    """
    document = document_in(text, name=name)
    for finding in verified_document(document):
        if not finding.holds:
            raise InputError(f"{name} must be a report that verifies. {finding.sentence}")
    return report_of(document)


_FILE = "The file"
"""What sentences call a file that a stranger brings."""

SECONDS = 20.0
"""Longest time that reading a stranger's report may take; one of ours takes less than one."""


_MODULES = (
    __name__,
    "core.base.serialize:code_fingerprint",
    "core.report.page:environment",
    "core.report.codec:rehearse",
    "core.auditing",
    "scipy.special",
    "scipy.stats",
)
"""What is imported, and called, before the file is opened: after that nothing can be read, not even our own code."""


def readable_in_child(content: bytes) -> Report:
    """Return `readable` of a stranger's file, verified in a short-lived process with limits on memory and time."""
    document, _ = ask_child(
        _FILE, f"{__name__}:verified", {"content": content}, seconds=SECONDS, modules=_MODULES
    )
    return report_of(document)


def verified(report: object, *, content: bytes) -> tuple[Parsed, None]:
    """Return the report in a file's content, as JSON has it; what a child is asked for."""
    return strict(readable(report_text(content, name=_FILE), name=_FILE)), None


def report_text(content: bytes, *, name: str) -> str:
    """Return the text of a report's file."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(
            f"{name} must be a report of FairLeak, report.json or report.html, got no text."
        ) from None


def _tried(name: str, verification: Callable[..., Holds], *arguments: Any) -> VerificationIssue:
    """Outcome of a verification; a document on which that breaks is none that FairLeak wrote."""
    try:
        return VerificationIssue(name, *verification(*arguments))
    except Exception as error:  # whatever a stranger wrote, it must not end in a traceback
        is_expected = isinstance(error, FairLeakError)
        if is_expected:
            reason = str(error)
        else:
            reason = f"the report holds what FairLeak never writes ({type(error).__name__})."
        return VerificationIssue(name, False, f"{name.capitalize()} cannot be verified: {reason}")


def _content(document: Parsed) -> Holds:
    stated = document.get("fingerprint")
    computed = report_fingerprint(document)
    if not isinstance(stated, str):
        stated = ""
    if computed == stated:
        return True, "Content fingerprint holds: it is that of the content."
    difference = f"it states {_short(stated)}, its content has {_short(computed)}"
    altered = f"Content fingerprint does not hold: the report was altered after it was written ({difference})."
    return False, altered


def _short(fingerprint: str) -> str:
    hexadecimal = bool(fingerprint) and set(fingerprint) <= set("0123456789abcdef")
    if hexadecimal:
        return f"{fingerprint[:8]} {fingerprint[8:16]}"
    return "none"


def _schema(document: Parsed) -> Holds:
    try:
        checked(document)
    except InputError as error:
        return False, f"Schema does not hold: {error}"
    return True, "Schema holds."


def _verdict(report: Report) -> Holds:
    clauses = contradictions(report)
    if clauses:
        return False, f"Verdict does not hold: {'; '.join(clauses)}."
    reason = (
        "judged again, the numbers in the report give the same verdicts under the policy in it."
    )
    return True, f"Verdict holds: {reason}"


_ACROSS_MACHINES = 1e-9
"""Numbers no farther apart than this differ by the last digits of another machine."""

_PROSE = ("title", "definition", "why")
"""Entries of a check's row that are sentences: they are not judged."""


def contradictions(report: Report) -> list[str]:
    """Verdict words, limits, intervals and p-values that do not follow from a report's own numbers, a clause each.

    InputError if its policy or a measurement breaks a rule.
    """
    failed = failed_tests(report.self_tests)
    verdict = judge(
        report.policy,
        report.measurements,
        attribute=report.data.attribute,
        failed_tests=failed,
        alternatives=report.alternatives,
    )
    computed = verdict_section(verdict)
    stated = report.verdict
    clauses = []
    if stated.overall != computed.overall:
        clauses.append(
            f"the release is “{stated.overall}”, judged again it is “{computed.overall}”"
        )
    rows = {row.check: row for row in stated.checks}
    if len(rows) != len(stated.checks):
        clauses.append("a check has more than one verdict")
    for row in computed.checks:
        if row.check in rows:
            clauses += _first_difference(rows[row.check], row)
        elif row.limit:
            clauses.append(f"{row.check} has no verdict, judged again it is “{row.verdict}”")
    return clauses


def _first_difference(stated: CheckVerdict, computed: CheckVerdict) -> list[str]:
    """First entry of a check's row that came out otherwise, its verdict before others, in one clause; [] if none."""
    changes = changed_values(_entries(stated), _entries(computed))
    for change in sorted(changes, key=lambda change: change.what != "verdict"):
        if not _close(change.before, change.after):
            return [
                f"{computed.check}: {change.what} is {_cited(change.before)}, judged again it is {_cited(change.after)}"
            ]
    return []


def _entries(row: CheckVerdict) -> dict[str, Any]:
    """Return what is judged of a check's row."""
    return {name: value for name, value in strict(row).items() if name not in _PROSE}


def _close(stated: Any, computed: Any) -> bool:
    """Return whether two values are numbers that differ by rounding alone."""
    return (
        is_number(stated)
        and is_number(computed)
        and math.isclose(stated, computed, rel_tol=1e-6, abs_tol=_ACROSS_MACHINES)
    )


def _cited(value: Any) -> str:
    text = str(value)
    if len(text) > 120:
        return f"“{text[:120]}…”"
    return f"“{text}”"


def _page(report: Report, text: str) -> Holds:
    if to_html(report) == text.removeprefix("\ufeff"):
        return True, "Page holds: it shows what its findings say."
    if report.provenance.code != code_fingerprint():
        sentence = "Page cannot be verified: another FairLeak drew it. Verify the report.json that belongs to it."
        return False, sentence
    sentence = "Page does not hold: drawn again from its own findings it looks different, so it was altered."
    return False, sentence


ENDING = ".sig"
"""What the name of a signature's file adds to that of the report."""

_NOT_SIGNED = (
    "Not signed: anybody could have written this report, its numbers and its fingerprint; only `replay` on the same "
    "table measures them again."
)

_KIND = "fairleak signature"
_SIGNER = "--signer takes the public key of who should have signed."
_MEANS = "The signer answers for the numbers; only `replay` on the same table measures them again."


def new_key() -> tuple[bytes, bytes]:
    """Return a new private key and its public key, as PEM."""
    forms = _part_of("hazmat.primitives.serialization")
    key = _part_of(_KEYS).Ed25519PrivateKey.generate()
    return (
        key.private_bytes(forms.Encoding.PEM, forms.PrivateFormat.PKCS8, forms.NoEncryption()),
        key.public_key().public_bytes(forms.Encoding.PEM, forms.PublicFormat.SubjectPublicKeyInfo),
    )


def private_key(pem: bytes, *, name: str) -> Ed25519PrivateKey:
    """Read an Ed25519 key in PEM without a password; of anything else nothing is shown."""
    key: Ed25519PrivateKey = _key(pem, "private", name, password=None)
    return key


def public_key(pem: bytes, *, name: str) -> Ed25519PublicKey:
    """Read an Ed25519 public key in PEM."""
    key: Ed25519PublicKey = _key(pem, "public", name)
    return key


def _key(pem: bytes, kind: str, name: str, **how: None) -> Any:
    forms = _part_of("hazmat.primitives.serialization")
    key = None
    with suppress(ValueError, TypeError, _part_of("exceptions").UnsupportedAlgorithm):
        key = getattr(forms, f"load_pem_{kind}_key")(pem, **how)
    if not isinstance(key, getattr(_part_of(_KEYS), f"Ed25519{kind.capitalize()}Key")):
        without = " without a password" if how else ""
        raise InputError(
            f"{name} must be an Ed25519 {kind} key in PEM{without}, got something else."
        )
    return key


def signature_of(content: bytes, key: Ed25519PrivateKey) -> str:
    """Return what stands in the signature's file for a file of these bytes."""
    document = {
        "kind": _KIND,
        "algorithm": "Ed25519",
        "public_key": _text(key.public_key().public_bytes_raw()),
        "signature": _text(key.sign(content)),
    }
    return f"{json.dumps(document, indent=1)}\n"


def signature_finding(
    content: bytes, signature: bytes | None, *, signer: bytes | None, name: str
) -> VerificationIssue:
    """Return whether a file is signed, and by whom as far as that is known.

    `signature` is the signature's file, if there is one; `signer` the PEM of the public key it must be signed with,
    None to take the key that comes with the signature; `name` what sentences call the signer's file. InputError if that
    is no public key.
    """
    expected_key = None
    if signer is not None:
        expected_key = public_key(signer, name=name)
    holds, sentence = _signed(content, signature, expected_key, name)
    return VerificationIssue("signature", holds, sentence, note=signature is None)


def _signed(
    content: bytes, signature: bytes | None, expected_key: Ed25519PublicKey | None, name: str
) -> Holds:
    """Return whether a signature holds, and the sentence that says so."""
    if signature is None:
        return expected_key is None, _NOT_SIGNED
    try:
        key, signed = _read(signature)
    except (InputError, ValueError, KeyError, TypeError, AttributeError):
        return False, "Signature does not hold: its file is none that FairLeak wrote."
    key_text = _text(key.public_bytes_raw())
    try:
        key.verify(signed, content)
    except _part_of("exceptions").InvalidSignature:
        return (
            False,
            f"Signature does not hold: the file is not what the owner of the key {key_text} signed, if they did.",
        )
    if expected_key is None:
        unknown = "whose key that is, it does not tell: anybody can make one"
        return True, f"Signature holds, by the key {key_text}; {unknown}. {_SIGNER}"
    if (expected_text := _text(expected_key.public_bytes_raw())) != key_text:
        return False, f"Signed by another key: by {key_text}, not by {expected_text} of {name}."
    return True, f"Signature holds: the owner of {name} signed exactly this file. {_MEANS}"


def _read(signature: bytes) -> tuple[Ed25519PublicKey, bytes]:
    document = parse_json(signature.decode("utf-8"))
    if document.get("kind") != _KIND or document.get("algorithm") != "Ed25519":
        raise InputError("A signature must call itself one.")
    key, signed = (
        base64.b64decode(document[part], validate=True) for part in ("public_key", "signature")
    )
    return _part_of(_KEYS).Ed25519PublicKey.from_public_bytes(key), signed


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")


_KEYS = "hazmat.primitives.asymmetric.ed25519"


def _part_of(package: str) -> Any:
    """Return a part of the package cryptography."""
    try:
        return importlib.import_module(f"cryptography.{package}")
    except ImportError:
        raise FairLeakError(
            "A signature needs the package cryptography; install what requirements-signing.txt lists."
        ) from None

"""Whether a report is as it was written, says what its numbers say, and was written by this FairLeak.

Its verdict is judged again (`core.report.judged`), and what follows from other parts is computed again
(`core.report.consistent`). None of this tells whether the numbers were measured: whoever knows FairLeak can write a
report about numbers they made up. A signature says who answers for them, and `replay` measures them again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.errors import FairLeakError, InputError
from core.report.canonical import parse_json, report_fingerprint
from core.report.document import Document
from core.report.page import embedded_document, to_html
from core.report.rows import policy_of
from core.report.schema import is_report, schema_error
from core.results import Result

OF_THIS_CODE = ("code", "page", "words")
"""Findings that hold for a report of this very FairLeak only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Result):
    """One thing that was verified.

    Attributes
    ----------
    name : {"content", "schema", "policy", "verdict", "numbers", "words", "code", "page", "signed", "signature"}
    told : str
        One sentence.
    """

    name: str
    holds: bool
    told: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification(Result):
    """Everything that was verified about one report.

    Attributes
    ----------
    fingerprint : str
        As the report states it; empty where it states none.
    """

    fingerprint: str
    findings: tuple[Finding, ...]

    @property
    def holds(self) -> bool:
        """Whether everything holds."""
        return all(finding.holds for finding in self.findings)


def verify_report(text: str, *, signed: str = "", name: str = "The file") -> Verification:
    """Verify a report, JSON or page.

    Parameters
    ----------
    text : str
        The file's content.
    signed : str, optional
        The fingerprint, or its beginning of at least 8 digits, as it stands on a signed page.
    name : str, optional
        What to call the file in sentences.

    Raises
    ------
    InputError
        If it is no report, or `signed` no fingerprint.
    """
    wanted = "".join(signed.split()).lower()
    if signed and (len(wanted) < 8 or not set(wanted) <= set("0123456789abcdef")):
        raise InputError(f"A fingerprint must be at least 8 of the digits 0 to 9 and a to f, got {signed[:80]!r}.")
    page = text.lstrip("\ufeff \t\r\n")[:15].lower() == "<!doctype html>"
    found = _document(text, name, page=page)
    stated = found.get("fingerprint")
    stated = stated if isinstance(stated, str) else ""
    findings = _tried("content", _content, found, stated) + (schema := _tried("schema", _schema, found))
    for part, verified in _PARTS.items():
        if schema[0].holds:
            findings += _tried(part, verified, found)
        else:
            told = f"{part.capitalize()} cannot be verified in a report of another form."
            findings.append(Finding(name=part, holds=False, told=told))
    if page and schema[0].holds:
        findings += _tried("page", _page, found, text)
    if signed:
        same = bool(stated) and stated.startswith(wanted)
        told = "It is the report with the fingerprint given." if same else "It is not the report with that fingerprint."
        findings.append(Finding(name="signed", holds=same, told=told))
    return Verification(fingerprint=stated, findings=tuple(findings))


def _document(text: str, name: str, *, page: bool) -> dict[str, Any]:
    """Return the findings of a report, unchecked.

    Raises
    ------
    InputError
        If it is none, or its text cannot be read as one.
    """
    rule = f"{name} must be a report of FairLeak, report.json or report.html"
    if not page and not text.lstrip("\ufeff \t\r\n").startswith("{"):
        raise InputError(f"{rule}, got something else.")
    try:
        found = embedded_document(text) if page else parse_json(text.removeprefix("\ufeff"))
    except InputError as error:
        reason = str(error)
        raise InputError(f"{rule}; {reason[:1].lower()}{reason[1:]}") from None
    if not is_report(found):
        raise InputError(f"{rule}, got one that does not call itself that.")
    if _before_outputs(found):
        code = _part(found, "provenance").get("code")
        written_by = _short(code if isinstance(code, str) else "")
        raise InputError(
            f"{name} must be a report of schema 1 as FairLeak writes it since plans say what is released and limits "
            f"what holds where a check cannot be run, got one of schema 1 from before (code {written_by}): verify it "
            "with the FairLeak that wrote it, or run the audit again."
        )
    return found


def _before_outputs(found: Mapping[str, Any]) -> bool:
    """Whether a report is of the first form of its schema, whose plan, limits and fingerprints lack what today's have.

    Only a report that knows neither is one of that form: one that lacks either was altered.
    """
    limits = _part(found, "policy").get("limits")
    limits = limits if isinstance(limits, list) else []
    told = any("if_not_run" in limit for limit in limits if isinstance(limit, dict))
    return found.get("schema") == 1 and "outputs" not in _part(found, "plan") and bool(limits) and not told


def _part(found: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = found.get(name)
    return part if isinstance(part, dict) else {}


def _tried(name: str, verified: Callable[..., Finding | list[Finding]], *given: Any) -> list[Finding]:
    """Return what was verified; a document on which that breaks is none that FairLeak wrote."""
    try:
        found = verified(*given)
    except FairLeakError as error:
        return [Finding(name=name, holds=False, told=f"{name.capitalize()} cannot be verified: {error}")]
    except Exception as error:  # whatever a stranger wrote, it must not end in a traceback
        told = f"the report holds what FairLeak never writes ({type(error).__name__})."
        return [Finding(name=name, holds=False, told=f"{name.capitalize()} cannot be verified: {told}")]
    return found if isinstance(found, list) else [found]


def _content(found: Mapping[str, Any], stated: str) -> Finding:
    computed = report_fingerprint(dict(found))
    told = (
        "Content fingerprint holds: it is that of the content."
        if computed == stated
        else "Content fingerprint does not hold: the report was altered after it was written (it states "
        f"{_short(stated)}, its content has {_short(computed)})."
    )
    return Finding(name="content", holds=computed == stated, told=told)


def _short(fingerprint: str) -> str:
    hexadecimal = bool(fingerprint) and set(fingerprint) <= set("0123456789abcdef")
    return f"{fingerprint[:8]} {fingerprint[8:16]}" if hexadecimal else "none"


def _schema(found: Mapping[str, Any]) -> Finding:
    error = schema_error(found)
    return Finding(name="schema", holds=not error, told=f"Schema does not hold: {error}" if error else "Schema holds.")


def _policy(found: Document) -> Finding:
    from core.decision.provenance import policy_fingerprint

    policy = policy_of(found)
    same = policy_fingerprint(policy) == found["provenance"]["policy"]
    told = (
        f"Policy fingerprint holds: it was judged by the limits of {policy.name!r}, version {policy.version!r}."
        if same
        else "Policy fingerprint does not hold: the limits in the report are not those it was judged by."
    )
    return Finding(name="policy", holds=same, told=told)


def _verdict(found: Document) -> list[Finding]:
    from core.report.judged import judged_again

    judged = judged_again(found)
    return [
        *_compared("verdict", judged.facts, f"Verdict holds: {judged.told}"),
        *_compared("words", judged.words, "Words hold: titles, definitions and reasons are those of these verdicts."),
    ]


def _numbers(found: Document) -> list[Finding]:
    from core.report.consistent import contradictions

    return _compared("numbers", contradictions(found), "Numbers hold: what follows from others is what they give.")


def _compared(name: str, wrong: Sequence[str], fine: str) -> list[Finding]:
    """Return one finding for each thing that is wrong, or that nothing is."""
    if not wrong:
        return [Finding(name=name, holds=True, told=fine)]
    does = "does" if name == "verdict" else "do"
    return [Finding(name=name, holds=False, told=f"{name.capitalize()} {does} not hold: {told}.") for told in wrong]


def _code(found: Document) -> Finding:
    from core.fingerprint import code_fingerprint

    try:
        same = code_fingerprint() == found["provenance"]["code"]
    except FairLeakError as error:
        return Finding(name="code", holds=False, told=f"Code fingerprint cannot be compared: {error}")
    told = (
        "Code fingerprint holds: this FairLeak wrote the report."
        if same
        else f"Code fingerprint does not hold: the report was written by another FairLeak "
        f"({found['provenance']['fairleak'][:20]!r}). That says nothing against it; other code may give other numbers."
    )
    return Finding(name="code", holds=same, told=told)


def _page(found: Document, text: str) -> Finding:
    same = to_html(found, edition=found["edition"]) == text.removeprefix("\ufeff")
    told = (
        "Page holds: it shows what its findings say."
        if same
        else "Page does not hold: drawn again from its own findings by this FairLeak it looks different, so it was "
        "altered or drawn by another FairLeak."
    )
    return Finding(name="page", holds=same, told=told)


_PARTS: dict[str, Callable[[Document], Finding | list[Finding]]] = {
    "policy": _policy,
    "verdict": _verdict,
    "numbers": _numbers,
    "code": _code,
}
"""What is verified of a report that keeps to the schema."""

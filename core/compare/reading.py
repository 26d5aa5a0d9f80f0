"""A report that somebody brings to be compared: read as data, and refused unless it verifies."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from core.errors import InputError
from core.report import embedded_document, from_json, verify_report
from core.report.document import Document
from core.report.verification import OF_THIS_CODE
from core.untrusted import ask_child


def readable(text: str, *, name: str) -> Document:
    """Return the document of a report.json or report.html; sentences call the file by its `name`.

    Another version of FairLeak may have written it; but content, schema, policy, verdict and numbers must hold, so
    that nobody is compared with numbers that contradict each other. InputError says in one sentence what does not.
    """
    found = verify_report(text, name=name)
    broken = next((one for one in found.findings if not one.holds and one.name not in OF_THIS_CODE), None)
    if broken is not None:
        raise InputError(f"{name} must be a report that verifies. {broken.told}")
    page = text.lstrip("\ufeff \t\r\n")[:1] == "<"
    return embedded_document(text) if page else from_json(text.removeprefix("\ufeff"))


SECONDS = 20.0
"""Longest time that reading a stranger's report may take; one of ours takes less than one."""


def readable_apart(content: bytes, *, name: str) -> Document:
    """Return `readable` of a stranger's file, verified in a short-lived process with limits on memory and time."""
    arguments = {"content": content, "name": name}
    return ask_child(name, f"{__name__}:verified", arguments, seconds=SECONDS, modules=(__name__,))[0]


def verified(report: object, *, content: bytes, name: str) -> tuple[Document, None]:
    """Return the document of a file's content; what a child is asked for."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{name} must be a report of FairLeak, report.json or report.html, got no text.") from None
    return readable(text, name=name), None


def audit_name(document: Mapping[str, Any]) -> str:
    """Return what tells an audit from others, such as "8 Nov 2026 · 41c0 9e2a"."""
    digits = str(document["fingerprint"])
    return " · ".join(filter(None, (audit_day(document), f"{digits[:4]} {digits[4:8]}")))


def audit_day(document: Mapping[str, Any]) -> str:
    """Return the day of an audit; empty where the report does not tell it."""
    return day_text(str(document["times"].get("started", "")))


def day_text(moment: str) -> str:
    """Return the day of a moment in ISO 8601 as "8 Nov 2026"; empty where it is none."""
    try:
        day = date.fromisoformat(moment[:10])
    except ValueError:
        return ""
    month = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")[day.month - 1]
    return f"{day.day} {month} {day.year}"

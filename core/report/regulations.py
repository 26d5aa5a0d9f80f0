"""Law: which provisions a check's number can be evidence for, as typed rows of `regulations.toml`.

Page, report, brief and reference show these rows and no others. Not legal advice: whether a provision applies, and
whether the evidence is enough, is for a lawyer.
"""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

NOT_LEGAL_ADVICE = "Not legal advice."


@dataclass(frozen=True, slots=True, kw_only=True)
class LegalText:
    """A text that provisions are quoted from: regulation, opinion, framework or announcement.

    `date` says when it was published or adopted, `looked_up` when it was read here, `source` its address.
    """

    name: str
    title: str
    date: str
    source: str
    note: str
    looked_up: datetime.date


@dataclass(frozen=True, slots=True, kw_only=True)
class Provision:
    """One provision: what it says, and what a number of FairLeak's can be evidence for.

    `article` is where it stands in its text, `chip` the two in short ("GDPR 35(7)(c)"). `excerpt` are words of
    `quote`, with "[…]" for what is left out between them; `translation` is FairLeak's, of
    an excerpt in another language.
    """

    key: str
    text: LegalText
    article: str
    chip: str
    quote: str
    excerpt: str
    evidence: str
    translation: str = ""

    @property
    def quotation(self) -> str:
        """The excerpt in quotation marks, with FairLeak's translation of another language in brackets."""
        quotation = f"“{self.excerpt}”"
        if self.translation:
            return f"{quotation} [{self.translation}; our translation]"
        return quotation

    @property
    def short_chip(self) -> str:
        """The chip without the paragraph: "GDPR 35", "Annex IV"."""
        if self.article.startswith("Annex"):
            return self.article.partition(",")[0]
        return self.chip.partition("(")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class LawRow:
    """The provisions of one check, or of another part of an audit; none where the note says why."""

    provisions: tuple[Provision, ...]
    note: str = ""

    @property
    def leading(self) -> tuple[Provision, ...]:
        """The last provision of the GDPR and the first of the AI Act, for which a board has room."""
        gdpr = [provision for provision in self.provisions if provision.text.name == "GDPR"]
        ai_act = [provision for provision in self.provisions if provision.text.name == "EU AI Act"]
        return (*gdpr[-1:], *ai_act[:1])


@cache
def _content() -> Mapping[str, Any]:
    return tomllib.loads((files(__package__) / "regulations.toml").read_text(encoding="utf-8"))


def legal_texts() -> dict[str, LegalText]:
    """Return name -> text, in the order in which they are shown."""
    return {
        name: LegalText(
            name=name,
            title=entry["title"],
            date=entry["date"],
            source=entry["source"],
            note=entry["note"],
            looked_up=datetime.date.fromisoformat(entry["looked_up"]),
        )
        for name, entry in _content()["frameworks"].items()
    }


def provisions() -> dict[str, Provision]:
    """Return key -> provision, such as "article_35_7c"."""
    texts = legal_texts()
    return {
        key: Provision(
            key=key,
            text=texts[entry["framework"]],
            article=entry["place"],
            chip=entry["chip"],
            quote=entry["quote"],
            excerpt=entry["excerpt"],
            evidence=entry["evidence"],
            translation=entry.get("translation", ""),
        )
        for key, entry in _content()["provisions"].items()
    }


def law_of_checks() -> dict[str, LawRow]:
    """Return check -> its provisions."""
    return {
        check: _row(entry.get("provisions", ()), entry.get("note") or entry.get("no_provision", ""))
        for check, entry in _content()["checks"].items()
    }


def law_of_parts() -> dict[str, LawRow]:
    """Return any other part of an audit, in words -> its provisions."""
    return {part: _row(keys) for part, keys in _content()["report"].items()}


def _row(keys: tuple[str, ...], note: str = "") -> LawRow:
    by_key = provisions()
    return LawRow(provisions=tuple(by_key[key] for key in keys), note=note)

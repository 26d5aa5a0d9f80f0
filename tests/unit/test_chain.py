"""Chains of entries: what follows is taken in, what does not is refused by its number, and leaves nothing behind."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from core.store.chain import FIRST, Damaged, Link, Record, canonical, chained, linked


@dataclass(slots=True, kw_only=True)
class Transcript(Record):
    """What every entry said."""

    entries: list[tuple[str, int]] = field(default_factory=list)

    def follow(self, kind: str, link: Link, body: dict[str, Any]) -> None:
        """Keep the word, in whole numbers."""
        assert "kind" not in body
        self.entries.append((kind, 12 // int(body["word"])))


def chain(*bodies: dict[str, Any]) -> list[Link]:
    """Return bodies as a chain."""
    links = []
    for number, body in enumerate(bodies, start=1):
        links.append(linked(number, links[-1].hash if links else FIRST, body))
    return links


OPENED, MORE = {"kind": "opened", "format": 1, "word": 3}, {"word": "4", "kind": "more"}


def raw(number: int, previous: str, text: str) -> Link:
    """Return an entry of any text."""
    return Link(number, text, chained(previous, text))


def test_an_entry_is_its_text_and_the_hash_of_what_came_before():
    first, second = chain(OPENED, {"word": "é", "kind": "a"})
    assert (first.number, first.text) == (1, '{"format":1,"kind":"opened","word":3}')
    assert (second.number, second.text) == (2, '{"kind":"a","word":"\\u00e9"}')
    assert first.hash == hashlib.sha256(f"{'0' * 64}\n{first.text}".encode()).hexdigest()
    assert second.hash == hashlib.sha256(f"{first.hash}\n{second.text}".encode()).hexdigest()
    with pytest.raises(ValueError, match="JSON"):
        canonical({"word": float("nan")})


GOOD = chain(OPENED, MORE)


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ([], "it has no entries"),
        (GOOD[1:], "entry 1 is missing"),
        ([GOOD[0], replace(GOOD[1], number=3)], "entry 2 is missing"),
        ([GOOD[0], GOOD[0]], "entry 2 is missing"),
        ([GOOD[0], replace(GOOD[1], text=GOOD[1].text + " ")], "the hash of entry 2 does not follow from its text"),
        ([GOOD[0], raw(2, FIRST, GOOD[1].text)], "the hash of entry 2 does not follow from its text"),
        ([GOOD[0], raw(2, GOOD[0].hash, "{")], "entry 2 is not JSON"),
        ([GOOD[0], raw(2, GOOD[0].hash, "[]")], "entry 2 is not a record"),
        (chain(MORE), "entry 1 is not of a kind that may stand there"),
        (chain(OPENED, OPENED), "entry 2 is not of a kind that may stand there"),
        *((chain(OPENED, MORE | {"word": word}), "entry 2 lacks something") for word in (0, "a", None, [])),
        *((chain(OPENED, body), "entry 2 lacks something") for body in ({"word": 3}, {"kind": "more"})),
    ],
)
def test_what_does_not_follow_is_refused_and_leaves_nothing_behind(links, message):
    with pytest.raises(Damaged, match=f"^{message}"):
        Transcript.of(links)
    *before, last = links or GOOD[1:]
    transcript = Transcript()
    for link in before:
        transcript.add(link)
    state = transcript.number, transcript.hash, list(transcript.entries)
    with pytest.raises(Damaged):
        transcript.add(last)
    assert (transcript.number, transcript.hash, transcript.entries) == state

"""TOML files of users: what is refused before and while parsing, and what is written reads back."""

from __future__ import annotations

import re
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InputError
from core.settings import LARGEST, parsed, quoted, told


def refused(content: str | bytes) -> str:
    """Return the sentence a file is refused with."""
    with pytest.raises(InputError) as caught:
        parsed(content, name="p.toml")
    sentence = str(caught.value)
    assert sentence.startswith("p.toml") and sentence.endswith(".") and "\n" not in sentence
    return sentence


def test_a_file_of_windows_reads_like_any_other() -> None:
    assert parsed('\ufeffa = 1\r\nb = "ü"\r\n'.encode(), name="p.toml") == {"a": 1, "b": "ü"}
    assert parsed('\ufeffa = 1\r\nb = "ü"\r\n', name="p.toml") == {"a": 1, "b": "ü"}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a = 1\nb = '\xe9'\n", r"must be UTF-8 text, got a byte that is not in line 2\."),
        ("a = '\ud800'", r"must be UTF-8 text, got a character that is not\."),
        ("a = 1\nb\n", r"is not TOML: expected '=' after a key in a key/value pair, in line 2\."),
        ("a = [1,", r"is not TOML: .+, at the end of the file\."),
        ("a = 1\na = 2\n", r"is not TOML: .+, in line 2\."),
        ("a = 2026-02-30", r"is not TOML: .+, in line 1\."),
        ("{}", r"is not TOML: .+, in line 1\."),
        ("a = " + "1" * 5000, r"is not TOML: it holds a number that is too long\."),
        ("a = " + "[" * 5000, r"is nested too deeply for a file of settings\."),
        ("a = " + "{b = " * 5000, r"is nested too deeply for a file of settings\."),
        ("a = 1\n" + "b." * 501 + "c = 1", r"must have at most 500 full stops a line, got 501 in line 2\."),
        (b"a" * 10_000_000, r"must have at most 65,536 characters, got 10,000,000\."),
    ],
)
def test_what_cannot_be_read_is_told_in_one_sentence(content: str | bytes, expected: str) -> None:
    assert re.fullmatch(f"p.toml {expected}", refused(content))


def test_the_largest_file_is_read() -> None:
    assert parsed("#" * LARGEST, name="p.toml") == {}
    assert "at most" in refused("#" * (LARGEST + 1))


@settings(max_examples=80)
@given(st.one_of(st.text(max_size=60), st.binary(max_size=60)))
def test_anything_is_read_or_refused(content: str | bytes) -> None:
    try:
        assert isinstance(parsed(content, name="p.toml"), dict)
    except InputError as error:
        assert str(error).startswith("p.toml")


@settings(max_examples=80)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_text_reads_back(text: str) -> None:
    assert tomllib.loads(f"a = {quoted(text)}\nb = 1") == {"a": text, "b": 1}


@pytest.mark.parametrize(
    "text", ['"""', 'a\n"""b"""', "\\", "a\\\nb", "\n", "\n\n x ", "end\\", '"\n"', "\r\n", "\x00\x7f\x85"]
)
def test_awkward_text_reads_back(text: str) -> None:
    assert tomllib.loads(f"a = {quoted(text)}")["a"] == text


def test_values_are_told_shortly() -> None:
    nested: list[object] = []
    for _ in range(5000):
        nested = [nested]
    assert told(nested) == "a list" and told({"a": nested}) == "a table"
    assert (told(True), told(7), told(0.5), told("a")) == ("true", "7", "0.5", "'a'")
    assert told(16**20_000) == "a number of more than 19 digits"
    assert told("x" * 5000) == f"'{'x' * 59}… (5,002 characters)"

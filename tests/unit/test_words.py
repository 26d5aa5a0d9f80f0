"""The words that people read: standard terms, short sentences."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.glossary import AVOID, GLOSSARY

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 25
"""Words in a sentence on a page."""

AVOIDED = {re.compile(rf"(?<!\w)(?:{phrase})(?!\w)", re.IGNORECASE): better for phrase, better in AVOID.items()}
QUOTED = re.compile(
    r"(?m:^\s*[\w*]+(?:, [\w*]+)* : )|``[^`]*``|`[^`\n]*`|“[^”]*”|https?://\S+|\{[^{}]*\}|[\w-]+\.(?:py|toml|md|json|csv|html)\b"
)
"""Names of the code, quotations, addresses, and what a text has filled in."""

STREAMS = ("child_generator", "child_seed")
"""Functions whose texts are the names of random streams: other words would change the numbers."""

SOURCES = sorted([*ROOT.glob("*.py"), *ROOT.glob("core/**/*.py"), *ROOT.glob("pages/**/*.py")])
TEXTS = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("core/**/*.toml"), *ROOT.glob("core/**/*.html")]
)
SAID = [
    *ROOT.glob("pages/**/*.py"),
    *ROOT.glob("core/*/findings.py"),
    *ROOT.glob("core/*/tables.py"),
    *ROOT.glob("core/examples/**/*.py"),
]
"""Files whose texts, but for docstrings, are on screen."""


def path_of(path: Path) -> str:
    """Return a file's path inside the repository."""
    return path.relative_to(ROOT).as_posix()


def strings(path: Path, *, docstrings: bool = True) -> Iterator[tuple[int, str]]:
    """Yield the texts of a file of Python with their lines.

    Names and keys, which have no space, are left out, and so are the names of random streams, which are seeds.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    parts = [part for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)]
    left_out = {id(part) for part in parts if not isinstance(part, ast.JoinedStr)}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) in STREAMS]
    left_out |= {id(part) for call in calls for part in ast.walk(call)}
    if not docstrings:
        blocks = [node for node in ast.walk(tree) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)]
        left_out |= {id(part.value) for node in blocks for part in node.body if isinstance(part, ast.Expr)}
    for node in ast.walk(tree):
        text = ""
        if isinstance(node, ast.JoinedStr) and id(node) not in left_out:
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in left_out:
            text = node.value
        if " " in text.strip() and not text.lstrip().startswith("<"):
            yield node.lineno, text


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text but for blocks of code."""
    code = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        code ^= line.lstrip().startswith("```")
        if not code and not line.startswith("    "):
            yield number, line


def hits(text: str) -> list[str]:
    """Return what a text says that has a standard term."""
    plain = QUOTED.sub("_", text)
    return [f"“{match[0]}”: {better}" for phrase, better in AVOIDED.items() for match in phrase.finditer(plain)]


def long_sentences(text: str) -> list[str]:
    """Return the sentences of a text that are too long; a row of a list or of a table ends one."""
    sentences = re.split(r"(?<=[.!?:;])\s+|\n\n|\n[-*|] ", text)
    return [sentence for sentence in sentences if len(re.findall(r"\S*[\w{]\S*", sentence)) > LONGEST]


def ready(paths: list[Path]) -> list[Path]:
    """Return the files whose words are looked at; the glossary lists what to avoid."""
    return [path for path in paths if path.stem != "glossary"]


@pytest.mark.parametrize("path", ready([*SOURCES, *TEXTS]), ids=path_of)
def test_texts_use_the_standard_terms(path: Path):
    texts = strings(path) if path.suffix == ".py" else prose(path)
    assert [f"line {line}: {hit}" for line, text in texts for hit in hits(text)] == []


@pytest.mark.parametrize("path", ready(SAID), ids=path_of)
def test_sentences_on_screen_are_short(path: Path):
    assert [(line, one) for line, text in strings(path, docstrings=False) for one in long_sentences(text)] == []


PRIVATE = {
    "The attacker is told nothing": "told",
    "They name the sex of 76.9% of people": "name the sex",
    "the promise holds": "promise",
    "57% of them rightly": "rightly",
    "mean over draws of people": "over draws",
    "No outsiders": "outsiders",
    "called a member": "called a member",
}
HARMLESS = ("so-called gap", "the column named `told`", "“told nothing”", "drawn at random", "The other half", "toll")


def test_private_words_and_long_sentences_are_noticed_and_others_left_alone():
    for text, phrase in PRIVATE.items():
        assert any(hit.startswith(f"“{phrase}”") for hit in hits(text)), text
    assert [hit for text in HARMLESS for hit in hits(text)] == []
    assert long_sentences(" ".join(["word"] * 26)) and not long_sentences(" ".join(["word"] * 25))


def test_every_term_has_one_meaning():
    terms = [term for chapter in GLOSSARY.values() for term in chapter]
    assert len(set(terms)) == len(terms)
    assert all(meaning.endswith(".") for chapter in GLOSSARY.values() for meaning in chapter.values())

"""One thing stands on a line of the source: no packed assignments, no conditional where none is looked for."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import house

SOURCES = [path for path in house.sources().values() if path.is_file()]


def packed(tree: ast.AST) -> Iterator[ast.AST]:
    """Assignments of several values to several names, but for an exchange of names."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Tuple):
            continue
        names = {name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)}
        read = {name.id for name in ast.walk(node.value) if isinstance(name, ast.Name)}
        if isinstance(node.targets[0], ast.Tuple) and not names & read:
            yield node


def conditional_arguments(tree: ast.AST) -> Iterator[ast.AST]:
    """Conditionals that are an argument of a call or a part of a text."""
    for node in ast.walk(tree):
        parts: list[ast.AST] = []
        if isinstance(node, ast.Call):
            parts = [*node.args, *(keyword.value for keyword in node.keywords)]
        elif isinstance(node, ast.FormattedValue):
            parts = [node.value]
        yield from (part for part in parts if isinstance(part, ast.IfExp))


def nested_conditionals(tree: ast.AST) -> Iterator[ast.AST]:
    """Conditionals inside a conditional."""
    for node in ast.walk(tree):
        if isinstance(node, ast.IfExp):
            inner = [part for part in ast.walk(node) if isinstance(part, ast.IfExp)]
            yield from inner[1:]


RULES = (packed, conditional_arguments, nested_conditionals)


def violations(rule: Callable[[ast.AST], Iterator[ast.AST]], source: str) -> list[int]:
    """Return the lines that break a rule."""
    return sorted(node.lineno for node in rule(ast.parse(source)))  # type: ignore[attr-defined]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_source_keeps_one_thing_a_line(rule: Callable[[ast.AST], Iterator[ast.AST]]):
    broken = {
        path.relative_to(house.ROOT).as_posix(): lines
        for path in SOURCES
        if (lines := violations(rule, Path(path).read_text(encoding="utf-8")))
    }
    assert "\n".join(f"{path}: {lines}" for path, lines in broken.items()) == ""

"""Where in the core a fault is: drawn by a seed, written down, and found again when its file has moved.

A fault is known by the qualified name of its function (``Class.method``; a constant's or a field's own name), what
stands there, in the form that `ast.unparse` gives, the line it stands in, and which of several equal ones it is.
"""

from __future__ import annotations

import ast
import json
import random
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from tests.faults.operators import OPERATORS, default_of, worth_a_fault

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(__file__).parent
Function = ast.FunctionDef | ast.AsyncFunctionDef
SKIPPED = (ast.JoinedStr, ast.Raise, ast.Assert, ast.Import, ast.ImportFrom)


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One small fault: `before` becomes `after` in `scope`; `file` is where that was when it was drawn."""

    number: int
    operator: str
    file: str
    scope: str
    line: str
    before: str
    after: str
    occurrence: int


@dataclass(frozen=True)
class Location:
    """A node that may be changed, the statement it belongs to, and the function or constant around it."""

    scope: str
    node: ast.AST
    statement: ast.stmt

    @property
    def line(self) -> str:
        """The first line of the statement, in the form of `ast.unparse`."""
        if isinstance(self.statement, Function):
            return f"def {self.statement.name}"
        return ast.unparse(self.statement).partition("\n")[0]


def places(tree: ast.Module) -> Iterator[Location]:
    """Yield every expression and return statement of a file that is computed with."""
    yield from _of_body(tree.body, "", False)


def _of_body(body: list[ast.stmt], scope: str, inside: bool) -> Iterator[Location]:
    for statement in body:
        if isinstance(statement, Function):
            qualified_name = f"{scope}.{statement.name}".lstrip(".")
            if statement.name != "__repr__":
                for value in [*statement.args.defaults, *filter(None, statement.args.kw_defaults)]:
                    yield from _of_node(value, qualified_name, statement)
                for node in ast.walk(statement):
                    if isinstance(node, ast.Return):
                        node.default = getattr(node, "default", default_of(statement))  # type: ignore[attr-defined]
                yield from _of_body(statement.body, qualified_name, True)
        elif isinstance(statement, ast.ClassDef):
            yield from _of_body(statement.body, f"{scope}.{statement.name}".lstrip("."), False)
        elif inside:
            yield from _of_node(statement, scope, statement)
        elif isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            name = ast.unparse(statement.targets[0] if isinstance(statement, ast.Assign) else statement.target)
            if name != "__all__":
                yield from _of_node(statement.value, f"{scope}.{name}".lstrip("."), statement)


def _of_node(node: ast.AST, scope: str, statement: ast.stmt) -> Iterator[Location]:
    if isinstance(node, SKIPPED) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        return
    if isinstance(node, ast.expr | ast.Return):
        yield Location(scope, node, statement)
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.stmt):
                yield from _of_body([child], scope, True)
            elif isinstance(child, ast.AST):
                yield from _of_node(child, scope, statement)


def sources(root: Path = ROOT) -> list[str]:
    """Return the files of the core, by their paths."""
    return sorted(path.relative_to(root).as_posix() for path in (root / "core").rglob("*.py"))


@cache
def read(root: Path, file: str) -> str:
    """Return what a file says."""
    return (root / file).read_text(encoding="utf-8")


@cache
def places_of(root: Path, file: str) -> tuple[Location, ...]:
    """Return the places of a file."""
    return tuple(places(ast.parse(read(root, file))))


def small_names(root: Path, file: str) -> set[str]:
    """Return the names of amounts of rounding: a file's own, and the public ones of all files."""
    pattern = re.compile(r"^([A-Za-z_]+)(?:: \w+)? = [0-9.]+e-(?:0?[6-9]|\d\d)", re.MULTILINE)
    public = {name for source in sources(root) for name in pattern.findall(read(root, source)) if name[0] != "_"}
    return public | set(pattern.findall(read(root, file)))


def draw(seed: int, count: int, root: Path = ROOT) -> list[Fault]:
    """Draw faults: operators in turn, files by their lines, at most one in a function."""
    chance = random.Random(seed)
    files = sources(root)
    lines = [read(root, file).count("\n") for file in files]
    drawn: list[Fault] = []
    taken: set[tuple[str, str]] = set()
    names = list(OPERATORS)
    for _ in range(1000 * count):
        if len(drawn) == count:
            return drawn
        operator = names[len(drawn) % len(names)]
        file = chance.choices(files, lines)[0]
        every, small = places_of(root, file), small_names(root, file)
        candidates = [
            (location, ast.unparse(replacement))
            for location in every
            if (file, location.scope) not in taken
            for replacement in OPERATORS[operator](location.node)
            if worth_a_fault(location.node, location.statement, small)
        ]
        if candidates:
            location, after = chance.choice(candidates)
            before = ast.unparse(location.node)
            occurrences = [
                candidate.node
                for candidate in every
                if candidate.scope == location.scope and ast.unparse(candidate.node) == before
            ]
            taken.add((file, location.scope))
            drawn.append(
                Fault(
                    number=len(drawn) + 1,
                    operator=operator,
                    file=file,
                    scope=location.scope,
                    line=location.line,
                    before=before,
                    after=after,
                    occurrence=occurrences.index(location.node),
                )
            )
    raise ValueError(f"only {len(drawn)} faults can be drawn")


def find(fault: Fault, root: Path = ROOT) -> tuple[str, ast.AST] | None:
    """Return the file and node of a fault: where it was, else where its function is, under its own or a longer name."""
    files = sources(root)
    if fault.file in files and (node := _in_scope(fault, root, fault.file)) is not None:
        return fault.file, node
    name = re.compile(rf"^ *(?:(?:async )?def )?{re.escape(fault.scope.rpartition('.')[2])}\b", re.MULTILINE)
    near = [file for file in files if name.search(read(root, file))]
    moved = [(file, node) for file in near if (node := _in_scope(fault, root, file))]
    if moved:
        return moved[0] if len(moved) == 1 else None
    word = fault.scope.rpartition(".")[2].strip("_")
    renamed = [
        (file, location.node)
        for file in files
        if f"{word}_" in read(root, file) or f"_{word}" in read(root, file)
        for location in places_of(root, file)
        if word in location.scope and ast.unparse(location.node) == fault.before and location.line == fault.line
    ]
    return renamed[0] if len(renamed) == 1 else None


def _in_scope(fault: Fault, root: Path, file: str) -> ast.AST | None:
    scoped = [location for location in places_of(root, file) if location.scope == fault.scope]
    matches = [location for location in scoped if ast.unparse(location.node) == fault.before]
    if len(scoped := [location for location in matches if location.line == fault.line]) == 1:
        return scoped[0].node
    if scoped and fault.occurrence < len(matches):
        return matches[fault.occurrence].node
    return matches[0].node if len(matches) == 1 else None


def faulty(source: str, node: ast.AST, after: str) -> str:
    """Return a file's text with a node replaced; every other line stays where it was."""
    lines = source.encode().splitlines(keepends=True)
    begin = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    end = sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset
    text = b"".join(lines)
    replacement = after if isinstance(node, ast.Return) else f"({after})"
    return (text[:begin] + replacement.encode() + text[end:]).decode()


def drawn_file(seed: int) -> Path:
    """Return the file of what a seed drew."""
    return FOLDER / f"seed-{seed}.json"


def load(seed: int) -> list[Fault]:
    """Return what a seed drew when it was drawn."""
    return [Fault(**entry) for entry in json.loads(drawn_file(seed).read_text(encoding="utf-8"))]


def save(seed: int, faults: list[Fault]) -> None:
    """Write down what a seed drew."""
    text = json.dumps([asdict(fault) for fault in faults], indent=1, ensure_ascii=False)
    drawn_file(seed).write_text(f"{text}\n", encoding="utf-8")

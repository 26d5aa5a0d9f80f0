"""The source as a house: files, their lines by kind, which takes what from which; `make size` prints it."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def module_of(path: Path) -> str:
    """Return the name a file is imported by."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def sources() -> dict[str, Path]:
    """Return the product's Python files by the name of their module."""
    paths = [*ROOT.glob("*.py"), *(ROOT / "core").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]
    return {module_of(path): path for path in sorted(paths)}


@cache
def tree(path: Path) -> ast.Module:
    """Return a file, parsed."""
    return ast.parse(path.read_text(encoding="utf-8"))


def imported_module(path: Path, node: ast.ImportFrom) -> str:
    """Return the full name of the module that a statement imports from; a relative one counts from the file."""
    if node.level == 0:
        return node.module or ""
    package = path.relative_to(ROOT).parts[: -node.level]
    return ".".join([*package, node.module] if node.module else package)


def taken(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the module and the name of everything a file imports, wherever in it; no name for a whole module."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((imported_module(path, node), alias.name) for alias in node.names)


def home(module: str, name: str, files: Mapping[str, Path]) -> str:
    """Return the module, of these files, that a name comes from, through the faces of packages."""
    if f"{module}.{name}" in files:
        return f"{module}.{name}"
    if module in files and files[module].name == "__init__.py":
        for source, exported in taken(files[module]):
            if exported == name and source != module:
                return home(source, name, files)
    return module


@cache
def arrows() -> dict[str, dict[str, set[str]]]:
    """Return for each module the modules it imports, with the names it takes; a package's face counts as no room."""
    graph: dict[str, dict[str, set[str]]] = {}
    for module, path in sources().items():
        rooms = graph.setdefault(module, {})
        if path.name == "__init__.py":
            continue
        for source, name in taken(path):
            found_in = home(source, name, sources())
            if found_in in sources() and found_in != module:
                rooms.setdefault(found_in, set()).add(name)
    return graph


def circle() -> list[str]:
    """Return modules that import each other in a loop, one after the other; none where there is no loop."""
    try:
        TopologicalSorter(arrows()).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def kinds(path: Path) -> Counter[str]:
    """Return a file's lines by kind: code, docstring, import, comment, blank."""
    lines = path.read_text(encoding="utf-8").splitlines()
    kind = ["code" if line.strip() else "blank" for line in lines]
    for number, line in enumerate(lines):
        if line.lstrip().startswith("#"):
            kind[number] = "comment"
    for node in ast.walk(tree(path)):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            kind[node.lineno - 1 : node.end_lineno] = ["import"] * (node.end_lineno - node.lineno + 1)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            kind[node.lineno - 1 : node.end_lineno] = ["docstring"] * (node.end_lineno - node.lineno + 1)
    return Counter(kind)


def main() -> None:
    """Print files and lines of each room of the source, and of the tests."""
    rooms: dict[str, list[Path]] = {}
    for path in sources().values():
        parts = path.relative_to(ROOT).parts
        rooms.setdefault("/".join(parts[:2] if len(parts) > 2 else parts[:-1]) or "top level", []).append(path)
    rows = [(room, len(paths), sum(map(kinds, paths), Counter())) for room, paths in sorted(rooms.items())]
    rows.append(("source", len(sources()), sum((row[2] for row in rows), Counter())))
    tests = sorted((ROOT / "tests").rglob("*.py"))
    rows.append(("tests", len(tests), sum(map(kinds, tests), Counter())))
    print(f"{'':24}{'files':>7}{'lines':>8}{'code':>8}{'docstring':>11}{'import':>8}{'blank':>7}{'comment':>9}")
    for room, files, count in rows:
        print(
            f"{room:24}{files:7,}{count.total():8,}{count['code']:8,}{count['docstring']:11,}"
            f"{count['import']:8,}{count['blank']:7,}{count['comment']:9,}"
        )


if __name__ == "__main__":
    main()

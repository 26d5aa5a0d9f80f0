"""The source as a house: its files and names, and which file takes what from which."""

import ast
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

PRIVATE_VOCABULARY = frozenset(
    re.findall(
        r"\w+",
        "found told said asked given named known kept made taught judged shown wanted there here each one other others "
        "own whole apart alike whose place words reading standing",
    )
)
"""Words that name nothing to a stranger; no name ends in one."""


def module_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def sources():
    """Return the product's Python files by the name of their module."""
    paths = [*ROOT.glob("*.py"), *(ROOT / "core").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]
    return {module_of(path): path for path in sorted(paths)}


@cache
def tree(path):
    return ast.parse(path.read_text("utf-8"))


def imported_module(path, node):
    """Return the full name of the module that a statement imports from; a relative one counts from the file."""
    if node.level == 0:
        return node.module or ""
    package = path.relative_to(ROOT).parts[: -node.level]
    return ".".join([*package, node.module] if node.module else package)


def taken(path):
    """Yield the module and the name of everything a file imports, wherever in it; no name for a whole module."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((imported_module(path, node), alias.name) for alias in node.names)


def home(module, name, files):
    """Return the module, of these files, that a name comes from, through the faces of packages."""
    if f"{module}.{name}" in files:
        return f"{module}.{name}"
    if module in files and files[module].name == "__init__.py":
        for source, exported in taken(files[module]):
            if exported == name and source != module:
                return home(source, name, files)
    return module


@cache
def arrows():
    """Return for each module the modules it imports, with the names it takes; a package's face counts as no room."""
    graph = {}
    for module, path in sources().items():
        rooms = graph.setdefault(module, {})
        if path.name == "__init__.py":
            continue
        for source, name in taken(path):
            found_in = home(source, name, sources())
            if found_in in sources() and found_in != module:
                rooms.setdefault(found_in, set()).add(name)
    return graph


def circle():
    """Return modules that import each other in a loop, one after the other; none where there is no loop."""
    try:
        TopologicalSorter(arrows()).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def declared_names(path):
    """Yield the names a file gives: its own, functions, classes, parameters, variables, attributes, aliases."""
    yield path.stem
    for node in ast.walk(tree(path)):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.alias(asname=str(name)):
                yield name


def last_word(name):
    parts = [part for part in re.split(r"_+|(?<=[a-z0-9])(?=[A-Z])", name) if part]
    return parts[-1].lower() if parts else ""


def class_names(path):
    yield from (node.name for node in ast.walk(tree(path)) if isinstance(node, ast.ClassDef))

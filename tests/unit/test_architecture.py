"""Rules of the whole package: what may import what, what loads first, what is public, one thing on a line."""

import ast
import json
import sys
from typing import get_args

import pytest

from pages.shell import state
from pages.shell.controls import Kind
from tests import house
from tests.house import ROOT
from tests.patience import finished

CORE = ROOT / "core"
BRANCHES = {path.parent.name for path in (CORE / "studies").glob("*/__init__.py")} - {"measured_epsilon", "people"}
"""Studies that import no other one; the two left out are made of others."""
HEAVY = {"pandas", "sklearn", "scipy", "fairlearn", "pulp", "plotly", "pyarrow", "joblib", "folktables"}
HEAVY |= {"optuna", "onnxruntime", "skops", "typst"}
SOURCES = [path for path in sorted(CORE.rglob("*.py")) if path.name != "__main__.py"]
PAGES = sorted((ROOT / "pages").glob("*.py"))


def loaded_by(statements):
    """Return the modules a fresh process holds after some statements."""
    code = f"{statements}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = finished([sys.executable, "-c", code], cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def imports(path, package):
    """Return whether a file imports a package or what is inside it, wherever in the file."""
    return any(f"{module}.{part}.".startswith(f"{package}.") for module, part in house.taken(path))


def relative_name(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", SOURCES, ids=relative_name)
def test_core_neither_shows_nor_prints_and_studies_stay_separate(path):
    folder, room, *_ = (*path.relative_to(CORE).parts, "")
    siblings = BRANCHES - {room} if folder == "studies" and room in BRANCHES else ()
    for foreign in ("streamlit", "pages", "app", *(f"core.studies.{study}" for study in siblings)):
        assert not imports(path, foreign)
    calls = [node for node in ast.walk(house.tree(path)) if isinstance(node, ast.Call)]
    names = {call.func.id for call in calls if isinstance(call.func, ast.Name)}
    assert not names & {"print", "input", "breakpoint", "exit"}


@pytest.mark.long
@pytest.mark.parametrize(
    ("reader", "only"),
    [
        ("core.datasets.text_table", "core/datasets/read_table.py"),
        ("core.models.onnx_model", "core/models/model_files.py"),
        ("core.models.skops_model", "core/models/model_files.py"),
    ],
)
def test_what_strangers_wrote_is_opened_by_what_a_child_is_asked_for(reader, only):
    files = [*SOURCES, *(ROOT / "pages").rglob("*.py")]
    assert [relative_name(path) for path in files if imports(path, reader)] == [only]


@pytest.mark.parametrize("path", sorted(CORE.rglob("__init__.py")), ids=relative_name)
def test_every_package_says_what_is_public(path):
    tree = house.tree(path)
    assert ast.get_docstring(tree)
    public = [
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["__all__"]
    ]
    assert len(public) == 1, "no __all__, or several"
    assert len(set(public[0])) == len(public[0])


def test_first_paint_loads_nothing_heavy():
    statements = house.tree(ROOT / "app.py").body
    lines = [ast.unparse(node) for node in statements if isinstance(node, (ast.Import, ast.ImportFrom))]
    loaded = loaded_by("\n".join(lines)) - loaded_by("import streamlit")
    assert "pages.shell.controls" in loaded
    assert not {name.partition(".")[0] for name in loaded} & HEAVY


@pytest.mark.parametrize("path", PAGES, ids=relative_name)
def test_a_page_begins_with_its_guard(path):
    statements = [ast.unparse(node) for node in house.tree(path).body[1:4]]  # after the docstring
    assert "shell.guard()" in statements
    before = statements[: statements.index("shell.guard()")]
    assert set(before) <= {"from __future__ import annotations", "from pages.shell import shell"}


@pytest.mark.parametrize("path", [*PAGES, *sorted((ROOT / "pages").glob("*/*.py"))], ids=relative_name)
def test_only_one_module_of_the_pages_caches(path):
    source = path.read_text("utf-8")
    assert path.name == "cached.py" or not ("cache_data" in source or "cache_resource" in source)


FLOORS = (
    ("base.errors", "learn.glossary"),
    ("base.serialize", "base.validation"),
    ("base", "stats.estimates", "stats.projection", "store.chain"),
    ("stats",),
    ("charts",),
    ("datasets",),
    ("adversaries", "auditing.subprocess_jobs", "models", "store.database"),
    ("studies.subject",),
    ("studies.study",),
    ("studies.correction", "studies.fairness"),
    ("studies.attribute", "studies.attriguard", "studies.membership", "studies.two_models"),
    ("studies.model_card",),
    ("studies.bias_queries",),
    ("desk",),
    ("studies.measured_epsilon",),
    ("learn.examples", "studies.people"),
    ("studies",),
    ("auditing.policy",),
    ("auditing",),
    ("experiments",),
    ("report",),
    ("store",),
    ("cli",),
    ("__main__",),
    ("learn",),
)
"""The rooms of core from the ground up; a room takes from those on lower floors alone."""


def room_of(module):
    """Return the room of a module of core: the smallest on the floors that holds it."""
    room, rooms = module.partition(".")[2], sum(FLOORS, ())
    while room and room not in rooms:
        room = room.rpartition(".")[0]
    return room


def test_cancel_knows_buttons_by_their_keys():
    """A press that it puts back as a setting would break the page; a setting it takes for a press would stay."""
    keys = {True: set(), False: set()}
    files = (ROOT / "pages").rglob("*.py")
    calls = [node for path in files for node in ast.walk(house.tree(path)) if isinstance(node, ast.Call)]
    for call in calls:
        kind = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        keywords = [keyword.value for keyword in call.keywords if keyword.arg == "key"]
        texts = [str(node.value) for key in keywords for node in ast.walk(key) if isinstance(node, ast.Constant)]
        if texts and kind in ("button", "form_submit_button", *get_args(Kind)):
            keys[kind.endswith("button")].add("".join(texts))
    assert min(map(len, keys.values())) > 15
    assert {key for key in keys[True] | keys[False] if state.BUTTON.search(key)} == keys[True]


def test_no_files_import_in_a_loop_and_no_arrow_runs_upwards():
    assert house.circle() == []
    floor = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
    assert {room_of(module) for module in house.sources() if module.startswith("core.")} == set(floor)
    upwards = [
        f"{module} takes {', '.join(sorted(names))} of {target}"
        for module, targets in house.arrows().items()
        if module.startswith("core.")
        for target, names in targets.items()
        if target != "core" and room_of(target) != room_of(module) and floor[room_of(target)] >= floor[room_of(module)]
    ]
    assert upwards == []


def remembered(node):
    """Return whether a function's answers are kept although it is asked about something else than a type."""
    decorators = [ast.unparse(decorator).rpartition(".")[2] for decorator in node.decorator_list]
    is_cached = any(decorator.startswith(("cache", "lru_cache")) for decorator in decorators)
    arguments = [part for part in ast.walk(node.args) if isinstance(part, ast.arg) and part.annotation]
    return is_cached and any(not ast.unparse(argument.annotation).startswith("type") for argument in arguments)


def test_no_module_keeps_what_it_computed():
    """No dictionary or list that fills, no cache of what takes an argument: the dataset and the session have those."""
    stores, empty = [], ("{}", "[]", "set()", "dict()", "list()", "OrderedDict()")
    for module, path in house.sources().items():
        for node in house.tree(path).body:
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value and ast.unparse(node.value) in empty:
                stores.append(f"{module}: {ast.unparse(node)}")
        functions = (node for node in ast.walk(house.tree(path)) if isinstance(node, ast.FunctionDef))
        stores += [f"{module}.{node.name}" for node in functions if remembered(node)]
    assert stores == []


def packed(tree):
    """Assignments of several values to several names, but for an exchange of names."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Tuple):
            continue
        names = {name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)}
        read = {name.id for name in ast.walk(node.value) if isinstance(name, ast.Name)}
        if isinstance(node.targets[0], ast.Tuple) and not names & read:
            yield node


def conditional_arguments(tree):
    """Conditionals that are an argument of a call or a part of a text."""
    for node in ast.walk(tree):
        parts = []
        if isinstance(node, ast.Call):
            parts = [*node.args, *(keyword.value for keyword in node.keywords)]
        elif isinstance(node, ast.FormattedValue):
            parts = [node.value]
        yield from (part for part in parts if isinstance(part, ast.IfExp))


def nested_conditionals(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.IfExp):
            inner = [part for part in ast.walk(node) if isinstance(part, ast.IfExp)]
            yield from inner[1:]


@pytest.mark.parametrize("rule", [packed, conditional_arguments, nested_conditionals])
def test_the_source_keeps_one_thing_a_line(rule):
    paths = house.sources().values()
    lines = {relative_name(path): sorted(node.lineno for node in rule(house.tree(path))) for path in paths}
    assert [f"{path}: {numbers}" for path, numbers in lines.items() if numbers] == []

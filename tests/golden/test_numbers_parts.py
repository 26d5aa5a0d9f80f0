"""The parts that all others use give what they gave: checks of arguments, settings, files, tables in words, records."""

from __future__ import annotations

import contextlib
import errno
import io
import math
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import numpy as np
import pytest

from core.base import files, serialize, settings, settings_text, validation
from core.base.errors import InputError
from core.base.serialize import content_fingerprint
from core.base.settings import Param, Setting, Settings, params
from core.cli.arguments import Parser
from core.stats import estimates
from core.stats.estimates import Estimate, Spread
from core.store import database
from core.studies.study import Finding, draw_people, posterior, subject_of
from tests.golden.numbers import compare_lines, lines

INF, NAN = math.inf, math.nan
NUMBERS = (-1, 0, 1, 2, 3, 4, 0.0, 1.0, -1e-9, 1 + 1e-9, 1e-6, 9.99e-7, 2.5, INF, -INF, NAN, True, "1", None)


def answer(call: Callable[[], Any]) -> Any:
    """Return what a call gives, or the sentence it refuses with."""
    try:
        return call()
    except (InputError, serialize.RecordError) as error:
        return f"refused: {error}"


def _validation() -> Iterator[tuple[str, Any]]:
    checks: dict[str, Callable[[Any], Any]] = {
        "unit": lambda value: validation.unit_interval(value, name="x"),
        "epsilon": validation.privacy_budget,
        "seed": validation.seed_value,
        "whole": lambda value: validation.whole_number(value, name="x", least=1, most=3, also=", or none"),
        "least": lambda value: validation.whole_number(value, name="x", least=2),
    }
    for name, check in checks.items():
        for value in (*NUMBERS, 2**32 - 1, 2**32):
            yield f"{name} {value!r}", answer(lambda check=check, value=value: check(value))
    arrays = (
        [],
        [0, 1],
        [1.0, 0.0],
        [True, False],
        [0, 2],
        [0, 3],
        [2.5],
        [-1, 0],
        [NAN],
        ["a"],
        [[0, 1]],
        [1e-9, INF],
    )
    many: dict[str, Callable[[Any], Any]] = {
        "binary": lambda value: validation.binary_array(value, name="x"),
        "small": lambda value: validation.binary_array(np.array(value).astype(np.uint8), name="x"),
        "two": lambda value: validation.group_array(value, 2, name="x"),
        "three": lambda value: validation.group_array(value, 3, name="x"),
        "positive": lambda value: validation.positive_array(value, name="x"),
        "shares": lambda value: validation.probabilities(value, 2, name="x"),
    }
    for name, check in many.items():
        for value in arrays:
            if name not in ("small", "positive", "shares") or value not in ([NAN], ["a"], [1e-9, INF], [-1, 0]):
                yield f"{name} {value}", answer(lambda check=check, value=value: check(value))
    for arguments in ({"a": [1], "b": [1, 2]}, {"a": [1], "b": None, "c": [3]}):
        yield f"length {sorted(arguments)}", answer(lambda arguments=arguments: validation.one_length(**arguments))


@dataclass(frozen=True, slots=True, kw_only=True)
class Invented(Settings):
    """Settings of every kind."""

    must: Annotated[str, Param("Must", "Must be given.", most=5)]
    flag: Annotated[bool, Param("Flag", "Whether.")] = False
    on: Annotated[bool, Param("On", "Whether not.")] = True
    count: Annotated[int, Param("Count", "How many.", least=2, most=5)] = 3
    one: Annotated[int, Param("One", "One alone.", least=1, most=1)] = 1
    most: Annotated[int | None, Param("Most", "How many at most.", least=1)] = None
    share: Annotated[float, Param("Share", "A share.", least=0, most=1, above=True, below=True)] = 0.5
    budget: Annotated[float, Param("Budget", "ε.", least=0.1, above=True, infinite=True, flag="--eps")] = INF
    free: Annotated[float, Param("Free", "Any number.", written=False)] = 0.25
    kind: Annotated[str, Param("Kind", "One of {options}.", options={"a": "A", "b": "B|b"})] = "a"
    kinds: Annotated[tuple[str, ...], Param("Kinds", "Some of {options}.", options=("a", "b"), some=True)] = ("a",)
    shares: Annotated[tuple[float | None, ...], Param("Shares", "Shares of 100%.", least=0, most=1)] = ()
    numbers: Annotated[tuple[float, ...], Param("Numbers", "Numbers.")] = ()
    line: Annotated[str, Param("Line", "A line.", form="line", written=True)] = ""
    prose: Annotated[str, Param("Prose", "Some lines.", form="prose")] = ""
    path: Annotated[str, Param("Path", "A file.", form="path")] = ""
    day: Annotated[str, Param("Day", "A day.", form="day")] = ""
    table: Annotated[tuple[tuple[str, Any], ...] | None, Param("Table", "Pairs.", form="table")] = None
    only: Annotated[int, Param("Only", "Where kind is b.", least=0, only=("kind", ("b",)))] = 0


VALUES: dict[str, tuple[Any, ...]] = {
    "must": ("", "12345", "123456", 3, None, "a\x00"),
    "flag": (True, 0, "yes"),
    "count": (1, 2, 5, 6, True, 3.0, 10**30),
    "one": (0, 1, 2),
    "most": (None, 0, 1, 2**70),
    "share": (0, 1, 0.5, 1e-9, NAN, INF, 10**400),
    "budget": (0.1, 0.11, INF, -INF, NAN, 5),
    "free": (INF, NAN, -1e300, 2**1000, 2**999, "x"),
    "kind": ("a", "c", 1),
    "kinds": ((), ("a", "b"), ("c",), ["a"], "a"),
    "shares": ((), (0, None, "none", 1), (1.1,), (NAN,), ("x",), 3),
    "numbers": ((INF,), (1, 2.5), (True,)),
    "line": ("a\tb", "a\nb", "\u202e", "é", "\ud800"),
    "prose": ("a\tb\nc", "\r", "\u2028"),
    "path": ("a/b", "/a", "../a", "a\\..\\b", "C:\\a", ".", "a/", "\x00"),
    "day": ("2024-02-29", "2023-02-29", "2024-2-9", "٢٠٢٤-٠١-٠١", 5),
    "table": ({"a": 1, "b": "none"}, [1], (("a", 2),)),
    "only": (0, -1),
}


def _settings() -> Iterator[tuple[str, Any]]:
    parameters = params(Invented)
    for name, setting in parameters.items():
        yield f"{name} rule", [setting.rule, setting.comment, setting.flag, setting.choices, setting.default is MISSING]
        for value in VALUES.get(name, ()):
            yield f"{name} {value!r:.20}", answer(lambda setting=setting, value=value: _checked(setting, value))
    custom = Invented(
        must="x", shares=(0.5, None), kinds=("a", "b"), table=(("a", None), ("b", 2.0)), prose='1\n2"', kind="b"
    )
    plain = Invented(must="y")
    for name, instance in (("own", custom), ("plain", plain)):
        text = settings_text.toml_text(
            {"": {}, "t": parameters},
            [("", {}), ("t", settings.values_of(instance))],
            replacements={},
            notes={"t": "of t", "t.kind": "two\nlines"},
            instead={"t.path": "no path"},
        )
        yield f"{name} toml", text
        yield f"{name} read", settings_text.read_tables(settings_text.parsed(text, name="f"), {"": {}, "t": parameters})
        yield f"{name} flags", settings_text.flags_text(instance)
    yield "reference", ["; ".join(row) for row in settings_text.reference_rows(parameters, title="t")]
    for content in (None, 3, {"no": 1}, {"only": 1, "kind": "a"}, {"only": 1, "kind": "b"}, {"schema": 1}):
        yield (
            f"table {content}",
            answer(lambda content=content: settings_text.read_tables({"t": content}, {"": {}, "t": parameters})),
        )
    for text in ("a", 'a"\\', "a\nb", "\x01\u202e\U000e0001é", ""):
        yield f"quoted {text!r}", settings_text.quoted(text)


LINES = (
    "",
    "--must x",
    "--must x --count 3 --no-on --flag --most none --shares 0.5,none --kinds all",
    '--must x --kinds a,b --numbers 1,2.5 --shares= --table {a=1,b="none"} --eps inf',
    "--must x --count 9",
    "--must x --kinds c",
    "--must x --shares x",
    "--must x --table [1",
    "--must 123456",
    "--must x --kind c",
    "--must x --most 2 --free nan",
)


def _flags() -> Iterator[tuple[str, Any]]:
    """Yield what flags are called, explained and read as."""
    parser = Parser(prog="p", allow_abbrev=False)
    settings_text.add_arguments(parser, Invented, defaults={"count": 4, "free": None})
    yield "help", parser.format_help()
    for line in LINES:
        yield f"line {line}", answer(lambda line=line: _parsed(parser, line))


def _parsed(parser: Parser, line: str) -> Any:
    err = io.StringIO()
    with contextlib.redirect_stderr(err):
        try:
            parsed = parser.parse_args(line.split())
        except SystemExit as left:
            return f"{left.code} {err.getvalue()}"
    options = settings_text.flag_values(parsed, Invented, but=("flag",))
    return [options, settings.values_of(settings_text.from_arguments(parsed, Invented, prose="p"))["kinds"]]


def _checked(setting: Setting, value: Any) -> Any:
    return [settings.checked(setting, value, setting.name)]


def _files(folder: Path) -> Iterator[tuple[str, Any]]:
    (folder / "file").write_bytes(b"12345")
    for most in (4, 5, 6):
        yield f"most {most}", answer(lambda most=most: files.content_of(folder / "file", what="F", most=most).decode())
    for name in ("none", "\x00", ".", "x" * 300):
        content = answer(lambda name=name: files.content_of(folder / name, what="F", label=name))
        yield f"content {name!r:.5}", content
    for name, is_folder in (
        ("file", False),
        ("file", True),
        ("new", True),
        ("no/new", False),
        (".", False),
        (".", True),
    ):
        outcome = answer(
            lambda name=name, is_folder=is_folder: files.check_writable(folder / name, what="F", folder=is_folder)
        )
        yield f"place {name} {is_folder}", str(outcome).replace(str(folder), "<folder>")
    for code in (errno.ENOSPC, errno.EDQUOT, errno.EACCES):
        yield f"why {code}", [files.why(OSError(code, "Why not")), files.is_full(OSError(code, ""))]
    yield "why", [files.why(OSError()), files.why(ValueError()), files.is_full(ValueError())]


def _tables() -> Iterator[tuple[str, Any]]:
    for half in (NAN, 0.0, 1e-10, 0.0001, 0.00035, 0.0349, 0.035, 0.36, 4.0):
        estimate = Estimate(value=0.1234567, low=0.1234567 - half, high=0.1234567 + half, n=9)
        texts = [
            estimates.Quantity(estimate, unit, signed).text
            for unit in ("", "%", "points", "bits")
            for signed in (False, True)
        ]
        yield f"quantity {half}", texts
    for value in (None, NAN, INF, 0.0, -0.5, 1234.5678):
        yield f"number {value}", [estimates.Quantity(value, unit, True).text for unit in ("", "%", "points", "bits")]
    spread = Spread(value=0.5, low=0.4, high=0.6, n=3, sd=0.1, over="seeds", seeds=3)
    rows = [
        {"a": "x", "b": estimates.share(spread), "c": 1234, "d": None},
        {"a": "y", "b": None, "e": estimates.change(-0.25), "c": INF, "d": NAN, "f": True},
        {"b": estimates.share(None), "a": "z", "c": 0.123456},
    ]
    yield "words", estimates.formatted_table(rows)
    yield "plain", [estimates.plain_row(row) for row in rows]
    finding = Finding(point="p", caveats=("c", ""), estimate=spread, so_what="s")
    yield "finding", [finding.text, finding.to_frame().to_csv()]
    record = serialize.dumps(finding)
    yield "record", record
    yield (
        "plain values",
        serialize.plain({("a", "b"): np.float32(0.5), 1: (INF, NAN), "c": np.array([1.0, NAN])}, finite=True),
    )


def _people() -> Iterator[tuple[str, Any]]:
    people = draw_people(600, np.random.default_rng(3))
    yield "people", people
    yield "posterior", [posterior(people), posterior(people, noise=np.linspace(-1, 1, 600))[:5]]
    subject = subject_of(people, people.labels, (330, 181, 89), seed=1)
    yield "splits", [getattr(subject.splits, name) for name in ("train", "attack", "validation", "test")]
    data = subject.dataset
    yield "sets", ["".join(name[1] for name in data.sets), data.group_names, data.rows_read, data.feature_names]
    parts = (
        {"a": 1},
        [0.5, None],
        np.arange(3),
        np.arange(3.0),
        np.arange(4).reshape(2, 2).T,
        b"x",
        "x",
        Finding(point="p"),
    )
    yield "fingerprints", [content_fingerprint(part)[:12] for part in parts] + [content_fingerprint(*parts)[:12]]


def _database(folder: Path) -> Iterator[tuple[str, Any]]:
    for name in ("SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_BUSY", ""):
        for state in ("53100", "55P03", ""):
            error = SimpleNamespace(sqlite_errorname=name, sqlstate=state)
            yield f"disk {name} {state}", str(database.disk_message(error)).replace(str(error), "<error>")  # type: ignore[arg-type]
    for text in (
        "database is locked",
        "lock timeout",
        "malformed",
        "no such table: x\nmore",
        "[Errno 5] odd",
        "",
        "  ",
    ):
        error = SimpleNamespace(orig=Exception(text))
        yield f"said {text!r}", database._error_text(error, "ledger")  # type: ignore[arg-type]
    for ending in ("", "-wal", "-journal", "-shm"):
        (folder / f"l{ending}").touch()
        yield f"mode {ending}", database._careful_mode(folder / "l")
        (folder / f"l{ending}").unlink()


CASES: dict[str, Callable[..., Iterator[tuple[str, Any]]]] = {
    "validation": _validation,
    "settings": _settings,
    "flags": _flags,
    "tables": _tables,
    "people": _people,
    "files": _files,
    "database": _database,
}


@pytest.mark.parametrize("name", CASES)
def test_numbers(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    arguments = (tmp_path,) if name in ("files", "database") else ()
    output_lines = [line for part, value in CASES[name](*arguments) for line in lines(part, value)]
    compare_lines(f"parts_{name}", [line.replace(str(tmp_path), "<folder>") for line in output_lines])

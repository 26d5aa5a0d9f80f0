"""What a child says, and how its end is told, is as it was: frames in memory, and a child that is made up."""

from __future__ import annotations

import io
import pickle
import signal
import threading
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from core.base.errors import InputError
from core.base.untrusted import child, opening
from core.base.untrusted.opening import Kind, read_frame, write_frame
from tests.golden.numbers import NamedValues, compare_numbers, refused

TABLE = pa.table({"a": [1, 2, 3], "b": ["x", None, "z"]})


def frame_bytes(*frames: tuple[Any, ...]) -> bytes:
    """Return frames as a child sends them."""
    stream = io.BytesIO()
    for frame in frames:
        write_frame(stream, *frame)
    return stream.getvalue()


def _read(content: bytes, most: int) -> Any:
    try:
        kind, message, table = read_frame(io.BytesIO(content), most=most)
    except Exception as error:
        return type(error).__name__
    return kind.name, message, None if table is None else table.to_pydict()


def frames() -> NamedValues:
    answer_frame, plain = frame_bytes((Kind.ANSWER, {"n": 1}, TABLE)), frame_bytes((Kind.PROGRESS, {"told": [1, 2]}))
    size = len(answer_frame) - opening._HEAD.size - len('{"n": 1}')
    for name, most in (("nothing", 0), ("less", size - 1), ("as much", size), ("more", size + 1)):
        yield f"{name} is taken", (_read(answer_frame, most), _read(plain, most))
    yield "a part", [_read(answer_frame[:left], size) for left in (0, 1, 16, 17, 18, len(answer_frame) - 1)]
    text = b"[1]"
    yield "no record", _read(opening._HEAD.pack(b"a", len(text), 0) + text, 9)
    yield "no kind", _read(opening._HEAD.pack(b"z", 2, 0) + b"{}", 9)
    with pytest.MonkeyPatch.context() as patch:
        for longest in (2, 1):
            patch.setattr(opening, "_MOST_JSON", longest)
            yield f"text of 2, at most {longest}", _read(opening._HEAD.pack(b"a", 2, 0) + b"{}", 9)


def tell(report: Callable[..., None], *, how: str) -> tuple[dict[str, Any], pa.Table | None]:
    """Answer as asked, after some progress."""
    report(1, 3)
    if how == "refuse":
        raise InputError("The file is refused.")
    if how == "memory":
        raise MemoryError
    if how == "break":
        raise KeyError("a")
    return {"how": how}, TABLE if how == "table" else None


def answers() -> NamedValues:
    for how in ("plain", "table", "refuse", "memory", "break"):
        stream = io.BytesIO()
        opening._answer(stream, tell, {"how": how})
        stream.seek(0)
        yield how, [read_frame(stream, most=10_000)[:2] for _ in range(2)]
        yield f"{how}, left", stream.read()[:1].decode()


class _Child:
    """A child that has said all it says, or nothing until it is ended."""

    pid = 0

    def __init__(self, content: bytes, code: int, *, waits: bool = False) -> None:
        self.questions, self.answers, self.code, self.done = io.BytesIO(), io.BytesIO(content), code, threading.Event()
        self.ended = 0
        if waits:
            self.answers.read = lambda _: b"" * self.done.wait(30)  # type: ignore[method-assign, assignment]

    def ending(self) -> int:
        return self.code

    def kill(self) -> None:
        self.done.set()

    def end(self) -> None:
        self.ended += 1


def requests() -> NamedValues:
    progress = (Kind.PROGRESS, {"told": [1, 2]})
    for name, content in {
        "plain": frame_bytes(progress, progress, (Kind.ANSWER, {"n": 1})),
        "table": frame_bytes((Kind.ANSWER, {}, TABLE)),
        "refused": frame_bytes((Kind.REFUSED, {"sentence": "It is refused."})),
        "memory": frame_bytes(progress, (Kind.MEMORY, {})),
        "broken": frame_bytes((Kind.BROKEN, {"error": "KeyError"})),
        "large": frame_bytes((Kind.ANSWER, {"text": "x" * 9}, pa.table({"a": range(5000)}))),
        "made up": opening._HEAD.pack(b"z", 2, 0) + b"{}",
        "no record": opening._HEAD.pack(b"p", 2, 0) + b"[]",
        "untold": opening._HEAD.pack(b"p", 2, 0) + b"{}",
        "cut": frame_bytes((Kind.ANSWER, {"n": 1}))[:-1],
    }.items():
        for heard in (None, []):
            process = _Child(content, -11)
            report = None if heard is None else lambda *arguments, heard=heard: heard.append(arguments)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(child, "start", lambda *_, process=process, **__: process)
                more = {"seconds": 7.0, "report": report, "memory": 2 * 1024**2, "answer": 20_000}
                outcome = refused(child.ask_child, "The file", "m:f", {"x": 1}, **more)
            yield name, outcome if isinstance(outcome, str) else (outcome[0], outcome[1] and outcome[1].num_rows)
            yield f"{name}, asked", (heard, process.ended, str(pickle.loads(process.questions.getvalue())))
    with pytest.MonkeyPatch.context() as patch:
        process = _Child(b"", 0, waits=True)
        patch.setattr(child, "start", lambda *_, **__: process)
        patch.setattr(child, "_GRACE", 0.2)
        yield "too long", refused(child.ask_child, "The file", "m:f", {}, seconds=0.1)
    for code in (-9, -14, -24, -11, -6, -200, 0, 1, 3):
        for reason in ("", "time"):
            watch: Any = type("Watch", (), {"reason": reason})
            yield f"ending {code} {reason}", child._ending("The file", code, watch, 12.6)
    assert signal.SIGKILL == 9


CASES: dict[str, Callable[[], NamedValues]] = {"frames": frames, "answers": answers, "asked": requests}


@pytest.mark.skipif(not child.FORKS, reason="the system cannot fork safely")
@pytest.mark.parametrize("case", CASES)
def test_numbers(case: str) -> None:
    compare_numbers(f"untrusted_{case}", CASES[case]())

"""The test of FairLeak itself, kept for as long as nothing it rests on changes: code, packages, machine."""

from __future__ import annotations

import contextlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from core.decision.provenance import SELF_TEST_SEED, kind_of_machine, versions
from core.decision.result import SelfTest
from core.decision.self_test.running import RUNS, Report, self_test
from core.fingerprint import code_fingerprint, content_fingerprint
from core.records import RecordError, dumps, loads
from core.results import Result

_FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept(Result):
    """What a file holds: the results, and what they rest on."""

    format: int
    rests_on: str
    tests: tuple[SelfTest, ...]
    digest: str


def cached_self_test(
    folder: Path, *, seed: int = SELF_TEST_SEED, runs: int = RUNS, report: Report | None = None
) -> tuple[SelfTest, ...]:
    """Return `self_test`, from a folder if it was done before with this code, these packages and this kind of machine.

    Parameters
    ----------
    folder : Path
        Made if it is not there. A file in it that is damaged or of another origin is written anew. Where it cannot be
        written to, the test is done all the same, and again the next time.
    seed, runs, report
        As for `self_test`; there is nothing to report where the results are there.
    """
    kept = there(folder, seed=seed, runs=runs)
    if kept is not None:
        return kept
    tests = self_test(seed=seed, runs=runs, report=report)
    _write(kept_file(folder), _kept(tests, _rests_on(seed, runs)))
    return tests


def there(folder: Path, *, seed: int = SELF_TEST_SEED, runs: int = RUNS) -> tuple[SelfTest, ...] | None:
    """Return what a folder holds of the test as it would be made now; None if it does not."""
    return _tests_in(kept_file(folder), _rests_on(seed, runs))


def packed(tests: tuple[SelfTest, ...]) -> str:
    """Write results in one line."""
    return dumps(_kept(tests, ""))


def unpacked(line: str) -> tuple[SelfTest, ...]:
    """Return the results written by `packed`.

    Raises
    ------
    RecordError
        If it is no such line.
    """
    return loads(line, _Kept).tests


def _rests_on(seed: int, runs: int) -> str:
    return content_fingerprint(code_fingerprint(), versions(), kind_of_machine(), seed, runs)


def _kept(tests: tuple[SelfTest, ...], rests_on: str) -> _Kept:
    return _Kept(format=_FORMAT, rests_on=rests_on, tests=tests, digest=_digest(tests))


def kept_file(folder: Path) -> Path:
    """Return where in a folder the results of this code are kept."""
    return Path(folder) / f"self-test-{code_fingerprint()}.json"


def _tests_in(file: Path, rests_on: str) -> tuple[SelfTest, ...] | None:
    try:
        kept = loads(file.read_text(encoding="utf-8"), _Kept)
    except (OSError, UnicodeDecodeError, RecordError):
        return None
    fits = kept.format == _FORMAT and kept.rests_on == rests_on and kept.digest == _digest(kept.tests)
    return kept.tests if fits else None


def _digest(tests: tuple[SelfTest, ...]) -> str:
    return content_fingerprint(*tests)


def _write(file: Path, kept: _Kept) -> None:
    """Write whole or not at all: into a file of another name, then renamed; of two at once the later one stays."""
    half: str | None = None
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("wb", dir=file.parent, suffix=".part", delete=False) as made:
            half = made.name
            made.write(dumps(kept).encode())
            made.flush()
            os.fsync(made.fileno())
        os.replace(half, file)
    except OSError:
        if half is not None:
            with contextlib.suppress(OSError):
                Path(half).unlink(missing_ok=True)

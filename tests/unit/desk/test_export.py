"""Exports: every change of every kind is found, and a chain written anew only by a hash noted before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.base.errors import InputError
from core.desk import open_ledger, verify_export
from tests.ledger_work import NAME, export_of, people, question, register


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """An export: opened, registered, charged, free, equal opportunity, charged."""
    folder = tmp_path_factory.mktemp("export")
    ledger = open_ledger(folder / "ledger", create=True)
    register(ledger)
    for scores, metric in (
        (question(1), "statistical_parity"),
        (np.ones(60), "statistical_parity"),
        (question(2), "equal_opportunity"),
        (question(3), "statistical_parity"),
    ):
        ledger.ask(NAME, people(), scores, epsilon=0.25, metric=metric, asker="x")
    ledger.export(folder / "export")
    return (folder / "export").read_text(encoding="utf-8").splitlines()


def verified(lines: list[str], tmp_path: Path, **more: Any) -> Any:
    path = tmp_path / "changed"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return verify_export(path, **more)


def rechained(lines: list[str], number: int, **changes: Any) -> list[str]:
    """Change one entry and write all hashes anew, as a forger would."""
    bodies = [json.loads(line)["entry"] for line in lines[1:]]
    bodies[number - 1] |= changes
    return export_of(bodies)


def test_an_export_holds_and_adds_up(lines: list[str], tmp_path: Path):
    verification = verified(lines, tmp_path)
    assert verification.ok and verification.reason is None and verification.n_entries == 6
    (budget,) = verification.budgets
    assert budget.spent == 0.2 + 0.25 + 0.45 + 0.25
    assert [answer.from_past for answer in budget.answers] == [False, True, False, False]
    noted = json.loads(lines[3])["hash"]
    assert verified(lines, tmp_path, noted=noted[:32].upper()).ok


def test_any_character_changed_fails_verification(lines: list[str], tmp_path: Path):
    for number, line in enumerate(lines[1:], 1):
        for position in range(2, len(line) - 2, 23):
            wrong = chr(ord(line[position]) ^ 1)
            changed = line[:position] + wrong + line[position + 1 :]
            verification = verified([*lines[:number], changed, *lines[number + 1 :]], tmp_path)
            assert not verification.ok and verification.n_entries < number + 1


def test_entries_dropped_swapped_doubled_or_cut_off_fail_verification(lines: list[str], tmp_path: Path):
    for changed in (
        lines[:3] + lines[4:],
        [*lines[:3], lines[4], lines[3], *lines[5:]],
        [*lines[:4], lines[3], *lines[4:]],
        lines[:-1],
        lines[:1],
        [*lines, ""],
        [line.replace('"hash":', '"hash": ') for line in lines],
        [lines[0], *(line.replace('{"entry":{', '{"entry":{"asker":"y",', 1) for line in lines[1:])],
    ):
        verification = verified(changed, tmp_path)
        assert not verification.ok and verification.reason.startswith("Verification failed: ")


FORGED = [
    (2, {"budget": 99_000_000}, None),  # consistent in itself: only a noted hash tells
    (3, {"asker": "somebody else"}, None),
    (4, {"size_from": 6}, "entry 4 lacks something"),
    (3, {"metric": "accuracy"}, "entry 3 answers an unknown metric"),
    (3, {"kind": "opened"}, "entry 3 is not of a kind that may stand there"),
]


@pytest.mark.parametrize("number, changes, reason", FORGED)
def test_a_chain_written_anew(
    number: int, changes: dict[str, Any], reason: str | None, lines: list[str], tmp_path: Path
):
    noted = json.loads(lines[-1])["hash"]
    forged = rechained(lines, number, **changes)
    verification = verified(forged, tmp_path)
    assert verification.ok == (reason is None) and (reason is None or reason in verification.reason)
    verification = verified(forged, tmp_path, noted=noted)
    assert not verification.ok and (reason is not None or "does not contain the noted hash" in verification.reason)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\0", b'{"kind":"else"}\n', b"[" * 100_000])
def test_files_that_are_no_exports_are_refused(content: bytes, tmp_path: Path):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(InputError, match="is not an export of a FairLeak ledger"):
        verify_export(path)

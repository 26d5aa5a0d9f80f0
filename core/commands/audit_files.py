"""The folder a release audit is written into: one folder an edition, whole or not at all."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from core.decision import ReleaseAudit, plan_text
from core.errors import InputError
from core.files import check_place, why
from core.policy import policy_text
from core.report import EDITIONS, csv_files, document, to_html, to_json
from core.report.signing import ENDING, signature_of

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from core.report import AttackedPeople

_OURS = re.compile(
    r"report\.(json|html)(\.sig)?|(plan|policy)\.toml|(checks|groups|policy|provenance|self-test|edition-attack|release-meter|table-.*)\.csv"
)
"""Names of the files of a report."""


def check_folder(out: Path, *, force: bool) -> None:
    """Refuse a folder that holds anything an audit did not write, before the work rather than after.

    Raises
    ------
    InputError
        If it is no folder, its parent is none, or it holds something: with `force` an earlier report may be there, and
        nothing else.
    """
    check_place(out, what="--out", folder=True)
    there = sorted(path.name for path in out.iterdir()) if out.is_dir() else []
    if not there:
        return
    if not force:
        raise InputError(
            f"--out must be a new or an empty folder, got {str(out)!r}; --force replaces an earlier report."
        )
    foreign = _foreign(out, there)
    if foreign:
        raise InputError(
            f"--force replaces a folder that holds an earlier report and nothing else, got {str(out)!r} with "
            f"{foreign!r}."
        )


def write_audit(
    audit: ReleaseAudit,
    out: Path,
    *,
    people: AttackedPeople | None = None,
    force: bool = False,
    key: Ed25519PrivateKey | None = None,
) -> None:
    """Write both editions, with a key signed; an earlier report in the folder goes when the new one is complete.

    Raises
    ------
    InputError
        If the folder cannot be written to, or by now holds what `check_folder` refuses.
    """
    out = Path(os.path.realpath(out))  # where a link leads, so that what is made beside it can be moved there
    plan = plan_text(replace(audit.plan, policy="policy.toml"))
    policy = policy_text(audit.verdict.policy)
    try:
        with tempfile.TemporaryDirectory(prefix=".fairleak-", dir=out.absolute().parent) as made:
            for edition in EDITIONS:
                folder = Path(made) / edition
                folder.mkdir()
                told = document(audit, edition=edition, people=people)
                texts = {
                    "report.json": to_json(told, edition=edition),
                    "report.html": to_html(told, edition=edition),
                    "policy.toml": policy,
                }
                if edition != "disclosure":  # seed and names of files stay inside
                    texts["plan.toml"] = plan
                if key is not None:
                    signed = {name: text for name, text in texts.items() if name.startswith("report.")}
                    texts |= {f"{name}{ENDING}": signature_of(text.encode(), key) for name, text in signed.items()}
                for name, text in texts.items():
                    (folder / name).write_bytes(text.encode("utf-8"))
                for name, content in csv_files(told, edition=edition).items():
                    (folder / name).write_bytes(content)
            check_folder(out, force=force)
            out.mkdir(exist_ok=True)
            for edition in EDITIONS:
                if (out / edition).exists():
                    shutil.rmtree(out / edition)
                (Path(made) / edition).rename(out / edition)
    except OSError as error:
        raise InputError(f"--out must be a folder that can be written, got {str(out)!r}: {why(error)}.") from None


def _foreign(out: Path, there: list[str]) -> str:
    """Return something in the folder that is no part of an earlier report; "" if there is nothing."""
    for name in there:
        folder = out / name
        if name not in EDITIONS or folder.is_symlink() or not folder.is_dir():
            return name
        for path in sorted(folder.iterdir()):
            if not _OURS.fullmatch(path.name) or path.is_symlink() or not path.is_file():
                return f"{name}/{path.name}"
        if not _is_report(folder / "report.json"):
            return f"{name} without a report.json of ours"
    return ""


def _is_report(path: Path) -> bool:
    try:
        return json.loads(path.read_text(encoding="utf-8")).get("kind") == "fairleak release audit"
    except (OSError, ValueError, AttributeError):
        return False

"""Versions, seeds and fingerprints of an audit: contents, never names of files, machines or people."""

from __future__ import annotations

import getpass
import platform
import socket
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import threadpoolctl

import core
from core.auditing import AuditPlan, DataPlan, ModelPlan, data_fingerprint, provenance
from core.auditing.policy import default_policy
from core.auditing.result import COMPUTING, kind_of_machine, plan_fingerprint
from core.base.errors import FairLeakError
from core.base.fingerprint import code_fingerprint, content_fingerprint, fingerprint, fingerprint_of_code
from core.datasets import build_dataset
from tests import samples


def test_it_names_versions_seeds_and_contents() -> None:
    plan = AuditPlan(config=replace(AuditPlan().config, seed=7))
    found = provenance(plan, default_policy())
    assert found == provenance(plan, default_policy())
    assert found.fairleak == core.__version__ and found.code == code_fingerprint()
    assert found.packages["numpy"] == np.__version__ and set(found.packages) <= set(COMPUTING)
    assert {"numpy", "scipy", "scikit-learn", "pandas", "fairlearn", "PuLP"} <= set(found.packages)
    assert found.seeds == {"audit": 7, "self-test": 2023}
    assert platform.python_version() in found.python and platform.machine() in found.platform
    for name in (socket.gethostname(), getpass.getuser(), str(Path.home())):
        assert len(name) < 3 or name not in str((found.python, found.platform, found.seeds))


def test_a_plan_is_its_content_and_not_its_files_names() -> None:
    plan = AuditPlan(data=DataPlan(dataset="", file="a.csv"), policy="x.toml")
    same = AuditPlan(data=DataPlan(dataset="", file="folder/b.csv"), policy="y.toml")
    assert plan_fingerprint(plan) == plan_fingerprint(same)
    others = [
        AuditPlan(),
        AuditPlan(title="Another"),
        AuditPlan(data=DataPlan(dataset="adult")),
        AuditPlan(model=ModelPlan(kind="file", file="m.onnx")),
        AuditPlan(config=replace(plan.config, seed=1)),
    ]
    assert len({plan_fingerprint(plan), *map(plan_fingerprint, others)}) == 6
    policy = default_policy()
    one = provenance(plan, policy).policy
    assert one != provenance(plan, replace(policy, limits=policy.limits[:-1])).policy


def test_a_tables_fingerprint_follows_every_cell_and_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = build_dataset(samples.table(300), samples.ROLES)
    told = data_fingerprint(dataset)
    other = dataset.features.copy()
    other[17, 0] += 1.0
    assert data_fingerprint(replace(dataset, features=other)) != told
    assert data_fingerprint(replace(dataset, sensitive=1 - dataset.sensitive)) != told
    sets = np.array(["train", "attack", "test"])[np.arange(dataset.n) % 3]
    given = replace(dataset, predictions=dataset.labels, scores=dataset.labels / 2.0, sets=sets)
    assert len({told, data_fingerprint(given), data_fingerprint(given, answers=False)}) == 3
    moved = replace(given, scores=np.nextafter(given.scores, 1.0))
    assert data_fingerprint(moved) != data_fingerprint(given)
    assert data_fingerprint(moved, answers=False) == data_fingerprint(given, answers=False)
    assert data_fingerprint(replace(dataset, title="Another", source="Another")) == told
    content, versioned = content_fingerprint("a", 1), fingerprint("a", 1)
    monkeypatch.setattr("core.base.fingerprint.__version__", "99.0")
    assert data_fingerprint(dataset) == told
    assert content_fingerprint("a", 1) == content and fingerprint("a", 1) != versioned


def test_the_kind_of_machine_is_the_same_whatever_other_libraries_are_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a process that has solved a convex program would take results of one that has not for another machine's."""
    told, loaded = kind_of_machine(), threadpoolctl.threadpool_info()
    other = {"architecture": "Another", "filepath": "/somewhere/scs.libs/libopenblas.so"}
    monkeypatch.setattr(threadpoolctl, "threadpool_info", lambda: [other, *loaded])
    assert kind_of_machine() == told
    monkeypatch.setattr(
        threadpoolctl,
        "threadpool_info",
        lambda: [{**library, **other, "filepath": library["filepath"]} for library in loaded],
    )
    assert kind_of_machine().endswith("(Another)") == told.endswith(")")


def test_the_codes_fingerprint_follows_names_and_contents_and_not_line_ends(tmp_path: Path) -> None:
    inner = tmp_path / "core" / "inner"
    inner.mkdir(parents=True)
    (inner / "a.py").write_bytes(b"one\ntwo\n")
    (tmp_path / "core" / "b.toml").write_bytes(b"x = 1\n")
    told = fingerprint_of_code(tmp_path / "core")
    (inner / "a.py").write_bytes(b"one\r\ntwo\r\n")
    (inner / "a.pyc").write_bytes(b"not code")
    (inner / "notes.txt").write_bytes(b"not code")
    assert fingerprint_of_code(tmp_path / "core") == told
    (inner / "a.py").write_bytes(b"one\ntwo \n")
    assert fingerprint_of_code(tmp_path / "core") != told
    (inner / "a.py").write_bytes(b"one\ntwo\n")
    (tmp_path / "core" / "b.toml").rename(tmp_path / "core" / "c.toml")
    assert fingerprint_of_code(tmp_path / "core") != told
    assert len(code_fingerprint()) == 64 and code_fingerprint() == fingerprint_of_code(Path(core.__file__).parent)
    with pytest.raises(FairLeakError, match=r"^FairLeak's own code must be readable for its fingerprint"):
        fingerprint_of_code(tmp_path / "nowhere")
    (tmp_path / "a.py").symlink_to(tmp_path / "gone.py")
    with pytest.raises(FairLeakError, match="but a file is not"):
        fingerprint_of_code(tmp_path)

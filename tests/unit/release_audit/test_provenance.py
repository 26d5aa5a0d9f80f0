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
from core.base.serialize import code_fingerprint, content_fingerprint, fingerprint, fingerprint_of_code
from core.datasets import build_dataset
from tests import samples


def test_it_names_versions_seeds_and_contents() -> None:
    plan = AuditPlan(config=replace(AuditPlan().config, seed=7))
    facts = provenance(plan, default_policy())
    assert facts == provenance(plan, default_policy())
    assert facts.fairleak == core.__version__ and facts.code == code_fingerprint()
    assert facts.packages["numpy"] == np.__version__ and set(facts.packages) <= set(COMPUTING)
    assert {"numpy", "scipy", "scikit-learn", "pandas", "fairlearn", "PuLP"} <= set(facts.packages)
    assert facts.seeds == {"audit": 7, "self-test": 2023}
    assert platform.python_version() in facts.python and platform.machine() in facts.platform
    for name in (socket.gethostname(), getpass.getuser(), str(Path.home())):
        assert len(name) < 3 or name not in str((facts.python, facts.platform, facts.seeds))


def test_a_plan_is_its_content_and_not_its_files_names() -> None:
    plan = AuditPlan(data=DataPlan(dataset="", file="a.csv"), policy="x.toml")
    same = AuditPlan(data=DataPlan(dataset="", file="folder/b.csv"), policy="y.toml")
    assert plan_fingerprint(plan) == plan_fingerprint(same)
    changed_plans = [
        AuditPlan(),
        AuditPlan(title="Another"),
        AuditPlan(data=DataPlan(dataset="adult")),
        AuditPlan(model=ModelPlan(kind="file", file="m.onnx")),
        AuditPlan(config=replace(plan.config, seed=1)),
    ]
    assert len({plan_fingerprint(plan), *map(plan_fingerprint, changed_plans)}) == 6
    policy = default_policy()
    policy_fingerprint = provenance(plan, policy).policy
    assert policy_fingerprint != provenance(plan, replace(policy, limits=policy.limits[:-1])).policy


def test_a_tables_fingerprint_follows_every_cell_and_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = build_dataset(samples.table(300), samples.ROLES)
    original = data_fingerprint(dataset)
    features = dataset.features.copy()
    features[17, 0] += 1.0
    assert data_fingerprint(replace(dataset, features=features)) != original
    assert data_fingerprint(replace(dataset, sensitive=1 - dataset.sensitive)) != original
    sets = np.array(["train", "attack", "test"])[np.arange(dataset.n) % 3]
    answered = replace(dataset, predictions=dataset.labels, scores=dataset.labels / 2.0, sets=sets)
    assert len({original, data_fingerprint(answered), data_fingerprint(answered, answers=False)}) == 3
    moved = replace(answered, scores=np.nextafter(answered.scores, 1.0))
    assert data_fingerprint(moved) != data_fingerprint(answered)
    assert data_fingerprint(moved, answers=False) == data_fingerprint(answered, answers=False)
    assert data_fingerprint(replace(dataset, title="Another", source="Another")) == original
    content, versioned = content_fingerprint("a", 1), fingerprint("a", 1)
    monkeypatch.setattr("core.base.serialize.__version__", "99.0")
    assert data_fingerprint(dataset) == original
    assert content_fingerprint("a", 1) == content and fingerprint("a", 1) != versioned


def test_the_kind_of_machine_is_the_same_whatever_other_libraries_are_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a process that has solved a convex program would take results of one that has not for another machine's."""
    kind, loaded = kind_of_machine(), threadpoolctl.threadpool_info()
    foreign = {"architecture": "Another", "filepath": "/somewhere/scs.libs/libopenblas.so"}
    monkeypatch.setattr(threadpoolctl, "threadpool_info", lambda: [foreign, *loaded])
    assert kind_of_machine() == kind
    monkeypatch.setattr(
        threadpoolctl,
        "threadpool_info",
        lambda: [{**library, **foreign, "filepath": library["filepath"]} for library in loaded],
    )
    assert kind_of_machine().endswith("(Another)") == kind.endswith(")")


def test_the_codes_fingerprint_follows_names_and_contents_and_not_line_ends(tmp_path: Path) -> None:
    inner = tmp_path / "core" / "inner"
    inner.mkdir(parents=True)
    (inner / "a.py").write_bytes(b"one\ntwo\n")
    (tmp_path / "core" / "b.toml").write_bytes(b"x = 1\n")
    original = fingerprint_of_code(tmp_path / "core")
    (inner / "a.py").write_bytes(b"one\r\ntwo\r\n")
    (inner / "a.pyc").write_bytes(b"not code")
    (inner / "notes.txt").write_bytes(b"not code")
    assert fingerprint_of_code(tmp_path / "core") == original
    (inner / "a.py").write_bytes(b"one\ntwo \n")
    assert fingerprint_of_code(tmp_path / "core") != original
    (inner / "a.py").write_bytes(b"one\ntwo\n")
    (tmp_path / "core" / "b.toml").rename(tmp_path / "core" / "c.toml")
    assert fingerprint_of_code(tmp_path / "core") != original
    assert len(code_fingerprint()) == 64 and code_fingerprint() == fingerprint_of_code(Path(core.__file__).parent)
    with pytest.raises(FairLeakError, match=r"^FairLeak's own code must be readable for its fingerprint"):
        fingerprint_of_code(tmp_path / "nowhere")
    (tmp_path / "a.py").symlink_to(tmp_path / "gone.py")
    with pytest.raises(FairLeakError, match="but a file is not"):
        fingerprint_of_code(tmp_path)

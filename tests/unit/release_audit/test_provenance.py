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


def test_it_names_versions_seeds_and_contents():
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


def test_a_plan_is_its_content_and_not_its_files_names():
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


def test_a_tables_fingerprint_follows_every_cell_and_no_version(monkeypatch: pytest.MonkeyPatch):
    dataset = build_dataset(samples.table(300), samples.ROLES)
    features = dataset.features.copy()
    features[17, 0] += 1.0
    sets = np.array(["train", "attack", "test"])[np.arange(dataset.n) % 3]
    answered = replace(dataset, predictions=dataset.labels, scores=dataset.labels / 2.0, sets=sets)
    moved = replace(answered, scores=np.nextafter(answered.scores, 1.0))
    changed = [replace(dataset, features=features), replace(dataset, sensitive=1 - dataset.sensitive), answered, moved]
    assert len({data_fingerprint(dataset), *map(data_fingerprint, changed)}) == 5
    assert data_fingerprint(moved, answers=False) == data_fingerprint(answered, answers=False)
    original, content, versioned = data_fingerprint(dataset), content_fingerprint("a", 1), fingerprint("a", 1)
    monkeypatch.setattr("core.base.serialize.__version__", "99.0")
    assert data_fingerprint(replace(dataset, title="Another", source="Another")) == original
    assert content_fingerprint("a", 1) == content and fingerprint("a", 1) != versioned


def test_the_kind_of_machine_is_the_same_whatever_other_libraries_are_loaded(monkeypatch: pytest.MonkeyPatch):
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


def test_the_codes_fingerprint_follows_names_and_contents_and_not_line_ends(tmp_path: Path):
    code, settings = tmp_path / "core" / "a.py", tmp_path / "core" / "b.toml"
    code.parent.mkdir()
    code.write_bytes(b"one\ntwo\n")
    settings.write_bytes(b"x = 1\n")
    original = fingerprint_of_code(tmp_path / "core")
    code.write_bytes(b"one\r\ntwo\r\n")
    code.with_suffix(".pyc").write_bytes(b"not code")
    assert fingerprint_of_code(tmp_path / "core") == original
    code.write_bytes(b"one\ntwo \n")
    assert fingerprint_of_code(tmp_path / "core") != original
    code.write_bytes(b"one\ntwo\n")
    settings.rename(tmp_path / "core" / "c.toml")
    assert fingerprint_of_code(tmp_path / "core") != original


def test_code_that_cannot_be_read_is_one_sentence(tmp_path: Path):
    assert code_fingerprint() == fingerprint_of_code(Path(core.__file__).parent)
    with pytest.raises(FairLeakError, match=r"^FairLeak's own code must be readable for its fingerprint"):
        fingerprint_of_code(tmp_path / "nowhere")
    (tmp_path / "a.py").symlink_to(tmp_path / "gone.py")
    with pytest.raises(FairLeakError, match="but a file is not"):
        fingerprint_of_code(tmp_path)

"""Datasets by name: local files, downloads over a pretended network, and what is said when there is none."""

import io
import json
import os
import random
import re
import threading
import zipfile
from dataclasses import replace
from pathlib import Path
from urllib.error import HTTPError, URLError

import numpy as np
import pandas as pd
import pytest

from core.datasets import catalog as adult
from core.datasets import catalog as downloads
from core.datasets.build import build_dataset
from core.datasets.catalog import CATALOG, load
from core.errors import DataUnavailableError, InputError
from tests.patience import PATIENT

CENSUS = "acs/2018/1-Year/psam_p48.csv"
TRAINING = """39, State-gov, 77516, Bachelors, 13, Divorced, Sales, Not-in-family, White, Male, 2174, 0, 40, Cuba, <=50K
28, ?, 338409, 11th, 7, Married-civ-spouse, ?, Wife, Black, Female, 0, 0, 40, ?, >50K

"""
TEST = """25, Private, 226802, 11th, 7, Never-married, Sales, Own-child, Other, Female, 0, 0, 40, United-States, <=50K.
44, Private, 160323, Some-college, 10, Divorced, Sales, Husband, White, Male, 7688, 0, 40, United-States, >50K.
"""


def uci_files(folder: Path, test: str = TEST) -> Path:
    (folder / "adult").mkdir(parents=True)
    (folder / "adult" / "adult.data").write_text(TRAINING)
    (folder / "adult" / "adult.test").write_text(test)
    return folder


def census_text(people: int = 200) -> str:
    """Return persons in the Census's columns; every fourth is a child, with the blanks that children have."""
    header = (
        "RT,SERIALNO,ST,PWGTP,AGEP,COW,SCHL,MAR,OCCP,POBP,RELP,WKHP,SEX,RAC1P,PINCP,DIS,ESP,CIT,MIG,MIL,ANC,NATIVITY,"
        "DEAR,DEYE,DREM,ESR,FER,PUBCOV"
    )
    names = header.split(",")
    lines = [header]
    for i in range(people):
        child = i % 4 == 0
        cells = {name: "1" for name in names} | {"RT": "P", "SERIALNO": f"2018{i}", "ST": "48", "PWGTP": "10"}
        cells |= {"AGEP": str(5 + i % 3 if child else 20 + i % 50), "OCCP": "0010", "POBP": "048", "RELP": "02"}
        cells |= {"SEX": str(1 + i % 2), "RAC1P": str(1 + i % 3), "PINCP": str(20_000 + 40_000 * (i % 5 == 1))}
        cells |= {"SCHL": "21", "WKHP": "40", "PUBCOV": str(1 + i % 3 % 2)}
        if child:
            cells |= {"WKHP": "", "OCCP": "", "COW": "", "ESR": "", "FER": ""}
        lines.append(",".join(cells[name] for name in names))
    return "\n".join(lines) + "\n"


def zipped(text: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("psam_p48.csv", text)
    return stream.getvalue()


class Answer(io.BytesIO):
    """What urlopen returns, as far as OpenML's reader looks at it."""

    def info(self) -> dict[str, str]:
        return {}


def openml(arff: str, *, columns: list[tuple[str, str]], target: str, checksum: str | None = None):
    """Return an opener that serves one small OpenML dataset, and counts its calls."""
    import hashlib

    described = {
        "id": "1", "name": "x", "version": "1", "status": "active", "format": "ARFF", "description": "",
        "url": "https://openml.org/data/v1/download/1/x.arff",
        "md5_checksum": checksum or hashlib.md5(arff.encode()).hexdigest(),
    }  # fmt: skip
    features = [
        {
            "index": str(i), "name": name, "data_type": kind, "is_target": str(name == target).lower(),
            "is_ignore": "false", "is_row_identifier": "false", "number_of_missing_values": "0",
        }
        for i, (name, kind) in enumerate(columns)
    ]  # fmt: skip

    def opener(request):
        opener.calls += 1
        url = request.full_url
        if "/features/" in url:
            return Answer(json.dumps({"data_features": {"feature": features}}).encode())
        if "/qualities/" in url:
            return Answer(json.dumps({"data_qualities": {"quality": []}}).encode())
        if "/json/data/" in url:
            return Answer(json.dumps({"data_set_description": described}).encode())
        return Answer(arff.encode())

    opener.calls = 0
    return opener


def adult_on_openml(**changes):
    """Serve the four hand-made people the way OpenML does: other label name, no blanks, no full stops."""
    names = [*list(adult.ADULT_COLUMNS)[:-1], "class"]
    kinds = [(name, "numeric" if adult.ADULT_COLUMNS.get(name) == "number" else "nominal") for name in names]
    rows = [[cell.strip().rstrip(".") for cell in line.split(",")] for line in (TRAINING + TEST).split("\n") if line]
    head = ["@RELATION adult"]
    for i, (name, kind) in enumerate(kinds):
        values = sorted({row[i] for row in rows} - {"?"})
        head.append(f"@ATTRIBUTE {name} " + ("REAL" if kind == "numeric" else "{" + ",".join(values) + "}"))
    arff = "\n".join([*head, "@DATA", *(",".join(row) for row in rows)]) + "\n"
    return openml(arff, columns=kinds, target="class", **changes)


def unreachable(*_args, **_kwargs):
    raise URLError("no route to host.example.org")


def no_waiting(monkeypatch):
    monkeypatch.setattr("sklearn.datasets._openml.time.sleep", lambda _seconds: None)


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_the_catalogue():
    assert list(CATALOG) == ["demo", "adult", "acs_income", "acs_public_coverage", "compas"]
    assert all(entry.name == name and entry.about.endswith(".") for name, entry in CATALOG.items())
    assert load("demo").synthetic
    with pytest.raises(InputError, match="dataset must be one of demo, adult"):
        load("german")


@pytest.mark.parametrize("test", [TEST, "|1x3 Cross validator\n" + TEST, TEST.replace("K.", "K")])
def test_uci_files_are_read_in_every_form(tmp_path, test):
    table = load("adult", data_folder=uci_files(tmp_path, test))
    assert list(table.frame.columns) == list(adult.ADULT_COLUMNS)
    assert table.frame["income"].tolist() == ["<=50K", ">50K", "<=50K", ">50K"]
    assert table.frame["age"].tolist() == [39, 28, 25, 44]
    assert table.frame.isna().sum().sum() == 3
    assert table.roles[0].group == ("Female",)
    assert table.roles[1].group == ("Black", "Other")


def test_a_damaged_uci_file_is_told(tmp_path):
    with pytest.raises(DataUnavailableError, match=r"^Adult could not be read: adult/adult.data and .* damaged"):
        load("adult", data_folder=uci_files(tmp_path, TEST[:40]))


@pytest.mark.skipif("FAIRLEAK_DATA" not in os.environ, reason="FAIRLEAK_DATA names no folder with adult/adult.data")
def test_the_real_adult():
    table = load("adult", data_folder=Path(os.environ["FAIRLEAK_DATA"]))
    assert len(table.frame) == 48_842
    assert len(table.frame.dropna()) == 45_222
    dataset = build_dataset(table, table.roles[0])
    assert dataset.features.shape == (45_222, 13)
    assert dataset.feature_names[:4] == ("age", "workclass", "fnlwgt", "education")
    assert dataset.groups()[0].count == 14_695
    assert int(dataset.labels.sum()) == 11_208


def test_adult_comes_from_openml_as_from_uci(tmp_path, monkeypatch):
    opener = adult_on_openml()
    monkeypatch.setattr("sklearn.datasets._openml.urlopen", opener)
    local = load("adult", data_folder=uci_files(tmp_path / "local"))
    fetched = load("adult", cache_folder=tmp_path / "cache")
    pd.testing.assert_frame_equal(fetched.frame, local.frame)
    assert fetched.fingerprint == local.fingerprint
    assert fetched.roles == local.roles
    calls = opener.calls
    monkeypatch.setattr("sklearn.datasets._openml.urlopen", unreachable)
    assert load("adult", cache_folder=tmp_path / "cache").fingerprint == fetched.fingerprint
    assert calls == opener.calls


def test_without_a_cache_folder_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("sklearn.datasets._openml.urlopen", adult_on_openml())
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert len(load("adult").frame) == 4
    assert files_in(tmp_path) == []


def test_a_wrong_checksum_is_told_and_leaves_nothing(tmp_path, monkeypatch):
    no_waiting(monkeypatch)
    monkeypatch.setattr("sklearn.datasets._openml.urlopen", adult_on_openml(checksum="0" * 32))
    with pytest.raises(DataUnavailableError, match="what arrived was incomplete or damaged"):
        load("adult", cache_folder=tmp_path)
    assert files_in(tmp_path) == []


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (URLError("getaddrinfo failed for host.example.org"), "the server could not be reached"),
        (ConnectionResetError("reset"), "the server could not be reached"),
        (TimeoutError("timed out"), "the server did not answer in time"),
        (HTTPError("https://host.example.org", 503, "busy", None, None), "the server answered with error 503"),
        (HTTPError("https://host.example.org", 412, "no such data", None, None), "incomplete or damaged"),
    ],
)
@pytest.mark.parametrize("name", ["adult", "acs_income"])
def test_no_network_is_one_clear_message(tmp_path, monkeypatch, name, failure, reason):
    def opener(_request):
        raise failure

    no_waiting(monkeypatch)
    monkeypatch.setattr("sklearn.datasets._openml.urlopen", opener)
    with pytest.raises(DataUnavailableError, match=reason) as caught:
        load(name, cache_folder=tmp_path)
    told = str(caught.value)
    assert told.startswith(CATALOG[name].title.split(" (")[0])
    assert "built-in demo" in told and "upload" in told and "FAIRLEAK_DATA" in told
    assert not re.search(r"https?:|\.org|\.gov|Error\b", told)
    assert caught.value.__cause__ is None and caught.value.__context__ is None
    assert files_in(tmp_path) == []


def test_waiting_is_bounded(tmp_path, monkeypatch):
    released = threading.Event()

    def opener(_request):
        released.wait(PATIENT)
        raise URLError("late")

    monkeypatch.setattr(adult, "ADULT_PATIENCE", 0.2)
    monkeypatch.setattr("sklearn.datasets._openml.urlopen", opener)
    no_waiting(monkeypatch)
    with pytest.raises(DataUnavailableError, match=r"no complete answer came within 0\.2 seconds"):
        load("adult", cache_folder=tmp_path)
    assert any(thread.name == "fairleak-download" for thread in threading.enumerate())  # nobody waited for its end
    monkeypatch.setattr("sklearn.datasets._openml.urlopen", unreachable)
    released.set()
    for thread in threading.enumerate():
        if thread.name == "fairleak-download":
            with downloads._quietly():
                thread.join(PATIENT)


def test_a_cache_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataUnavailableError, match="the cache folder could not be written"):
        load("adult", cache_folder=tmp_path / "file")


def local_census(folder: Path) -> Path:
    (folder / CENSUS).parent.mkdir(parents=True)
    (folder / CENSUS).write_text(census_text())
    return folder


def test_acs_income_from_the_census_file(tmp_path):
    table = load("acs_income", data_folder=local_census(tmp_path))
    frame = table.frame
    assert len(frame) == 150  # children are left out
    assert list(frame.columns[:4]) == ["AGEP", "COW", "SCHL", "MAR"]
    assert frame["OCCP"].unique().tolist() == ["0010"]
    assert set(frame["income_over_50000"]) == {"yes", "no"}
    assert table.roles[0].group == ("2", "3")
    assert build_dataset(table, table.roles[0]).groups()[1].group == "white people"


def answer_with(monkeypatch, content: bytes) -> list[str]:
    asked: list[str] = []

    class Response:
        def __init__(self, url: str, **_kwargs):
            asked.append(url)
            self.content = content

    monkeypatch.setattr("requests.get", Response)
    return asked


def test_public_coverage_is_downloaded_once_and_quietly(tmp_path, monkeypatch, capsys):
    asked = answer_with(monkeypatch, zipped(census_text()))
    random.seed(5)
    expected = random.Random(5).random()
    table = load("acs_public_coverage", cache_folder=tmp_path)
    assert random.random() == expected
    assert len(asked) == 1 and asked[0].endswith("2018/1-Year/csv_ptx.zip")
    frame = table.frame
    assert "ST" not in frame and len(frame) == 146  # under 65, income up to 30,000
    assert set(frame["public_coverage"]) == {"yes", "no"}
    assert (frame.loc[frame["AGEP"] < 10, "ESR"] == "0").all()
    young = table.roles[0]
    assert young.at_most == frame["AGEP"].quantile(0.25)
    assert build_dataset(table, young).groups()[0].group == f"people up to {young.at_most:g}"
    again = load("acs_public_coverage", cache_folder=tmp_path)
    assert again.fingerprint == table.fingerprint and len(asked) == 1
    assert [path.name for path in files_in(tmp_path)] == ["psam_p48.csv"]
    assert len(load("acs_income", cache_folder=tmp_path).frame) == 150  # made from the same file
    assert capsys.readouterr().out == ""


def broken_archive() -> bytes:
    """Return an archive with a changed byte: folktables unpacks half of it and takes that for the whole."""
    return zipped(census_text(5_000)).replace(b"0010", b"0020", 1)


@pytest.mark.parametrize(
    "content", [b"<html>not found</html>", zipped(census_text())[:2_000], broken_archive(), b"", zipped("a,b\n1,2\n")]
)
def test_a_damaged_census_archive_leaves_nothing(tmp_path, monkeypatch, content):
    answer_with(monkeypatch, content)
    with pytest.raises(DataUnavailableError, match="what arrived was incomplete or damaged"):
        load("acs_public_coverage", cache_folder=tmp_path)
    assert files_in(tmp_path) == []


@pytest.mark.parametrize("name", ["acs_income", "acs_public_coverage"])
def test_a_damaged_local_census_file_is_told_and_kept(tmp_path, name):
    local_census(tmp_path)
    (tmp_path / CENSUS).write_text("a,b\n1,2\n")
    with pytest.raises(DataUnavailableError, match=r"could not be read: acs/2018/1-Year/psam_p48\.csv in the given"):
        load(name, data_folder=tmp_path)
    assert (tmp_path / CENSUS).is_file()


def test_black_and_white_people_alone(tmp_path):
    table = load("adult", data_folder=uci_files(tmp_path))
    frame = pd.concat([table.frame] * 3, ignore_index=True)
    frame["race"] = np.resize(["White", "Black", "Other", "Black", "Amer-Indian-Eskimo"], len(frame))
    some, roles = adult.black_and_white(replace(table, frame=frame))
    kept = frame[frame["race"].isin(["White", "Black"])]
    assert some.frame.equals(kept.reset_index(drop=True)) and 0 < len(kept) < len(frame)
    assert some.roles == (roles,) and some.fingerprint not in ("", table.fingerprint)
    assert (roles.sensitive, roles.group, roles.label, roles.positive) == ("race", ("Black",), "income", ">50K")

"""Datasets by name: local files, downloads over a pretended network, and what is said when there is none."""

import io
import random
import re
import runpy
import zipfile
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock
from urllib.error import HTTPError, URLError

import numpy as np
import pandas as pd
import pytest

from core.base.errors import DataUnavailableError
from core.datasets import CATALOG, build_dataset, catalog, load
from tests.hermetic import ROOT

CENSUS = "acs/2018/1-Year/psam_p48.csv"
COMPAS, PUBLISHED = "compas/compas_two_years.csv", "compas/compas-scores-two-years.csv"
TRAINING = """39, State-gov, 77516, Bachelors, 13, Divorced, Sales, Not-in-family, White, Male, 2174, 0, 40, Cuba, <=50K
28, ?, 338409, 11th, 7, Married-civ-spouse, ?, Wife, Black, Female, 0, 0, 40, ?, >50K

"""
TEST = """25, Private, 226802, 11th, 7, Never-married, Sales, Own-child, Other, Female, 0, 0, 40, United-States, <=50K.
44, Private, 160323, Some-college, 10, Divorced, Sales, Husband, White, Male, 7688, 0, 40, United-States, >50K.
"""
COMPAS_HEADER = (
    "id,name,first,last,compas_screening_date,sex,dob,age,age_cat,race,juv_fel_count,decile_score,juv_misd_count,"
    "juv_other_count,priors_count,days_b_screening_arrest,c_charge_degree,is_recid,score_text,decile_score,priors_count,"
    "two_year_recid"
)


def written(folder, **files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def uci_files(folder, test=TEST):
    return written(folder, **{"adult/adult.data": TRAINING, "adult/adult.test": test})


def census_text(people=200):
    """Return persons in the Census's columns; every fourth is a child, with the blanks that children have."""
    names = (
        "RT,SERIALNO,ST,PWGTP,AGEP,COW,SCHL,MAR,OCCP,POBP,RELP,WKHP,SEX,RAC1P,PINCP,DIS,ESP,CIT,MIG,MIL,ANC,NATIVITY,"
        "DEAR,DEYE,DREM,ESR,FER,PUBCOV"
    )
    i = np.arange(people)
    frame = pd.DataFrame("1", index=i, columns=names.split(","))
    frame = frame.assign(RT="P", SERIALNO=[f"2018{k}" for k in i], ST="48", PWGTP="10", OCCP="0010", POBP="048")
    frame = frame.assign(RELP="02", SCHL="21", WKHP="40", SEX=1 + i % 2, RAC1P=1 + i % 3, PUBCOV=1 + i % 3 % 2)
    frame = frame.assign(AGEP=np.where(i % 4, 20 + i % 50, 5 + i % 3), PINCP=20_000 + 40_000 * (i % 5 == 1))
    frame.loc[i % 4 == 0, ["WKHP", "OCCP", "COW", "ESR", "FER"]] = ""
    return frame.to_csv(index=False)


def zipped(text):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("psam_p48.csv", text)
    return stream.getvalue()


def compas_lines(people=240):
    """Return invented people in ProPublica's columns: a tenth lacks the days, second copies are wrong on purpose."""
    races = ["African-American", "Caucasian", "Hispanic", "Other"]
    lines = [COMPAS_HEADER]
    for i in range(people):
        race = "Asian" if i < 20 else "Native American" if i < 40 else races[i % 4]
        sex, label, days = ("Female", "Male")[i % 3 > 0], i % 7 % 2, "" if i % 10 == 0 else -1 - i % 5
        lines.append(
            f'{i},no body {i},no,"body, {i}",2013-01-01,{sex},1990-01-01,{20 + i % 50},25 - 45,{race},0,{1 + i % 10},0,'
            f"{i % 2},{i % 9},{days},{'FM'[i % 2]},{label},Low,99,99,{label}"
        )
    return lines


def files_in(folder):
    return [path.name for path in folder.rglob("*") if path.is_file()]


@pytest.fixture
def network(monkeypatch):
    """Stand in for fairlearn's and folktables' servers: each asks `answer` once; what was asked is in `requests`."""
    net = SimpleNamespace(requests=[], answer=lambda: None)

    def fetch_adult(*, data_home):
        csv_path = Path(data_home) / "adult.csv"
        if not csv_path.is_file():
            net.requests.append("adult")
            csv_path.write_text("half of it")
            csv_path.write_text(net.answer())
        names = [*catalog.ADULT_COLUMNS[:-1], "class"]
        frame = pd.read_csv(csv_path, names=names, skipinitialspace=True, na_values="?")
        return SimpleNamespace(frame=frame.astype({"sex": "category", "class": "category", "age": float}))

    def get(url, **_):
        net.requests.append(url)
        return SimpleNamespace(content=net.answer())

    monkeypatch.setattr("fairlearn.datasets.fetch_adult", fetch_adult)
    monkeypatch.setattr("requests.get", get)
    return net


def test_the_demo_is_what_the_generator_makes_and_says_that_nobody_is_real():
    table, generator = load("demo"), runpy.run_path(str(ROOT / "data" / "demo_loans.py"))
    pd.testing.assert_frame_equal(table.frame, generator["make_demo"]())
    assert table.synthetic and "no real person" in table.source


@pytest.mark.parametrize("test", ["|1x3 Cross validator\n" + TEST, TEST.replace("K.", "K")])
def test_uci_files_are_read_in_every_form(tmp_path, test):
    table = load("adult", data_folder=uci_files(tmp_path, test))
    frame = table.frame
    assert tuple(frame.columns) == catalog.ADULT_COLUMNS
    assert frame["income"].tolist() == ["<=50K", ">50K", "<=50K", ">50K"]
    assert frame["age"].tolist() == [39, 28, 25, 44]
    assert frame.isna().sum().sum() == 3
    assert [roles.group for roles in table.roles[:2]] == [("Female",), ("Black", "Other")]


def test_the_census_file_makes_both_tasks(tmp_path):
    written(tmp_path, **{CENSUS: census_text()})
    table = load("acs_income", data_folder=tmp_path)
    frame = table.frame
    assert len(frame) == 150  # children are left out
    assert list(frame.columns[:4]) == ["AGEP", "COW", "SCHL", "MAR"]
    assert list(build_dataset(table, table.roles[0]).base_rates)[1] == "white people"
    assert table.roles[0].group == ("2", "3")
    coverage = load("acs_public_coverage", data_folder=tmp_path)
    assert len(coverage.frame) == 146  # under 65, income up to 30,000
    assert (coverage.frame.loc[coverage.frame["AGEP"] < 10, "ESR"] == "0").all()
    assert coverage.roles[0].at_most == coverage.frame["AGEP"].quantile(0.25)


def test_compas_from_propublicas_file_keeps_nothing_personal(tmp_path):
    written(tmp_path, **{PUBLISHED: "\n".join(compas_lines())})
    table = load("compas", data_folder=tmp_path)
    frame = table.frame
    assert tuple(frame.columns) == catalog.COMPAS_COLUMNS
    assert not frame.astype(str).apply(lambda column: column.str.contains("body|1990|2013")).any().any()
    assert (frame["decile_score"].max(), frame["priors_count"].max()) == (10, 8)  # the first of two columns
    assert int(frame["days_b_screening_arrest"].isna().sum()) == 24
    frame.to_csv(tmp_path / COMPAS, index=False)
    (tmp_path / PUBLISHED).unlink()
    assert load("compas", data_folder=tmp_path).fingerprint == table.fingerprint


ANOTHER_LABEL = [COMPAS_HEADER, *(line[:-1] + "2" for line in compas_lines()[1:])]
DAMAGED = {
    "adult cut off": ("adult", {"adult/adult.data": TRAINING, "adult/adult.test": TEST[:40]}),
    "other columns, income": ("acs_income", {CENSUS: "a,b\n1,2\n"}),
    "another label": ("compas", {PUBLISHED: "\n".join(ANOTHER_LABEL)}),
    "nobody": ("compas", {PUBLISHED: COMPAS_HEADER}),
}


@pytest.mark.parametrize(("name", "files"), DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_local_file_stays_and_gives_a_sentence(tmp_path, name, files):
    written(tmp_path, **files)
    title = CATALOG[name].title.split(" (")[0]
    message = rf"^{title}.* could not be read: {next(iter(files))}.* in the given folder is damaged"
    with pytest.raises(DataUnavailableError, match=message) as caught:
        load(name, data_folder=tmp_path)
    assert ("to download" in str(caught.value)) == (name != "compas")
    assert len(files_in(tmp_path)) == len(files)


def test_adult_is_fetched_once_and_as_the_local_files_have_it(tmp_path, network):
    network.answer = lambda: (TRAINING + TEST).replace("K.", "K")
    local = load("adult", data_folder=uci_files(tmp_path / "local"))
    for _ in range(2):
        fetched = load("adult", cache_folder=tmp_path / "cache")
        assert (fetched.fingerprint, fetched.roles) == (local.fingerprint, local.roles)
    assert network.requests == ["adult"]


def test_the_census_file_is_downloaded_once_for_both_tasks_and_quietly(tmp_path, network, capsys):
    network.answer = lambda: zipped(census_text())
    random.seed(5)
    table = load("acs_public_coverage", cache_folder=tmp_path)
    assert random.random() == random.Random(5).random()
    assert load("acs_public_coverage", cache_folder=tmp_path).fingerprint == table.fingerprint
    assert len(load("acs_income", cache_folder=tmp_path).frame) == 150
    (address,) = network.requests
    assert address.endswith("2018/1-Year/csv_ptx.zip")
    assert (files_in(tmp_path), capsys.readouterr().out) == (["psam_p48.csv"], "")


FAILURES = [
    (URLError("getaddrinfo failed for host.example.org"), "the server could not be reached"),
    (TimeoutError("timed out"), "the server did not answer in time"),
    (HTTPError("https://host.example.org", 503, "busy", None, None), "the server answered with error 503"),
    (ValueError("md5 checksum of https://host.example.org does not match"), "incomplete or damaged"),
]


@pytest.mark.parametrize(("failure", "reason"), FAILURES)
def test_no_network_is_one_clear_message(tmp_path, network, failure, reason):
    network.answer = Mock(side_effect=failure)
    with pytest.raises(DataUnavailableError, match=f"^Adult could not be downloaded: .*{reason}") as caught:
        load("adult", cache_folder=tmp_path)
    message = str(caught.value)
    assert [remedy for remedy in ("built-in demo", "upload", "FAIRLEAK_DATA") if remedy not in message] == []
    assert not re.search(r"https?:|\.org|\.gov|Error\b", message)
    assert caught.value.__cause__ is None and caught.value.__context__ is None
    assert not files_in(tmp_path)


ARCHIVES = {
    "cut off": zipped(census_text())[:2_000],
    # folktables unpacks half of it and takes that for the whole
    "a changed byte": zipped(census_text(5_000)).replace(b"0010", b"0020", 1),
}


@pytest.mark.parametrize("kind", ARCHIVES)
def test_a_damaged_census_archive_leaves_nothing(tmp_path, network, kind):
    network.answer = lambda: ARCHIVES[kind]
    with pytest.raises(DataUnavailableError, match=r"ACSIncome .*what arrived was incomplete or damaged"):
        load("acs_income", cache_folder=tmp_path)
    assert not files_in(tmp_path)

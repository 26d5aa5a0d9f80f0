"""COMPAS from a file of the user's: what is read of it, and what is said when it is missing or damaged."""

import os
from pathlib import Path

import pandas as pd
import pytest

from core.datasets import catalog as compas
from core.datasets.build import build_dataset
from core.datasets.catalog import CATALOG, load
from core.errors import DataUnavailableError
from tests.unit.datasets.test_catalog import files_in, unreachable

PUBLISHED = (
    "id,name,first,last,compas_screening_date,sex,dob,age,age_cat,race,juv_fel_count,decile_score,juv_misd_count,"
    "juv_other_count,priors_count,days_b_screening_arrest,c_charge_degree,is_recid,score_text,decile_score,priors_count,"
    "two_year_recid"
)


def compas_lines(people: int = 240) -> list[str]:
    """Return invented people in ProPublica's columns: a tenth lacks the days, second copies are wrong on purpose."""
    races = ["African-American", "Caucasian", "Hispanic", "Other"]
    lines = [PUBLISHED]
    for i in range(people):
        race = "Asian" if i < 20 else "Native American" if i < 40 else races[i % 4]
        sex, label, days = ("Female", "Male")[i % 3 > 0], i % 7 % 2, "" if i % 10 == 0 else -1 - i % 5
        lines.append(
            f'{i},no body {i},no,"body, {i}",2013-01-01,{sex},1990-01-01,{20 + i % 50},25 - 45,{race},0,{1 + i % 10},0,'
            f"{i % 2},{i % 9},{days},{'FM'[i % 2]},{label},Low,99,99,{label}"
        )
    return lines


def compas_file(folder: Path, lines: list[str], name: str = "compas-scores-two-years.csv") -> Path:
    (folder / "compas").mkdir(parents=True, exist_ok=True)
    (folder / "compas" / name).write_text("\n".join(lines) + "\n")
    return folder


def test_compas_from_propublicas_file_keeps_nothing_personal(tmp_path):
    table = load("compas", data_folder=compas_file(tmp_path, compas_lines()))
    frame = table.frame
    assert list(frame.columns) == list(compas.COMPAS_COLUMNS)
    assert not frame.astype(str).apply(lambda column: column.str.contains("body|1990|2013")).any().any()
    assert frame["decile_score"].max() == 10 and frame["priors_count"].max() == 8  # the first of two columns
    assert int(frame["days_b_screening_arrest"].isna().sum()) == 24
    frame.to_csv(tmp_path / "compas" / "compas_two_years.csv", index=False)
    (tmp_path / "compas" / "compas-scores-two-years.csv").unlink()
    again = load("compas", data_folder=tmp_path)
    pd.testing.assert_frame_equal(again.frame, frame)
    assert again.fingerprint == table.fingerprint


def test_the_roles_of_compas(tmp_path):
    table = load("compas", data_folder=compas_file(tmp_path, compas_lines()))
    sex, race, each = (build_dataset(table, roles) for roles in table.roles)
    assert [roles.key for roles in table.roles] == list(CATALOG["compas"].attributes)
    assert sex.n == 216 and sex.labels.mean() == (table.frame.dropna()["two_year_recid"] == 1).mean()
    assert sex.group_names == ("men", "women") and sex.groups()[0].count == 72
    assert race.group_names == ("people of other races", "African-American people")
    assert each.group_names[-1] == "other values" and each.n_groups == 5
    hidden = {"decile_score", "is_recid", "two_year_recid"}
    assert not hidden & {*sex.feature_names, *race.feature_names} and "score_text" not in sex.feature_names  # constant


@pytest.mark.parametrize("folder", [True, False])
def test_compas_without_its_file_is_one_sentence(tmp_path, monkeypatch, folder):
    monkeypatch.setattr("sklearn.datasets._openml.urlopen", unreachable)
    with pytest.raises(DataUnavailableError, match=r"^COMPAS is read from a file of yours, never downloaded") as caught:
        load("compas", data_folder=tmp_path if folder else None, cache_folder=tmp_path / "cache")
    told = str(caught.value)
    for word in ("compas/compas-scores-two-years.csv", "propublica/compas-analysis", "FAIRLEAK_DATA", "demo", "upload"):
        assert word in told
    assert told.count(". ") == 0 and told.endswith(".") and files_in(tmp_path) == []


@pytest.mark.parametrize(
    "lines",
    [
        ["a,b", "1,2"],
        [line.replace(",25 - 45,", ",25 - 45,extra,") for line in compas_lines()],
        [PUBLISHED, *(line[:-1] + "2" for line in compas_lines()[1:])],
        [PUBLISHED],
        [line.replace(",African-American,", ",,") for line in compas_lines()],
    ],
    ids=["other columns", "shifted", "another label", "nobody", "another race"],
)
@pytest.mark.parametrize("name", ["compas_two_years.csv", "compas-scores-two-years.csv"])
def test_a_damaged_compas_file_is_told_and_kept(tmp_path, lines, name):
    compas_file(tmp_path, lines, name)
    with pytest.raises(DataUnavailableError, match=rf"^COMPAS could not be read: compas/{name} .* damaged") as caught:
        load("compas", data_folder=tmp_path)
    assert "download" not in str(caught.value) and (tmp_path / "compas" / name).is_file()


@pytest.mark.skipif(
    not (Path(os.environ.get("FAIRLEAK_DATA", "/nonexistent")) / "compas" / "compas_two_years.csv").is_file(),
    reason="FAIRLEAK_DATA names no folder with compas/compas_two_years.csv",
)
def test_the_real_compas():
    table = load("compas", data_folder=Path(os.environ["FAIRLEAK_DATA"]))
    assert len(table.frame) == 7_214
    sex, race, each = (build_dataset(table, roles) for roles in table.roles)
    assert sex.features.shape == (6_907, 10)
    assert sex.groups()[0].count == 1_328 and int(sex.labels.sum()) == 3_196
    assert race.groups()[0].count == 3_537
    assert each.group_names == ("African-American", "Caucasian", "Hispanic", "Other", "other values")

"""Tables as CSV: read back as they were, and never a formula."""

from __future__ import annotations

import csv
import io

import pandas as pd

from core.report import csv_files, document
from tests.report_people import with_texts
from tests.samples_report import sample


def test_every_table_is_a_file():
    files = csv_files(document(sample()))
    assert {"checks.csv", "policy.csv", "groups.csv", "self-test.csv", "provenance.csv"} < set(files)
    assert "table-corrections-over-tolerances.csv" in files
    for content in files.values():
        assert content.startswith(b"\xef\xbb\xbf") and content.endswith(b"\r\n")
        rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))
        assert len({len(row) for row in rows}) == 1


def test_names_are_harmless_and_differ():
    audit = with_texts(sample(), lambda text: "../../etc/passwd\x00 CON")
    names = set(csv_files(document(audit)))
    assert len(names) == 5 + 1  # texts that are all the same leave one title
    assert all(name.replace("-", "").replace(".csv", "").isalnum() for name in names)


def test_tables_of_one_title_are_counted():
    whole = document(sample())
    table = whole["tables"][0] | {"title": "Gains"}
    names = [name for name in csv_files(whole | {"tables": [table] * 4}) if "gains" in name]
    assert names == ["table-gains.csv", "table-gains-2.csv", "table-gains-3.csv", "table-gains-4.csv"]


def test_numbers_stay_numbers_and_formulas_become_texts():
    content = csv_files(document(sample()))["table-table-td-script-alert-x-script-women-img-src-x-o.csv"]
    found = pd.read_csv(io.BytesIO(content), encoding="utf-8-sig")
    assert found["gain"].tolist()[:2] == [-0.05, 0.5] and found["people"].tolist() == [15375, 4, 120]
    assert found["attacker"].tolist() == ['\'=HYPERLINK("http://x","y")', "'@SUM(A1)", "' \t+cmd"]
    assert found["note"].tolist()[0] == "'-1+1"
    assert b"\r\n\"'=HYPERLINK" in content and b",-0.05," in content

"""The report as JSON: strict, the same bytes, the published form; its tables as CSV: as they were, never a formula."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.report import from_json, report_document, to_json
from core.report.codec import is_number, schema_error
from core.report.report import parse_json, strict
from core.report.tables import cell_text, csv_files
from tests.samples_report import judged_audit, sample, with_texts

AUDIT = sample()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(more=1), "at 'its top' there must be no key 'more'"),
        (lambda d: d["data"].pop("n"), "at 'data' there must be a key 'n'"),
        (lambda d: d["groups"][1]["test_rate"].update(level=1), "at 'groups/1/test_rate/level' there must be"),
        (lambda d: d["data"].update(n=True), "at 'data/n' there must be another value than true"),
        (lambda d: d["policy"]["limits"][0].update(check="luck"), "at 'policy/limits/0/check' there must be"),
        (lambda d: d["tables"][0]["rows"][0].append([]), "another value than an empty list"),
        (lambda d: d["plan"].update(studies=[["attribute"]]), "at 'plan/studies/0' there must be"),
        (lambda d: d["times"].update(started="soon"), "at 'times/started' there must be another value than 'soon'"),
        (lambda d: d.update(kind="x"), "must have the kind 'fairleak release audit', got 'x'"),
    ],
)
def test_what_is_of_another_form(change: Callable[[dict[str, Any]], Any], message: str):
    document = json.loads(to_json(report_document(AUDIT)))
    change(document)
    assert message in schema_error(document)


def test_equal_audits_give_equal_bytes_and_the_fingerprint_of_compact_sorted_json():
    twin = replace(sample(), model=replace(AUDIT.model, tolerance=np.float64(0.001), achieved=float("0.0008")))
    assert to_json(report_document(AUDIT)) == to_json(report_document(twin))
    document = json.loads(to_json(report_document(AUDIT)))
    inside = {name: value for name, value in document.items() if name != "fingerprint"}
    text = json.dumps(inside, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    assert document["fingerprint"] == hashlib.sha256(text.encode()).hexdigest()


def test_a_report_is_read_as_it_was_written():
    for report in (report_document(AUDIT), report_document(judged_audit())):
        text = to_json(report)
        assert from_json(text) == report and to_json(from_json(text)) == text
        assert report.content_fingerprint == report.fingerprint


def test_numbers_json_does_not_know():
    numbers = {"a": math.nan, "b": math.inf, "c": -math.inf, "d": -0.0, "e": 2.0, "f": np.float32(0.5), "g": 1e300}
    assert strict(numbers) == {"a": None, "b": "inf", "c": "-inf", "d": 0, "e": 2, "f": 0.5, "g": 1e300}
    assert json.dumps(strict(-0.0)) == "0"
    exact = 2.0**53  # from here on a float stands for several whole numbers, and stays one
    assert [type(strict(number)) for number in (exact - 1, exact)] == [int, float]


@settings(max_examples=60)
@given(st.text(st.characters(categories=None), max_size=20))
def test_any_text_survives_as_json(text):
    written = to_json({"text": strict(text)})
    written.encode("utf-8")
    assert parse_json(written)["text"] == "".join("\ufffd" if 0xD800 <= ord(c) < 0xE000 else c for c in text)
    assert not set(written) & set("\u202e\u2066\u200f\u2028\x85\ufeff")


def test_every_table_is_a_file_with_a_harmless_name():
    for content in csv_files(report_document(AUDIT)).values():
        assert content.startswith(b"\xef\xbb\xbf") and content.endswith(b"\r\n")
        rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))
        assert len({len(row) for row in rows}) == 1
    audit = with_texts(AUDIT, lambda text: "../../etc/passwd\x00 CON")
    assert all(name.replace("-", "").replace(".csv", "").isalnum() for name in csv_files(report_document(audit)))


def test_tables_of_one_title_are_files_of_different_names():
    document = report_document(AUDIT)
    table = replace(document.tables[0], title="Gains")
    names = [name for name in csv_files(replace(document, tables=(table,) * 3)) if "gains" in name]
    assert names == ["table-gains.csv", "table-gains-2.csv", "table-gains-3.csv"]


def test_numbers_stay_numbers_and_formulas_become_texts():
    content = csv_files(report_document(AUDIT))["table-table-td-script-alert-x-script-women-img-src-x-o.csv"]
    frame = pd.read_csv(io.BytesIO(content), encoding="utf-8-sig")
    assert frame["gain"].tolist()[:2] == [-0.05, 0.5] and frame["people"].tolist() == [15375, 4, 120]
    assert frame["attacker"].tolist() == ['\'=HYPERLINK("http://x","y")', "'@SUM(A1)", "' \t+cmd"]
    assert frame["note"].tolist()[0] == "'-1+1"
    assert b"\r\n\"'=HYPERLINK" in content and b",-0.05," in content
    assert [*map(cell_text, (12345.6, 2300.7, 999.96, -0.00001))] == ["12,346", "2,301", "1000", "0"]


def test_is_number_of_numbers_alone():
    assert is_number(1) and is_number(0.5)
    assert not is_number(True) and not is_number("1")

"""The tests of FairLeak itself on the Report page: everything in words, names escaped."""

from __future__ import annotations

from core.estimates import proportion
from core.release_audit import SelfTest
from pages.common.report_board import self_test_board, style
from tests.samples_report import HOSTILE, sample


def test_every_test_with_shares_intervals_result_and_what_was_planted():
    told = self_test_board(sample().self_tests)
    for words in (
        ">correction</div>", "Called leaking without a leak: </span><b>2.0%</b> (0.6 to 7.0%) of 100",
        "Planted leaks caught: </span><b>99.0%</b> (94.6 to 99.8%) of 100", "class='word pass'>✓ passed",
        "a planted one that copies it for 5% of the people.", "class='word fail'>✕ failed",
    ):  # fmt: skip
        assert words in told, words
    assert told.count("role='row'") == 3 and told.count("role='cell'") == 2 * 4 == 2 * told.count("columnheader")


def test_names_are_names():
    test = SelfTest(
        attack=HOSTILE, false_alarms=proportion(0, 10), detected=proportion(10, 10), passed=True, told=HOSTILE
    )
    assert HOSTILE not in self_test_board((test,)) and "<script" not in self_test_board((test,))


def test_the_style_sheet_stacks_them_on_a_narrow_screen():
    narrow = style().partition("@media (max-width: 1000px)")[2]
    assert (
        ".fl-tested .row {grid-template-columns: minmax(0, 1fr)" in narrow
        and ".fl-tested .term {display: inline}" in narrow
    )

"""The page People at risk in-process: whom it lists is whom core finds."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from core.auditing import catalogue_plan
from core.studies.people import PEOPLE, PeopleAtRisk
from core.studies.people.people_study import fix_text, without_fix
from tests import expected
from tests.app.conftest import Start
from tests.app.dashboard import Dashboard

CHANGES = {"people": 120, "answers": 40, "noise": "exact", "shadows": 0}
LINK = {f"people_{name}": str(value) for name, value in CHANGES.items()} | {"people_noise": "None"}
"""In a link a choice has the word that the page shows."""


@cache
def people_at_risk() -> PeopleAtRisk:
    *_, result = PEOPLE.run(expected.subject(), SETTINGS)
    return result


SETTINGS = replace(catalogue_plan("demo").people_settings, **CHANGES)


def table(dashboard: Dashboard) -> str:
    """Return the table of people; there is none where nobody is shown."""
    return "".join(element.body for element in dashboard.test.get("html") if "fl-people" in element.body)


def records(dashboard: Dashboard) -> list[int]:
    """Return the records shown, in their order."""
    rows = table(dashboard).split("<tr>")[2:]
    return [int(row.removeprefix("<td>").partition("<")[0]) for row in rows]


@pytest.mark.long
def test_the_page_lists_whom_core_finds_by_group_and_by_record(start: Start):
    result = people_at_risk()
    assert result.at_least(1) and result.identified.sum() > result.leaks.sum()  # or this test says nothing
    dashboard = start(LINK).open("people")
    headline, *_ = PEOPLE.findings(result, SETTINGS)
    assert headline.point in dashboard.plain_finding and headline.evidence in dashboard.plain_finding
    assert "Not as your audit plan has it" in dashboard.plain_finding
    assert "No model card is planned." in dashboard.page_text
    assert records(dashboard) == result.rows[result.chosen()].tolist()
    for index in result.chosen():
        assert fix_text(result, index)[1:] in table(dashboard)
    assert without_fix(result, result.chosen()) in dashboard.page_text
    record = int(result.rows[3])
    assert records(dashboard.choose(people_record=str(record))) == [record]
    dashboard.choose(people_record="x<b>")
    assert dashboard.plain_problem() == "Record must be of one of the 120 people drawn, got x<b>."
    everybody = dashboard.choose(people_record="", people_hidden=False)
    assert records(everybody) == result.rows[result.chosen(hide_imputed=False)].tolist()
    assert "found, imputation too" in table(everybody)
    group = result.group_names[0]
    group_page = everybody.choose(people_group=group)
    assert records(group_page) == result.rows[result.chosen(group=group, hide_imputed=False)].tolist()
    several = group_page.choose(people_at_least=3)
    assert records(several) == result.rows[result.chosen(at_least=3, group=group, hide_imputed=False)].tolist()


def test_a_bad_link_is_one_sentence(start: Start):
    dashboard = start({**LINK, "people_shadows": "3"}).open("people")
    assert dashboard.plain_problem() == "shadows must be 0 or an even number of at least 4, got 3."

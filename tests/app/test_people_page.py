"""The page People at risk in-process: whom it lists is whom core finds."""

from __future__ import annotations

from functools import cache

from core.studies.people import PEOPLE, PeopleAtRisk, PeopleSettings
from core.studies.people.people_study import fix_text
from tests import expected
from tests.app.conftest import Start
from tests.app.dashboard import Dashboard

SETTINGS = PeopleSettings(people=120, answers=40, models=4, shadows=0)
LINK = {f"people_{name}": str(getattr(SETTINGS, name)) for name in ("people", "answers", "models", "shadows")}


@cache
def people_at_risk() -> PeopleAtRisk:
    *_, result = PEOPLE.run(expected.audit().subject, SETTINGS)
    return result


def table(dashboard: Dashboard) -> str:
    """Return the table of people; there is none where nobody is shown."""
    return "".join(element.body for element in dashboard.test.get("html") if "fl-people" in element.body)


def records(dashboard: Dashboard) -> list[int]:
    """Return the records shown, in their order."""
    rows = table(dashboard).split("<tr>")[2:]
    return [int(row.removeprefix("<td>").partition("<")[0]) for row in rows]


def test_the_page_lists_whom_core_finds_by_group_and_by_record(start: Start):
    result = people_at_risk()
    assert result.at_least(1) and result.identified.sum() > result.leaks.sum()  # or this test says nothing
    dashboard = start(LINK).open("people")
    headline, *_ = PEOPLE.findings(result, SETTINGS)
    assert headline.point in dashboard.plain_finding and headline.evidence in dashboard.plain_finding
    assert records(dashboard) == result.rows[result.chosen()].tolist()
    for index in result.chosen():
        assert fix_text(result, index)[1:] in table(dashboard)
    record = int(result.rows[3])
    assert records(dashboard.choose(people_record=str(record))) == [record]
    dashboard.choose(people_record="x<b>")
    assert dashboard.plain_problem() == "Record must be a whole number, got 'x<b>'." and not records(dashboard)
    everybody = dashboard.choose(people_record="", people_hidden=False)
    assert records(everybody) == result.rows[result.chosen(hide_imputed=False)].tolist()
    assert "found, imputation too" in table(everybody)
    group = result.group_names[0]
    group_page = everybody.choose(people_group=group)
    assert records(group_page) == result.rows[result.chosen(group=group, hide_imputed=False)].tolist()
    several = group_page.choose(people_at_least=3)
    assert records(several) == result.rows[result.chosen(at_least=3, group=group, hide_imputed=False)].tolist()


def test_an_attack_that_was_not_run_says_why_and_a_bad_link_is_one_sentence(start: Start):
    assert "No answers to bias queries are planned." in start({**LINK, "people_answers": "0"}).open("people").page_text
    dashboard = start({**LINK, "people_shadows": "3"}).open("people")
    assert dashboard.plain_problem() == "shadows must be 0 or an even number of at least 4, got 3."

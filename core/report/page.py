"""The report as one HTML file that needs nothing else: no script, font or picture.

Everything on it comes from the document, through a template that escapes whatever is inserted and refuses to leave out
what is not there. The same document gives the same bytes, so that `verify` can draw a page again and compare. The
document itself stands at the end of the page as text.
"""

from __future__ import annotations

import html
import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from ..auditing.plan import AuditPlan
from ..auditing.policy import (
    BASIS_LABELS,
    VERDICT_TITLES,
    CheckVerdict,
    limits_to_set,
    placeholders_text,
)
from ..auditing.result import ModelSummary, StudyFindings
from ..base.caveats import CaveatKind
from ..base.errors import InputError
from ..charts import DARK, LIGHT, Palette
from ..learn.glossary import terms_in
from ..stats.estimates import count, percent, tolerance_text
from ..stats.fairness import (
    METRIC_TITLES,
    UNFAIRNESS_TITLE,
    difference_title,
    is_smallest,
    largest_difference,
)
from ..studies.membership import REGISTRY
from .charts import bullet, clean, element, group_chart, line_chart
from .people_sentences import PeopleSentence, some_unanswered
from .regulations import NOT_LEGAL_ADVICE, Provision, law_of_checks
from .report import DECISIONS, Report, day_text, parse_json, to_json
from .tables import people_tables, provenance_rows, rate_text, report_tables

if TYPE_CHECKING:
    from jinja2 import Environment

    from ..base.caveats import Caveat
    from ..stats.estimates import Estimate

_CONTENTS = (
    ("checks", "Checks"),
    ("policy", "Policy"),
    ("law", "Law"),
    ("data", "Data, model and groups"),
    ("tables", "Tables"),
    ("selftest", "Self-test"),
    ("glossary", "Glossary"),
    ("provenance", "Provenance"),
    ("verify", "Verify and repeat"),
    ("sign", "Signatures"),
)

_PEOPLE = "People at risk (internal report only)"

RETENTION = (
    "The table is not kept. A report is, until it is deleted in the register; decisions stay."
)

KINDS = {
    "train": "trained by FairLeak",
    "predictions": "given as predictions",
    "file": "given as a file",
}


_METRIC_RATES = {
    "statistical_parity": ("test_rate",),
    "predictive_equality": ("test_fpr",),
    "equal_opportunity": ("test_tpr",),
    "equalized_odds": ("test_fpr", "test_tpr"),
}
"""Metric -> the rates of the groups it compares."""


def constraint_text(model: ModelSummary) -> str:
    """Return the fairness metric and tolerance; of a given model also whether it is merely the smallest that holds."""
    smallest = model.kind != "train" and is_smallest(model.tolerance, model.achieved)
    if smallest:
        what = "smallest tolerance that holds:"
    else:
        what = "tolerance"
    return (
        f"{METRIC_TITLES.get(model.metric, model.metric)}, {what} {tolerance_text(model.tolerance)}"
    )


def audited_model_text(model: ModelSummary) -> str:
    """Return which model a verdict speaks of, and a remark where its accuracy is below the majority class."""
    text = f"Audited model: {model.title}"
    if model.kind == "train":
        text = f"{text}, {KINDS['train']}; the verdict is of no other"
    if model.beside_majority:
        text = (
            f"{text}. Its accuracy, {percent(model.accuracy_test)}, is {model.beside_majority} always giving the "
            f"commonest answer, {percent(model.majority_test)}"
        )
    return f"{text}."


def to_html(report: Report) -> str:
    """Return a report as a page."""
    return environment().get_template("report.html").render(_template_values(report))


@cache
def environment() -> Environment:
    """Return what draws the templates of this room."""
    from jinja2 import DictLoader, Environment, StrictUndefined

    folder = files(__package__)
    names = (
        "board.css",
        "board.html",
        "brief.html",
        "bullet.css",
        "compare.html",
        "report.html",
        "style.html",
        "summary.html",
    )
    sources = {name: (folder / name).read_text(encoding="utf-8") for name in names}
    template_environment = Environment(
        loader=DictLoader(sources), autoescape=True, undefined=StrictUndefined, finalize=clean
    )
    template_environment.trim_blocks = True
    template_environment.globals |= {
        "bullet": bullet,
        "laws": law_of_checks(),
        "no_advice": NOT_LEGAL_ADVICE,
        "words": defaultdict(str, VERDICT_TITLES),
    }
    return template_environment


Since = Mapping[str, tuple[str, str, str]]
"""Check -> its change as a number, what that is in a word, and the verdict whose colour it has."""


def board_html(
    rows: Sequence[CheckVerdict],
    *,
    waiting: bool = False,
    since: Since | None = None,
    day: str = "",
    remedies: Mapping[str, str] | None = None,
    conditional: bool = False,
    to_set: str | None = None,
) -> str:
    """Return checks on one scale, each with its lines to open and the provisions it is evidence for.

    What was not attacked because nothing is released stands apart, what has no limit in one line below. While they are
    `waiting` for their attacks there are only the limits. `since` fills a column with the change since another audit,
    of that `day`; `remedies` are check -> what its number would be of a narrower release. `conditional` says of each
    pass that it depends on what was confirmed against the input check. `to_set` says how many limits of the policy are
    still FairLeak's placeholders, those of these checks where it is not given.
    """
    template: Any = environment().get_template("board.html").module
    if to_set is None:
        to_set = limits_to_set(rows)
    return str(template.board(rows, waiting, since, day, remedies or {}, conditional, to_set))


COLOURS = {
    "fail": ("#A01A13", "#F2837B"),
    "inconclusive": ("#8F6400", "#E3B34C"),
    "pass": ("#1B7F4B", "#5CC48D"),
    "none": ("#5B626D", "#A9B0BA"),
    "allowed": ("#CFE5D6", "#23392F"),
    "forbidden": ("#F3DEDA", "#3A2524"),
    "empty": ("#F0EEE9", "#1F232A"),
    "banner": ("#F8F0DC", "#3A3018"),
    "way-out": ("#EAF5EE", "#16301F"),
    "line": ("#E3DFD8", "#2A2E36"),
    "link": ("#1F5FA8", "#8FBBEA"),
    "chip": ("#E4EDF8", "#1B2C40"),
    "hover": ("#F7F5F0", "#1A1D23"),
}
"""By what they stand for, in the light and in the dark theme."""


def caveats_html(caveats: Sequence[Caveat]) -> str:
    """Draw the caveats of a verdict as a list under a heading, but for those of `confirmed_html`."""
    template: Any = environment().get_template("board.html").module
    return str(template.caveat_list(caveats))


def confirmed_html(caveats: Sequence[Caveat]) -> str:
    """Draw what was confirmed against the input check, which every result depends on; "" where nothing was."""
    template: Any = environment().get_template("board.html").module
    return str(template.confirmed_list(caveats))


def people_html(sentences: Sequence[PeopleSentence]) -> str:
    """Draw what an audit means for people, each sentence behind the icon of its verdict."""
    template: Any = environment().get_template("board.html").module
    return str(template.people(sentences))


def board_style(palette: Palette = LIGHT, overall: str = "none") -> str:
    """Return the style sheet of `board_html` and `people_html`; --fl-verdict is the colour of the whole verdict."""
    theme = {name: pair[palette == DARK] for name, pair in COLOURS.items()}
    theme |= {"verdict": theme.get(overall, theme["none"])}
    theme |= {"ink": palette.ink, "paper": palette.background, "grey": palette.grey}
    variables = "; ".join(f"--fl-{name}: {colour}" for name, colour in theme.items())
    sheets = (
        str(environment().get_template(name).render()) for name in ("bullet.css", "board.css")
    )
    return "\n".join([f":root {{{variables}}}", *sheets])


def _template_values(report: Report) -> dict[str, Any]:
    """Return everything the template inserts: parts of the report, and what is made of them."""
    tables_by_name = {table.name: table for table in report_tables(report)}
    tables = [
        table.formatted for name, table in tables_by_name.items() if name.startswith("table-")
    ]
    sections = [study for study in report.findings if study.findings]
    if report.people_at_risk is not None:
        findings = report.people_at_risk.findings
        sections.append(StudyFindings(study="people", title=_PEOPLE, findings=findings))
    level = report.policy.level
    register = report.plan.register
    text = to_json(report)
    headings = (files(__package__) / "report.html").read_text(encoding="utf-8")
    return {
        "fingerprint": report.fingerprint,
        "verdict": report.verdict,
        "policy": report.policy,
        "data": report.data,
        "self_tests": report.self_tests,
        "title": report.title,
        "day": report.started_on,
        "logo": logo(),
        "basis_words": BASIS_LABELS,
        "rows": report.rows,
        "counts": required_counts(report.rows),
        "decisions": DECISIONS.values(),
        "provisions": _provisions(report),
        "placeholders": placeholders_text(report.policy),
        "contents": _contents(sections, tables=bool(tables)),
        "findings": sections,
        "people_tables": [table.formatted for table in people_tables(report)],
        "level": f"{100 * level:.4g}%",
        "chance": f"{100 * (1 - level):.4g}%",
        "n_people": count(report.data.n),
        "sets": _sets(report),
        "model": _model(report),
        "audited_model": audited_model_text(report.model),
        "register": register,
        "registered": register.model_version,
        "review": day_text(register.review),
        "favourable": _favourable(report),
        "retention": RETENTION,
        "caveats": report.caveats,
        "conditional": was_confirmed(report.caveats),
        "group_chart": group_chart(report.groups),
        "tables": {name: table.formatted for name, table in tables_by_name.items()},
        "audit_tables": [
            (table, line_chart(source)) for table, source in zip(tables, report.tables, strict=True)
        ],
        "running": "FairLeak release audit, internal report",
        "glossary": terms_in(f"{headings} {text}", REGISTRY),
        "limit_terms": _LIMIT_TERMS,
        "shared": _shared_assumptions(report),
        "provenance": provenance_rows(report),
        "replay": _replay(report.plan),
        "fairleak": report.provenance.fairleak,
        "text": Markup("\n" + html.escape(text, quote=False)),
    }


def was_confirmed(caveats: Sequence[Caveat]) -> bool:
    """Whether the input check stopped at a point that somebody confirmed as right."""
    return any(caveat.kind == CaveatKind.INPUT_CONFIRMED for caveat in caveats)


def required_counts(rows: Sequence[CheckVerdict]) -> str:
    """Return how many checks are required, and how many of them have each verdict."""
    required = [row for row in rows if row.is_decisive]
    counts = Counter(row.display_verdict for row in required)
    parts = [
        f"{title} {counts[verdict]}" for verdict, title in VERDICT_TITLES.items() if counts[verdict]
    ]
    text = f"Required: {len(required)} checks. {' · '.join(parts)}."
    if uncounted := sum(row.limit is not None for row in rows) - len(required):
        text = f"{text} For information {uncounted}."
    return text


_LIMIT_TERMS = ("Evidence", "Limit", "Why this limit", "Source")
"""What the table of the policy, or the words beside a check, say of each check."""


def _shared_assumptions(report: Report) -> tuple[str, ...]:
    """Assumptions that several checks or findings have in common, which stand once above them."""
    assumptions = [row.attempt.assumptions for row in report.rows]
    assumptions += [finding.caveats for section in report.findings for finding in section.findings]
    counts = Counter(sentence for sentences in assumptions for sentence in sentences)
    return tuple(sentence for sentence, count in counts.items() if count > 1)


def _provisions(report: Report) -> list[Provision]:
    """Provisions that the checks of a report are evidence for, each once."""
    laws = law_of_checks()
    rows = [laws[row.check] for row in report.rows if row.check in laws]
    return list(dict.fromkeys(provision for row in rows for provision in row.provisions))


def _contents(studies: Sequence[StudyFindings], *, tables: bool) -> list[tuple[str, str]]:
    """Sections of the page, id and name; those of the studies stand before the tables."""
    chapters_of_studies = [(f"study-{section.study}", section.title) for section in studies]
    sections = [section for section in _CONTENTS if tables or section[0] != "tables"]
    start = next(i for i, (id_, _) in enumerate(sections) if id_ in ("tables", "selftest"))
    return [*sections[:start], *chapters_of_studies, *sections[start:]]


def _favourable(report: Report) -> str:
    """Write the outcome that is good for a person, by which fairness is counted."""
    roles = report.plan.config.roles
    if roles is None:
        return ""
    return f"{roles.label} = {roles.favourable}"


def _replay(plan: AuditPlan) -> str:
    """Command that runs the audit again."""
    table = " --file TABLE" if plan.data.file else ""
    model = " --model FILE" if plan.model.kind == "file" else ""
    return f"fairleak report replay REPORT.json{table}{model}"


def _difference(report: Report) -> str:
    """Write the difference between groups on the test records, from the groups' rates that the report holds."""
    rates = _METRIC_RATES.get(report.model.metric, ())
    by_rate = [_group_rates(report, name) for name in rates]
    return _between(largest_difference(by_rate))


def _group_rates(report: Report, name: str) -> list[Estimate]:
    return [getattr(group, name) for group in report.groups]


def _between(estimate: Estimate) -> str:
    if estimate.value != estimate.value:
        return "not measured"
    return f"{estimate.value:.3f} ({estimate.low:.3f} to {estimate.high:.3f})"


def _model(report: Report) -> list[tuple[str, str]]:
    model = report.model
    has_sets = report.plan.has_true_sets
    details = next((m.details for m in report.measurements if m.check == "unfairness"), None) or {}
    difference = difference_title(model.metric)
    seen = "people attacked"
    seen_by_model = "the people attacked"
    if has_sets:
        seen = "training records"
        seen_by_model = "training records"
    answered = " with an answer" if some_unanswered(report) else ""
    tested = "test records"
    if not report.plan.has_true_sets:
        tested = "records drawn for the test, training records perhaps among them"
    on_training = details.get(f"{difference}, on the {seen}", math.nan)
    training_text = "not measured" if math.isnan(on_training) else f"{on_training:.3f}"
    return [
        ("Model", f"{model.title}, {KINDS.get(model.kind, model.kind)}"),
        ("Fairness metric", constraint_text(model)),
        (f"{UNFAIRNESS_TITLE}, {seen}", _achieved(model)),
        (f"{UNFAIRNESS_TITLE}, test records", _between(model.unfairness_test)),
        (f"{difference}, {seen}", training_text),
        (f"{difference}, test records", _difference(report)),
        (f"Accuracy on {seen_by_model}{answered}", rate_text(model.accuracy_train)),
        (f"Accuracy on {tested}{answered}", rate_text(model.accuracy_test)),
        ("Majority-class baseline on test records", rate_text(model.majority_test)),
    ]


def _achieved(model: ModelSummary) -> str:
    if model.achieved != model.achieved:
        return "not measured"
    return tolerance_text(model.achieved, limit=model.tolerance)


def _sets(report: Report) -> str:
    """Write "train 15,375, attack 10,446", with "attacked" for people who are drawn from the table."""
    names = {} if report.plan.has_true_sets else {"train": "attacked"}
    sets = report.data.sets
    order = (name for name in ("train", "attack", "validation", "test") if name in sets)
    return ", ".join(f"{names.get(name, name)} {count(sets[name])}" for name in order)


def logo() -> Markup:
    """Return FairLeak's scales as a drawing."""
    scales = element(
        "path", d="M16 4v4M5 8h22M8 8l-4 9h8zM24 8l-4 9h8z", stroke="#22262D", stroke_width=2
    )
    drop = element(
        "path",
        d="M24 21c2.4 3.2 3.6 4.9 3.6 6.5a3.6 3.6 0 0 1-7.2 0c0-1.6 1.2-3.3 3.6-6.5z",
        fill="#B84A00",
    )
    return element(
        "svg",
        scales,
        drop,
        viewBox="0 0 34 34",
        aria_hidden="true",
        fill="none",
        stroke_linecap="round",
    )


def embedded_document(page: str) -> dict[str, Any]:
    """Return the document that stands at the end of a page, unchecked; InputError if the page holds none."""
    match = re.search(r'<pre [^>]*\bid="findings"[^>]*>(.*?)</pre>', page, re.DOTALL)
    text = html.unescape(match[1]).strip() if match else ""
    if not text:
        raise InputError("The page must hold its findings as text, got a page without them.")
    return parse_json(text)

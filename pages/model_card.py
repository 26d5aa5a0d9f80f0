"""Model card: what an attacker infers from published fairness numbers, and whose attribute is disclosed."""

from pages.shell import shell

shell.guard()

from dataclasses import replace

import streamlit as st

from core.auditing import plan_text
from core.base.settings import params
from core.stats.estimates import count
from core.studies.model_card import (
    DRAWS,
    STATISTIC_TITLES,
    ModelCardResult,
    ModelCardSettings,
    charts,
)
from core.studies.model_card.pinned_people import precisions_tried
from core.studies.model_card.release import COUNTS, precision_text
from core.studies.model_card.study import STUDY
from core.studies.registry import STUDIES
from core.studies.two_models import WARNING
from pages._report.report_plan import plan_of
from pages._report.report_plan import subject as request_of
from pages.shell import cached, panels, state
from pages.shell.background import ensure_started
from pages.shell.controls import bound, control
from pages.shell.study_jobs import StudyRun

SETTINGS = params(ModelCardSettings)

PEOPLE = (100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000)
"""Numbers of people on offer, below that of all."""

FIRST_PEOPLE = 1_000

MODELS = COUNTS[:6]
"""Numbers of models on offer."""

FIRST_MODELS = 20
FIRST_FAIR_MODELS = 5
"""Models at first; a fair one takes seconds to train."""

PRECISIONS = {precision_text(*precision): precision for precision in precisions_tried(None, None)}
"""In words -> decimals and privacy budget, from the finest on."""

SIZES = "sizes"
FIRST_STATISTICS = ("sp_gap", "tpr_gap", "fpr_gap", SIZES)

QUANTITIES = {
    charts.PRECISIONS: f"People disclosed; with noise, the most in up to {DRAWS} draws",
    charts.PEOPLE: "Everybody's probability; dotted: nothing learned; shaded: near-certain inference",
    charts.BITS: "Bits in total: measured (95% CI) and expected",
    charts.IN_COMMON: "Shares among the disclosed (●) and the rest (○)",
    charts.SHARE: "All numbers together; at 1 they could determine everybody's attribute",
    charts.ACCURACY: "People inferred correctly before (○) and after (●), 95% CI",
}
"""Chart -> what it draws."""

FURTHER = {charts.SHARE: (charts.SHARE,), charts.ACCURACY: (charts.ACCURACY,)}

GUIDE = (
    "**Setting.** Each published number is a sum over everybody's sensitive attribute: an equation with an unknown for "
    "each person. The attacker knows everybody's features, label and predictions. Imputation learned from other people "
    "gives them a probability for each person; the equations move it.\n\n"
    "**Near-certain inference.** Averages hide the people whose attribute is disclosed.\n\n"
    "**Information gain.** By how many bits the numbers shorten a description of everybody's attribute.\n\n"
    "**What it does not show.** Attackers may know more. Rounding guarantees nothing. Only DP noise bounds what others "
    "learn, and only if nobody can draw it again: here it comes from the seed, so do not publish these numbers.\n\n"
    "**Source.** Ours; information projection: Csiszár (1975)."
)


def family() -> str:
    """Choose which models have numbers."""
    brought = subject.dataset.roles.gives_predictions
    first = "audited" if brought else "mixed"
    return str(
        bound(
            SETTINGS["family"],
            f"release_family{'_brought' * brought}",
            container=row[0],
            value=first,
            help="The audited model comes first. Variants are what a developer trains on the way to one model, none of "
            "them with the attribute as a feature: other training records, depths, features, or fairness tolerances.",
        )
    )


def people() -> int:
    """Choose how many test people are on the card; 0 stands for all."""
    test = int(subject.splits.test.size)
    sizes = [n for n in PEOPLE if n < test]
    titles = {n: count(n) for n in sizes} | {0: f"all {count(test)}"}
    first = FIRST_PEOPLE if FIRST_PEOPLE in sizes else 0
    return int(
        bound(
            SETTINGS["people"],
            f"release_people_{test}",
            "select_slider",
            container=row[1],
            options=list(titles),
            value=first,
            format_func=titles.__getitem__,
            help="Test people, whom no model trained here has seen. Where they are fewer, each counts for more in "
            "every number.",
        )
    )


def group() -> str:
    """Choose which of more than two groups is compared with everybody else; the largest at first."""
    dataset = subject.dataset
    if dataset.n_groups == 2:
        return ""
    base_rates = dataset.base_rates
    return str(
        control(
            SETTINGS["group"],
            f"release_group_{dataset.roles.key}_{dataset.n_groups}",
            "selectbox",
            help=None,
            options=dataset.group_names,
            value=max(base_rates, key=lambda group: base_rates[group].n),
        )
    )


def precision() -> tuple[int | None, float | None]:
    """Choose decimals or a privacy budget."""
    text = row[2].select_slider(
        "Precision",
        list(PRECISIONS),
        key="release_precision",
        help="Of all numbers together. Rounding guarantees nothing. With DP noise, one person's attribute makes no "
        "card more than e to the ε times as likely, all else being the same: smaller is more private.",
        persist_state="session",
        **state.bind("release_precision"),
    )
    return PRECISIONS[text]


def published() -> list[str]:
    """Choose the statistics published, and whether group sizes are among them."""
    now = st.session_state.get("release_statistics", FIRST_STATISTICS)
    box = row[3].popover(
        f"Published statistics: {len(now)}", icon=":material/checklist:", width="stretch"
    )
    titles = {**STATISTIC_TITLES, SIZES: "Group sizes"}
    return list(
        box.pills(
            SETTINGS["statistics"].param.title,
            list(titles),
            selection_mode="multi",
            default=list(FIRST_STATISTICS),
            key="release_statistics",
            format_func=titles.__getitem__,
            help="A gap is the rate of the first group (of more than two, the chosen one) minus that of the others. "
            "Group sizes: in all and with either label; DP noise comes with them.",
            persist_state="session",
            **state.bind("release_statistics"),
        )
    )


def first_models(settings: ModelCardSettings) -> int:
    """Return where the slider of the number of models begins."""
    if settings.family == "tolerances":
        return FIRST_FAIR_MODELS
    return FIRST_MODELS


def with_models(settings: ModelCardSettings) -> ModelCardSettings:
    """Return settings with the number of models of the slider, which is drawn under its chart."""
    first = first_models(settings)
    number = int(state.slider_position("release_count_models", first, most=MODELS[-1]))
    if number not in MODELS:
        number = first
    return replace(settings, count=number)


def run_of(settings: ModelCardSettings) -> tuple[StudyRun, ModelCardResult]:
    """Return the study under way, and the newest of its results; the page waits for the first."""
    work = StudyRun(STUDY, subject, settings, cached.store_of(config.dataset))
    ensure_started(work)
    return work, work.first(work.show_progress)


def plan_with(settings: ModelCardSettings) -> bytes:
    """Return the plan of an audit that has this card."""
    plan = request_of(config, table, plan_of(config, table)).plan
    studies = dict(plan.studies) | {STUDY.name: settings}
    return plan_text(replace(plan, studies=tuple(studies.items()))).encode()


@st.fragment
def draw() -> None:
    """Draw everything that follows the number of models."""
    settings = with_models(chosen)
    work, card = run_of(settings)
    headline, *statements = STUDY.findings(card, settings)
    drawings = STUDY.charts(card, settings)

    def chart(title: str) -> None:
        if title in drawings:
            panels.titled(title, QUANTITIES[title], drawings[title], key=f"release_{title}")

    with opening:
        panels.finding(replace(headline, caveats=()))
    if card.status != "converged":
        panels.problem(card.reason, point="Not reliable.")
    left, right = st.columns([3, 2], gap="large")
    with left:
        chart(charts.PRECISIONS)
        if card.advice is None:
            work.watch(work.show_progress, drawn=card)
    with right:
        chart(charts.PEOPLE)
        panels.notes(*headline.caveats)
    left, right = st.columns([3, 2], gap="large")
    with left:
        chart(charts.BITS)
        if settings.family != "audited":
            arguments = {"help": None, "options": MODELS, "value": first_models(settings)}
            bound(SETTINGS["count"], "release_count_models", "select_slider", **arguments)
    with right:
        chart(charts.IN_COMMON)
    left, right = st.columns(2, gap="large")
    with left:
        panels.how_to_read(GUIDE)
        if settings.family != "audited":
            st.caption(WARNING)
            shell.link("two_models", STUDIES["two_models"].title)
    with right:
        tables = {title: drawing.table for title, drawing in drawings.items()}
        panels.numbers(tables | panels.frames(STUDY.tables(card, settings)), key="release")
        panels.download(
            "Audit plan (TOML)",
            lambda: plan_with(settings),
            "plan.toml",
            key="download_card",
            mime="application/toml",
            icon=":material/checklist:",
            help="For fairleak attack model_card --plan plan.toml, or an audit: the same card of the same model.",
        )
    for statement in statements:
        panels.statement(statement)
    if further := panels.further(FURTHER, key="further_card"):
        chart(*further)


shell.head()
config, table = cached.audited()
subject = cached.audit(config, table).subject
top = st.container()
row = st.columns([25, 20, 30, 25], gap="small", vertical_alignment="bottom")
models = family()
covered = people()
compared = group()
decimals, epsilon = precision()
numbers = published()
statistics = tuple(name for name in STATISTIC_TITLES if name in numbers)
if not statistics:
    panels.problem("Choose at least one statistic: this card says nothing.")
    st.stop()
chosen = ModelCardSettings(
    family=models,
    people=covered,
    group=compared,
    statistics=statistics,
    sizes=SIZES in numbers or epsilon is not None,
    decimals=decimals,
    epsilon=epsilon,
    seed=config.seed,
)
run_of(with_models(chosen))
opening = top.empty()  # no earlier, so that the finding before stays while this one is computed
draw()

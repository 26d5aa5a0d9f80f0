"""Start: a finished audit without a click, three doors, and the map of what fair and private models reveal.

The map is kept for the built-in demo, and made in the background for other tables when asked for.
"""

from __future__ import annotations

from pages.shell import shell

shell.guard()

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.base.errors import FairLeakError
from core.datasets.splits import shared_note
from core.experiments.sweep.landscape import (
    KEPT_MAP,
    Landscape,
    LandscapePlan,
    landscape_key,
    landscape_steps,
    read_landscape,
)
from core.stats.estimates import count, percent, points
from pages.shell import cached, panels, state
from pages.shell.background import Background, Job, State, pace

if TYPE_CHECKING:
    from core.experiments.choose import Choice

_DOORS = (  # title, icon, what is behind it, and its links: file and label
    (
        "Decide",
        ":material/fact_check:",
        "May this model be released? Bring a table with predictions, a model file, or data to train on.",
        (("data.py", "Upload"), ("choose.py", "Choose a model"), ("report.py", "Report")),
    ),
    (
        "Teach and learn",
        ":material/school:",
        "Worked examples with a few synthetic people, sheets to print, and a lesson of 45 minutes.",
        (("learn.py", "Worked examples"), ("glossary.py", "Glossary")),
    ),
    (
        "Explore",
        ":material/explore:",
        "Change the fairness and privacy settings and watch each attack.",
        (
            ("correction.py", "Correction"),
            ("bias_queries.py", "Bias queries"),
            ("people.py", "People at risk"),
        ),
    ),
)

_NOTES = (
    "**Colour:** what disclosure adds to the published attack, from none (pale) to {most}. Imputation without the "
    "model reaches {imputation}: below that nothing is a leak of the model, and pale does not mean safe.\n\n"
    "**Across:** tighter tolerances are further left.\n\n**Down:** more DP training noise."
)
HOW_TO_READ = (
    "**Each cell** is a private decision tree (DP-ID3, budget ε), trained again with every seed. Its predictions are "
    "changed at random within each group, with the fewest expected errors, until the noisy rates meet the tolerance."
    "\n\n"
    "**The number** is how often the published attack infers the attribute correctly once the tolerance is disclosed, "
    "whether or not it holds. **Bold:** the 95% CI of the gain excludes 0; one cell in twenty is bold by chance, so "
    "look for whole rows.\n\n"
    "**Membership AUC** belongs to the row's tree: the attacker takes those for members whose label it scores "
    "highest. Bold: the 95% CI excludes 0.5.\n\n"
    "**What it does not show.** One attack per risk; LiRA, on the page Membership, is stronger."
)

_LESS: dict[str, Any] = {"tolerances": (0.01, 0.05, None), "epsilons": (math.inf, 1.0, 0.1), "seeds": (0, 1, 2)}


def draw_map() -> None:
    """Draw the map of a table's models, or offer to make it; of more than two groups it holds less.

    Each correction of more groups takes programs of its own.
    """
    dataset = cached.dataset_of(table, config.roles)
    less = {} if dataset.n_groups == 2 else _LESS
    plan = LandscapePlan(metric=config.metric, train_share=config.train_share, **less)
    store, key = cached.store_of(config.dataset), landscape_key(dataset, plan)

    def make(job: Job) -> Landscape:
        from core.experiments.sweep.landscape import landscape

        return job.in_subprocess(lambda report: landscape(dataset, plan, report=report), about=dataset)  # type: ignore[no-any-return]

    work = Background("map", store, key, make, lane="sweep", total=landscape_steps(plan))
    result = _stored_map(dataset, plan) if config.dataset == "demo" else None
    result = result or work.result
    if result is None:
        work.watch(lambda: _offer(work, plan))
    else:
        _draw(result)
    if (choice := cached.kept_choice(config, table)) is not None:
        _draw_choice(choice)


def _draw_choice(choice: Choice) -> None:
    """Draw what Choose a model found about these people in this session; nothing is trained for it."""
    from core.experiments.choose.charts import draw_choice
    from core.experiments.choose.findings import finding

    result, quantity = finding(choice), "Accuracy against the worst leak of the models compared on Choose a model"
    panels.titled(shell.escape(result.point.rstrip(".")), quantity, draw_choice(choice), key="start_choice_chart")
    panels.notes(result.evidence)
    shell.link("choose")


def _stored_map(dataset: Any, plan: LandscapePlan) -> Landscape | None:
    """Return the map that came with FairLeak if it is one of this table and these settings, else None."""
    try:
        stored: Landscape = cached.store_of("demo").remember("landscape:kept", lambda: read_landscape(KEPT_MAP))
    except FairLeakError:  # the file is missing or damaged: the map can still be made
        return None
    return stored if stored.made_from == landscape_key(dataset, replace(plan, seeds=stored.plan.seeds)) else None


def _offer(work: Background, plan: LandscapePlan) -> None:
    """Show how far the map is, or offer to make it."""
    shell.whisper(
        "How fair, how private, and what leaks all the same",
        "A map of models trained on this table: tolerance across, privacy budget down, attack accuracy as colour",
    )
    label = "Stopped. Make the map" if work.state == State.CANCELLED else "Make the map"
    work.show(lambda job: f"{job.done} of {job.total} steps, {pace(job)}", label)
    if not work.busy:
        cells = len(plan.tolerances) * len(plan.epsilons)
        st.caption(
            f"Kinds of models {cells}, seeds of each {len(plan.seeds)}: about a minute for 12,000 people, "
            "longer with more than two groups. The page can be used meanwhile."
        )


def _draw(landscape: Landscape) -> None:
    from core.experiments.sweep.charts import draw_landscape
    from core.experiments.sweep.findings import tension

    result, drawing = tension(landscape), draw_landscape(landscape)
    shell.whisper(result.point, shell.escape(result.evidence))
    left, right = st.columns([3, 1], gap="large")
    with left:
        panels.chart(drawing, key="start_map_chart")
    most = max((cell.gain.value for cell in landscape.cells if not math.isnan(cell.gain.value)), default=0.0)
    imputation = percent(landscape.controls()["strong"], decimals=1)
    right.caption(_NOTES.format(most=points(most), imputation=imputation))
    panels.notes(" ".join(result.caveats), container=right)
    panels.foot(HOW_TO_READ, {"Map of fair and private models": drawing.table}, key="start-map")


def provenance() -> str:
    """Say where the data come from and how they were split."""
    subject = result.subject
    splits = subject.splits
    train = "train the model and are attacked" if subject.has_true_sets else "are attacked"
    return (
        f"{shell.escape(subject.dataset.source)} Records: {count(splits.train.size)} {train}, "
        f"{count(splits.attacker_rows.size)} are known to the attacker, {count(splits.test.size)} are kept for "
        "testing. "
        f"{shared_note(subject.dataset, splits)}"
    ).rstrip()


shell.head()
top = st.container()
opening = None if state.drawn() else top.empty()  # none, so that the finding before stays
if opening is not None:
    opening.markdown(
        "## To become fair, a model must look at people's sensitive attributes. Some of that can come out again.\n\n"
        "FairLeak trains a fair model, attacks it, and measures what an attacker learns that nobody meant to tell."
    )
waiting = st.container()
for column, (title, icon, text, links) in zip(st.columns(len(_DOORS)), _DOORS, strict=True):
    with column.container(border=True, height="stretch", key=f"door_{title.split()[0].lower()}"):
        st.markdown(f"### {icon} {title}\n\n{text}")
        with st.container(horizontal=True, gap="small"):
            for file, label in links:
                st.page_link(str(Path(__file__).with_name(file)), label=f":primary[{label}]")
below = st.container()

with waiting:
    config, table = cached.audited()
with below:
    draw_map()
with waiting:
    result = cached.audit(config, table)

from core.studies.correction.findings import first_tolerance, headline

now = result.disclose(first_tolerance(result), **cached.ATTACKER)
with (opening or top.empty()).container():
    panels.finding(headline(result, now, adversary="features"), "correction", "report")
st.caption(provenance())

"""Correction: what the attacker gains from a disclosed fairness tolerance, and further analyses of it.

Models that further analyses need are measured in the background, and kept.
"""

from pages.shell import shell

shell.guard()

import time
from dataclasses import replace
from typing import Any

import streamlit as st

from core.base.settings import params
from core.models import GIVEN_PREDICTIONS
from core.stats.estimates import Row, share
from core.studies.correction import STUDY, CorrectionSettings
from pages.shell import cached, controls, panels, state

with shell.head():
    published = controls.bound(
        params(CorrectionSettings)["as_published"],
        "as_published",
        help=(
            "The published code chooses the confidence exponent on the model owner's test set, which an attacker does "
            "not have. It lets them learn from all the records they know, and raises the tolerance in steps of 0.001 "
            "until the model meets it. Switched off, they keep 30% of their records apart to tune on, and the "
            "tolerance is disclosed as it is."
        ),
    )
config, table = cached.audited()
result = cached.audit(config, table)


from core.adversaries import STRONG
from core.studies.correction import charts, findings
from core.studies.correction.findings import disclosure_row, step_rows
from pages._correction import correction_analyses as analyses

_MOST_TOLERANCE = 0.2
_HEAD_START = (
    0.03  # seconds in which the browser paints the curve before the rest of the page comes along
)
_HOW_TO_READ = (
    "**Setting.** The attacker knows everybody's features, label and prediction, and the {name} of other people. They "
    "guess, then learn the disclosed constraint, then change the guesses they are least sure of until it holds.\n\n"
    "**Read.** The tolerance adds the distance between *before* and *after*. Below imputation it shows no leak of the "
    "model: anybody does better without it. At the right, each row adds one thing the attacker knows.\n\n"
    "**Slider.** What the owner publishes: every group's rate is within this distance of the overall rate.\n\n"
    "**What it does not show.** CIs are over people, for one model and seed. The forest, with {forest} parameters, "
    "over-predicts the smaller group; part of the gain repairs that.\n\n"
    "**Source.** Ferry et al., *Exploiting Fairness to Enhance Sensitive Attributes Reconstruction*, SaTML 2023."
)

dataset = result.subject.dataset
attribute_name = result.subject.attribute
attribute = shell.escape(attribute_name)


@st.fragment
def draw_at_tolerance() -> None:
    """Draw everything that follows the slider."""
    first = findings.first_tolerance(result)
    most = max(_MOST_TOLERANCE, first)
    tolerance = round(state.slider_position("told", first, most=most), 6)
    now = result.disclose(tolerance, **attacker)
    curve = result.curve(tolerance, *_farther(most), most, **attacker)
    strong = adversary in STRONG
    attacker_title, beside = ("Imputation", None) if strong else ("Published attack", result.strong)
    left, right = st.columns([3, 2], gap="large")
    with left:
        panels.titled(
            findings.by_tolerance(curve),
            f"Accuracy at inferring {attribute} before and after the correction, 95% CI band, by disclosed tolerance",
            charts.draw_disclosure(
                curve, now, beside, attribute=attribute_name, attacker=attacker_title
            ),
            key="told_chart",
        )
        st.slider(
            "Disclosed tolerance",
            0.0,
            most,
            first,
            0.001,
            format="%.3f",
            key="told",
            persist_state="session",
            **state.bind("told"),
            help="What the model owner publishes: every group's rate is within this distance of the overall rate.",
        )
    time.sleep(_HEAD_START)
    settings = CorrectionSettings(**attacker, tolerance=now.disclosed_tolerance)
    headline, effect, truth, proof, control, held_out, *noise = STUDY.findings(result, settings)
    leak = result.explained(adversary, now.used)
    so_what = headline.so_what.replace(findings.ONLY_THE_DIFFERENCE, effect.point)
    with opening:
        panels.finding(replace(headline, so_what=so_what), "report")
    with right:
        waterfall = charts.draw_waterfall(
            leak, result.strong, label=analyses.IMPUTATION, attribute=attribute_name, now=now
        )
        drawn = "Change in accuracy (points), 95% CI; hollow: published correction"
        panels.titled("What each piece of knowledge adds", drawn, waterfall, key="leak_chart")
        note = effect.text
        if headline.so_what:
            note = f"+ fairness constraint:{note.removeprefix(effect.point)}"
        panels.notes(note)
    if not now.is_true:
        raising = "The published experiments raise the tolerance until it holds: see the switch “Paper's protocol”."
        panels.problem(f"{truth.text} {raising}")
    by_group = charts.draw_recognition(now, curve, names=result.group_names)
    imputation = {"imputation, without the model": share(result.strong)}
    row_tables: dict[str, list[Row]] = {
        "Accuracy by disclosed tolerance": list(map(disclosure_row, curve)),
        "What each piece of knowledge adds": list(step_rows(leak)),
        "Beside it": [
            imputation | {"model's difference between groups": result.model.difference_train}
        ],
    }
    certificate = panels.worded([findings.certificate_row(now)])
    by_hand = {"Accuracy before and after, by group": by_group.table, "Certificate": certificate}
    panels.foot(_guide(), panels.frames(row_tables) | by_hand, key="correction")
    left, right = st.columns([3, 2], gap="large")
    groups = "Share inferred correctly before (○) and after (●), 95% intervals"
    panels.titled("Accuracy by group", groups, by_group, key="recognised_chart", container=left)
    statements = [proof, *noise, control, held_out]
    if now.is_true:
        statements.append(truth)
    panels.notes(*(finding.text for finding in statements), container=right)


def _guide() -> str:
    if config.forest is None:
        forest = "the published"
    else:
        forest = "your search's"
    return _HOW_TO_READ.format(name=attribute, forest=forest)


def _farther(most: float) -> list[float]:
    """Return tolerances beyond those that every curve has."""
    return [0.05 * step for step in range(5, int(20 * most) + 1)]


def _more() -> None:
    """Draw the corrections beside each other; ends the page while they are computed."""
    tolerance = findings.first_tolerance(result)
    disclosed = cached.more_disclosed(result, tolerance, attacker)
    finding = findings.stronger_disclosure(disclosed, tolerance)
    left, right = st.columns([3, 2], gap="large")
    by = f"Accuracy at inferring {attribute}, before ○ and after ●, by what is disclosed"
    drawing = panels.titled(
        finding.point, by, charts.draw_more(disclosed), key="more_chart", container=left
    )
    with right:
        for sentence in (finding.evidence, *finding.caveats):
            st.markdown(shell.escape(sentence))
        panels.numbers({"Stronger disclosure": drawing.table}, key="more")


top = st.container()
left, right = st.columns([3, 2], gap="large", vertical_alignment="bottom")
with right:
    attacker: dict[str, Any] = {**controls.attacker_settings(), "as_published": published}
adversary = attacker["adversary"]
with left:
    shell.chips(*findings.attacker_knowledge(result, adversary))
cached.tell(result, attacker)  # ends the page while it is computed
opening = top.empty()
draw_at_tolerance()

audit = analyses.CorrectionAudit(config, table, result, CorrectionSettings(**attacker))
sections: dict[str, Any] = {
    "trained": ("Tolerance sweep", analyses.draw_tolerance_section, analyses.tolerance_models),
    "methods": ("Compare methods", analyses.draw_method_section, analyses.method_models),
    "map": ("Tolerance and ε", analyses.draw_map_section, analyses.map_models),
    "seeds": ("Seeds and controls", analyses.draw_seed_section, analyses.seed_models),
    "tuning": ("Tune the attack", analyses.draw_tuning_section, analyses.forest_search),
    "more": ("Stronger disclosure", _more, None),
}
"""Name -> title, what draws it, and the work it follows."""

if further := panels.further(sections, key="further"):
    title, draw, work_of = further
    if work_of is None:
        draw()
    elif draw is not analyses.draw_tuning_section and config.method == GIVEN_PREDICTIONS:
        panels.needs_training(title)
    else:  # drawn again while its work is under way
        busy = work_of(audit).busy
        every = 2.0 if busy else None
        st.fragment(draw, run_every=every)(audit, busy)

"""Correction: what the attacker gains from a disclosed fairness tolerance."""

from pages.common import shell

shell.guard()

import time
from dataclasses import replace
from typing import Any

import streamlit as st

from core.correction import STUDY, CorrectionSettings
from core.quantities import Row, share
from core.settings import params
from pages.common import cached, controls, panels, state

with shell.head():
    published = controls.control(
        params(CorrectionSettings)["as_published"],
        "as_published",
        **controls.BOUND,
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
from core.charts.correction import draw_disclosure, draw_recognition, draw_waterfall
from core.correction.findings import ONLY_THE_DIFFERENCE, by_tolerance, first_tolerance, known
from core.correction.tables import disclosure_row, step_rows
from pages.common import correction_sections as sections

_MOST_TOLERANCE = 0.2
_HEAD_START = 0.03  # seconds in which the browser paints the curve before the rest of the page comes along
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

attribute = shell.escape(result.subject.attribute)


@st.fragment
def told() -> None:
    """Draw everything that follows the slider."""
    first = first_tolerance(result)
    tolerance = round(state.standing("told", first, most=_MOST_TOLERANCE), 3)
    now, curve = result.disclose(tolerance, **attacker), result.curve(tolerance, **attacker)
    left, right = st.columns([3, 2], gap="large")
    with left:
        panels.titled(
            by_tolerance(curve),
            f"Accuracy at inferring {attribute} before and after the correction, 95% CI band, by disclosed tolerance",
            draw_disclosure(
                curve,
                now,
                None if strong else result.strong,
                attribute=result.subject.attribute,
                attacker="Gradient boosting" if strong else "Published attack",
            ),
            key="told_chart",
        )
        st.slider(
            "Disclosed tolerance",
            0.0,
            _MOST_TOLERANCE,
            first,
            0.001,
            format="%.3f",
            key="told",
            persist_state="session",
            **controls.BOUND,
            help="What the model owner publishes: every group's rate is within this distance of the overall rate.",
        )
    time.sleep(_HEAD_START)
    settings = CorrectionSettings(**attacker, tolerance=now.told)
    headline, effect, truth, proof, control, own, *noise = STUDY.findings(result, settings)
    leak = result.explained(adversary, now.used)
    with opening:
        panels.finding(replace(headline, so_what=headline.so_what.replace(ONLY_THE_DIFFERENCE, effect.point)), "report")
    with right:
        waterfall = draw_waterfall(
            leak,
            result.strong,
            words="Imputation, without the model",
            attribute=result.subject.attribute,
            now=now,
        )
        drawn = "Change in accuracy (points), 95% CI; hollow: published correction"
        panels.titled("What each piece of knowledge adds", drawn, waterfall, key="leak_chart")
        rest = effect.text.removeprefix(effect.point)
        st.caption(shell.escape(f"+ fairness constraint:{rest}" if headline.so_what else effect.text))
    if not now.is_true:
        raising = "The published experiments raise the tolerance until it holds: see the switch “Paper's protocol”."
        panels.problem(f"{truth.text} {raising}")
    by_group = draw_recognition(now, curve, names=result.group_names)
    forest = "the published" if config.forest is None else "your search's"
    shown: dict[str, list[Row]] = {
        "Accuracy by disclosed tolerance": list(map(disclosure_row, curve)),
        "What each piece of knowledge adds": list(step_rows(leak)),
        "Beside it": [
            {"imputation, without the model": share(result.strong)}
            | {"model's difference between groups": result.model.difference_train}
        ],
    }
    by_hand = {
        "Accuracy before and after, by group": by_group.table,
        "Certificate": now.certificate.to_frame(),
    }
    guide = _HOW_TO_READ.format(name=attribute, forest=forest)
    panels.foot(guide, panels.frames(shown) | by_hand, key="correction")
    left, right = st.columns([3, 2], gap="large")
    with left:
        panels.titled(
            "Accuracy by group",
            "Share inferred correctly before (○) and after (●), 95% intervals",
            by_group,
            key="recognised_chart",
        )
    with right:
        for finding in (proof, *noise, control, own, *([truth] if now.is_true else [])):
            st.caption(shell.escape(finding.text))


top = st.container()
left, right = st.columns([3, 2], gap="large", vertical_alignment="bottom")
with right:
    attacker: dict[str, Any] = {**controls.attacker_settings(), "as_published": published}
adversary = attacker["adversary"]
strong = adversary in STRONG
with left:
    shell.chips(*known(result, adversary))
cached.tell(result, attacker)  # ends the page while it is computed
opening = top.empty()
told()
sections.draw(result, attacker)

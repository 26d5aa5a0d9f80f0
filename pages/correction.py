"""Correction: what the attacker gains from being told the fairness promise."""

from pages.common import shell

shell.guard()

import time
from typing import Any

import streamlit as st

from pages.common import cached, controls, guides, panels, state, wording

with shell.head("correction", badge=wording.synthetic_badge(state.dataset_name())):
    published = controls.published_switch()
config, table = cached.audited()
findings, dataset = cached.findings_of(config, table)

from core.audit import PROTOCOLS
from core.figures import draw_disclosure, draw_recognition, draw_trained

_HEAD_START = 0.03  # seconds in which the browser paints the curve before the rest of the page comes along

colours = shell.palette()
attribute = shell.escape(wording.attribute(config))


@st.fragment
def told() -> None:
    """Draw everything that follows the slider."""
    tolerance = st.session_state.get("told", wording.first_told(findings))
    now = cached.disclosure(points, findings, tolerance, **settings)
    curve = [points[t] for t in sorted(points)]
    left, right = st.columns([3, 2], gap="large")
    with left:
        shell.whisper(
            wording.curve_heading(curve),
            f"People whose {attribute} is recovered, by the tolerance the attacker is told",
        )
        by_tolerance = draw_disclosure(
            curve, now, findings.strong, colours, attribute=attribute, attacker="Paper's attacker"
        )
        panels.chart(by_tolerance, key="told_chart")
        controls.told_tolerance(tolerance)
    time.sleep(_HEAD_START)
    with opening:
        shell.finding(
            *wording.correction(findings, now, config, adversary=settings["adversary"], as_published=published)
        )
    with right:
        shell.whisper("Who is recognised", "Share named rightly before (○) and after (●), 95% intervals")
        by_group = draw_recognition(now, curve, colours, names=findings.group_names)
        panels.chart(by_group, key="recognised_chart")
    st.markdown(wording.certificate(now))
    if not now.is_true:
        panels.problem(wording.false_disclosure(now))
    left, right = st.columns(2)
    with left:
        panels.how_to_read(guides.correction(findings, now))
    with right:
        panels.numbers(
            {
                "Recovered people by the tolerance told": by_tolerance.table,
                "Recognised before and after, by group": by_group.table,
                "Certificate": now.certificate.to_frame(),
            },
            key="correction",
        )


def trained(running: bool) -> None:
    """Draw the curve over trained tolerances with progress and cancel."""
    job = cached.sweep_job(config, dataset)
    if running and (job is None or not job.busy):
        st.rerun()
    shell.whisper(
        "Training tighter or looser models",
        f"People whose {attribute} is recovered; each point is a model trained anew for that tolerance, and "
        + wording.trained_caption(published)
        + ("" if config.method == "exponentiated_gradient" else ". All are trained by exponentiated gradient"),
    )
    done = list(job.partial) if job else []
    if job is not None and job.busy:
        panels.sweep_progress(job, f"{len(done)} of {job.total} models trained")
    elif job is None or job.state != "finished":
        _restart(job, len(done))
    drawing = draw_trained(
        done,
        (points[0.0].majority, points[0.0].before, findings.strong),
        colours,
        shown=(settings["adversary"], PROTOCOLS[published], settings["cost"]),
        attribute=attribute,
    )
    panels.chart(drawing, key="trained_chart")
    if done and not running:
        panels.numbers({"Recovered people by trained tolerance": drawing.table}, key="trained")


def _restart(job: Any, done: int) -> None:
    if job is not None and job.state == "failed":
        panels.problem(job.error)
    label = f"Stopped after {done} models. Train the rest" if job else "Train the models"
    if st.button(label, key="start_sweep", icon=":material/play_arrow:"):
        cached.sweep_job(config, dataset, start="again")
        st.rerun()


opening = st.empty()
left, right = st.columns([3, 2], gap="large", vertical_alignment="bottom")
with right:
    settings: dict[str, Any] = {**controls.attacker_settings(), "as_published": published}
with left:
    shell.chips(*wording.known(findings, settings["adversary"]))
points = cached.curve(findings, dataset, **settings)
told()
sweep = cached.sweep_job(config, dataset, start="first")
if sweep is not None and sweep.busy:
    st.fragment(trained, run_every=1.0)(running=True)
else:
    st.fragment(trained)(running=False)

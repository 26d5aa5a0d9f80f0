"""Model: how the audited model is made fair, how fair and how accurate it is."""

from pages.common import shell

shell.guard()

import streamlit as st

from pages.common import cached, controls, panels, state, wording

shell.head()
opening = st.container()
controls.model_settings()
config, table = cached.audited()
subject = cached.audit(config, table).subject

from core.charts.audit import draw_accuracy, draw_rates
from core.model_fairness import STUDY, FairnessSettings, constraint_rows

seen = wording.seen(config)
headline, *cautions = STUDY.findings(subject, FairnessSettings())
with opening:
    panels.finding(headline)
left, right = st.columns([3, 2], gap="large")
with left:
    quantity = "Positive predictions, with 95% intervals; dotted: everybody"
    rates = draw_rates(subject.model, names=subject.dataset.group_names, seen=seen)
    panels.titled("Selection rate by group", quantity, rates, key="rates_chart")
with right:
    accuracy = draw_accuracy(subject.model, seen=seen)
    panels.titled("Accuracy", "Share of people predicted correctly, 95% intervals", accuracy, key="accuracy_chart")
for caution in cautions:
    st.info(shell.escape(caution.point), icon=":material/info:")
guide = wording.GIVEN_MODEL_GUIDE if state.given() else wording.MODEL_GUIDE
tables = {**STUDY.tables(subject, FairnessSettings()), "Asked and reached": tuple(constraint_rows(subject))}
panels.foot(guide, {"Accuracy": accuracy.table, **panels.frames(tables)}, "model")

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
from core.model_fairness import STUDY, FairnessSettings, constraint_rows, metric_words, metrics_heading

sets, names = wording.sets(config), wording.set_names(config)
headline, *cautions = STUDY.findings(subject, FairnessSettings())
with opening:
    panels.finding(headline, "correction", "report")
left, right = st.columns([3, 2], gap="large")
with left:
    rates = draw_rates(subject.model, names=subject.dataset.group_names, seen=sets)
    panels.titled("Selection rate by group", wording.RATES, rates, key="rates_chart")
with right:
    accuracy = draw_accuracy(subject.model, seen=sets)
    panels.titled("Accuracy", "Share of people predicted correctly, with 95% CIs", accuracy, key="accuracy_chart")
shell.whisper("All four fairness metrics by group", shell.escape(f"{metrics_heading(subject, names[1])}."))
titles = dict(zip(("training", "test"), (name.capitalize() for name in names), strict=True))
records = panels.pick("Records", titles, key="fairness_records", default="test")
st.dataframe(panels.worded(metric_words(subject, records)), hide_index=True, height="content")
for caution in cautions:
    st.info(shell.escape(caution.point), icon=":material/info:")
for note in subject.model.structure.notes:
    st.caption(shell.escape(note))
guide = wording.GIVEN_MODEL_GUIDE if state.given() else wording.MODEL_GUIDE
tables = {**STUDY.tables(subject, FairnessSettings()), "Asked and reached": tuple(constraint_rows(subject))}
panels.foot(guide, {"Accuracy": accuracy.table, **panels.frames(tables)}, "model")

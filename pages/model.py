"""Model: how the audited model is made fair, how fair and how accurate it is."""

from pages.common import shell

shell.guard()

import streamlit as st

from pages.common import cached, controls, panels, state, wording

shell.head("model", badge=wording.synthetic_badge(state.dataset_name()))
opening = st.container()
controls.model_settings()
config, table = cached.audited()
findings = cached.audit(config, table).findings

from core.charts import draw_accuracy, draw_rates

colours = shell.palette()
with opening:
    shell.finding(*wording.model(findings))
left, right = st.columns([3, 2], gap="large")
with left:
    rates = draw_rates(findings.model, colours, names=findings.group_names, seen=wording.seen(config))
    panels.titled(*wording.model_chart(findings), rates, key="rates_chart")
with right:
    accuracy = draw_accuracy(findings.model, colours, seen=wording.seen(config))
    told = "Share of people predicted correctly, 95% intervals"
    panels.titled("Accuracy", told, accuracy, key="accuracy_chart")
st.markdown(wording.asked_and_reached(findings))
for caution in wording.model_cautions(findings):
    st.info(caution, icon=":material/info:")
left, right = st.columns(2)
with left:
    panels.how_to_read(wording.GIVEN_MODEL_GUIDE if state.given() else wording.MODEL_GUIDE)
with right:
    panels.numbers(
        {
            "Rates by group": rates.table,
            "Right predictions": accuracy.table,
            "Asked and reached": wording.asked_table(findings),
        },
        key="model",
    )

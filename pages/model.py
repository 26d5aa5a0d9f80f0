"""Model: how the audited model is made fair, how fair and how accurate it is."""

from pages.shell import shell

shell.guard()

import streamlit as st

from core.models import GIVEN_PREDICTIONS
from pages.shell import cached, controls, panels

_CHART = (
    "**How to read the chart.** A dot is a group's selection rate with its 95% CI. Unfairness is the largest distance "
    "to the overall rate; the difference between groups (Fairlearn) is that between the outermost."
)

_GIVEN_GUIDE = (
    "**Question.** Are the predictions in your table fair? Nothing is trained: labels and scores count as they are.\n\n"
    f"{_CHART}\n\n"
    "**Controls.** A smaller tolerance is a stricter claim. It starts at the smallest that holds.\n\n"
    "**What it does not show.** Without a column of training records the people attacked are drawn with the seed, and "
    "membership is not attacked. Analyses that train the model again (other tolerances, methods, seeds, LiRA) are not "
    "run.\n\n"
    "**Source.** Fairness metrics as in Ferry et al. (2023)."
)

_GUIDE = (
    "**Question.** Is the model fair, also for new people?\n\n"
    f"{_CHART} Training values are facts, test values estimates.\n\n"
    "**Controls.** A smaller tolerance is fairer; published, it tells an attacker more. A smaller ε adds DP "
    "training noise.\n\n"
    "**Methods.** Exponentiated gradient enforces the constraint in training. The threshold optimizer and the "
    "correlation remover need the attribute to predict. The latter and the private DP-ID3 tree guarantee no "
    "tolerance.\n\n"
    "**What it does not show.** Equal rates alone make no decision fair for each person.\n\n"
    "**Sources.** Agarwal et al. (2018); Hardt et al. (2016); Friedman and Schuster (2010)."
)

shell.head()
opening, _ = controls.page_parts()
config, table = cached.audited()
subject = cached.audit(config, table).subject

from core.auditing.charts import draw_accuracy, draw_rates
from core.studies.fairness import (
    STUDY,
    FairnessSettings,
    constraint_rows,
    metric_table,
    metrics_heading,
)

knows_sets = config.method != GIVEN_PREDICTIONS or bool(config.roles and config.roles.sets)
sets = ("training", "test") if knows_sets else ("attacked", "other")
names = ("training set", "test set") if knows_sets else ("people attacked", "others")
headline, *cautions = STUDY.findings(subject, FairnessSettings())
with opening:
    panels.finding(headline, "correction", "report")
left, right = st.columns([3, 2], gap="large")
rates = draw_rates(subject.model, names=subject.dataset.group_names, seen=sets)
panels.titled(
    "Selection rate by group",
    "Dot and bar: rate and 95% CI. Hollow: training set",
    rates,
    key="rates_chart",
    container=left,
)
accuracy = draw_accuracy(subject.model, seen=sets)
quantity = "Share of people predicted correctly, with 95% CIs"
panels.titled("Accuracy", quantity, accuracy, key="accuracy_chart", container=right)
shell.whisper(
    "All four fairness metrics by group", shell.escape(f"{metrics_heading(subject, names[1])}.")
)
titles = dict(zip(("training", "test"), (name.capitalize() for name in names), strict=True))
records = panels.pick("Records", titles, key="fairness_records", default="test")
st.dataframe(panels.worded(metric_table(subject, records)), hide_index=True, height="content")
for caution in cautions:
    st.info(shell.escape(caution.point), icon=":material/info:")
panels.notes(*subject.model.structure.notes)
guide = _GUIDE if config.method != GIVEN_PREDICTIONS else _GIVEN_GUIDE
tables = {
    **STUDY.tables(subject, FairnessSettings()),
    "Asked and reached": tuple(constraint_rows(subject)),
}
panels.foot(guide, {"Accuracy": accuracy.table, **panels.frames(tables)}, "model")

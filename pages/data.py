"""Data: choose or bring a table, say what its columns are, and see who is in it."""

from pages.common import shell

shell.guard()

import streamlit as st

from pages.common import cached, controls, panels, state, upload, wording

shell.head()
opening = st.container()
left, right = st.columns([3, 2], gap="large")
with left:
    controls.data_settings()
with right:
    upload.box()

table = cached.table_of(state.dataset_name())
config = state.config(table)

from core.charts.audit import draw_groups
from core.datasets.columns import describe_columns

columns = cached.once(describe_columns, table)
if config is None:
    with opening:
        shell.finding(*wording.table_without_roles(table))
else:
    dataset = cached.dataset_of(table, config.roles)
    with opening:
        shell.finding(*wording.data(dataset))
    left, right = st.columns([3, 2], gap="large")
    with left:
        drawing = draw_groups(dataset)
        panels.titled(*wording.groups_chart(dataset), drawing, key="groups_chart")
    with right:
        shell.whisper("Columns", "Missing cells and distinct values in the table as it was read")
        st.dataframe(columns, hide_index=True, height=290)
    if sentence := wording.given(dataset):
        st.caption(sentence)
    for note in dataset.notes:
        st.caption(shell.escape(note))

upload.roles_form(table, columns)
groups = {} if config is None else {"Groups": drawing.table}
panels.foot(wording.DATA_GUIDE, {**groups, "Columns": columns}, key="data")
st.caption(shell.escape(table.source))

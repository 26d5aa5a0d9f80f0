"""Data: choose or upload a table, check its column roles, and see group sizes and base rates."""

from pages.common import shell

shell.guard()

import streamlit as st

from pages.common import cached, column_roles, controls, panels, state, upload, wording

uploaded = upload.pending()
own = uploaded is not None or state.dataset_name() == state.UPLOAD
row = shell.head(badge="your file" if own else None)
opening = st.container()


def pending_page(table: upload.Table) -> None:
    """Draw the form for a table that waits for its column roles."""
    with row, st.container(horizontal=True, width="content"):
        with st.popover("Another file", icon=":material/upload:"):
            upload.box()
        upload.remove_button()
    form = column_roles.draw(table, None)
    with opening:
        shell.finding(
            **wording.pending_table(table, form.roles, form.to_check, controls.audited_title(), before=form.before)
        )
    upload.model_box(table, None, form.roles)
    for note in table.notes:
        st.caption(shell.escape(note))
    first = {"First 20 rows": table.frame.head(20)}
    panels.foot(wording.DATA_GUIDE, {**first, "Columns": cached.once(describe_columns, table)}, key="data")


def audited_page() -> None:
    """Draw the audited table: its groups, and the form of its column roles."""
    settings, file = st.columns([3, 2], gap="large")
    with settings:
        controls.data_settings()
    with file:
        upload.box()
        upload.remove_button()
    config, table = cached.audited()
    dataset = cached.dataset_of(table, config.roles)
    with opening:
        shell.finding(**wording.data(dataset, uploaded=table.uploaded))
    drawing = draw_groups(dataset)
    panels.titled(*wording.groups_chart(dataset), drawing, key="groups_chart")
    for sentence in filter(None, (wording.given(dataset), *map(shell.escape, dataset.notes))):
        st.caption(sentence)
    form = column_roles.draw(table, config.roles)
    if table.uploaded:
        upload.model_box(table, config.roles, form.roles)
    tables = {"Groups": drawing.table, "Columns": cached.once(describe_columns, table)}
    panels.foot(wording.DATA_GUIDE, tables, key="data")
    st.caption(shell.escape(table.source))


from core.charts.audit import draw_groups
from core.datasets.columns import describe_columns

if uploaded is None:
    audited_page()
else:
    pending_page(uploaded)

"""Query desk: a ledger that answers fairness questions about registered people within one lifetime budget."""

from pages.common import shell

shell.guard()

import streamlit as st

from core.errors import FairLeakError
from pages.common import panels
from pages.common.desk import board, place, record, sections, words

ledger = place.current()
shell.head("desk", badge="" if ledger else "synthetic example")
opening = st.container()
if ledger is None:
    from pages.common.desk import example

    example.show(opening)
    place.box(expanded=True)
    with st.expander("Verify an export", icon=":material/verified:"):
        record.verify()
else:
    try:
        statuses = ledger.statuses()
    except FairLeakError as error:
        shell.finding(*words.unreadable())
        place.unreadable(str(error))
        place.box(expanded=True)
        st.stop()
    if statuses:
        with opening:
            heading = st.container()
            now = board.chosen(statuses)
        with heading:
            shell.finding(*words.finding(now))
            place.still()
        board.show(now, statuses)
        sections.show(ledger, now)
    else:
        with opening:
            shell.finding(*words.empty())
            place.still()
        sections.show(ledger, None)
    place.box(expanded=False)

panels.how_to_read(words.GUIDE)
st.caption(words.STORED)

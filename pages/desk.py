"""Query desk: a ledger that answers fairness questions about registered people within one lifetime budget."""

from pages.common import shell

shell.guard()

import streamlit as st

from core.desk.findings import finding
from core.errors import FairLeakError
from pages.common import desk_board as board
from pages.common import desk_ledger, panels

ledger = desk_ledger.current()
shell.head(badge="" if ledger else "synthetic example")
opening = st.container()
if ledger is None:
    board.show_example(opening)
    desk_ledger.box(expanded=True)
    with st.expander("Verify an export", icon=":material/verified:"):
        board.verify()
else:
    try:
        statuses = ledger.statuses()
    except FairLeakError as error:
        shell.finding("The ledger cannot be read now.", "Nothing was asked or charged; try again, or open another one.")
        desk_ledger.unreadable(str(error))
        desk_ledger.box(expanded=True)
        st.stop()
    if statuses:
        with opening:
            heading = st.container()
            now = board.chosen(statuses)
        with heading:
            board.say(finding(now, shell.escape))
            desk_ledger.still()
        board.show(now, statuses)
        board.sections(ledger, now)
    else:
        with opening:
            shell.finding(
                "The ledger is open and holds no test set yet.",
                "Register one below: its people, their attribute, and the total budget of all queries about them.",
            )
            desk_ledger.still()
        board.sections(ledger, None)
    desk_ledger.box(expanded=False)

panels.how_to_read(board.GUIDE)
st.caption(board.STORED)

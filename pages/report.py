"""Report: may the model be released? Every attack, judged by a policy, and the reports to file."""

from pages.common import shell

shell.guard()

import streamlit as st

from pages.common import cached, report_audit, report_plan, state, wording
from pages.common import report_board as board
from pages.common import report_policy as policies
from pages.common.report_audit import Tested, Work, judged
from pages.common.report_plan import asked, subject

shell.head("report", badge=wording.synthetic_badge(state.dataset_name()))
opening = st.container()
config, table = cached.audited()

from core.policy import judge

policy = policies.current(config)
wanted = asked(config, table)
work, tested = Work(subject(config, table, wanted)), Tested()
work.fill()
release = None
if work.found is None:
    with opening:
        shell.finding(*board.no_verdict(work.status, policy, config, table, wanted.outputs))
    work.watch()
    attribute = wording.attribute(config)
    board.draw_waiting(judge(policy, (), attribute=attribute))
else:
    tested.fill()
    release = judged(work, policy, tested.found)
    with opening:
        shell.finding(*board.finding(release.audit.verdict, config, table, wanted.outputs))
    tested.warn()
    board.draw(release.rows(), release.audit.verdict.overall)
    report_audit.internal_files(release)
name = report_plan.section()
if release is not None:
    tested.watch()
report_audit.draw(name, config, table, tested, release)

"""Report: may the model be released? Every attack, judged by a policy, and the reports to file."""

from pages.common import shell

shell.guard()

import streamlit as st

from pages.common import cached, state, wording
from pages.common.deciding import board, controls, downloads, sections, words
from pages.common.deciding import policy as policies
from pages.common.deciding.shown import shown
from pages.common.deciding.subject import asked, subject
from pages.common.deciding.tested import Tested
from pages.common.deciding.work import Work

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
        shell.finding(*words.no_verdict(work.status, policy, config, table, wanted.outputs))
    work.watch()
    attribute = wording.attribute(config)
    board.draw_waiting(judge(policy, (), attribute=attribute))
else:
    tested.fill()
    release = shown(work, policy, tested.found)
    with opening:
        shell.finding(*words.finding(release.audit.verdict, config, table, wanted.outputs))
    tested.warn()
    board.draw(release.rows(), release.audit.verdict.overall)
    downloads.internal(release)
name = controls.section()
if release is not None:
    tested.watch()
sections.draw(name, config, table, tested, release)

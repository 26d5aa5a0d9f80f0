"""Report: may the model be released? Every attack, judged by a policy, and the reports to file."""

from pages.common import shell

shell.guard()

import streamlit as st

from pages.common import (
    cached,
    panels,
    report_audit,
    report_compare,
    report_plan,
    report_sign_off,
    report_summary,
    wording,
)
from pages.common import report_board as board
from pages.common import report_policy as policies
from pages.common.background import want
from pages.common.report_audit import Attacks, SelfTests, judged
from pages.common.report_plan import plan_of, subject

head = shell.head()
opening = st.container()
config, table = cached.audited()

from core.policy import judge
from core.report import check_rows

policy = policies.current(config)
attacks, tested = Attacks(subject(config, table, plan_of(config, table))), SelfTests()
want(attacks)
release = None
if attacks.result is None:
    with opening:
        shell.finding(*board.no_verdict(attacks.state, policy, attacks.subject))
    attacks.watch(attacks.show_progress)
    attribute = wording.attribute(config)
    board.draw_waiting(judge(policy, (), attribute=attribute))
else:
    want(tested)
    release = judged(attacks, policy, tested.found)
    with head:
        report_summary.button(release)
    with opening:
        shell.finding(*board.finding(release.audit.verdict, attacks.subject))
    tested.warn()
    board.placeholders(policy)
    compared = report_compare.chosen(release)
    board.draw(check_rows(release.document()), release.audit.verdict.overall, compared)
    report_compare.below(compared)
    report_audit.downloads(release, tested)
    report_sign_off.card(release, testing=tested.busy)
name = panels.further(report_plan.SECTIONS, key="further_release")
if release is not None:
    tested.watch(tested.show_progress, drawn=tested.result)
report_audit.draw(name, config, table, tested, release)

"""The query desk in-process: its forms filled in, and everything it says."""

from __future__ import annotations

import re
from typing import Any

from google.protobuf import text_format

from core.desk import Ledger, LedgerStatus, default_ledger, open_ledger
from tests import desk_files
from tests.app.dashboard import Dashboard

__all__ = [
    "ask",
    "audited",
    "bring_test_set",
    "captions",
    "desk",
    "from_file",
    "give",
    "ledger",
    "plain",
    "price",
    "section",
    "state",
    "ticks",
    "told",
]


def ledger() -> Ledger:
    """Return the default ledger, as somebody else opens it."""
    return open_ledger(default_ledger())


def state(name: str = "demo, sex") -> LedgerStatus:
    return ledger().status(name)


def desk(dashboard: Dashboard, *, create: bool = True) -> Dashboard:
    """Open the page, with a new ledger if wanted."""
    dashboard.open("desk")
    if create:
        dashboard.test.button(key="desk_create").click()
        dashboard.settle()
    return dashboard


def audited(dashboard: Dashboard) -> Dashboard:
    """Register the demo's test records in a new ledger."""
    desk(dashboard).test.button(key="desk_register").click()
    return dashboard.settle()


def section(dashboard: Dashboard, name: str, *, first: bool = False) -> Dashboard:
    dashboard.test.button_group(key="desk_first_section" if first else "desk_section").set_value(name)
    return dashboard.settle()


def give(dashboard: Dashboard, key: str, name: str, content: bytes) -> Dashboard:
    dashboard.test.file_uploader(key=key).set_value((name, content, "application/octet-stream"))
    return dashboard.settle()


def bring_test_set(dashboard: Dashboard, name: str = "people.csv", content: bytes | None = None) -> Dashboard:
    """Choose a file as the source of people, upload it, and say what its columns are."""
    dashboard.test.button_group(key="desk_source").set_value("file")
    dashboard.settle()
    return give(dashboard, "desk_test_set", name, desk_files.test_set() if content is None else content)


def from_file(dashboard: Dashboard, name: str = "people.csv", content: bytes | None = None) -> Dashboard:
    """Register a file's people as "loans", outcome included, in a new ledger."""
    bring_test_set(desk(dashboard), name, content)
    test = dashboard.test
    test.selectbox(key="desk_label_column").set_value(1)
    test.run()
    assert test.selectbox(key="desk_attribute_column").value == "sex"
    assert test.selectbox(key="desk_advantaged_sex").value == "Male"
    test.selectbox(key="desk_positive_repaid").set_value("yes")
    next(field for field in test.text_input if (field.key or "").startswith("desk_new_name_file")).set_value("loans")
    test.button(key="desk_register").click()
    return dashboard.settle()


def ask(dashboard: Dashboard, *, epsilon: float | None = 0.1, asker: str = "team A") -> Dashboard:
    """Ask, and tick that much may be spent where that is asked for."""
    if epsilon is not None:
        dashboard.test.select_slider(key="desk_epsilon").set_value(epsilon)
    dashboard.test.text_input(key="desk_asker").set_value(asker)
    dashboard.settle()
    for box in ticks(dashboard):
        box.check()
        dashboard.settle()
    dashboard.test.button(key="desk_ask").click()
    return dashboard.settle()


def ticks(dashboard: Dashboard) -> list[Any]:
    return [box for box in dashboard.test.checkbox if (box.key or "").startswith("desk_sure")]


def price(dashboard: Dashboard, epsilon: float) -> Dashboard:
    dashboard.test.select_slider(key="desk_epsilon").set_value(epsilon)
    return dashboard.settle()


def captions(dashboard: Dashboard) -> str:
    return plain("\n".join(caption.value for caption in dashboard.test.caption))


def told(dashboard: Dashboard) -> str:
    """Return everything sent to the browser: words, charts, raw HTML and the widgets' values."""
    protos, nodes = [], [dashboard.test._tree]
    while nodes:
        node: Any = nodes.pop()
        nodes.extend(getattr(node, "children", {}).values())
        protos.append(text_format.MessageToString(node.proto, as_utf8=True) if getattr(node, "proto", None) else "")
    found = "\n".join(protos)
    assert dashboard.finding[3:12] in found  # it does hold what is on the page
    return found


def plain(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text).replace("\N{NO-BREAK SPACE}", " ")

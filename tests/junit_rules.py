"""The rules of the JUnit schema of build servers (Jenkins' junit-10.xsd): elements, attributes, counts, times."""

from __future__ import annotations

import re
from xml.etree import ElementTree

_TEXTS = ("failure", "error", "skipped", "system-out", "system-err")
_INSIDE = {
    "testsuites": {"testsuite"},
    "testsuite": {"properties", "testcase", "system-out", "system-err"},
    "testcase": {*_TEXTS},
    "properties": {"property"},
    "property": set(),
    **{name: set() for name in _TEXTS},
}
_NEEDED = {"testsuite": {"name", "tests", "failures", "errors"}, "testcase": {"name"}, "property": {"name", "value"}}
_ALLOWED = {
    "testsuites": {"name", "time", "tests", "failures", "errors"},
    "testsuite": {"name", "tests", "failures", "errors", "time", "skipped", "timestamp", "hostname", "id", "package"},
    "testcase": {"name", "time", "classname", "group"},
    "property": {"name", "value"},
    **{name: {"type", "message"} for name in ("failure", "error", "skipped")},
}
_TIME = re.compile(r"(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]*)?")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")


def read_junit(content: bytes) -> ElementTree.Element:
    """Return the one suite of a file, after checking it against the rules."""
    root = ElementTree.fromstring(content)
    assert root.tag == "testsuites"
    for element in root.iter():
        names = set(element.attrib)
        assert _NEEDED.get(element.tag, set()) <= names <= _ALLOWED.get(element.tag, set()), (element.tag, names)
        assert {child.tag for child in element} <= _INSIDE[element.tag]
        assert _TIME.fullmatch(element.get("time", "0"))
    (suite,) = root
    cases = suite.findall("testcase")
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert int(suite.get(name, "0")) == sum(case.find(tag) is not None for case in cases)
    assert int(suite.attrib["tests"]) == len(cases)
    assert all(sum(case.find(tag) is not None for tag in ("failure", "error", "skipped")) <= 1 for case in cases)
    assert _MOMENT.fullmatch(suite.get("timestamp", "2026-01-01T00:00:00"))
    return suite

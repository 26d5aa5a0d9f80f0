"""Results to text and back: nothing lost, nothing accepted that does not fit."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.config import AuditConfig
from core.estimates import Estimate
from core.serialize import RecordError, dumps, loads


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    value: float
    name: str
    sure: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    leaf: Leaf | None
    either: int | str | None
    leaves: tuple[Leaf, ...]
    pair: tuple[int, float]
    table: dict[tuple[str, int], Leaf]
    more: list[dict[str, float]]


leaf = st.builds(Leaf, value=st.floats(), name=st.text(), sure=st.booleans())
tree = st.builds(
    Tree,
    leaf=st.none() | leaf,
    either=st.none() | st.integers() | st.text(),
    leaves=st.lists(leaf).map(tuple),
    pair=st.tuples(st.integers(), st.floats()),
    table=st.dictionaries(st.tuples(st.text(), st.integers()), leaf),
    more=st.lists(st.dictionaries(st.text(), st.floats())),
)
json_value = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def bits(value: object) -> str:
    """Return what tells any two different values apart, nan and signed zeros included."""
    return repr(value)


@given(tree)
def test_what_is_written_is_read_bit_for_bit(value: Tree):
    back = loads(dumps(value), Tree)
    assert bits(back) == bits(value)
    assert back == loads(dumps(back), Tree)  # equality holds even with nan in it
    json.loads(dumps(value), parse_constant=pytest.fail)  # strict JSON: no NaN, no Infinity


@given(tree, st.data())
def test_a_text_cut_short_is_refused(value: Tree, data: st.DataObject):
    text = dumps(value)
    with pytest.raises(RecordError):
        loads(text[: data.draw(st.integers(0, len(text) - 1))], Tree)


@given(json_value)
def test_anything_else_is_refused_or_fits(value: object):
    for kind in (Tree, Leaf, Estimate, AuditConfig):
        try:
            found = loads(json.dumps(value), kind)
        except RecordError:
            continue
        pytest.fail(f"{value!r} was read as {found!r}")


@pytest.mark.parametrize(
    "change",
    [{"value": True}, {"value": "1"}, {"name": 1}, {"sure": 1}, {"sure": None}, {"extra": 1}, {"name": None}],
)
def test_a_field_of_the_wrong_kind_is_refused(change: dict[str, object]):
    good: dict[str, object] = {"value": 1.0, "name": "a", "sure": True}
    assert loads(json.dumps(good), Leaf) == Leaf(value=1.0, name="a", sure=True)
    with pytest.raises(RecordError):
        loads(json.dumps(good | change), Leaf)


def test_a_value_against_the_rules_of_its_class_is_refused():
    text = dumps(AuditConfig()).replace('"tolerance":0.001', '"tolerance":1.4')
    with pytest.raises(RecordError, match=r"tolerance must be in \[0, 1\]"):
        loads(text, AuditConfig)


def test_numpy_numbers_become_python_numbers():
    made = Leaf(value=np.float64("inf"), name="a", sure=np.bool_(True))  # type: ignore[arg-type]
    back = loads(dumps(made), Leaf)
    assert back == Leaf(value=math.inf, name="a", sure=True) and type(back.sure) is bool

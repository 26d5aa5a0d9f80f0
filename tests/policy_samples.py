"""Small policies and measurements, and generated ones, for the tests of verdicts."""

from hypothesis import strategies as st

from core.auditing.policy import CHECKS, UNITS, Limit, Policy
from core.stats.estimates import Estimate
from core.studies.study import Measurement

FILE = """\
schema = 1
name = "Loan models"
version = "3"
author = "Office of Compliance"
date = "2026-11-22"
rationale = "For models that decide on loans."

[[limit]]
check = "attribute_excess"
value = 0.02
author = "A. Officer"
date = 2026-11-20
rationale = "Below what anybody notices."
source = "Internal guideline 7.2"

[[limit]]
check = "four_fifths"
value = 0.8
required = false
author = "B. Officer"
date = "2026-11-21"
rationale = "Shown."
"""
"""A policy file with two limits, one with a source."""


def estimate(value, low, high, *, level=0.95):
    return Estimate(value=value, low=low, high=high, n=1000, level=level)


def done(check, value, half=0.0, **more):
    """Return a measurement with an interval of a half width to either side."""
    return Measurement(check=check, outcome="done", estimate=estimate(value, value - half, value + half), **more)


def policy(*, level=0.95, optional=(), **limits):
    """Return a policy of limits by the names of their checks."""
    signed = {"author": "A", "date": "2026-11-22", "rationale": "Why."}
    policy_limits = tuple(
        Limit(check=check, value=value, required=check not in optional, **signed) for check, value in limits.items()
    )
    return Policy(name="P", version="1", level=level, limits=policy_limits, **signed)


def values(check):
    """Return the values a check can take; of columns those up to 20."""
    unit = UNITS[CHECKS[check].unit]
    return st.floats(unit.least, min(unit.most, 20.0), allow_nan=False)


def policies():
    """Return policies of one to six limits of which one at least is required."""
    return st.lists(st.sampled_from(list(CHECKS)), min_size=1, max_size=6, unique=True).flatmap(_with_limits)


def measurements():
    """Return measurements of any of the checks: estimated, computed, without an interval, not run, broken."""
    return st.tuples(*(_measurement(check) for check in CHECKS)).map(lambda drawn: tuple(m for m in drawn if m))


@st.composite
def _with_limits(draw, checks):
    limits = {check: draw(values(check)) for check in checks}
    optional = tuple(check for check in checks[1:] if draw(st.booleans()))
    return policy(level=draw(st.sampled_from([0.5, 0.9, 0.95, 0.99])), optional=optional, **limits)


@st.composite
def _measurement(draw, check):
    kind = draw(st.sampled_from(["estimated", "estimated", "estimated", "computed", "bare", "not_run", "none"]))
    if kind == "none":
        return None
    if kind == "not_run":
        return Measurement(check=check, outcome=draw(st.sampled_from(["not_run", "failed"])), reason="Not here.")
    value = draw(values(check))
    if kind == "computed":
        return done(check, value, basis="declared")
    if kind == "bare":
        return done(check, value, float("nan"))
    below, above = draw(st.floats(0.0, 0.3)), draw(st.floats(1e-6, 0.3))
    freedom = draw(st.sampled_from([None, None, 1, 4, 19]))
    drawn_estimate = estimate(value, value - below, value + above, level=draw(st.sampled_from([0.9, 0.95])))
    return Measurement(check=check, outcome="done", estimate=drawn_estimate, freedom=freedom)

"""What the query desk computes, charges, releases and refuses is as it was: few people, lone ones, seeded noise."""

from __future__ import annotations

import json
import math
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from io import BytesIO
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from core.datasets import Table
from core.desk import Ledger, TestSet, desk_roles, example_ledger, noise, registration, verify_export
from core.store.chain import TIME
from tests.golden.numbers import NamedValues, compare_numbers, refused
from tests.ledger_work import export_of


def seeded(seed: int) -> Callable[[int], int]:
    return random.Random(seed).randrange


def _noise() -> NamedValues:
    amounts: list[Any] = [1, "0.1", 1e-7, 0, -1, 1000, 1000.000001, "1e3", "x", math.nan, math.inf, "0.1234567"]
    for amount in amounts:
        units = refused(noise.millionths, amount, name="epsilon")
        yield f"amount {amount}", [units, noise.amount_text(units)] if isinstance(units, int) else units
    for reach, epsilon, unit in product((1, 7, 1 << 24), (1, 250_000, 3_000_000, 10**9), (1.0, 0.5 / noise.GRID)):
        law = noise.Noise(reach, epsilon, unit)
        yield f"law {reach} {epsilon} {unit:g}", [law.deviation, *map(law.bound, (0.5, 0.95, 0.975))]
    law = noise.Noise(3, 2_000_000, 1.0)
    some = np.array([3, -1, 2]), np.array([True, True, False])
    yield "release", [noise.release(*some, law, seeded(s)) for s in range(4)]
    for scores, n0 in (([0.0, 1.0, 1.0, 0.5], 1), ([0.25, 0.0, 0.0, 0.75, 1.0, 0.125], 4), ([0.5] * 3, 2)):
        h, n = np.array(scores) - 0.5, len(scores)
        part, rows = float(h[:n0].sum()), []
        for size, off, reach, sizes in product((0.0, n0 + 0.3, n + 2.0), (0.0, 0.6), (0.0, 0.4), (0.0, 1.2, n)):
            interval = noise.gap_interval(h, part=part + off, reach=reach, count=size, count_reach=sizes)
            how = {"total": float(h.sum()), "part": part + off, "count": size}
            error = noise.standard_error(n, **how, deviation=reach, count_deviation=sizes / 4)
            rows.append([interval.value, interval.low, interval.high, noise.gap_value(*how.values(), n), error])
        for kind, numbers in zip(("value", "low", "high", "gap", "error"), np.array(rows).T, strict=True):
            yield f"{kind} {scores} {n0}", numbers


PEOPLE = TestSet(ids=("p3", "P1", "p 2", "04", "5", "q"), attribute=[1, 0, 1, 1, 0, 1], labels=[1, 1, 0, 1, 0, 1])
TURNED = TestSet(ids=PEOPLE.ids[::-1], attribute=PEOPLE.attribute[::-1], labels=PEOPLE.labels[::-1])
FEW = TestSet(ids=("a", "b", "c"), attribute=[0, 0, 1])
ONE_GROUP = TestSet(ids=("a", "b", "x"), attribute=[1, 1, 1], labels=[0, 1, 0])
SCORES = np.array([0.9, 0.1, 0.8, 0.7, 0.2, 1.0])


def filled(seed: int) -> Ledger:
    """Return a ledger with noise from a seed, in which everything was asked that can be."""
    ledger = example_ledger(seed)
    roles = desk_roles("sex", group=("m",))
    ledger.register("loans", PEOPLE, budget=8, roles=roles, count_epsilon=3)
    ledger.register("few", FEW, budget="0.01", roles=desk_roles("sex"))
    ledger.register("race", PEOPLE, budget=2, roles=desk_roles("race"), another_attribute=True)
    ledger.register("one", ONE_GROUP, budget=50, roles=roles, count_epsilon=50)
    request = {"asker": " ann ", "epsilon": 1}
    ledger.ask("loans", PEOPLE, SCORES, **request)
    ledger.ask("loans", TURNED, SCORES[::-1], **request | {"asker": "bob"})
    ledger.ask("loans", PEOPLE, SCORES, **request | {"epsilon": 0.25}, again=True)
    ledger.ask("loans", PEOPLE, np.full(6, 0.3), **request, again=True)
    ledger.ask("loans", PEOPLE, SCORES > 0.5, **request | {"epsilon": 0.5}, metric="equal_opportunity")
    refused(ledger.ask, "loans", TestSet(ids=PEOPLE.ids, attribute=1 - PEOPLE.attribute), SCORES, **request)
    ledger.ask("few", FEW, [1, 0, 0], **request | {"epsilon": 0.009})
    ledger.ask("race", PEOPLE, SCORES, **request | {"epsilon": 0.002})
    return ledger


def _ledger() -> NamedValues:
    for seed in range(3):
        ledger = filled(seed)
        for status in ledger.statuses():
            yield f"{seed} {status.registration.name}", lean(status)
        content, _ = ledger.record()
        for line in content.decode().splitlines()[1:]:
            body = json.loads(line)["entry"]
            keys = ("part", "total", "size", "sum", "count", "spent")
            yield f"{seed} entry", {key: body[key] for key in keys if key in body}
        if seed < 2:
            continue
        request: dict[str, Any] = {"epsilon": 0.6}
        scores = [SCORES, np.full(6, 0.3), SCORES[::-1], np.eye(6)[0], (SCORES > 0.5) * 1.0]
        for h, metric, again in product(scores, ("statistical_parity", "equal_opportunity"), (False, True)):
            yield f"quote {h} {metric} {again}", ledger.quote("loans", PEOPLE, h, metric=metric, again=again, **request)
        for epsilon in (0.0079999, 0.008, 3.249999, 3.25, 3.250001, 0.25, 0.250001):
            yield f"price {epsilon}", refused(ledger.quote, "loans", PEOPLE, np.eye(6)[1], epsilon=epsilon)
        yield "spent", lean(ledger.ask("loans", PEOPLE, np.eye(6)[1], epsilon=0.25, asker="x"))
        yield "refused", lean(ledger.ask("loans", PEOPLE, np.eye(6)[2], epsilon=0.008, asker="x"))
        quoted = [("few", FEW, [1, 0, 0]), ("race", PEOPLE, SCORES[::-1]), ("one", ONE_GROUP, [1, 0, 1])]
        for name, who, h in quoted:
            for metric in ("statistical_parity", "equal_opportunity"):
                yield f"{name} {metric}", refused(ledger.quote, name, who, h, epsilon=1.0, metric=metric)
        for name, h, more in (
            ("no", [1, 0, 0], {}),
            *(("few", h, {}) for h in ([[1, 0, 0]], [1, 0], [1, 0, 2])),
            ("few", [1, 0, 0], {"metric": "x"}),
        ):
            yield f"not {name} {h} {more}", refused(ledger.quote, name, FEW, h, epsilon=1.0, **more)
        few = ("", 1, None), ("x" * 81, 1, None), ("y", 1, 1.000001), ("z" * 80, 1, 1), ("tiny", 0.000005, None)
        for name, budget, price in few:
            two = TestSet(ids=(f"{name}1", f"{name}2"), attribute=[0, 1])
            terms: dict[str, Any] = {"budget": budget, "count_epsilon": price, "roles": desk_roles("sex")}
            yield f"register {name[:3]} {budget} {price}", lean(refused(ledger.register, name, two, **terms))

    yield "wrong files", [status.wrong_files for status in ledger.statuses()]
    content, last = ledger.record()
    yield "last", [last == json.loads(content.splitlines()[-1])["hash"], verify_export(content).ok]
    for noted in (last, last[:32].upper(), last[:31], "z" * 40, "0" * 32):
        verification = refused(verify_export, content, noted=noted)
        yield "noted", verification[:47] if isinstance(verification, str) else [verification.ok, verification.reason]
    for k in range(8):
        two = TestSet(ids=(f"x{k}", f"y{k}"), attribute=[0, 1])
        ledger.register(f"more {k}", two, budget=1, roles=desk_roles("a"))
    yield "named", refused(ledger.status, "none")


def lean(result: Any) -> Any:
    """Return a result without what a key or the time decides."""
    if not hasattr(result, "to_dict"):
        return result
    content = result.to_dict()
    for record in (content, *content.get("answers", ())):
        for name in ("seal", "time", "question", "registered"):
            record.pop(name, None)
    content.pop("registration", None)
    return content


def changed(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what a forger may write in the place of a value."""
    if isinstance(value, int):
        yield from ((f"{by:+d}", value + by) for by in (-1, 1))
        yield from (("0", 0), ("-", -value), ("float", float(value)), ("true", True))
    elif isinstance(value, float):
        yield from ((f"{by:+g}", value + by) for by in (-0.01, 0.01, 1.0, -1.0))
        yield "-", -value
    elif isinstance(value, list) and value:
        yield from (("empty", []), ("twice", value * 2))
    if isinstance(value, str) and value.endswith("Z"):
        yield from (("early", "2001-01-01T00:00:00Z"), ("late", "2999-01-01T00:00:00Z"))
    yield "none", None


AMOUNTS = ("budget", "count", "count_epsilon", "charged", "spent", "n", "n_positive")
RELEASED = ("sum", "epsilon", "total", "part", "size", "gap", "low", "high", "standard_error")
TEXT_FIELDS = ("size_from", "metric", "name", "format", "time")
"""What an entry holds that can be forged."""


def _forged() -> NamedValues:
    bodies = [json.loads(line)["entry"] for line in filled(1).record()[0].decode().splitlines()[1:]]
    for number, body in enumerate(bodies):
        for key in (*AMOUNTS, *RELEASED, *TEXT_FIELDS):
            inner = body.get(key)
            places = [(inner, part) for part in inner] if isinstance(inner, dict) else [(body, key)]
            for holder, part in places if key in body else ():
                original, changes_by_verdict = holder[part], defaultdict(list)
                for what, holder[part] in changed(original):
                    changes_by_verdict[_verdict(bodies)].append(what)
                holder[part] = original
                verdicts = " | ".join(
                    f"{verdict} {' '.join(sorted(changes))}" for verdict, changes in sorted(changes_by_verdict.items())
                )
                yield f"{number + 1} {key} {part if holder is not body else ''}", verdicts

    for price in (0, -1, 8_000_000, 8_000_001):
        forged = bodies[1] | dict.fromkeys(("count_epsilon", "charged", "spent"), price)
        yield f"price {price}", _verdict([bodies[0], forged])
    for hours in (0.9, 1.1):
        earlier = datetime.strptime(bodies[0]["time"], TIME) - timedelta(hours=hours)
        yield f"clock {hours}", _verdict([bodies[0], bodies[1] | {"time": earlier.strftime(TIME)}, *bodies[2:]])[:30]


def _verdict(bodies: list[dict[str, Any]]) -> str:
    """Return what is wrong with entries, chained anew."""
    reason = verify_export("\n".join([*export_of(bodies), ""]).encode()).reason or "good"
    reason = re.sub(r"20\d\d-[-T:\dZ]+", "<now>", reason)
    return reason.removeprefix("Verification failed: ").replace(
        "lacks something or holds something of another kind", "lacks"
    )


def _registration() -> NamedValues:
    for who in (PEOPLE, TURNED, FEW, ONE_GROUP):
        seals = who.seal(b"k")[:8], who.seal_of_people(b"k")[:8]
        yield f"{who.ids}", [who.n, who.n_positive, who.order, *seals]
    two = {"ids": ("a", "b"), "attribute": [1, 1]}
    wrong: list[dict[str, Any]] = [{"ids": ("a",), "attribute": [1]}, two | {"ids": ("a", " a"), "attribute": [1, 0]}]
    wrong += [two | {"attribute": [1]}, two | {"attribute": [1, 2]}, two | {"labels": [1]}, two]
    yield "refused", [refused(lambda arguments=arguments: TestSet(**arguments).n) for arguments in wrong]
    yield from _files()


def _table(content: bytes) -> Table:
    return Table(name="upload", title="f.csv", frame=pd.read_csv(BytesIO(content)), source="")


def _files() -> NamedValues:
    file = b"id,sex,paid,score,other\np1,m,1,0,x\n2,f,0,1,y\n3,m,1,0.25,\n4,f,1,1e-3,x\n"
    for roles in (
        desk_roles("sex", group=("m",)),
        desk_roles("sex"),
        desk_roles("sex", group=("x",)),
        desk_roles("paid"),
        desk_roles("sex", group=("f",), label="paid"),
        desk_roles("paid", label="sex", positive="f"),
        desk_roles("other", group=("x",)),
        desk_roles("paid", person="sex"),
        desk_roles("no"),
    ):
        people = refused(registration.test_set_of, _table(file), roles)
        case = {name: value for name, value in registration.roles_entry(roles).items() if value}
        yield f"{case}", people if isinstance(people, str) else [people.ids, people.attribute, people.labels]
    wide = b"id,a,b,c,d,e,f,g,h,i,j\n" + b"".join(b"%d,%d,0,0,0,0,0,0,0,0,0\n" % (k, k) for k in range(8))
    for rows in (7, 8, 9):
        part = b"\n".join(wide.split(b"\n")[:rows])
        for attribute in ("a", "z"):
            yield f"wide {rows}", refused(registration.test_set_of, _table(part), desk_roles(attribute))


CASES = {"noise": _noise, "ledger": _ledger, "forged": _forged, "registration": _registration}


@pytest.mark.long
@pytest.mark.parametrize("part", CASES)
def test_numbers(part: str) -> None:
    compare_numbers(f"desk-{part}", CASES[part]())

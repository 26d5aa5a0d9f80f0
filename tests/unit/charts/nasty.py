"""Charts of every form with nasty inputs, drawn from a seed: few numbers or equal ones, many and long names, markup."""

from __future__ import annotations

import math

import numpy as np

from core.charts import Drawing
from core.charts.drawing import Scale, decades, percents
from core.charts.heat import draw_heat
from core.charts.lines import Curve, Dot, draw_lines, level
from core.charts.rows import Mark, Row, draw_rows
from core.charts.scatter import Points, draw_scatter
from core.estimates import Estimate

LETTERS = list("abcdefgh iljMW<>&\"'`|_*$%éßЩ")


def nasty(rng: np.random.Generator, longest: int = 60) -> str:
    """Return a name of up to 60 letters, some of them wide, some of them markup."""
    return str(rng.choice(["x", "<script>"])) + "".join(rng.choice(LETTERS, int(rng.integers(0, longest))))


def estimate(rng: np.random.Generator) -> Estimate:
    """Return a rate, often 0, 1, or without an interval, of few people."""
    value = float(rng.choice([0.0, 1.0, 0.5, rng.random()]))
    half = float(rng.choice([0.0, math.nan, rng.random()]))
    return Estimate(value=value, low=max(0.0, value - half), high=min(1.0, value + half), n=int(rng.integers(1, 99999)))


def lines(seed: int) -> Drawing:
    rng = np.random.default_rng(seed)
    xs = sorted(rng.random(int(rng.integers(1, 12))).tolist())
    last = float(rng.choice([1.0, 12.0, 1e6]))
    x = Scale(title=nasty(rng), holds=(0.0, last), words="{:,.0f}".format)
    curves = [level(estimate(rng), "chance", nasty(rng))]
    for i in range(int(rng.integers(1, 21))):  # more than there is room for
        found = [estimate(rng) if rng.random() < 0.9 else None for _ in xs]
        there = [e for e in found if e is not None]
        now = there[-1] if there else None
        curves.append(
            Curve(
                x=xs,
                of=found,
                band=True,
                color="leak",
                name=nasty(rng),
                width=3 if i == 3 else 2,
                here=now,
                dots=[Dot(x=xs[0], of=Estimate(value=0.5, low=0.4, high=0.6, n=9), interval=True)],
            )
        )
    shaded = ("AUC contains 0.5", [(0.0, 0.4)] if rng.random() < 0.5 else [])
    look = {"at": 0.3, "head": nasty(rng), "shaded": shaded, "height": int(rng.integers(200, 320))}
    look["gutter"] = int(rng.choice([0, 152, 152]))  # 0: names stand under the plot
    return draw_lines("Curves", curves, x=x, y=percents(nasty(rng)), **look)


def rows(seed: int) -> Drawing:
    rng = np.random.default_rng(seed)
    made, two = [], rng.random() < 0.5
    for i in range(int(rng.integers(0, 21))):
        before, after = estimate(rng), estimate(rng)
        marks = [
            Mark(of=before, color="before", symbol="circle-open", name="before"),
            Mark(of=after, color="leak", name="after"),
        ]
        none = rng.random() < 0.2
        made.append(
            Row(
                name=nasty(rng),
                below=nasty(rng) if two else "",
                value="n/a" if none else None,
                note="" if not none else nasty(rng, 160),
                marks=[] if none else marks,
                shaded=i % 3 == 0,
                bold=i % 2 == 0,
            )
        )
    sides = [(nasty(rng), "first"), (nasty(rng), "second")] if rng.random() < 0.5 else []
    look = {"value": "before → after" if rng.random() < 0.7 else "", "head": nasty(rng) if rng.random() < 0.5 else ""}
    return draw_rows("Rows", made, percents(nasty(rng)), first="who", sides=sides, **look)


def steps(seed: int) -> Drawing:
    rng = np.random.default_rng(seed)
    made, start = [], 0.0
    for _ in range(int(rng.integers(2, 12))):
        e = estimate(rng)
        mark = Mark(of=e, color="leak", symbol="", name="reached", bar=start, hollow=rng.random() < 0.3)
        made.append(Row(name=nasty(rng), marks=[mark], apart=rng.random() < 0.2))
        start = e.value
    e = estimate(rng)
    made.append(Row(name=nasty(rng), marks=[Mark(of=e, color="ink", name="reached")], dash="dashdot"))
    return draw_rows("Steps", made, percents(nasty(rng)), first="step", value="points")


def heat(seed: int) -> Drawing:
    rng = np.random.default_rng(seed)
    deep, wide = (int(rng.integers(1, 11)) for _ in range(2))
    values = rng.choice([0.0, 1.0, math.nan, 0.123], (deep, wide))
    values[0, 0] = 0.5
    words = [[f"<b>{100 * v:.1f}</b>" if v == v else "n/a" for v in row] for row in values]
    names = ([nasty(rng) for _ in range(wide)], [nasty(rng) for _ in range(deep)])
    look = {"names": names, "titles": (nasty(rng), nasty(rng)), "ends": (0.0, 1.0)}
    return draw_heat("Map", values.tolist(), words, hover=words, rows=values, **look)


def scatter(seed: int) -> Drawing:
    rng = np.random.default_rng(seed)
    n = int(rng.choice([0, 1, 400]))
    x, y = (decades((-3, 0), (0.001, 0.01, 0.1, 1), nasty(rng)) for _ in range(2))
    points = [Points(x=(10 ** (-3 * rng.random(n))).tolist(), y=[0.1] * n, color="leak", hover=["one"] * n)]
    counts = [(nasty(rng), "first"), (nasty(rng), "second")][: int(rng.integers(0, 3))]
    beside = [(-0.2, nasty(rng), "first"), (-2.8, nasty(rng), "second")] if rng.random() < 0.5 else []
    look = {
        "x": x,
        "y": y,
        "counts": counts,
        "beside": beside,
        "regions": [((-1, 0), (-1, 0))],
        "diagonal": True,
        "threshold": -0.3,
    }
    return draw_scatter("Points", points, rows={"x": points[0].x}, **look)


def roc(seed: int) -> Drawing:
    rng = np.random.default_rng(seed)
    x, y = (
        decades((-1, 2), (0.1, 1, 10, 100), title) for title in ("False-positive rate (%)", "True-positive rate (%)")
    )
    grid = np.logspace(-1, 2, 30).tolist()
    curves = [
        Curve(x=grid, of=grid, color="leak", name=nasty(rng), value=str(rng.choice(["0.0%", "one score for all"])))
        for _ in range(int(rng.integers(0, 3)))
    ]
    shaded = ("fewer than 10 false positives", [(-1.0, 0.0)])
    return draw_lines("ROC curve", curves, x=x, y=y, rows=[], head="TPR at 1% FPR", shaded=shaded, diagonal=True)


FORMS = {"lines": lines, "rows": rows, "steps": steps, "heat": heat, "scatter": scatter, "roc": roc}
"""Form -> what makes a chart of it, of a seed."""

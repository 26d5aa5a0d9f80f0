"""What is drawn and said of extreme results is as it was: few people, equal numbers, gaps, hundreds of points.

The results are those that charts are tried on (`tests.unit.charts.nasty_studies`), each from a few seeds. Of a chart
its alternative text is kept, and the digest of everything drawn, to four digits.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import pandas
import pytest
from numpy.random import Generator

from core.charts import LIGHT
from core.datasets import Table
from core.desk import METRICS, ExportVerification, LedgerAnswer, LedgerStatus, Quote, Registration, desk_roles
from core.desk import findings as desk
from core.experiments import leak_over_seeds
from core.experiments.attacked_models import trained_tolerances_finding
from core.experiments.choose import ChoiceOutcome
from core.experiments.choose import findings as choosing
from core.experiments.experiment import SeedSummary
from core.stats.estimates import Estimate, certain, formatted_table, mean, mean_rate, plain_row
from core.studies.attribute.study import STUDY as attribute
from core.studies.attribute.study import AttributeSettings
from core.studies.attriguard import Compared, Concentration
from core.studies.attriguard import findings as guard
from core.studies.attriguard.allocation import RepresentativeNoise
from core.studies.attriguard.comparators import Transfer
from core.studies.attriguard.result import RATING_DEFENDERS, AttriGuardSettings
from core.studies.attriguard.study import STUDY as ATTRIGUARD
from core.studies.attriguard.utility import Recommendation, UtilityPoint
from core.studies.bias_queries import (
    NOISES,
    BiasQueriesResult,
    BiasQueriesSettings,
    ErrorQuantiles,
    Leak,
    Trials,
)
from core.studies.correction import findings as correction
from core.studies.membership import findings as membership
from core.studies.membership.fairpick import FairPick
from core.studies.membership.findings import GAPS, RATES, CurvePoint, deletions, epsilon_heading, picking_heading
from core.studies.model_card import findings as cards
from core.studies.people import people_study as people
from core.studies.study import Finding, Measurement
from core.studies.subject import AuditConfig
from tests.golden.make import compare, normal
from tests.unit.charts import membership_samples as members
from tests.unit.charts import nasty_studies as nasty
from tests.unit.queries.people import pool

answers: Any = import_module("core.studies.bias_queries.findings")
"""The module; its package has a function of this name."""

SEEDS = range(4)

SEPARATE_CHARTS = {"draw_pinned", "draw_value_noise", "draw_mechanism", "draw_defences", "draw_budget"}
"""Charts of results that are computed, whose last digits another machine may change."""


@pytest.mark.parametrize("name", nasty.CHARTS)
def test_charts(name: str) -> None:
    lines = []
    for seed in SEEDS:
        drawing = nasty.chart(name, seed)
        lines.append(f"{seed}: {drawing.alt}")
        if name not in SEPARATE_CHARTS:
            drawn = json.dumps(_short(json.loads(drawing.figure(LIGHT).to_json())), sort_keys=True)
            lines.append(f"   drawn: {hashlib.sha256(drawn.encode()).hexdigest()[:12]}")
    compare(f"extremes/{name}.txt", normal("\n".join(lines)))


def _short(part: Any) -> Any:
    """Return what is drawn, with four digits of each number."""
    if isinstance(part, dict):
        return {key: _short(value) for key, value in part.items()}
    if isinstance(part, list):
        return [_short(value) for value in part]
    return float(f"{part:.4g}") + 0.0 if isinstance(part, float) else part


def _correction(rng: Generator) -> Iterator[Finding | str]:
    leak, curve = (
        replace(nasty.attribution(rng), attacker="features", metric="equal_opportunity"),
        nasty.disclosures(rng),
    )
    yield correction.by_tolerance(curve)
    yield correction.certificate(curve[0])
    yield correction.permutation(curve[-1])
    for difference in (0.01, 0.3):
        yield correction.truth_of(curve[0], float(rng.random()), difference)
    if all("accuracy" in step.values for step in leak.steps):
        yield correction.constraint_effect(leak)
    yield correction.stronger_disclosure(nasty.more_disclosed(rng), float(rng.choice([0.0, 0.1])))


def _single_correction(rng: Generator) -> Iterator[Finding | str]:
    result, curve = nasty.corrected(rng), nasty.disclosures(rng)
    for point in (curve[0], curve[-1]):
        status, least = (
            str(rng.choice(["not_solved", "optimal", "infeasible"])),
            float(rng.choice([3e-5, 0.01234, 1, 2])),
        )
        now = replace(point, smallest_tolerance=least, certificate=replace(point.certificate, status=status))
        yield correction.certificate(now)
        for adversary, published in (("features", False), ("features", True), ("strong", False), ("strong", True)):
            yield correction.headline(result, now, adversary=adversary, as_published=published)
            yield correction.held_out(result, adversary, published)
        if noise := correction.privacy_noise(result, now):
            yield noise
        yield correction.false_promise(now.disclosed_tolerance, now.achieved)
    yield f"First: {correction.first_tolerance(result)}"
    yield correction.tuning(nasty.tuned(rng))


def _correction_of_many(rng: Generator) -> Iterator[Finding | str]:
    leak = nasty.leak_over_seeds(rng)
    yield leak_over_seeds.tolerance_holds_finding(leak)
    yield from leak_over_seeds.control_findings(leak)
    summary = leak.summaries[leak.config.method, "features"]
    attribution = leak_over_seeds.attribution_of(summary, "published", leak.config)
    for title, rows in leak_over_seeds.leak_tables(leak, [attribution]).items():
        header, cells, _ = formatted_table(rows)
        yield "\n".join([title, *(" | ".join(cells) for cells in (header, *cells))])


def _attribute(rng: Generator) -> Iterator[Finding | str]:
    result = nasty.inferred(rng)
    edge = Estimate(value=0.04, low=0.0, high=0.08, n=99)
    for gain in (edge, replace(edge, low=1e-9), replace(edge, value=-0.04, low=-0.08, high=0.0)):
        variant = replace(result, gains=dict.fromkeys(result.gains, ("outside", gain)), closing=())
        yield from attribute.findings(variant, AttributeSettings(closed=0.08))
    for closed in (0.02, 0.3, 1.0):
        yield from attribute.findings(result, AttributeSettings(closed=closed))
    for check in attribute.checks(result, AttributeSettings()).values():
        yield from (check.attacked, check.knows, check.control_name, *check.assumptions)


def _membership(rng: Generator) -> Iterator[Finding | str]:
    for _ in range(3):
        yield membership.groups_heading(nasty.membership_result(rng), "sex")


def _member_curves(rng: Generator) -> Iterator[Finding | str]:
    for _ in range(4):
        bands, _ = nasty._bands(rng)
        merged_bands = [replace(band, values=members.bands()[0].values | band.values) for band in bands]
        chance = [replace(band, values=band.values | {"auc": nasty.estimate(rng)}) for band in merged_bands[:3]]
        for some in (merged_bands, chance, merged_bands[:1]):
            yield epsilon_heading(some, ("women", "men"), growing=bool(rng.random() < 0.5))
        numbers = (*RATES, *GAPS)
        points = [
            CurvePoint(
                at=at,
                repeat=repeat,
                variant=variant,
                deleted=7,
                **dict(zip(numbers, rng.normal(0.3, 0.1, len(numbers)).round(3).tolist(), strict=True)),
            )
            for at in (0.4, 1.0)
            for repeat in range(int(rng.choice([1, 4, 5, 9])))
            for variant in ("fairpick", "random")
            if rng.random() < 0.9
        ]
        for measure in GAPS:
            yield picking_heading(points, measure, growing=measure == "vd")
    for _ in range(2):
        rows = {"retained": np.arange(9000), "deleted": np.arange(1200)}
        yield deletions(nasty.invent(FairPick, rng, deleted_by_group={"a": 1200, "b": 0}, **rows))


def _releases(rng: Generator) -> Iterator[Finding | str]:
    for _ in range(3):
        checks = {
            f"membership_{name}": Measurement(
                check=name, estimate=nasty.maybe(rng, nasty.estimate), attacked="Who is attacked.", knows="Much."
            )
            for name in ("auc", "caught", "gap")
        }
        yield from membership.release_findings(checks)


def _misled(summary: SeedSummary) -> SeedSummary:
    """Return models of which disclosure takes a whole point from the attacker's accuracy more."""
    gain = summary.numbers.get("attack_gain")
    if gain is None:
        return summary
    less = replace(gain, value=gain.value - 1, low=gain.low - 1, high=gain.high - 1)
    return replace(summary, numbers={**summary.numbers, "attack_gain": less})


def _trained(rng: Generator) -> Iterator[Finding | str]:
    for published in (True, False):
        rows = [*nasty._rows(rng), *map(_misled, nasty._rows(rng))]
        method = str(rng.choice(["exponentiated_gradient", "dp_id3"]))
        yield trained_tolerances_finding(rows, AuditConfig(method=method), as_published=published)


def _cards(rng: Generator) -> Iterator[Finding | str]:
    study = nasty.cards(rng)
    yield from cards.findings(study)
    yield cards.uncertainty_resolved(study)


def _guard(rng: Generator) -> Iterator[Finding | str]:
    exposure = nasty.exposure(rng)
    for budget in (0.0, 0.4, 3.0):
        balanced = bool(rng.random() < 0.5)
        yield guard.headline(exposure, AttriGuardSettings(budget=budget, balanced=balanced))
        yield guard.person(exposure, int(rng.integers(exposure.truth.size)), budget)
        yield guard.cost(exposure, budget)
    yield guard.noise_needed(exposure)


def _guard_beside(rng: Generator) -> Iterator[Finding | str]:
    exposure, rate, m = nasty.exposure(rng), rng.random, int(rng.choice([2, 3]))
    budgets, balanced = (0.0, float(rng.choice([0.3, 2.4]))), bool(rate() < 0.5)
    for budget in (*budgets, 0.7):
        defender = str(rng.choice(list(RATING_DEFENDERS)))
        attackers = exposure.attackers if rng.random() < 0.5 else ()
        settings = AttriGuardSettings(budget=budget, balanced=balanced, defender=defender, attackers=attackers)
        yield from guard.findings(exposure, settings)
    yield guard.guide(exposure, defender)
    if len(exposure.values) < 9:
        yield json.dumps(_plain(ATTRIGUARD.tables(exposure, settings)), ensure_ascii=False)
    yield guard.least_fooled(exposure, rng.random(len(exposure.attackers)), finished=balanced)
    share = np.sort(rng.dirichlet(np.full(8, 0.5)))[::-1]
    for shares in (share, np.full(4, 0.25), np.ones(1)):
        yield guard.concentrated(Concentration(entries=np.arange(8), share=shares, n_entries=1200), exposure.unit)
    sizes = {name: mean(rng.integers(0, 5, n)) for name, n in (("logistic", 9), ("logistic_margin", m - 2))}
    fooled = {(name, "network"): mean_rate(rng.random(sample.n)) for name, sample in sizes.items()}
    yield guard.margin_helps(Transfer(share=fooled, size=sizes))
    for change in (mean(rng.normal(size=7)), certain(0.02, 7), certain(0.0, 7)):
        after, was = (nasty.invent(UtilityPoint, rng, accuracy=mean_rate(rng.random(7)), change=change) for _ in "ab")
        yield guard.decisions(was, after, certain(0.6, 7), "equalized_odds")
    noise = RepresentativeNoise(
        noisy=None, size=rng.integers(0, 3, (6, m)), reached=np.ones((6, m), bool), predicted=np.zeros(6, int)
    )
    noise.size[:, 0] = 0
    precision = {
        "clean": rng.integers(0, 3, 6) / 10,
        "popular": rng.integers(0, 2, 6) / 10,
        "noisy": rng.random((6, m)),
    }
    recommendation = Recommendation(**precision, noise=noise, target=np.full(m, 1 / m))
    yield from (guard.recommendations(recommendation, budget) for budget in (0.0, 1.5))
    compared = {"method": "qpm", "parameter": "slack 1", "knows_truth": False, "accuracy": {}}
    rows = [Compared(size=mean(rng.integers(0, 40, 9)), **compared) for _ in range(m)]
    yield guard.other_defences(exposure, 1.0, rows)


def _plain(part: Any) -> Any:
    """Return tables with four digits of each number."""
    if isinstance(part, dict):
        return {key: _plain(value) for key, value in part.items()}
    if isinstance(part, list | tuple):
        return [_plain(plain_row(row)) if isinstance(row, dict) else row for row in part]
    return float(f"{part:.4g}") if isinstance(part, float) else part


def _choose(rng: Generator) -> Iterator[Finding | str]:
    choice = nasty.choice(rng)
    for running in (False, True):
        yield choosing.finding(choice, running=running)
    yield (choosing.choice_reason if choice.outcome == ChoiceOutcome.RECOMMENDED else choosing.held_back)(choice)
    yield from choosing.cost_of_choosing_texts(choice)


def _queries(rng: Generator) -> Iterator[Finding | str]:
    trials = Trials(pool(60, 14), n=12, repeats=2)
    accuracy = trials.accuracy(trials.numbers[-1])
    for noise in NOISES:
        last, kinds = (
            int(rng.choice([1, 7, 25, 1000])),
            list(rng.choice(list(answers.DECODER_TITLES), 3, replace=False)),
        )
        epsilon, single = float(rng.choice([0.5, 1.0, 20.0])), bool(rng.random(2)[1] < 0.3)
        settings = BiasQueriesSettings(
            questions=last, mechanism=noise, epsilon=epsilon, design="single" if single else "jitter"
        )
        gains = [
            members.estimate(float(rng.choice([0.0, 0.1, -0.2, 0.3])), float(rng.choice([0.05, 0.2]))) for _ in kinds
        ]
        sizes = {kind: float(rng.choice([0.0, 0.00002, 0.05, 1.0, 1.01, 12.34, 149.6, 23456.0])) for kind in NOISES}
        rates = [nasty.estimate(rng) for _ in kinds]
        parts = zip(kinds, gains, rates, strict=True)
        result = BiasQueriesResult(
            attribute=str(rng.choice(["ash", "elm"])),
            sizes=(int(rng.integers(2, 2000)), 5),
            prior=nasty.estimate(rng),
            leaks=tuple(nasty.invent(Leak, rng, m=last, decoder=d, gain=g, leakage=r) for d, g, r in parts),
            errors={
                kind: ErrorQuantiles(median=size, high=3 * size) for kind, size in sizes.items() if kind != "exact"
            },
            targeted=float(rng.random()),
            ceiling=nasty.maybe(rng, lambda r: float(r.choice([0.6, 0.9995, 0.9994]))),
        )
        yield from answers.findings(result, settings)
        values = [0.5, 0.96, 0.94, 0.95, 1.0][: int(rng.integers(0, 6))]
        leak, step = result.leaks[0], int(rng.choice([1, 1, 2]))
        curve_leaks = [
            replace(leak, m=index * step, leakage=replace(leak.leakage, value=value), complete=float(value == 1.0))
            for index, value in enumerate(values)
        ]
        for complete in (False, True):
            curve = [
                BiasQueriesResult(attribute="x", leaks=(leak,), accuracy=None if single else accuracy)
                for leak in curve_leaks
            ]
            yield answers.curve_finding(curve, settings, complete=complete)
        if noise in ("exact", "rounded", "cauchy"):
            planned = replace(settings, design="jitter")
            for measurement in (answers.answers_excess(result, planned), answers.targeted_bound(result, planned)):
                yield f"{measurement.attacked} {measurement.knows} {' '.join(measurement.assumptions)}"
    yield from answers.findings(replace(result, leaks=()), settings)


def _desk(rng: Generator) -> Iterator[Finding | str]:
    budget = float(rng.choice([0.02, 2.0, 10.0]))
    size = Estimate(value=41.2, low=30.0, high=52.5, n=100)
    group = nasty.maybe(rng, lambda _: "m")
    roles = desk_roles("sex", group=tuple(filter(None, [group])))
    details = {"name": "loans", "registered": "2026-11-21T08:30:00Z", "roles": roles, "n_people": 1234}
    rng.choice([1, 2])
    registration = nasty.invent(
        Registration, rng, **details, budget=budget, n_disadvantaged=size, count_epsilon=budget / 10
    )
    for price, spent in ((0.0, 0.0), (budget / 8, budget / 10), (budget / 2 + budget / 10, budget)):
        reason = "It costs more." if rng.random() < 0.3 else None
        error, left = float(rng.choice([0.0, 1e-7, 0.0123, 0.999, 1.0])), round(budget - spent, 6)
        gap = members.estimate(float(rng.choice([0.0, 0.1, -0.2])), float(rng.choice([0.05, 0.1, 0.2])))
        charges = {"charged": price, "remaining": left, "standard_error": error, "reason": reason}
        for fresh in (None, error / 4, error / 3):
            quote = Quote(**charges, fresh_error=fresh)
            yield f"{quote.coarse} {desk.coarse(quote, 1.0)}"
        yield from (*desk.price(quote, budget / 2), *desk.expected(quote), desk.button(quote), desk.sure(quote))
        request = {"metric": str(rng.choice(METRICS)), "asker": "ann", "time": "2026-11-22T09:05:07Z", "number": 7}
        answer = LedgerAnswer(**charges, **request, gap=gap)
        yield from (desk.answered(answer, budget / 2), *desk.last_answer(answer), desk.row(answer))
        free = replace(answer, charged=0.0)
        for answer_list in ((), (answer,), (free, answer), (answer, free)):
            status = LedgerStatus(
                registration=registration,
                spent=spent,
                remaining=left,
                answers=answer_list,
                wrong_files=len(answer_list),
                seal="a1",
            )
            yield f"{desk.budget_text(status, refused=len(answer_list) % 2)} {desk.finding(status).point}"
        yield from (desk.finding(status), desk.ceiling(status))
        for least in (budget / 1000, left or 1.0, budget):
            yield f"{desk.prices(left, least=least)} {desk.suggested_price(left, least=least)}"
    for ok, entries, budgets in ((True, 1, (status,)), (True, 1500, (status, status)), (False, 0, ()), (False, 3, ())):
        why, seal = None if ok else "Verification failed: x.", "a1" if entries else None
        yield desk.verified(
            ExportVerification(ok=ok, reason=why, n_entries=entries, seal=seal, budgets=budgets), "export"
        )
    yield desk.example(status, 0.1234)
    yield from (
        desk.price_of_size(budget),
        desk.sides(registration),
        desk.button(None),
        desk.counted(0.3, 0.3),
        desk.counted(0.3, 0.1),
    )
    yield f"{[desk.prices(left, least=0.0) for left in (1.0, 1.003, 1.2, 0.0131, 0.5)]}"
    for group_counts in (
        {},
        {"a": 1},
        {"a": 5, "b": 1200},
        {letter: 9 for letter in "abcdef"},
        {letter: 9 for letter in "abcdefgh"},
    ):
        yield f"{desk.together(group_counts)}"
    frame = pandas.DataFrame({"sex": [1, 0, 1], "who": ["m", "f", "x"]})
    table = Table(name="upload", title="people.csv", frame=frame, source="")
    zero = desk.everybody_else(table, desk_roles("sex", group=("1",)))
    yield f"{zero} {desk.everybody_else(table, desk_roles('who', group=('m',)))}"


SENTENCES: dict[str, Callable[[Generator], Iterator[Finding | str]]] = {
    "correction": _correction,
    "correction_of_one": _single_correction,
    "correction_of_many": _correction_of_many,
    "attribute": _attribute,
    "membership": _membership,
    "membership_curves": _member_curves,
    "membership_releases": _releases,
    "model_card": _cards,
    "attriguard": _guard,
    "attriguard_beside": _guard_beside,
    "choose": _choose,
    "queries": _queries,
    "desk": _desk,
    "people": lambda rng: iter(people.findings(nasty.at_risk(rng))),
    "trained_tolerances": _trained,
}
"""Study -> its sentences about results from a seed."""


@pytest.mark.long
@pytest.mark.parametrize("study", SENTENCES)
def test_sentences(study: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def name(rng: Generator, longest: int = 0) -> str:  # that can be read
        return str(rng.choice(["ash", "birch", "cedar", "elm", "oak"]))

    monkeypatch.setattr(nasty, "nasty", name)
    monkeypatch.setitem(nasty.MAKERS, "str", name)
    lines: list[str] = []
    for seed in range(2 * len(SEEDS)):
        lines.append(f"======== {seed}")
        for output in SENTENCES[study](np.random.default_rng(seed)):
            texts = (
                [output] if isinstance(output, str) else [output.point, output.evidence, output.so_what, output.to_do]
            )
            lines += [*filter(None, texts), *(() if isinstance(output, str) else output.caveats)]
    compare(f"extremes/{study}.txt", normal("\n".join(lines)))

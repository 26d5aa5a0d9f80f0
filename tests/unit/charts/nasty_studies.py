"""Every chart of the pages with invented results from a seed: few people, equal numbers, gaps, long names, markup."""

import math
from dataclasses import fields, replace
from functools import partial
from inspect import isfunction
from itertools import product

import numpy as np

from core.adversaries import TunedForest
from core.auditing import charts as audit
from core.auditing.policy import UNITS
from core.experiments import attacked_models
from core.experiments.attacked_models import MAP_EPSILONS, MAP_TOLERANCES, MEASURES, draw_map
from core.experiments.choose import PREFERENCES, ChooseSettings, choose
from core.experiments.choose.charts import draw_choice
from core.experiments.experiment import ExperimentRow, SeedSummary
from core.models import GIVEN_PREDICTIONS, METHOD_TITLES, METHODS
from core.models.model_answers import UNKNOWN
from core.stats.estimates import Estimate, Spread
from core.stats.fairness import METRICS, GroupRate
from core.studies import bias_queries
from core.studies.attriguard import CLEAN_ATTACKERS, AttriGuardSettings, Compared, Concentration
from core.studies.attriguard import charts as guard
from core.studies.bias_queries import charts as queries
from core.studies.correction import STEPS, Attribution, Disclosure, LeakStep, MoreDisclosed, SolverCertificate
from core.studies.correction import charts as correction
from core.studies.measured_epsilon import study as measured_epsilon
from core.studies.measured_epsilon.audits import MechanismAudit, OneRun
from core.studies.measured_epsilon.study import MeasuredEpsilonSettings
from core.studies.membership import charts as membership
from core.studies.membership.fairpick import FairPick
from core.studies.membership.findings import EPSILONS, CurveBand
from core.studies.model_card import Advice, Tried
from core.studies.model_card import charts as model_card
from core.studies.model_card.pinned_people import CommonValue
from core.studies.people.people_study import draw_sets
from core.studies.study import Measurement
from core.studies.subject import ModelFindings
from tests.release_samples import card
from tests.samples import dataset
from tests.unit.charts import samples as members
from tests.unit.charts.samples import ATTACKERS, study
from tests.unit.choose import candidate_samples
from tests.unit.people.test_people_at_risk import risk

STRONGEST = (
    *("loss", "confidence", "network", "gap", "released", "quantile"),
    *("boundary", "lira", "lira_boosted", "bavaria", "rmia"),
)
"""Attacks that may be the strongest of an invented result: a new one leaves the others as they are."""

LETTERS = list("abcdefgh iljMW<>&\"'`|_*$%éßЩ")


def pick(rng, *values):
    return rng.choice(values).item()


def nasty(rng, longest=60):
    """Return a name of up to 60 letters, some of them wide, some of them markup."""
    return pick(rng, "x", "<script>") + "".join(rng.choice(LETTERS, int(rng.integers(0, longest))))


def estimate(rng):
    """Return a rate, often 0, 1, or without an interval, of few people."""
    value = pick(rng, 0.0, 1.0, 0.5, rng.random())
    half = pick(rng, 0.0, math.nan, rng.random())
    return Estimate(value=value, low=max(0.0, value - half), high=min(1.0, value + half), n=int(rng.integers(1, 99999)))


def spread(rng):
    """Return a rate over seeds, or over the people of one."""
    rate, over = estimate(rng), pick(rng, "seeds", "people", "")
    return Spread(value=rate.value, low=rate.low, high=rate.high, n=rate.n, sd=0.1, over=over, seeds=3)


def maybe(rng, make):
    return None if rng.random() < 0.15 else make(rng)


MAKERS = {
    "Estimate": estimate,
    "Spread": spread,
    "float": lambda rng: pick(rng, 0.0, 1.0, rng.random()),
    "int": lambda rng: int(rng.integers(1, 100_000)),
    "str": nasty,
    "bool": lambda rng: bool(rng.random() < 0.5),
    "SolverCertificate": lambda rng: invent(SolverCertificate, rng),
}


def invent(kind, rng, **fixed):
    """Return a result whose fields are invented by their types, but for those that are `fixed`."""
    arguments = dict(fixed)
    for field in fields(kind):
        if field.name not in arguments:
            name, _, none = str(field.type).partition(" | ")
            arguments[field.name] = maybe(rng, MAKERS[name]) if none else MAKERS[name](rng)
    return kind(**arguments)


def names_of(rng):
    """Return the names of 2 groups, or of up to 20."""
    return tuple(f"{i}{nasty(rng)}" for i in range(pick(rng, 2, 2, 3, 20)))


def _groups(rng):
    names, sample = names_of(rng), dataset(300)
    groups = rng.integers(0, len(names), sample.labels.size)
    groups[: len(names)] = range(len(names))
    roles = replace(sample.roles, label=nasty(rng))
    return audit.draw_groups(replace(sample, sensitive=groups.astype(np.uint8), group_names=names, roles=roles))


def model_of(rng, groups):
    parts = ("all",) if rng.random() < 0.5 else ("label 0", "label 1")
    rates = [
        tuple(invent(GroupRate, rng, part=part, group=code) for part in parts for code in range(groups))
        for _ in range(2)
    ]
    nothing = np.zeros(0)
    fixed = {"predictions": nothing, "scores": nothing, "structure": UNKNOWN}
    return invent(ModelFindings, rng, rates_train=rates[0], rates_test=rates[1], **fixed)


def _rates(rng):
    names = names_of(rng)
    return audit.draw_rates(model_of(rng, len(names)), names=names)


def _checks(rng):
    rows = [
        (nasty(rng) + rng.choice(["", ": part"]), "−12.3 points", estimate(rng), maybe(rng, estimate))
        for _ in range(int(rng.integers(1, 12)))
    ]
    return audit.draw_checks(rows, unit=pick(rng, *UNITS))


def _budgets(rng):
    promised = pick(rng, 0.1, 1.0, 10.0)
    audited = []
    for _ in range(int(rng.integers(1, 9))):
        mechanism, spent = nasty(rng), maybe(rng, lambda rng: promised * float(rng.random()))
        seen = OneRun(guesses=50, correct=int(rng.integers(0, 51)))
        audited.append(MechanismAudit(mechanism=mechanism, promised=promised, spent=spent, seen=seen))
    confidence = MeasuredEpsilonSettings().confidence
    return measured_epsilon.draw_budgets(tuple(audited), epsilon=promised, confidence=confidence)


def disclosures(rng):
    """Return what follows some tolerances, up to all of the slider's."""
    groups, majority, before = pick(rng, 2, 2, 3, 20), estimate(rng), estimate(rng)
    curve = []
    for tolerance in sorted(rng.choice(np.linspace(0, 0.2, 41), int(rng.integers(1, 12)), replace=False).tolist()):
        none = rng.random() < 0.2
        parts = {i: (estimate(rng), None if none else estimate(rng)) for i in range(groups)}
        used = tolerance + pick(rng, 0.0, 0.0123)
        more = {"disclosed_tolerance": tolerance, "used": used, "majority": majority, "before": before}
        more |= {"groups": parts, "metric": METRICS[tolerance > 0.1]}
        more |= {"exponent": 1, "smallest_tolerance": None, "n_changed": 3, "n_right": 2}
        more |= {name: None if none else estimate(rng) for name in ("after", "balanced_after", "gain")}
        curve.append(invent(Disclosure, rng, **more))
    return curve


def _disclosure(rng):
    curve, strong = disclosures(rng), maybe(rng, estimate)
    now = curve[int(rng.integers(len(curve)))]
    return correction.draw_disclosure(curve, now, strong, attribute=nasty(rng), attacker="Attacker")


def _recognition(rng):
    curve = disclosures(rng)
    names = [f"{i}{nasty(rng)}" for i in range(len(curve[0].groups))]
    return correction.draw_recognition(curve[-1], curve, names=names)


def seed_summary(rng, method="", tolerance=0.0):
    numbers = {name: spread(rng) for name in MEASURES}
    baselines = {"accuracy_test": spread(rng), "attack_after": spread(rng)}
    if rng.random() < 0.3:
        for name in ("attack_after", "attack_gain", "attack_balanced_after"):
            numbers.pop(name)
            baselines.pop(name, None)
    seeds = (1, 2, 3)[: int(rng.integers(1, 4))]
    numbers["tolerance_holds"] = replace(numbers["tolerance_holds"], value=1.0 / len(seeds), seeds=len(seeds))
    values = {"model.metric": METRICS[0], "model.method": method, "model.tolerance": tolerance}
    return SeedSummary(values=values, seeds=seeds, numbers=numbers, baselines=baselines, reasons={})


TOLERANCES = (0.0, 0.001, 0.005, 0.02, 0.1, 0.2)


def summaries(rng):
    places = rng.choice(TOLERANCES, int(rng.integers(0, 7)), replace=False)
    return [seed_summary(rng, tolerance=float(tolerance)) for tolerance in places]


def _waterfall(rng):
    steps = []
    for i, name in enumerate((*STEPS, "constraint_without_shares", "permuted_predictions")):
        count = 1 if i == 0 or rng.random() < 0.9 else 0
        values, changes = {"accuracy": replace(spread(rng), seeds=count)}, {"accuracy": spread(rng)}
        steps.append(LeakStep(step=name, values=values, changes=changes if i else {}))
    leak = invent(Attribution, rng, steps=tuple(steps), n_seeds=5, n_true=int(rng.integers(0, 6)))
    now = disclosures(rng)[0] if rng.random() < 0.5 else None
    return correction.draw_waterfall(leak, estimate(rng), label=nasty(rng), attribute=nasty(rng), now=now)


def _trained(rng):
    baseline = (estimate(rng), estimate(rng), estimate(rng))
    return attacked_models.draw_trained(summaries(rng), baseline, attribute=nasty(rng), tolerances=TOLERANCES)


def _more(rng):
    knowledge = ("bound", "bound_shares", "exact", "exact_shares", "all_metrics")
    return correction.draw_more([invent(MoreDisclosed, rng, knowledge=name) for name in knowledge])


def _search(rng):
    trials = [({"max_features": None}, estimate(rng)) for _ in range(pick(rng, 1, 2, 40, 1000))]
    return correction.draw_search(invent(TunedForest, rng, parameters={}, trials=tuple(trials)))


def _map(rng):
    """Draw some measurements of private fair trees, from one seed or five, of some cells or all."""
    seeds, share = pick(rng, 1, 5), pick(rng, 0.0, 0.5, 1.0)
    checks = (("correction", "correction_gain"), ("membership", "membership_auc"))
    rows = [
        ExperimentRow(
            values={"model.tolerance": tolerance, "model.epsilon": epsilon, "model.seed": seed},
            study=study,
            measurement=Measurement(
                check=check,
                estimate=members.estimate(pick(rng, -0.04, 0.01, 0.04, 0.2), pick(rng, 0.005, 0.04), n=99),
            ),
            seed=seed,
        )
        for tolerance, epsilon, seed, (study, check) in product(MAP_TOLERANCES, MAP_EPSILONS, range(seeds), checks)
        if rng.random() < share
    ]
    return draw_map(rows)


def gap_of(rng):
    return pick(rng, 0.0, 1.0, -1.0, 0.131, rng.normal() / 5)


def membership_result(rng, names=()):
    """Return a result with some strongest attack, of some groups or of these."""
    names = names or names_of(rng)
    several = [(group, "all others") for group in names] if len(names) > 2 else [(names[1], names[0])]
    reason = members.REASON if rng.random() < 0.3 else ""
    results = tuple(
        members.compared((gap_of(rng), gap_of(rng), gap_of(rng)), group=a, reference=b, half=pick(rng, 0.0, 0.018, 0.5))
        for a, b in several
        if rng.random() < 0.9
    )
    size, levels = pick(rng, 5, 60, 3000), pick(rng, 0, 1, 4)
    attack = pick(rng, *STRONGEST)
    return members.result(
        attack,
        names,
        muted=bool(rng.random() < 0.3),
        disparities=results,
        too_small=(("a", nasty(rng, 160)),),
        gaps={attack: [members.low_fpr(gap_of(rng), group=a, reference=b, reason=reason) for a, b in several]},
        curve=members.roc(rng.random(), size, levels),
        curves_by_group=tuple(members.roc(rng.random(), size, levels, seed=i) for i in range(len(names))),
    )


def _ranges(rng):
    steps = [pick(rng, 0.0, -0.005, 0.27, -0.3, rng.normal() / 10) for _ in range(10)]
    range_table = members.ranges(steps, group=nasty(rng), reference=nasty(rng))
    return membership.draw_ranges(range_table, muted=bool(rng.random() < 0.3))


def by_epsilon(draw, rng):
    curve_bands = members.bands([e for e in EPSILONS if rng.random() < 0.8], repeats=pick(rng, 1, 2, 25))
    curve_bands = [
        replace(band, values={name: estimate(rng) for name in band.values if rng.random() < 0.95})
        for band in curve_bands
    ]
    return draw(curve_bands, now=pick(rng, *EPSILONS))


def _fairpick(rng):
    places = [spot for spot in product((0.4, 0.6, 0.8, 1.0), ("fairpick", "random")) if rng.random() < 0.8]
    measure = pick(rng, "vd", "fpr_gap", "advantage_gap")
    curve_bands = [
        CurveBand(at=at, variant=variant, repeats=5, values={measure: members.estimate(gap_of(rng), 0.02)})
        for at, variant in places
    ]
    return membership.draw_fairpick(curve_bands, now=pick(rng, 0.4, 0.6, 0.71, 1.0), measure=measure)


def _deleted(rng):
    deleted = {name: pick(rng, 0, 1, 1_234_567) for name in names_of(rng)[:2]}
    nobody = np.empty(0, dtype=np.int64)
    fixed = {"deleted_by_group": deleted, "theta": 0.6, "retained": nobody, "deleted": nobody}
    return membership.draw_deleted(invent(FairPick, rng, **fixed))


def cards(rng):
    """Return a card of some models, with those of the first few of them."""
    studies = []
    for count in (1, 2, 5, 12)[: int(rng.integers(1, 5))]:
        now = card(count)
        size = pick(rng, 0.0, 1.0, 35.7, 12_345.6)
        bits = Estimate(value=size, low=size * 0.5, high=size * 1.5, n=now.n)
        meter = replace(now.meter, joint_bits=now.meter.prior_bits * pick(rng, 0.0, 0.3, 1.0, 9.0))
        accuracies = {f"accuracy_{when}": estimate(rng) for when in ("before", "after")}
        measured = replace(now.measured, bits=bits, **accuracies)
        prediction = replace(now.prediction, bits=replace(bits, value=size * rng.random()))
        values = tuple(invent(CommonValue, rng) for _ in range(int(rng.integers(0, 9))))
        studies.append(replace(now, meter=meter, measured=measured, prediction=prediction, common=values))
    *fewer, last = studies
    return replace(last, fewer=tuple(fewer))


def _pinned(rng):
    names, study = (nasty(rng), f"{nasty(rng)}."), cards(rng)
    return model_card.draw_pinned(replace(study, people=replace(study.people, group=names[1], group_names=names)))


def _precisions(rng):
    kinds = [(None, None), (4, None), (1, None), (None, 100.0), (None, 0.1)]
    pinned = rng.choice([0, 0, 1, 8, 12_345], len(kinds)).tolist()
    tried = []
    for (decimals, epsilon), n in zip(kinds, pinned, strict=True):
        bits, converged = pick(rng, 0.0, 0.004, 12_345.6), rng.random() < 0.9
        tried.append(Tried(decimals=decimals, epsilon=epsilon, pinned=n, df_bits=bits, converged=converged))
    return model_card.draw_precisions(Advice(tried=tuple(tried)), kinds[int(rng.integers(len(kinds)))])


def _leakage(rng):
    last = pick(rng, 1, 7, 60, 4000)
    numbers = sorted({0, last, *rng.integers(0, last + 1, 8).tolist()})

    def leaks(m):
        decoders = ("strongest", "published", "without_prior")
        return tuple(invent(bias_queries.Leak, rng, m=m, decoder=decoder) for decoder in decoders)

    def some():
        return [bias_queries.BiasQueriesResult(attribute="", leaks=leaks(m)) for m in numbers if rng.random() < 0.6]

    ceiling = float(rng.random()) if rng.random() < 0.6 else None
    m = int(rng.choice([numbers[0], numbers[-1], rng.integers(0, last + 1)]))
    now = bias_queries.BiasQueriesResult(attribute=nasty(rng), leaks=leaks(m), prior=estimate(rng), ceiling=ceiling)
    return queries.draw_leakage([now, *some()], bias_queries.BiasQueriesSettings(), exact=some(), numbers=numbers)


def _answer_errors(rng):
    names = ["exact", "laplace", "cauchy", "smooth_laplace", "noisy_sums"]
    size = [pick(rng, 0.0, 1e-9, 0.21, 11.7, 123_456.0) for _ in names]
    errors = {name: bias_queries.ErrorQuantiles(median=s, high=s * 10) for name, s in zip(names, size, strict=True)}
    return queries.draw_answer_errors(errors, names[int(rng.integers(len(names)))])


def _values(rng):
    n = pick(rng, 8, 100, 1000)
    truth, numbers = rng.integers(0, 2, n), rng.random(n)
    someone = bias_queries.QueriedRecords(sensitive=truth, base=numbers, prior=numbers, labels=truth)
    decoded = bias_queries.DecodedAttribute(
        values=rng.normal(0.5, 1, n), threshold=float(rng.random()), recovered=rng.integers(0, 2, n)
    )
    return queries.draw_values(someone, decoded, names=(nasty(rng), nasty(rng)))


def _targeted(rng):
    places = np.geomspace(0.01, 100, 9).tolist()
    curves = {name: [(e, float(rng.random())) for e in places] for name in ("Exact", "Laplace", "Cauchy", "Noisy sums")}
    limits = {f"bound, {i}": [(e, float(rng.random())) for e in places] for i in range(int(rng.integers(0, 3)))}
    return queries.draw_targeted(curves, limits, pick(rng, *curves), pick(rng, *places))


def _gaps(rng):
    rows = []
    for _ in range(pick(rng, 0, 1, 20)):
        label, gap = nasty(rng), members.estimate(gap_of(rng), float(rng.random()))
        rows.append(queries.GapRow(label=label, gap=gap, price=pick(rng, 0.0, 0.1, 12.345), truth=maybe(rng, gap_of)))
    return queries.draw_gaps(rows)


def exposure(rng):
    """Return people of two, three or thirty values, with three to eight attackers."""
    some = study(pick(rng, 2, 3, 30), people=60, attackers=ATTACKERS[: int(rng.integers(3, 9))])
    names = tuple(f"{i}{nasty(rng)}" for i in range(len(some.values)))
    return replace(some, values=names, attribute=nasty(rng), unit=pick(rng, "columns", "ratings"))


def _budget(rng):
    some = exposure(rng)
    now = some.last_budget * pick(rng, 0.0, 0.37, 1.0)
    return guard.draw_budget(some, AttriGuardSettings(budget=now, balanced=bool(rng.random() < 0.5)))


def _cost(rng):
    gap, curve = bool(rng.random() < 0.5), [(b, estimate(rng)) for b in (0.0, 1.0, 5.0)]
    levels = {"before": estimate(rng), "majority class": estimate(rng)}
    now = curve[int(rng.integers(3))]
    return guard.draw_cost(curve, now, levels, last=5.0, quality="unfairness of the model", unit="columns", gap=gap)


def _defences(rng):
    kinds = {"blurme": "3 added", "chisquare": "3 added", "qpm": "slack 0.5", "local_dp": "epsilon 8 an entry"}
    comparisons = []
    for method, parameter in kinds.items():
        knows_truth, size = bool(rng.random() < 0.5), members.estimate(pick(rng, 0.0, 24.4, 1234.5))
        accuracy = {name: estimate(rng) for name in CLEAN_ATTACKERS if rng.random() < 0.9}
        of_method = {"method": method, "parameter": parameter, "knows_truth": knows_truth}
        comparisons.append(Compared(**of_method, size=size, accuracy=accuracy))
    return guard.draw_defences(exposure(rng), 1.0, comparisons)


def _where(rng):
    n = pick(rng, 1, 3, 14, 17, 500)
    share = rng.dirichlet(np.full(n, pick(rng, 0.1, 1.0, 100.0)))
    carried = Concentration(entries=np.arange(n), share=np.sort(share)[::-1], n_entries=n)
    return guard.draw_where([nasty(rng) for _ in range(n)], carried, unit="columns")


def _transfer(rng):
    attackers, noises = ATTACKERS[: int(rng.integers(1, 9))], [nasty(rng) for _ in range(int(rng.integers(1, 9)))]
    fooled = rng.choice([0.0, 1.0, math.nan, 0.123], (len(attackers), len(noises)))
    return guard.draw_transfer(attackers, noises, fooled)


def _choice(rng):
    is_external, attribute = rng.random() < 0.3, nasty(rng)
    points = []
    for number in range(pick(rng, 1, 2, 18, 40)):
        accuracy = pick(rng, 0.0, 0.75, 1.0, rng.random())
        leaks = {"membership_auc": pick(rng, 0.5, 0.55, 0.9, 0.4 + 0.5 * rng.random())}
        method = GIVEN_PREDICTIONS if is_external else pick(rng, *METHODS)
        model = {"method": method, "depth": pick(rng, 4, 8)}
        point = candidate_samples.point(number, accuracy, candidate_samples.SAFE | leaks, rng, **model)
        points.append(replace(point, name=f"{number}{nasty(rng)}" if is_external else ""))
    settings = ChooseSettings(prefer=pick(rng, *PREFERENCES), least_accuracy=pick(rng, 0.0, 0.6))
    return draw_choice(choose(points, candidate_samples.POLICY, settings, attribute=attribute))


def _sets(rng):
    identified = rng.random((pick(rng, 1, 30, 2000), 5)) < rng.choice([0.0, 0.02, 0.5, 1.0])
    people_at_risk, missing, attacks = risk(identified), pick(rng, "", "No scores."), []
    for attack in people_at_risk.attacks:
        reason = missing if attack.attack == "queries" else ""
        attacks.append(replace(attack, reason=reason, beyond_chance=not reason and rng.random() < 0.5))
    return draw_sets(replace(people_at_risk, attacks=tuple(attacks)))


CHARTS = {f"draw{name}": draw for name, draw in globals().items() if isfunction(draw) and name.startswith("_")} | {
    "draw_accuracy": lambda rng: audit.draw_accuracy(model_of(rng, 2)),
    "draw_methods": lambda rng: attacked_models.draw_methods([seed_summary(rng, method) for method in METHOD_TITLES]),
    "draw_models_accuracy": lambda rng: attacked_models.draw_models_accuracy(summaries(rng), TOLERANCES),
    "draw_models_unfairness": lambda rng: attacked_models.draw_models_unfairness(summaries(rng), TOLERANCES),
    "draw_gaps_between": lambda rng: membership.draw_gaps_between(membership_result(rng, names_of(rng)[:2])),
    "draw_group_gaps": lambda rng: membership.draw_group_gaps(membership_result(rng)),
    "draw_differences": lambda rng: membership.draw_differences(membership_result(rng)),
    "draw_roc": lambda rng: membership.draw_roc(membership_result(rng)),
    "draw_epsilon_curve": partial(by_epsilon, membership.draw_epsilon_curve),
    "draw_accuracy_by_epsilon": partial(by_epsilon, membership.draw_accuracy_by_epsilon),
    "draw_attack_by_epsilon": partial(by_epsilon, membership.draw_attack_by_epsilon),
    "draw_release_bits": lambda rng: model_card.draw_release_bits(cards(rng)),
    "draw_fullness": lambda rng: model_card.draw_fullness(cards(rng)),
    "draw_recognised": lambda rng: model_card.draw_recognised(cards(rng)),
    "draw_in_common": lambda rng: model_card.draw_in_common(cards(rng)),
    "draw_value_noise": lambda rng: guard.draw_value_noise(exposure(rng), 1.0),
    "draw_mechanism": lambda rng: guard.draw_mechanism(exposure(rng), 0, 1.0),
}
"""Function of a page -> what calls it with invented results: what is `_rates` above calls `draw_rates`."""


def chart(name, seed):
    return CHARTS[name](np.random.default_rng([seed, len(name)]))

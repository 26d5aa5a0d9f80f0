"""The sentences of AttriGuard: the finding with its number and the best attacker's, then intervals and baseline."""

from __future__ import annotations

from collections.abc import Sequence

from core.attriguard import Point, Study, strongest_point
from core.charts.attriguard import attacker_label, knows_the_noise
from core.estimates import Estimate, count, interval, percent
from pages.common import shell
from pages.common.attriguard_controls import Defence

_KINDS = {
    "logistic": "logistic regression",
    "one_vs_rest": "one-vs-rest logistic regression",
    "forest": "a random forest",
    "network": "a neural network",
    "boosting": "gradient boosting",
}

_AWARE = {
    "adversarial": "*noise-trained* learned on records noised in the same way",
    "adversarial_logistic": "*trained logistic* is a logistic regression that learned so",
    "distillation": "*distilled* smooths its decisions",
    "region": "*region* asks around each record",
    "low_rank": "*low rank* removes what does not fit a few patterns",
    "dropping": "*drops noisy* ignores the {unit} that carry most of the noise",
}


def own_attacker(study: Study, defence: Defence) -> str:
    """Return the attacker of the kind the noise was made against."""
    defender = defence.settings.defender
    wanted = "logistic" if defender in ("logistic_smooth", "ranges") else defender
    return wanted if wanted in study.attackers else study.attackers[0]


def finding(study: Study, now: Sequence[Point], defence: Defence, *, state: str, learning: str) -> tuple[str, str]:
    """Return the finding of a study that is "growing", "stopped" or "finished", and the grey line under it."""
    clean, least, budget = study.undefended(), floor(study, defence), now[0].budget
    own = own_attacker(study, defence)
    balanced = defence.balanced
    here, was = (next(p.rate(balanced=balanced) for p in points if p.attacker == own) for points in (now, clean))
    who = _KINDS.get(own, attacker_label(own).lower())
    changed = f"up to {budget:g} {study.unit[:-1] if budget == 1 else study.unit} changed per person"
    start = f"With {changed}, {who}" if budget else f"Without noise, {who}"
    instead = f" instead of {percent(was)}" if budget else ""
    if useless := budget > 0 and here.high < least.value:
        instead = f", below the baseline ({percent(least)})"
    best = strongest_point(now, balanced=balanced)
    learned = _learned(now, learning, state)
    right = f"with {percent(here)} balanced accuracy" if balanced else f"of {percent(here)} of people correctly"
    infers = f"infers the {shell.escape(study.attribute)} {right}"
    point = f"{start} {infers}{instead}; {_best(best, own, defence, least)}{learned}."
    without = f" Without noise: {percent(was)}." if useless else ""
    unhidden = strongest_point(clean, balanced=balanced).rate(balanced=balanced)
    little = (
        f" Little to hide: even without noise the best attacker reaches only {percent(unhidden)}."
        if unhidden.low <= least.value
        else ""
    )
    return point, f"{_grey(study, best, here, defence, least, own)}{without}{little}"


def _best(best: Point, own: str, defence: Defence, floor: Estimate) -> str:
    """Say whom the chart shows highest, and what they reach."""
    if best.attacker == own:
        return "no attacker tried does better"
    found = best.rate(balanced=defence.balanced)
    still = "still " if found.low > floor.value and best.budget > 0 else ""
    worse = ", no more than the baseline" if found.value <= floor.value else ""
    return f"the best attacker ({attacker_label(best.attacker).lower()}) {still}reaches {percent(found)}{worse}"


def _learned(now: Sequence[Point], learning: str, state: str) -> str:
    """Say so while no attacker is trained against the noise, or the only one is still learning."""
    if any(p.attacker.startswith("adversarial") and p.attacker != learning for p in now):
        return ""
    ways = {"growing": "is still learning", "stopped": "is not trained yet", "finished": "was not run"}
    return f"; a noise-trained attacker {ways[state]}"


def _grey(study: Study, best: Point, here: Estimate, defence: Defence, floor: Estimate, own: str) -> str:
    several = best.attacker != own
    limits = interval(here)
    if several:
        limits += f" and {interval(best.rate(balanced=defence.balanced))}"
    measure = "Balanced accuracy, 95%" if defence.balanced else "95%"
    used = f"; {study.spent(best.budget).value:.2f} {study.unit} used on average" if best.budget else ""
    return (
        f"{measure} interval{'s' * several} over {count(study.truth.size)} people: {limits}{used}. Baseline: always "
        f"naming “{shell.escape(study.values[int(study.shares.argmax())])}” reaches {percent(floor)}."
    )


def floor(study: Study, defence: Defence) -> Estimate:
    """Return how often naming the most frequent value for everybody is right, as it is counted."""
    if not defence.balanced:
        return study.majority
    even = 1.0 / len(study.values)
    return Estimate(value=even, low=even, high=even, n=study.truth.size)


def missing(study: Study) -> str:
    """Say how often no noise was found; empty if there always is one."""
    pairs = study.found.size - int(study.found.sum())
    if not pairs:
        return ""
    nobody = int((study.found.sum(axis=1) <= 1).sum())
    left = f" {count(nobody)} people have no noise at all and stay as they are." if nobody else ""
    share = pairs / max(study.found.size - study.truth.size, 1)
    without = [
        (float((~study.found[study.predicted != i, i]).mean()), value)
        for i, value in enumerate(study.values)
        if not study.found[:, i].all()
    ]
    hardest = sorted(without, key=lambda found: -found[0])
    told = ", ".join(f"“{shell.escape(value)}” for {percent(rate)}" for rate, value in hardest[:3])
    others = f" and {len(hardest) - 3} more values" if len(hardest) > 3 else ""
    return (
        f"For {percent(share)} of pairs of a person and a value no noise was found: to be read as {told} of the people "
        f"who are read otherwise{others}. The share of such noise goes to the other values.{left}"
    )


def paper(now: Sequence[Point], published: Sequence[tuple[float, float]]) -> str:
    """Say what the paper's curve is, and where ours differs; empty where none is drawn."""
    if not published:
        return ""
    printed, share = min(published, key=lambda point: abs(point[0] - now[0].budget))
    trained = [point for point in now if point.attacker == "adversarial"]
    here = f"; here that attacker reaches {percent(trained[0].accuracy)}" if trained else ""
    return (
        f"Thin dotted: the paper's network against noise made for it, {percent(share, decimals=0)} at {printed:g}. "
        f"The paper says that training on the noise hardly helps{here}."
    )


def _attackers(study: Study) -> str:
    """Say who the attackers of this study are, and what they know."""
    unaware = [attacker_label(name).lower() for name in study.attackers if not knows_the_noise(name)]
    aware = [does.format(unit=study.unit) for name, does in _AWARE.items() if name in study.attackers]
    told = f"*{', '.join(unaware).capitalize()}* learned on clean records of other people." if unaware else ""
    if aware:
        told += f" The others know that there is noise: {'; '.join(aware)}."
    budgets = sorted({guess.trained_at for guess in study.guesses if guess.trained_at is not None})
    if budgets:
        trained = ", ".join(f"{budget:g}" for budget in budgets)
        told += f" Attackers who learned from the noise did so at a budget of {trained}"
        told += (
            "; at each point of their curves stands the one trained nearest to it, hence the kinks."
            if len(budgets) > 1
            else "."
        )
    return told.strip()


def guide(study: Study, defence: Defence) -> str:
    """Explain the page."""
    attribute, unit = shell.escape(study.attribute), study.unit
    one, reader = unit[:-1], _KINDS.get(own_attacker(study, defence), "the classifier")
    return (
        f"People publish {'what they think of things' if unit == 'ratings' else 'their records'}, and classifiers "
        f"infer their {attribute} from it. AttriGuard looks, for each person and each value of {attribute}, for a few "
        f"{unit} to change until {reader} reads that value (one after the other, so not always the fewest there are), "
        "and then draws "
        "one of these noises for her: so that what is read comes as close as it can to the distribution wanted "
        f"(least Kullback-Leibler divergence), with no more than the budget of {unit} changed on average.\n\n"
        f"**Who attacks.** {_attackers(study)} The dotted line is the baseline, always the most frequent "
        f"{attribute}: an attacker below it would do better to give up and guess.\n\n"
        f"**How it is counted.** All her noisy records are shown to every attacker; a point is the probability, over "
        "the draw of the noise, that the true value is named, averaged over people who were in nobody's training data. "
        f"So no number depends on one lucky draw. One {one} changed counts 1, however far it moves. Intervals are over "
        "people, for this expected share; a single release scatters more, because each person's noise is one draw.\n\n"
        "**What it does not show.** A small number means that this attacker is misled, not that nobody could do "
        "better: noise found against one classifier fools another less, and an attacker who trains on the noise learns "
        "to see through it.\n\n"
        "Source: Jia and Gong, *AttriGuard: A Practical Defense Against Attribute Inference Attacks via Adversarial "
        "Machine Learning*, USENIX Security 2018."
    )

"""A membership audit, attack after attack: the quick one first, LiRA last.

The people are judged by membership of one training; intervals treat the judged as a sample and the training as given.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

from core.membership.attacked import Attacked, attacked, target_of
from core.membership.attacks import MemberGuess, confidence_attack, lira, loss_attack, network_attack
from core.membership.findings import ATTACKS, MembershipFindings
from core.membership.judging import judge
from core.membership.people import MemberPeople
from core.membership.settings import MembershipSettings
from core.membership.splits import MembershipSplit
from core.membership.targets import Train, quality
from core.models import GIVEN

Report = Callable[[int, int], None]


def study(
    people: MemberPeople,
    settings: MembershipSettings,
    *,
    train: Train | None = None,
    split: MembershipSplit | None = None,
    report: Report | None = None,
) -> Iterator[MembershipFindings]:
    """Yield the findings as they grow, once more after each attack of `ATTACKS` that can be run on the target.

    Parameters
    ----------
    train : Train, optional
        The target; by its name in the settings when left out.
    split : MembershipSplit, optional
        Members and outsiders; drawn from the seed when left out.
    report : callable, optional
        Called with (steps done, steps in all), see `study_steps`; may raise `core.errors.Cancelled` to stop.
    """
    target = attacked(people, settings, target_of(people, settings) if train is None else train, split=split)
    found = findings_of(target)
    for guess in guesses(target, report=report):
        found = replace(found, attacks={**found.attacks, guess.name: judge(target, guess)})
        yield found


def study_steps(settings: MembershipSettings) -> int:
    """Return how many steps a study reports: one for each attack but LiRA, one for each of its shadow models.

    Given predictions have no shadow models.
    """
    return len(ATTACKS) - 1 + (0 if settings.target == GIVEN else settings.shadows)


def findings_of(target: Attacked) -> MembershipFindings:
    """Return the findings before any attack."""
    people, split = target.people, target.split
    return MembershipFindings(
        settings=target.settings,
        title=people.title,
        attribute=people.attribute,
        group_names=people.group_names,
        n_members=int(split.members.size),
        n_judged=int(split.judged_members.size + split.judged_outsiders.size),
        target=quality(target.probability, people.labels, split.members, split.unseen, predicted=target.predicted),
        attacks={},
        fairpick=target.fairpick(),
        not_run=target.not_run,
    )


def guesses(target: Attacked, *, there: Collection[str] = (), report: Report | None = None) -> Iterator[MemberGuess]:
    """Yield what each attack of `ATTACKS` that can be run says about the judged, but for those that are there."""
    people, split, seed, given = target.people, target.split, target.settings.seed, target.probability
    total = study_steps(target.settings)

    def tick(done: int) -> None:
        if report is not None:
            report(done, total)

    quick = {"loss": loss_attack, "confidence": confidence_attack}
    for steps, (name, attack) in enumerate(quick.items(), 1):
        if name not in there:
            yield attack(given, people.labels, split)
            tick(steps)
    if "network" not in there:
        yield network_attack(given, people.labels, split, seed=seed, balance=target.picked is not None)
        tick(len(quick) + 1)
    if "lira" not in {*there, *target.not_run}:
        yield lira(
            target.train,
            given,
            people.labels,
            split,
            shadows=target.settings.shadows,
            online=target.settings.online,
            seed=seed,
            report=lambda done, _: tick(len(quick) + 1 + done),
        )

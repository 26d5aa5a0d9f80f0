"""A membership audit as pages and command make it, attack after attack, for tests of all of it."""

from __future__ import annotations

from dataclasses import replace

from core.membership import attacked, findings_of, guesses, judge, target_of


def study(people, settings, *, train=None, split=None, report=None):
    """Yield the findings as they grow, once more after each attack that can be run on the target."""
    target = attacked(people, settings, target_of(people, settings) if train is None else train, split=split)
    found = findings_of(target)
    for guess in guesses(target, report=report):
        found = replace(found, attacks={**found.attacks, guess.name: judge(target, guess)})
        yield found

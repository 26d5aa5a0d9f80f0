"""Old names of commands and flags, read for one version longer."""

from __future__ import annotations

from collections.abc import Sequence

COMMANDS = {
    "gen-config": "init",
    "verify": "report verify",
    "sign": "report sign",
    "replay": "report replay",
    "release": "card",
    "reveal": "attack queries",
    "attribution": "attack correction",
    "membership": "attack membership",
    "attriguard": "defend attriguard",
    "landscape": "tradeoff",
    "queries": "desk",
}
"""Old command -> what it is now."""

_CARD = {"--epsilon": "--publish-epsilon"}
_GUARD = {"--policy": "--noise-policy"}
FLAGS = {
    "sweep": {"--epsilon": "--train-epsilon"},
    "attack attribute": {"--epsilon": "--train-epsilon"},
    "attack correction": {"--epsilon": "--train-epsilon"},
    "attack model_fairness": {"--epsilon": "--train-epsilon"},
    "attack queries": {"--epsilon": "--answer-epsilon", "--model-epsilon": "--train-epsilon"},
    "attack membership": {"--epsilon": "--train-epsilons"},
    "defend attriguard": _GUARD,
    "card": _CARD,
    "tradeoff": {"--out": "--output", "--epsilons": "--train-epsilons"},
    "desk ask": {"--epsilon": "--answer-epsilon", "--again": "--fresh"},
}
"""Command -> its old flags, and what each is now; ``--set`` has the same names."""


def current(words: Sequence[str]) -> tuple[list[str], str]:
    """Return a command line in today's names, and one sentence on the old ones in it ("" if there are none)."""
    names: dict[str, str] = {}
    new = list(words)
    if new and new[0] in COMMANDS:
        names[new[0]] = COMMANDS[new[0]]
        new = [*COMMANDS[new[0]].split(), *new[1:]]
    flags = FLAGS.get(new[0], {}) | FLAGS.get(" ".join(new[:2]), {}) if new else {}
    for i, word in enumerate(new):
        name, sign, rest = word.partition("=")
        key = new[i - 1] == "--set"
        old = f"--{name.replace('_', '-')}" if key else name
        if old in flags:
            now = flags[old].strip("-").replace("-", "_") if key else flags[old]
            names[name] = now
            new[i] = f"{now}{sign}{rest}"
    changes = "; ".join(f"{old} is now {now}" for old, now in names.items())
    return new, f"Note: {changes}. The old names go with the next version." if changes else ""

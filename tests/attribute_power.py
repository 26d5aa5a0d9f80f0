"""How often the attribute gain sees a planted leak, and a leak where there is none, as tables.

    python -m tests.attribute_power null --seeds 20 --store null.jsonl
    python -m tests.attribute_power power --seeds 12 --store power.jsonl
    python -m tests.attribute_power hard --seeds 8 --store hard.jsonl

A draw that the store holds is not made again, so that a stopped run goes on where it stopped;
`--print` makes none. `--only` takes the draws whose name has a text in it.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from core.stats.estimates import Estimate, accuracy_gain, balanced_gain
from tests import attribute_draws as draws
from tests.attribute_draws import Draw

LIMIT = 0.02
GAINS = (0.03, 0.05, 0.10)


def attack(draw: Draw, *, fitted: bool = False) -> tuple[Any, Any, Any, str]:
    """Return what the attacker believes before and after, the groups' shares, and the attack chosen.

    With `fitted`, the outputs are replaced by a regression of them on the features.
    """
    from core.adversaries import Outputs, attack_released, known_records, train_imputation
    from core.adversaries.released_outputs import fitted_outputs
    from core.base.validation import decimals_of

    outputs = Outputs(
        labels=draw.labels,
        scores=draw.scores,
        decimals=0 if draw.scores is None else decimals_of(draw.scores),
        answered=draw.answered,
    )
    records = known_records(draw.training, draw.sensitive, seed=1)
    before = train_imputation(
        draw.x,
        draw.sensitive,
        records,
        n_groups=draw.n_groups,
        categorical=draw.categorical,
        seed=1,
    )
    if fitted:
        rows = np.arange(draw.sensitive.size)
        outputs = fitted_outputs(draw.x, outputs, rows, countable=before.countable, seed=1)
    result = attack_released(draw.x, outputs, draw.sensitive, before, draw.attacked)
    return result.before, result.after, result.share, result.attack


def gains_of(draw: Draw, before: Any, after: Any, share: Any) -> dict[str, Estimate]:
    """Return the gains in accuracy and in balanced accuracy."""
    truth = draw.sensitive[draw.attacked]
    return {
        "accuracy": accuracy_gain(truth, before.argmax(axis=1), after.argmax(axis=1)),
        "balanced": balanced_gain(truth, (before / share).argmax(axis=1), (after / share).argmax(axis=1)),
    }


Configuration = tuple[str, int, Callable[[], Draw], float]
"""Its name, a seed, what makes the draw, and what the best attacker gains."""


def _draws(kind: str, seeds: int) -> Iterator[Configuration]:
    """Yield the configurations of a table, all of one seed before those of the next."""
    if kind == "power":
        strengths = {(leak, gain): draws.strength_of(leak, gain) for leak, gain in product(draws.LEAKS, GAINS)}
        for seed, ((leak, gain), strength) in product(range(1, seeds + 1), strengths.items()):
            yield (
                f"{leak}, {100 * gain:.0f} points",
                seed,
                partial(draws.leak_draw, leak, strength, seed),
                gain,
            )
    elif kind == "hard":
        for seed, (name, n) in product(range(seeds), (("200 codes", 1_500), ("products", 1_500))):
            yield f"{name}, {n:,} known", seed, partial(draws.hard_null_draw, name, n, seed), 0.0
    else:
        configurations = [
            (name, n, outputs)
            for name, sizes in draws.NULL_SIZES.items()
            for n, outputs in product(sizes, draws.NULL_OUTPUTS)
        ]
        for seed, (name, n, outputs) in product(range(seeds), configurations):
            if n < 20_000 or seed < seeds / 4:
                yield (
                    f"{name}, {n:,} known, {outputs}",
                    seed,
                    partial(draws.null_draw, name, n, outputs, seed),
                    0.0,
                )


def run(kind: str, seeds: int, store: Path, only: str) -> None:
    """Make the draws that the store has not, one line of JSON each."""
    done = {(line["name"], line["seed"]) for line in _lines(store)}
    with store.open("a") as file:
        for name, seed, make, gain in _draws(kind, seeds):
            if (name, seed) in done or only not in name:
                continue
            draw, start = make(), process_time()
            before, after, share, chosen = attack(draw)
            line: dict[str, Any] = {"name": name, "seed": seed, "truth": gain, "attack": chosen}
            line["seconds"] = round(process_time() - start, 2)
            line["before"] = float((before.argmax(axis=1) == draw.sensitive[draw.attacked]).mean())
            line["decisive"] = "balanced" if draw.balanced else "accuracy"
            for measure, estimate in gains_of(draw, before, after, share).items():
                line[measure] = [estimate.value, estimate.low, estimate.high]
            if kind == "hard":
                again = attack(draw, fitted=True)
                line["fitted"] = gains_of(draw, *again[:3])["accuracy"].value
            file.write(json.dumps(line) + "\n")
            file.flush()


def _lines(store: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in store.read_text().splitlines()] if store.exists() else []


def table(store: Path) -> str:
    """Return a line for each configuration, and one for all."""
    lines = _lines(store)
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in lines:
        groups[line["name"]].append(line)
        groups["ALL" + (f", {100 * line['truth']:.0f} points" if line["truth"] else "")].append(line)
    text = [f"{'':38s}   n   gain  balanced  low>0  low>2  passed  seconds"]
    for name, members in sorted(groups.items(), key=lambda item: (item[0].startswith("ALL"), item[0])):
        decisive = np.array([line[line["decisive"]] for line in members])
        balanced = np.array([line["balanced"][0] for line in members])
        shares = (decisive[:, 1] > 0).mean(), (decisive[:, 1] > LIMIT).mean(), (decisive[:, 2] <= LIMIT).mean()
        seconds = np.mean([line["seconds"] for line in members])
        row = f"{name:38s} {len(members):3d} {100 * decisive[:, 0].mean():+6.2f}   {100 * balanced.mean():+6.2f}"
        row += "".join(f" {100 * share:5.1f}%" for share in shares) + f"  {seconds:6.1f}"
        if "fitted" in members[0]:
            row += f"  fitted {100 * np.mean([line['fitted'] for line in members]):+.2f}"
        text.append(row)
    return "\n".join(text)


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("null", "power", "hard"))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--print", action="store_true")
    arguments = parser.parse_args()
    if not arguments.print:
        run(arguments.kind, arguments.seeds, arguments.store, arguments.only)
    print(table(arguments.store))


if __name__ == "__main__":
    main()

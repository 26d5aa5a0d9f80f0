"""The noiseless rows of table 1 of Hamman et al. (2023), recomputed and printed beside the paper's."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from core.commands.arguments import table_named
from core.commands.console import Console
from core.commands.running import write_csv
from core.commands.text_tables import aligned, estimate_words
from core.config import AuditConfig

_TABLE = ((100, 25), (100, 40), (1000, 300), (1000, 400))
_COMPLETE = {100: (25, 30, 35, 40, 45, 50, 55, 60), 1000: (200, 300, 400)}
_ATTACKS = {"l1": "l1 (paper's)", "nonnegative": "s >= 0", "box": "box, sum", "box_with_prior": "box, sum, prior"}


def noiseless_table(arguments: argparse.Namespace, console: Console) -> Iterator[str]:
    """Yield the noiseless rows as printed lines, and the numbers of questions from which on everybody is known."""
    import pandas as pd

    from core.datasets import build_dataset
    from core.datasets.adult import black_and_white
    from core.queries import NOISELESS_ATTACKS, TABLE_1, complete_from, noiseless_row
    from core.questions import query_pool

    table, roles = black_and_white(table_named("adult", arguments))
    config = AuditConfig(dataset="adult", roles=roles, method="unmitigated", seed=arguments.seed)
    pool = query_pool(config, build_dataset(table, roles))
    yield "Hamman et al. (2023), table 1 without noise: Adult, Black and White people, questions jittered by 0.1"
    yield f"Leakage in % with 95% intervals over draws of people and questions, seed {arguments.seed}; a coin toss: 50"
    yield ""
    rows, records = [], []
    for i, (n, m) in enumerate(_TABLE):
        repeats = arguments.repeats or (200 if n == 100 else 5)
        row = noiseless_row(pool, n, m, repeats=repeats, seed=arguments.seed)
        console.progress(i + 1, len(_TABLE), noun="rows")
        printed = next(r for r in TABLE_1 if (r.n, r.m) == (n, m) and r.epsilon == float("inf"))
        cells = [f"n = {n}, m = {m}", str(repeats), f"{100 * printed.leakage_cauchy:.0f}"]
        rows.append(cells + [estimate_words(row.leakages[attack]) for attack in NOISELESS_ATTACKS])
        packed = f"{row.bits_questions} questions" if row.bits_complete else "not everybody"
        rows[-1].append(packed)
        for attack in NOISELESS_ATTACKS:
            found = row.leakages[attack]
            records.append({"n": n, "m": m, "attack": attack, "published": printed.leakage_cauchy} | found.to_dict())
    yield aligned(["", "draws", "paper", *(_ATTACKS[a] for a in NOISELESS_ATTACKS), "bits: all in"], rows)
    for n, numbers in _COMPLETE.items():
        repeats = arguments.repeats or (60 if n == 100 else 3)
        console.note(f"From how many questions on everybody of {n} is known")
        shares = dict(complete_from(pool, n, numbers, repeats=repeats, seed=arguments.seed))
        yield ""
        yield f"Questions after which everybody is known in each of {repeats} draws, n = {n}:"
        for attack in NOISELESS_ATTACKS:
            known = next((m for m in numbers if all(shares[k][attack] == 1.0 for k in numbers if k >= m)), None)
            yield f"  {_ATTACKS[attack]}: " + (str(known) if known is not None else f"more than {numbers[-1]}")
    write_csv(pd.DataFrame(records), arguments.csv, console)

"""The long tables: ``make reference``, or --quick for those of minutes.

Those of Hamman et al. (2023), ours beside theirs.

``--record FILE`` keeps every finished setting in FILE and does not compute it again, so that a run may be stopped and
continued.
"""

import argparse
import math
import sys
from pathlib import Path

import numpy as np

from tests.reference import conceal

HEAD = (
    f"{'n':>6} {'m':>5} {'N0':>5} {'eps':>4} | {'paper':>7} | {'median':>8} {'95th':>9} | {'sums':>7} | "
    f"{'paper':>5} | {'l1':>11} | {'aware':>11} | draws"
)
UNDER = (
    "Errors in thousandths. paper: printed mean; median, 95th: of the Cauchy noise of theorem 7, computed; sums: the\n"
    "median with noisy sums at this budget. Leakages in per cent, mean ± standard error: l1 is the decoder printed,\n"
    "aware the one that knows the noise, neither with a prior. A coin toss gives 50."
)
TABLE_1_NOTE = (
    "The noisy rows do not reproduce. The formulas the paper prints add noise whose median is far above the errors it\n"
    "prints, and the average of Cauchy noise is no quantity at all. The rows without noise come close.\n"
    "Leakages: l1 as in the paper, then the decoder that knows the noise, without\n"
    "and with the developers' prior; ± half a 95% interval over draws."
)


def arguments():
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.reference", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few repeats, and nothing that takes long")
    parser.add_argument("--record", type=Path, help="keep finished settings in this file and continue from it")
    parser.add_argument("--limit", type=float, default=1800.0, help="seconds for one linear program (default 1800)")
    parser.add_argument("--seed", type=int, default=42)
    return parser.parse_args()


def rate(values):
    """Return mean and standard error in per cent, and how many are missing."""
    percentages = [100 * value for value in values if value is not None]
    if not percentages:
        return "not solved"
    error = f"{np.std(percentages, ddof=1) / math.sqrt(len(percentages)):.1f}" if len(percentages) > 1 else "?"
    return f"{np.mean(percentages):.1f} ± {error}" + ("*" if len(percentages) < len(values) else "")


def line(row):
    """Return one setting as a line."""
    paper = row["paper"] or (math.nan, math.nan)
    error, leak = ("" if math.isnan(value) else f"{value:g}" for value in paper)
    median, high, sums = (1000 * row[name] for name in ("error_median", "error_high", "sums_error_median"))
    return (
        f"{row['n']:>6} {row['m']:>5} {row['n_disadvantaged']:>5} {row['epsilon']:>4g} | {error:>7} | {median:>8.1f} "
        f"{high:>9.1f} | {sums:>7.2f} | {leak:>5} | {rate(row['leakage_l1']):>11} | {rate(row['leakage_aware']):>11} | "
        f"{row['repeats']}"
    )


def synthetic(options):
    """Print tables 2 and 3 and the points of figure 3."""
    cells = conceal.cells(quick=options.quick)
    done = list(
        conceal.run(
            cells,
            seed=options.seed,
            limit=options.limit,
            record=options.record,
            tell=lambda message: print(message, file=sys.stderr, flush=True),
        )
    )
    for table in ("table 2", "table 3", "figure 3"):
        rows = [row for row in done if row["table"] == table]
        print(f"\nHamman et al. (2023), {table}: synthetic people, Attribute-Conceal\n{HEAD}\n{'-' * len(HEAD)}")
        for row in sorted(rows, key=lambda row: (row["n"], row["n_disadvantaged"], row["m"], row["epsilon"])):
            print(line(row))
    print(f"\n{UNDER}\n* without the repeats whose program was not solved within {options.limit:g} s")


def on_adult(options):
    """Print the rows of table 1 on Adult."""
    from tests.reference import table_1
    from tests.reference.data import FOLDER

    if not (FOLDER / "adult" / "adult.data").is_file():
        print("Adult is not here. Set FAIRLEAK_DATA to a folder with adult/adult.data and adult/adult.test.")
        return
    print("\nHamman et al. (2023), table 1: Adult, race (Black and White people), jittered questions")
    print(f"{table_1.HEAD}\n{'-' * len(table_1.HEAD)}")
    for row in table_1.noisy_rows(FOLDER, quick=options.quick, seed=options.seed):
        print(row, flush=True)
    print("\nThe rows without noise")
    for row in table_1.noiseless_rows(FOLDER, quick=options.quick, seed=options.seed):
        print(row, flush=True)
    print(f"\n{TABLE_1_NOTE}")


def main():
    """Print everything, the cheap part first."""
    options = arguments()
    on_adult(options)
    synthetic(options)


main()

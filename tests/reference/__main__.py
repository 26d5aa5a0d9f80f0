"""The long tables of Hamman et al. (2023), ours beside theirs: ``make reference``, or --quick for those of minutes."""

import argparse
from pathlib import Path

import numpy as np

from tests.reference import conceal, table_1
from tests.reference.data import FOLDER

UNDER = (
    "Errors in thousandths. paper: printed mean; median, 95th: of the Cauchy noise of theorem 7, computed; sums: the\n"
    "median with noisy sums at this budget. Leakages in per cent, mean ± standard error: l1 is the decoder printed,\n"
    "aware the one that knows the noise, neither with a prior. A coin toss gives 50. Missing are the repeats whose\n"
    "program was not solved in time."
)
TABLE_1_NOTE = (
    "The noisy rows do not reproduce; those without noise come close. Leakages: l1 as in the paper, then the decoder\n"
    "that knows the noise, without and with the developers' prior; ± half a 95% interval over draws."
)


def show(title, rows):
    """Print rows as they come, below their columns' names."""
    print(f"\n{title}")
    for number, row in enumerate(rows):
        if number == 0:
            print(" ".join(f"{name:>13}" for name in row))
        texts = [value if isinstance(value, str) else f"{value:.4g}" for value in row.values()]
        print(" ".join(f"{text:>13}" for text in texts), flush=True)


def rate(values):
    """Return mean and standard error in per cent of what was solved."""
    solved = [100 * value for value in values if value is not None]
    return f"{np.mean(solved):.1f} ± {np.std(solved, ddof=1) / len(solved) ** 0.5:.1f}" if len(solved) > 1 else ""


def line(row):
    error, leak = row["paper"] or ("", "")
    return {
        **{"n": row["n"], "m": row["m"], "N0": row["n_disadvantaged"], "ε": row["epsilon"], "paper": error},
        "median": 1000 * row["error_median"],
        "95th": 1000 * row["error_high"],
        "sums": 1000 * row["sums_error_median"],
        "paper %": leak,
        "l1 %": rate(row["leakage_l1"]),
        "aware %": rate(row["leakage_aware"]),
        "draws": row["repeats"],
        "missing": row["leakage_l1"].count(None),
    }


def synthetic(options):
    cells = conceal.cells(quick=options.quick)
    done = list(conceal.run(cells, seed=options.seed, limit=options.limit, record=options.record))
    for table in ("table 2", "table 3", "figure 3"):
        rows = [row for row in done if row["table"] == table]
        rows.sort(key=lambda row: (row["n"], row["n_disadvantaged"], row["m"], row["epsilon"]))
        show(f"Hamman et al. (2023), {table}: synthetic people, Attribute-Conceal", map(line, rows))
    print(f"\n{UNDER}")


def on_adult(options):
    if not (FOLDER / "adult" / "adult.data").is_file():
        print("Adult is not here. Set FAIRLEAK_DATA to a folder with adult/adult.data and adult/adult.test.")
        return
    chosen = {"quick": options.quick, "seed": options.seed}
    show("Hamman et al. (2023), table 1: Adult, Black and White people, jitter", table_1.noisy_rows(**chosen))
    show("The rows without noise", table_1.noiseless_rows(**chosen))
    print(f"\n{TABLE_1_NOTE}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.reference", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few repeats, and nothing that takes long")
    parser.add_argument("--record", type=Path, help="keep finished settings in this file and continue from it")
    parser.add_argument("--limit", type=float, default=1800.0, help="seconds for one linear program (default 1800)")
    parser.add_argument("--seed", type=int, default=42)
    options = parser.parse_args()
    on_adult(options)  # the cheap part first
    synthetic(options)

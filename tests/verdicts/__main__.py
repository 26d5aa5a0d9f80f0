"""The bank's table: ``python -m tests.verdicts [--seeds 5] [--record FILE] [--only NAME ...]``."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path

from tests.verdicts.bank import BANK, Entry
from tests.verdicts.people import data_folder
from tests.verdicts.run import line, runs, totals
from tests.verdicts.truth import SEEDS, Truth, contradiction, truth_of, write


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.verdicts", description=__doc__)
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="how many seeds, from 1 on (default 5)")
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=list(BANK), help="entries; all when left out")
    parser.add_argument("--record", type=Path, help="keep finished audits in this file and continue from it")
    parser.add_argument("--truth", action="store_true", help="compute what is true of the models, and audit none")
    return parser.parse_args()


def show_truth(entries: list[Entry], seeds: tuple[int, ...]) -> None:
    """Print what is true of entries; of the whole bank and all seeds it is fixed as well."""
    found: dict[str, list[Truth]] = {}
    for entry in entries:
        for seed in seeds:
            people, release = entry.make(seed)
            each = truth_of(people, release)
            found.setdefault(entry.name, []).append(each)
            numbers = " ".join(f"{key} {value:.3f}" for key, value in asdict(each).items())
            print(f"{entry.name:33} {seed} {numbers} {contradiction(entry, each)}", flush=True)
    if list(found) == list(BANK) and seeds == SEEDS:
        write(found)


def show_verdicts(entries: list[Entry], seeds: tuple[int, ...], record: Path | None) -> None:
    """Print the verdicts on entries, and the totals."""
    done = []
    for one in runs(entries, seeds, record):
        print(line(one), flush=True)
        done.append(one)
    print()
    for key, said in totals(done).items():
        whole = sum(said.values())
        print(f"{key} ({whole}): " + ", ".join(f"{what} {count}" for what, count in said.most_common()))


def main() -> int:
    """Run what is asked for."""
    options = arguments()
    entries = [BANK[name] for name in options.only or BANK]
    if missing := {entry.needs for entry in entries if entry.needs and not (data_folder() / entry.needs).is_dir()}:
        print(f"Not here, set FAIRLEAK_DATA: {', '.join(sorted(missing))}.", file=sys.stderr)
        entries = [entry for entry in entries if entry.needs not in missing]
    seeds = tuple(range(1, options.seeds + 1))
    if options.truth:
        show_truth(entries, seeds)
    else:
        show_verdicts(entries, seeds, options.record)
    return 0


if __name__ == "__main__":
    sys.exit(main())

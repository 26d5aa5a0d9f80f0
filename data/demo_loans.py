"""The invention of the built-in demo: loan applicants who do not exist, drawn from a seed, cell for cell.

Everything is drawn from the raw bits of one generator, whose stream numpy guarantees, with additions, products and
comparisons only, so that every platform invents the same cells. ``README.md`` tells what is put in on purpose.
``python data/demo_loans.py`` writes `demo_loans.csv` anew.
"""

from pathlib import Path

import numpy as np
import pandas as pd

_APPLICANTS = 12_000
_WOMEN = 0.335
_BORN_ABROAD = 0.118

# Sectors with their weight among men and among women, what being born abroad adds to the weight, and their pay.
_SECTORS = (
    "construction",
    "transport",
    "industry",
    "it",
    "finance",
    "public",
    "retail",
    "hotels",
    "teaching",
    "care",
)
_SECTOR_MEN = (0.16, 0.12, 0.20, 0.13, 0.05, 0.07, 0.15, 0.10, 0.01, 0.01)
_SECTOR_WOMEN = (0.005, 0.01, 0.015, 0.01, 0.03, 0.11, 0.27, 0.16, 0.18, 0.22)
_SECTOR_ABROAD = (0.08, 0.06, 0.02, 0.03, 0.00, 0.00, 0.00, 0.14, 0.00, 0.07)
_SECTOR_PAY = (1.00, 0.96, 1.06, 1.40, 1.45, 0.96, 0.60, 0.54, 1.25, 1.20)

_SCHOOLS = ("school", "vocational", "bachelor", "master")
_SCHOOL_PAY = (0.80, 0.95, 1.15, 1.40)
_PURPOSES = ("car", "home", "furniture", "business", "studies", "health")


class _Draws:
    """Uniform numbers made of a bit generator's raw output."""

    def __init__(self):
        self._bits = np.random.PCG64(2023)  # the seed of the kept table

    def uniform(self):
        """Return one number in [0, 1) an applicant."""
        raw = np.asarray(self._bits.random_raw(_APPLICANTS), dtype=np.uint64)
        return (raw >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def bell(self):
        """Return bell-shaped numbers in (-1, 1), mean 0, standard deviation 0.29 (four uniforms)."""
        return (self.uniform() + self.uniform() + self.uniform() + self.uniform()) / 2.0 - 1.0

    def pick(self, values, weights):
        """Return one value an applicant; `weights` has shape (n, k), in any scale."""
        edges = np.cumsum(weights, axis=1)
        position = self.uniform() * edges[:, -1]
        return np.array(values)[(position[:, None] >= edges[:, :-1]).sum(axis=1)]


def make_demo():
    """Invent the 12,000 loan applicants of the kept table: 14 features, then sex, origin and approved."""
    draws = _Draws()
    woman = draws.uniform() < _WOMEN
    abroad = draws.uniform() < _BORN_ABROAD
    people = _household(draws, woman, abroad)
    people |= _work(draws, people, woman, abroad)
    people |= _money(draws, people, woman, abroad)
    people["sex"] = np.where(woman, "woman", "man")
    people["origin"] = np.where(abroad, "born abroad", "born here")
    people["approved"] = _decision(draws, people, woman, abroad)
    frame = pd.DataFrame({name: _cells(values) for name, values in people.items()})
    return _with_gaps(draws, frame, abroad)


def _household(draws, woman, abroad):
    age = np.floor(
        21 + 46 * draws.uniform() * (0.45 + 0.55 * draws.uniform()) - 4 * abroad * draws.uniform()
    )
    age = np.maximum(age, 20)
    settled = np.clip((age - 20) / 25, 0, 1)
    married = 0.10 + 0.50 * settled + 0.10 * abroad - 0.12 * woman
    parted = 0.02 + 0.14 * settled + 0.12 * woman * settled
    status = draws.pick(
        ("married", "divorced", "widowed", "single"),
        np.column_stack([married, parted, 0.01 + 0.05 * settled * woman, 1 - married - parted]),
    )
    family = np.where(
        status == "married", 0.75, np.where(status == "single", 0.10, 0.25 + 0.35 * woman)
    )
    children = np.floor(
        1 + 2.4 * draws.uniform() * draws.uniform() + 0.8 * abroad * draws.uniform()
    )
    school = draws.pick(
        _SCHOOLS,
        np.column_stack(
            [0.20 + 0.12 * abroad, 0.42 - 0.10 * abroad, 0.25 + 0.03 * woman, 0.13 + 0.06 * abroad]
        ),
    )
    return {
        "age": age,
        "marital_status": status,
        "dependents": np.where(
            draws.uniform() < family * np.clip(1.3 - settled / 2, 0, 1), children, 0
        ),
        "education": school,
    }


def _work(draws, people, woman, abroad):
    side = np.where(woman[:, None], np.array(_SECTOR_WOMEN), np.array(_SECTOR_MEN))
    sector = draws.pick(_SECTORS, side + abroad[:, None] * np.array(_SECTOR_ABROAD))
    self_employed = np.where(woman, 0.07, 0.13) + 0.05 * abroad
    employment = draws.pick(
        ("employee", "self-employed", "temporary"),
        np.column_stack([0.80 - 0.16 * abroad, self_employed, 0.08 + 0.04 * woman + 0.14 * abroad]),
    )
    carer = 0.14 + 0.30 * (people["dependents"] > 0)
    part_time = draws.uniform() < np.where(woman, carer, 0.04)
    hours = np.where(
        part_time, 16 + np.floor(9 * draws.uniform()) * 2, 37 + np.floor(7 * draws.uniform())
    )
    hours = hours + np.where(~part_time & (draws.uniform() < np.where(woman, 0.15, 0.20)), 6, 0)
    schooling = _look_up(people["education"], _SCHOOLS, _SCHOOL_PAY)
    pay = (
        21_000
        * schooling
        * _look_up(sector, _SECTORS, _SECTOR_PAY)
        * (1 + 0.012 * (people["age"] - 20))
    )
    pay = pay * (hours / 40) * (1 + 0.45 * draws.bell()) * (1 - 0.06 * woman) * (1 - 0.08 * abroad)
    return {
        "employment": employment,
        "sector": sector,
        "hours_per_week": hours,
        "income": np.floor(pay / 100) * 100,
    }


def _money(draws, people, woman, abroad):
    adult = people["age"] - 18
    resident_years = adult * np.where(abroad, 0.15 + 0.85 * draws.uniform(), 1.0)
    history = np.floor(resident_years * (0.10 + 0.85 * draws.uniform()))
    address = np.floor(resident_years * draws.uniform() * draws.uniform() * (1 - 0.3 * abroad))
    savings = (
        people["income"]
        * draws.uniform()
        * draws.uniform()
        * (0.2 + adult / 30)
        * (1 - 0.25 * abroad)
    )
    loans = np.floor(4 * draws.uniform() * draws.uniform() + 0.5 * (people["dependents"] > 0))
    taste = np.where(
        woman[:, None],
        np.array((0.32, 0.25, 0.15, 0.09, 0.10, 0.09)),
        np.array((0.35, 0.25, 0.13, 0.10, 0.09, 0.08)),
    )
    amount = people["income"] * (0.08 + 0.75 * draws.uniform() * draws.uniform())
    return {
        "years_at_address": address,
        "savings": np.floor(savings / 100) * 100,
        "credit_history_years": history,
        "existing_loans": loans,
        "loan_amount": np.maximum(np.floor(amount / 500) * 500, 1000),
        "purpose": draws.pick(_PURPOSES, taste),
    }


def _decision(draws, people, woman, abroad):
    """Decide by ability to pay, then against women and people born abroad, with some chance."""
    burden = people["loan_amount"] / np.maximum(people["income"], 1000)
    score = (
        np.minimum(people["income"] / 20_000, 3.0)
        + np.minimum(people["savings"] / 12_000, 1.2)
        + 0.03 * np.minimum(people["credit_history_years"], 20)
        - 1.8 * burden
        - 0.40 * people["existing_loans"]
        - 0.15 * people["dependents"]
        - 0.45 * (people["employment"] == "temporary")
        + 0.20 * (people["purpose"] == "home")
    )
    chance = 0.5 + 0.70 * (score - 1.05) - 0.14 * woman - 0.10 * abroad
    return np.where(draws.uniform() < np.clip(chance, 0.03, 0.97), "yes", "no")


def _with_gaps(draws, frame, abroad):
    """Empty some cells: savings and address are told less often by newcomers, the sector is lost at random."""
    for name, share in (
        ("savings", 0.045 + 0.04 * abroad),
        ("years_at_address", 0.025 + 0.03 * abroad),
        ("sector", np.full(len(frame), 0.02)),
    ):
        frame[name] = frame[name].mask(draws.uniform() < share)
    return frame


def _look_up(values, names, numbers):
    return pd.Series(values).map(dict(zip(names, numbers, strict=True))).to_numpy()


def _cells(values):
    """Return whole numbers as integers, texts as they are."""
    return values.astype(np.int64) if values.dtype.kind == "f" else values.astype(object)


if __name__ == "__main__":
    file = Path(__file__).with_suffix(".csv")
    make_demo().to_csv(file, index=False, float_format="%g", lineterminator="\n")

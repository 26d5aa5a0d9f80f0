"""What measures each group of figures of `tests.reference.figures`; data lie where FAIRLEAK_DATA says."""

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from core.stats.estimates import Estimate, number_text, plain_row
from tests.reference.data import adult_findings, adult_subject, members_of
from tests.reference.figures import Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A group of figures: the command a reader types, its seed, and what measures the figures."""

    command: str
    seed: str
    measure: Callable[[], tuple[dict[str, Figure], dict[str, list[list[str]]]]]


def measured_by(command):
    """Run a command of FairLeak and return everything it found, as --json writes it."""
    from core.__main__ import main

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "found.json")
        main([*command.split()[1:], "--json", str(path)])
        return json.loads(path.read_text(encoding="utf-8"))


def row_with(rows, **cells):
    return next(row for row in rows if all(row.get(name) == cell for name, cell in cells.items()))


CORRECTION = "fairleak attack correction --dataset adult --attribute sex --tolerance 0 --as-published"


def correction():
    """Reconstruction correction on Adult, by the paper's protocol and by the held-out one."""
    tables = measured_by(CORRECTION)["tables"]
    (published, *_) = tables["Correction by the paper's protocol"]
    leak = tables["Where the leak comes from (held-out protocol)"]
    paper = {"attacker": "The published attacker"}
    shares = row_with(leak, **paper, step="and group proportions")
    constraint = row_with(leak, **paper, step="and fairness constraint")
    boosting = row_with(leak, attacker="The boosting attacker", step="and fairness constraint")
    imputation = row_with(leak, attacker="The boosting attacker", step="Features and label (A)")
    figures = {
        "before": Figure.of("rate", published, "before"),
        "after": Figure.of("rate", published, "after"),
        "gain": Figure.of("points", published, "gain"),
        "exponent": Figure(form="count", value=published["exponent"]),
        "imputation": Figure.of("rate", imputation, "accuracy"),
        "imputation_percent": Figure.of("percent", imputation, "accuracy"),
        "shares": Figure.of("percent", shares, "accuracy"),
        "constraint_accuracy": Figure.of("percent", constraint, "accuracy"),
        "constraint": Figure.of("points", constraint, "change"),
        "constraint_boosting": Figure.of("points", boosting, "change"),
        "calibrated": Figure.of_estimate("rate", adult_findings().disclose(0.001, cost="log_odds").before),
    }
    return figures, {}


def queries():
    """Exact answers to bias queries on Adult, by attack."""
    from tests.reference.table_1 import NOISELESS_REPEATS, adult_pool, noiseless_row

    pool = adult_pool(seed=42)
    rows = {size: noiseless_row(pool, *size, repeats=repeats) for size, repeats in NOISELESS_REPEATS.items()}
    figures = {f"l1_{n}_{m}": Figure.of_estimate("percent", row.leakages["l1"]) for (n, m), row in rows.items()}
    first = rows[100, 25]
    figures |= {
        "people": Figure(form="count", value=100),
        "answers": Figure(form="count", value=25),
        "prior_decoder": Figure.of_estimate("percent", first.leakages["box_with_prior"]),
        "features": Figure.of_estimate("percent", first.prior),
    }
    return figures, {}


ATTRIGUARD = "fairleak attack attriguard --dataset ratings --target train_shares --budget 5"


def attriguard():
    """AttriGuard on the Google Play ratings."""
    three = measured_by(ATTRIGUARD.replace("--budget 5", "--budget 3 --attackers logistic"))["tables"]["AttriGuard"]
    content = measured_by(ATTRIGUARD)
    five = content["tables"]["AttriGuard"]
    logistic, network = {"attacker": "Logistic regression"}, {"attacker": "Adversarial training (AT-A)"}
    rows = {
        "logistic": row_with(five, **logistic, budget=0.0),
        "logistic_three": row_with(three, **logistic, budget=3.0),
        "network": row_with(five, **network, budget=5.0),
        "dropping": row_with(five, attacker="Feature-dropping (ours)", budget=5.0),
    }
    figures = {"baseline": Figure.of_estimate("percent", Estimate(**content["findings"][0]["baseline"]))}
    figures |= {key: Figure.of("percent", row, "accuracy") for key, row in rows.items()}
    figures["changed"] = Figure(form="count", value=5)
    return figures, {}


def membership():
    """The published membership attack on Adult, means of five repeats."""
    from core.studies.membership.findings import curve_rows, summarise_curve
    from tests.zhang_protocol import default_depth, id3_target, repeats_of

    people = members_of("adult")
    points = repeats_of(people, id3_target(people, max_depth=default_depth(people)), repeats=5)
    (row,) = map(plain_row, curve_rows(summarise_curve(points), "ε"))
    figures = {
        "train": Figure.of("rate", row, "accuracy, training"),
        "test": Figure.of("rate", row, "accuracy, test"),
        "precision": Figure.of("percent", row, "precision"),
        "recall": Figure.of("percent", row, "recall"),
        "vd": Figure.of("gap", row, "VD"),
        "fpr_gap": Figure.of("gap", row, "FPR gap"),
        "advantage_gap": Figure.of("gap", row, "Membership-advantage gap"),
    }
    return figures, {}


def one_leaf():
    """The published membership attack on Adult's trees of one leaf, means over five seeds."""
    from core.stats.estimates import rate_over_repeats
    from tests.zhang_protocol import one_leaf as leaf_of

    points = [leaf_of(members_of("adult"), seed=seed).point() for seed in range(5)]
    figures = {
        "auc": Figure.of_estimate("rate", rate_over_repeats([point.auc for point in points])),
        "vd": Figure.of_estimate("rate", rate_over_repeats([abs(point.vd) for point in points])),
        "advantage_gap": Figure(form="gap", value=float(np.mean([point.advantage_gap for point in points]))),
        "chance": Figure(form="text", value="0.5"),
    }
    return figures, {}


def fairpick():
    """FairPick on Adult at θ = 0.4 and random deletion of as many rows, means of twelve repeats."""
    from tests.reference.test_fairpick import mean, trials

    curve_points = trials(members_of("adult"), thetas=(0.4, 1.0), repeats=12)
    ways = {"before": ("fairpick", 1.0), "picked": ("fairpick", 0.4), "random": ("random", 0.4)}
    figures = {"deleted": Figure(form="count", value=mean(curve_points["fairpick", 0.4], "deleted"))}
    for name, way in ways.items():
        figures[f"vd_{name}"] = Figure(form="rate", value=mean(curve_points[way], "vd"))
        figures[f"gap_{name}"] = Figure(form="gap", value=mean(curve_points[way], "advantage_gap"))
    return figures, {}


def membership_attacks():
    """Every membership attack on the same models, a row an attack."""
    from tests.reference import side_by_side

    return {}, side_by_side.tables(list(side_by_side.TABLES))


EPSILONS = (0.5, 1.0, 2.0, 5.0)


def privacy_budgets():
    """Measured privacy budgets of FairLeak's own mechanisms, a row a mechanism."""
    head = ["", "spent at ε = 1", *(f"measured at ε = {e:g}" if e == EPSILONS[0] else f"{e:g}" for e in EPSILONS)]
    rows = {}
    for epsilon in EPSILONS:
        for row in _budget_rows(f"--promised-epsilon {epsilon:g}"):
            delta = row["δ"]
            title = f"{row['mechanism']}, δ = {delta:g}" if delta else row["mechanism"]
            cells = rows.setdefault(row["mechanism"], [title, ""])
            if epsilon == 1.0:
                spent = row["spent ε"]
                cells[1] = row["spent by"] if spent is None else number_text(spent, ".3g")
            cells.append(_lower_bound(row))
    for row in _budget_rows("--promised-epsilon 1 --noise 0.5"):
        rows[row["mechanism"]].append(_lower_bound(row))
    return {}, {"bounds": [[*head, "at ε = 1 with half the noise"], *rows.values()]}


def _budget_rows(arguments):
    yield from measured_by(f"fairleak attack measured_epsilon {arguments}")["tables"]["Measured privacy budgets"]


def _lower_bound(row):
    return number_text(float(row["measured ε (95% lower bound)"]), ".2f")


def tuned_forest():
    """What the correction adds to a forest tuned for balanced accuracy, whose parameters the search found."""
    from tests.reference.test_correction_adult import TUNED, disclosures_of

    disclosure = disclosures_of(adult_subject(), "features", TUNED["features"])["published"]
    assert disclosure.gain is not None
    figures = {
        "before": Figure.of_estimate("rate", disclosure.before),
        "gain": Figure.of_estimate("points", disclosure.gain),
    }
    return figures, {}


def _again(name):
    return f"python -m tests.reference.figures --record {name}"


RECORDINGS = {
    "correction": Recording(command=CORRECTION, seed="42", measure=correction),
    "tuned_forest": Recording(command=_again("tuned_forest"), seed="42", measure=tuned_forest),
    "queries": Recording(command=_again("queries"), seed="42", measure=queries),
    "attriguard": Recording(command=ATTRIGUARD, seed="42", measure=attriguard),
    "membership": Recording(command=_again("membership"), seed="42", measure=membership),
    "one_leaf": Recording(command=_again("one_leaf"), seed="0 to 4", measure=one_leaf),
    "fairpick": Recording(command=_again("fairpick"), seed="0", measure=fairpick),
    "membership_attacks": Recording(
        command="python -m tests.reference.side_by_side", seed="42", measure=membership_attacks
    ),
    "privacy_budgets": Recording(
        command="fairleak attack measured_epsilon --promised-epsilon 1", seed="42", measure=privacy_budgets
    ),
}
"""Group -> what measures it."""

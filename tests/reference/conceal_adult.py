"""The rows of table 1 of Hamman et al. (2023) on Adult, ours beside the printed ones."""

import math
from dataclasses import replace

from core.base.validation import child_generator
from core.datasets import build_dataset, load
from core.studies.bias_queries import LaplaceGlobal, NoisySums, SmoothCauchy, Trials, query_pool
from core.studies.bias_queries.guarantees import answer_error
from core.studies.subject import AuditConfig, subject_of
from tests.reference.table_1 import NOISELESS_ATTACKS, NOISELESS_REPEATS, TABLE_1, noiseless_row

HEAD = (
    f"{'n':>5} {'m':>4} {'eps':>4} {'noise':>8} | {'paper':>7} {'median':>9} {'95th':>10} | {'paper':>5} {'l1':>11} "
    f"{'no prior':>11} {'prior':>11} | draws"
)


def black_and_white(table):
    """Return Adult's Black and White people alone, with race as the attribute, as the paper uses it."""
    frame = table.frame[table.frame["race"].isin(["White", "Black"])].reset_index(drop=True)
    race = next(roles for roles in table.roles if roles.key == "race")
    roles = replace(race, group=("Black",), first_name="Black people", other_name="White people")
    return replace(table, frame=frame, roles=(roles,)), roles


def adult_pool(folder, *, seed=0):
    """Return Adult's Black and White people with the model without mitigation, as asked about."""
    table, roles = black_and_white(load("adult", data_folder=folder))
    config = AuditConfig(dataset="adult", roles=roles, method="unmitigated", seed=seed)
    return query_pool(subject_of(config, build_dataset(table, roles)))


def noiseless_rows(folder, *, quick, seed):
    """Yield the rows without noise as lines: the printed leakage, then each attack's, in per cent."""
    pool = adult_pool(folder, seed=seed)
    for row in TABLE_1:
        if math.isfinite(row.epsilon) or (quick and row.n > 100):
            continue
        repeats = NOISELESS_REPEATS[row.n, row.m]
        measured = noiseless_row(pool, row.n, row.m, repeats=repeats, seed=seed)
        leakages = [f"{attack} {100 * measured.leakages[attack].value:.1f}" for attack in NOISELESS_ATTACKS]
        yield f"{row.n:>5} {row.m:>4}  printed {100 * row.leakages['cauchy']:g}  {'  '.join(leakages)}"


def noisy_rows(folder, *, quick, seed):
    """Yield the rows as lines: both printed mechanisms, and noisy sums."""
    pool = adult_pool(folder)
    trials = {}
    for row in TABLE_1:
        if math.isinf(row.epsilon) or (quick and row.n > 100):
            continue
        if row.n not in trials:
            repeats = (10 if quick else 50) if row.n == 100 else 5
            trials[row.n] = Trials(pool, n=row.n, repeats=repeats, seed=seed)
        for name, mechanism, error, leak in (
            ("Cauchy", SmoothCauchy(row.epsilon), row.errors["cauchy"], row.leakages["cauchy"]),
            ("Laplace", LaplaceGlobal(row.epsilon), row.errors["laplace"], row.leakages["laplace"]),
            ("sums", NoisySums(row.epsilon), math.nan, math.nan),
        ):
            yield _line(trials[row.n], (row.n, row.m, row.epsilon), name, mechanism, (error, leak), seed)


def _line(trials, setting, name, mechanism, printed, seed):
    n, m, epsilon = setting
    questions = trials.ask(m, mechanism, [0])
    rng = child_generator(seed, "table 1, errors")
    error = answer_error(mechanism, questions.scores[0], trials.people[0].sensitive, rng=rng, draws=400)
    leaks = [trials.leak(m, mechanism, decoder).leakage for decoder in ("published", "without_prior", "strongest")]
    leak_texts = [f"{100 * x.value:.1f} ± {100 * (x.high - x.value):.1f}" for x in leaks]
    paper = ["" if math.isnan(x) else f"{factor * x:g}" for x, factor in zip(printed, (1000, 100), strict=True)]
    errors = f"{paper[0]:>7} {1000 * error.median:>9.1f} {1000 * error.high:>10.1f}"
    leakages = f"{paper[1]:>5} {leak_texts[0]:>11} {leak_texts[1]:>11} {leak_texts[2]:>11}"
    return f"{n:>5} {m:>4} {epsilon:>4g} {name:>8} | {errors} | {leakages} | {trials.repeats}"

"""The controls of the bias queries, and the people asked about: prepared once, curves filled in the background."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import Any

import streamlit as st

from core.auditing.subprocess_jobs import ReportProgress
from core.base.fingerprint import fingerprint
from core.base.settings import params
from core.datasets.dataset import AuditDataset
from core.studies.bias_queries import Answering, Asking, Leak, QueryPool, RevealSettings, Trials, repeats_for
from core.studies.config import AuditConfig
from pages.shell import cached, panels, state
from pages.shell.background import Background, Job, ResultStore, require_result, show_works
from pages.shell.controls import bound

EPSILONS = (0.1, 0.2, 0.5, 1, 2, 3, 4, 5, 7, 10, 20, 50, 100, 200, 500)

ERROR_ROWS = ("rounded", "noisy_sums", "laplace", "smooth_laplace", "cauchy")
"""Ways to answer whose errors are drawn, from the top."""

_PEOPLE = (20, 30, 50, 100, 150, 200, 300, 500, 1000, 2000)
_ANSWERING, _ASKING = params(Answering), params(Asking)

LIVE = 150
"""Most people with whom the marker is computed on the spot."""

CURVES = ("strongest", "without_prior", "published")
"""Decoders drawn as curves."""


def pool_of(config: AuditConfig, dataset: AuditDataset) -> QueryPool:
    """Return everybody who may be asked about; waits with a progress bar while model and prior are trained."""
    store, key = cached.store_of(config.dataset), fingerprint("query pool", dataset.fingerprint, config)

    def work(job: Job) -> QueryPool:
        from core.studies.bias_queries import query_pool

        model = cached.trained_model(store, config, dataset)
        return job.in_subprocess(lambda _: query_pool(config, dataset, model), about=dataset)  # type: ignore[no-any-return]

    return require_result(store, key, "Training the model and the prior", work)  # type: ignore[no-any-return]


class QueryTrials(Trials):
    """Trials whose results are kept, with curves that a job fills."""

    def __init__(self, pool: QueryPool, asking: Asking, store: ResultStore, key: str, filed: Any) -> None:
        super().__init__(pool, asking)
        self.pool, self.store, self.key, self.filed = pool, store, key, filed
        self.live = asking.n <= LIVE
        for name in ("leak", "decoding", "accuracy", "error"):
            setattr(self, name, cache(getattr(self, name)))

    def leak(self, m: int, mechanism: Any, decoder: str) -> Leak:
        """Return what an attacker recovers: from the curve where it is there."""
        stored = (leak for leak in self.curves(mechanism).get(decoder, ()) if leak.m == m)
        return next(stored, None) or super().leak(m, mechanism, decoder)

    def marked(self, m: int, mechanism: Any) -> int:
        """Return the number of answers to speak of: with many people the finished one nearest to the slider."""
        if self.live:
            return m
        stored = [leak.m for leak in self.curves(mechanism)[CURVES[-1]]]  # the last of each number
        return min(stored, key=lambda number: abs(number - m), default=0)

    def background(self, mechanism: Any) -> Background:
        """Return the work that fills the curve."""
        key, total = fingerprint(self.key, repr(mechanism)), len(CURVES) * len(self.numbers)

        def work(job: Job) -> list[Leak]:
            measured = {(leak.m, leak.decoder) for leak in job.partial}
            left = [point for point in self.curve(CURVES) if point not in measured]
            return job.collect(self._filed(job, left, mechanism))

        return Background("curves", self.store, key, work, lane="questions", total=total)

    def _filed(self, job: Job, left: Sequence[tuple[int, str]], mechanism: Any) -> Iterator[Leak]:
        """Yield the leaks of points of a curve; those that take long are filed, and not measured again."""
        from core.experiments.sweep import environment

        def file(m: int, decoder: str) -> str:
            return fingerprint(self.key, repr(mechanism), m, decoder, list(environment()))

        stored = {} if self.live else {point: self.filed.load(file(*point), Leak) for point in left}
        yield from (leak for leak in stored.values() if leak is not None)
        measure = partial(_measured, self.pool, self.asking, mechanism, [p for p in left if stored.get(p) is None])
        for leak in job.each_in_subprocess(measure):
            if not self.live:
                self.filed.save(file(leak.m, leak.decoder), leak)
            yield leak

    def curves(self, mechanism: Any) -> dict[str, list[Leak]]:
        """Return the leaks of the curve that are there, by decoder."""
        points = self.background(mechanism).partial
        return {decoder: [leak for leak in points if leak.decoder == decoder] for decoder in CURVES}


def _measured(
    pool: QueryPool, asking: Asking, mechanism: Any, points: Sequence[tuple[int, str]], report: ReportProgress
) -> Iterator[Leak]:
    """Yield the leaks of points of a curve, (number of answers, decoder)."""
    trials = Trials(pool, asking)
    for m, decoder in points:
        yield trials.leak(m, mechanism, decoder)


def query_trials(config: AuditConfig, dataset: AuditDataset, pool: QueryPool, asking: Asking) -> QueryTrials:
    """Return one way of asking these people; raises `InputError` if the pool cannot give such a sample."""
    store, key = cached.store_of(config.dataset), fingerprint("asked", dataset.fingerprint, config, asking)
    filed = cached.point_store(config.dataset)
    return store.remember(key, lambda: QueryTrials(pool, asking, store, key, filed))  # type: ignore[no-any-return]


def show(curves: Sequence[Background]) -> None:
    """Show how far the curves of a chart are, with a button that stops them, or that goes on with them."""

    def doing(jobs: Sequence[Job]) -> str:
        done, total = sum(job.done for job in jobs), sum(job.total for job in jobs)
        return f"{done} of {total} points of the curves. Grey: not computed yet."

    show_works(curves, doing, "Stopped. Go on with the curves", again="Try again")


def controls(pool: QueryPool, seed: int) -> tuple[Answering, Asking]:
    """Choose the noise, its strength and the number of people; in a popover the queries, the gap and the protocol."""
    places = iter(st.columns([6, 6, 6, 4], gap="medium", vertical_alignment="bottom"))
    noise = bound(
        _ANSWERING["noise"],
        "noise",
        container=next(places),
        help="None and Rounded have no privacy budget. Laplace: for the largest change one person could ever make. "
        "Cauchy and Smooth Laplace (Attribute-Conceal): for groups of about these sizes. Noisy sums: noise on the "
        "smaller group's sums, from which the gap is computed.",
    )
    if noise == "rounded":
        bound(
            _ANSWERING["decimals"],
            "decimals",
            "select_slider",
            container=next(places),
            options=range(7),
            help=None,
        )
    elif noise != "exact":
        bound(
            _ANSWERING["epsilon"],
            "answer_epsilon",
            "select_slider",
            container=next(places),
            options=EPSILONS,
            help="Smaller is more private and less accurate. Smooth Laplace keeps it for ε below 1 only, and may fail "
            "with probability δ = 0.00001.",
        )
    sizes = [n for n in _PEOPLE if n <= pool.people.n] or [pool.people.n]
    value = 100 if 100 in sizes else sizes[-1]
    size: dict[str, Any] = {"options": sizes, "value": value, "help": None}
    n = int(bound(_ASKING["n"], "people_asked", "select_slider", container=next(places), **size))
    with next(places).popover("Attack settings", icon=":material/tune:", width="stretch", key="query_settings"):
        absolute, design = _queries()
    decimals = st.session_state.get("decimals")
    return (
        Answering(
            noise=noise,
            epsilon=float(st.session_state.get("answer_epsilon") or 5),
            decimals=3 if decimals is None else int(decimals),
            absolute=absolute,
        ),
        Asking(n=n, design=design, repeats=repeats_for(n), seed=seed),
    )


def _queries() -> tuple[bool, str]:
    """Choose whether the gap has its sign, and the query design."""
    kind = panels.pick(
        "Gap",
        {"signed": "Signed", "absolute": "Absolute"},
        key="gap_kind",
        default="signed",
        help="Without its sign a gap still splits the people in two (theorem 4), with queries about one person.",
    )
    if kind == "absolute":
        label = _ASKING["design"].param.title
        st.selectbox(label, ["One person accepted at a time"], disabled=True, key="question_single")
        return True, "single"
    design = bound(
        _ASKING["design"],
        "question_design",
        help="Each query is a model: a score for each person. Random perturbations: the audited model's scores, moved "
        "by up to 0.1. Single-record flips: the audited model, with one score turned round. Binary packing: scores "
        "1/2, 1/4, 1/8 and so on, which an exact answer reveals like binary digits.",
    )
    return False, str(design)


def _first_answers(people: QueryTrials) -> int:
    last = people.numbers[-1]
    first = round(last * 25 / 60) if last > 4 else last
    return first if people.live else min(people.numbers, key=lambda m: abs(m - first))


def number_of_answers(people: QueryTrials) -> int:
    """Return the number of answers; the slider that sets it stands under its chart."""
    last = people.numbers[-1]
    return int(state.slider_position(f"answered_{last}", _first_answers(people), most=last))


def answers_slider(people: QueryTrials) -> None:
    """Draw the slider of the number of answers."""
    last = people.numbers[-1]
    options: dict[str, Any] = {"kind": "select_slider", "options": people.numbers}
    if people.live:
        options = {"kind": "slider", "max_value": last}
    options["value"] = _first_answers(people)
    more = "With noise all answers share the budget ε: more answers, each noisier."
    bound(params(RevealSettings)["questions"], f"answered_{last}", help=more, **options)

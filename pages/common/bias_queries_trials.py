"""The people asked about, and what attackers make of the answers: prepared once, curves filled in the background."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from typing import Any

import streamlit as st

from core.config import AuditConfig
from core.datasets.dataset import AuditDataset
from core.fingerprint import fingerprint
from core.queries import Asking, ErrorQuantiles, Leak, QueryPool, Trials
from pages.common import cached, panels
from pages.common.background import Background, Job, State, Store, need

LIVE = 150
"""Most people with whom the marker is computed on the spot."""

CURVES = ("strongest", "without_prior", "published")
"""Decoders drawn as curves."""


def pool_of(config: AuditConfig, dataset: AuditDataset) -> QueryPool:
    """Return everybody who may be asked about; waits with a progress bar while model and prior are trained."""
    store, key = cached.store_of(config.dataset), fingerprint("query pool", dataset.fingerprint, config)

    def work(job: Job) -> QueryPool:
        from core.queries import query_pool

        return query_pool(config, dataset, cached.trained_model(store, config, dataset))

    return need(store, key, "Training the model and the prior", work)  # type: ignore[no-any-return]


class QueryTrials:
    """One way of asking: its trials, and everything computed from them; what was asked for once is kept."""

    def __init__(self, pool: QueryPool, asking: Asking, store: Store, key: str, filed: Any) -> None:
        self.pool, self.trials = pool, Trials(pool, asking)
        self.store, self.key, self.filed = store, key, filed
        self.live = asking.n <= LIVE
        self.leak, self.reading = cache(self.trials.leak), cache(self.trials.reading)
        self.accuracy, self.errors = cache(self.trials.accuracy), cache(self._errors)

    def marker(self, m: int, mechanism: Any) -> Leak:
        """Return the strongest decoder's leak at the slider, or at the finished point nearest to it."""
        there = [] if self.live else self.curves(mechanism)["strongest"]
        if there:
            return min(there, key=lambda leak: abs(leak.m - m))
        return self.leak(m if self.live else 0, mechanism, "strongest")

    def _errors(self, m: int, mechanism: Any) -> ErrorQuantiles:
        """Return the error of an answer when m are asked."""
        from core.queries import answer_error
        from core.seeds import child_generator

        answered = self.trials.ask(m, mechanism, [0])
        people = self.trials.people[0]
        rng = child_generator(self.trials.asking.seed, "bias queries, error of answers")
        return answer_error(mechanism, answered.scores[0], people.sensitive, rng=rng, draws=400)

    @cached_property
    def _prior_given_sizes(self) -> Any:
        from core.queries import prior_given_sizes

        return prior_given_sizes(self.trials.prior, self.trials.n_advantaged)

    def limit(self, epsilon: float, *, sizes_known: bool) -> float:
        """Return the best balanced accuracy of any attacker with the prior, against answers that keep ε."""
        from core.queries import accuracy_limit_with_prior

        if sizes_known:
            return accuracy_limit_with_prior(self._prior_given_sizes, 2 * epsilon)
        return accuracy_limit_with_prior(self.trials.prior, epsilon)

    def background(self, mechanism: Any) -> Background:
        """Return the work that fills the curve."""
        key, total = fingerprint(self.key, repr(mechanism)), len(CURVES) * len(self.trials.numbers)

        def work(job: Job) -> list[Leak]:
            return job.collect(self._measured(mechanism, list(job.partial)))

        return Background("curves", self.store, key, work, lane="questions", total=total)

    def _measured(self, mechanism: Any, there: Sequence[Leak]) -> Iterator[Leak]:
        """Yield the leaks of a curve that are not there; those that take long are filed, and not measured again."""
        from core.sweep import environment

        known = {(leak.m, leak.decoder) for leak in there}
        for m, decoder in self.trials.curve(CURVES):
            if (m, decoder) in known:
                continue
            if self.live:
                yield self.trials.leak(m, mechanism, decoder)
                continue
            key = fingerprint(self.key, repr(mechanism), m, decoder, list(environment()))
            leak = self.filed.load(key, Leak)
            if leak is None:
                leak = self.trials.leak(m, mechanism, decoder)
                self.filed.save(key, leak)
            yield leak

    def curves(self, mechanism: Any) -> dict[str, list[Leak]]:
        """Return the leaks of the curve that are there, by decoder."""
        points = self.background(mechanism).partial
        return {decoder: [leak for leak in points if leak.decoder == decoder] for decoder in CURVES}


def query_trials(config: AuditConfig, dataset: AuditDataset, pool: QueryPool, asking: Asking) -> QueryTrials:
    """Return one way of asking these people; raises `InputError` if the pool cannot give such a sample."""
    store, key = cached.store_of(config.dataset), fingerprint("asked", dataset.fingerprint, config, asking)
    filed = cached.point_store(config.dataset, dataset)
    return store.remember(key, lambda: QueryTrials(pool, asking, store, key, filed))  # type: ignore[no-any-return]


def show(curves: Sequence[Background]) -> None:
    """Show how far the curves of a chart are, with a button that stops them, or that goes on with them."""
    busy = [curve.job for curve in curves if curve.job is not None and curve.job.busy]
    failed = [curve for curve in curves if curve.state == State.FAILED]
    if busy:
        done, total = (sum(values) for values in zip(*((job.done, job.total) for job in busy), strict=True))
        bar, button = st.columns([5, 1], vertical_alignment="center")
        bar.progress(done / total if total else 0.0, text=f"{done} of {total} points of the curves")
        halting = all(job.stopping for job in busy)
        button.button("Cancel", key="cancel_curves", width="stretch", disabled=halting, on_click=_stop)
    elif failed:
        panels.problem(failed[0].job.error if failed[0].job else "")
        if st.button("Try again", key="again_curves", icon=":material/refresh:"):
            for curve in failed:
                curve.start()
            st.rerun()
    elif any(curve.stopped for curve in curves) and st.button(
        "Stopped. Go on with the curves", key="start_curves", icon=":material/play_arrow:"
    ):
        st.session_state.pop("curves_stopped")
        st.rerun()


def _stop() -> None:
    """Stop the curves this session asks for."""
    wanted = st.session_state["curves_wanted"]
    st.session_state["curves_stopped"] = wanted
    for store, key in wanted:
        job = store.job(key)
        if job is not None:
            job.cancel()

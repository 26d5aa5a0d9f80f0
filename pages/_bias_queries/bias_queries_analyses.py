"""The controls of the bias queries, the audited model with the people who may be asked about, and more analyses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from core.base.errors import InputError
from core.base.serialize import fingerprint
from core.base.settings import params
from core.datasets.dataset import Table
from core.stats.estimates import Row
from core.studies import bias_queries as queries
from core.studies.bias_queries import NOISES, BiasQueriesSettings, QueryPool, error_text, query_pool
from core.studies.bias_queries.charts import draw_targeted
from core.studies.bias_queries.mechanisms import AdditiveNoise, Mechanism, NoisySums
from core.studies.bias_queries.study import STUDY
from core.studies.bias_queries.trials import Trials, question_numbers
from core.studies.correction import audit_key
from core.studies.subject import AuditConfig, Subject, subject_of
from pages._report import report_plan
from pages.shell import cached, panels, shell, state
from pages.shell.background import require_result
from pages.shell.controls import bound

EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0)

_PEOPLE = (20, 30, 50, 100, 150, 200, 300, 500, 1000, 2000)
_SETTINGS = params(BiasQueriesSettings)


def queried_subject(config: AuditConfig, table: Table) -> Subject:
    """Return the audited model; waits with a progress bar while it and the prior are trained."""
    dataset = cached.dataset_of(table, config.roles)
    store = cached.store_of(config.dataset)
    key = audit_key(config, dataset)
    audit = store.get(key)

    def make(_: Any) -> Subject:
        if audit is None:
            subject = subject_of(config, dataset)
        else:
            subject = audit.subject
        with suppress(InputError):  # which the page says
            query_pool(subject)
        return subject

    return require_result(  # type: ignore[no-any-return]
        store,
        fingerprint("bias queries", key),
        "Training the model and the prior",
        lambda job: job.in_subprocess(make, about=dataset),
    )


def planned_answers(config: AuditConfig, table: Table) -> BiasQueriesSettings:
    """Return the answers of the audit's plan, or those of the command where it plans none."""
    planned = report_plan.plan_of(config, table).bias_queries
    if planned.questions:
        return planned
    return BiasQueriesSettings(**STUDY.command_defaults)


def controls(pool: QueryPool, planned: BiasQueriesSettings) -> BiasQueriesSettings:
    """Choose the noise, its strength and the number of people; in a popover the queries and their repeats."""
    places = iter(st.columns([6, 6, 6, 4], gap="medium", vertical_alignment="bottom"))
    settings: dict[str, Any] = {}

    def draw(name: str, key: str, kind: Any = None, **options: Any) -> None:
        start = options.setdefault("value", getattr(planned, name))
        state.follow(key, start)
        if kind == "select_slider":
            options["options"] = sorted({*options["options"], start})
        settings[name] = bound(_SETTINGS[name], key, kind, **options)

    draw(
        "mechanism",
        "noise",
        container=next(places),
        help="None and Rounded have no privacy budget. Laplace: for the largest change one person could ever make. "
        "Cauchy and Smooth Laplace (Attribute-Conceal): for groups of about these sizes. Noisy sums: noise on the "
        "smaller group's sums, from which the gap is computed.",
    )
    slider: dict[str, Any] = {"kind": "select_slider", "container": next(places)}
    if settings["mechanism"] == "rounded":
        draw("decimals", "decimals", options=range(7), help=None, **slider)
    elif settings["mechanism"] != "exact":
        draw(
            "epsilon",
            "answer_epsilon",
            options=EPSILONS,
            help="Smaller is more private and less accurate. Smooth Laplace keeps it for ε below 1 only, and may fail "
            "with probability δ = 0.00001.",
            **slider,
        )
    sizes = [n for n in _PEOPLE if n <= pool.people.n] or [pool.people.n]
    value = min(planned.people, sizes[-1])
    draw(
        "people",
        "people_asked",
        "select_slider",
        container=next(places),
        options=sizes,
        value=value,
        help=None,
    )
    with next(places).popover(
        "Attack settings", icon=":material/tune:", width="stretch", key="query_settings"
    ):
        draw(
            "design",
            "question_design",
            help="Each query is a model: a score for each person. Random perturbations: the audited model's scores, "
            "moved by up to 0.1. Single-record flips: the audited model, with one score turned round. Binary packing: "
            "scores 1/2, 1/4, 1/8 and so on, which an exact answer reveals like binary digits. One person accepted at "
            "a time: a gap without its sign still splits the people in two (theorem 4).",
        )
        draw("repeats", "query_repeats")
    return replace(planned, **settings)


def answer_numbers(settings: BiasQueriesSettings, planned: BiasQueriesSettings) -> tuple[int, ...]:
    """Return the numbers of answers of the curves, that of the plan among them where it asks about the same people."""
    numbers = question_numbers(settings.people, settings.design)[1:]
    if (settings.people, settings.design) == (planned.people, planned.design):
        numbers = tuple(sorted({*numbers, planned.questions}))
    return numbers


def number_of_answers(numbers: tuple[int, ...], planned: BiasQueriesSettings) -> int:
    """Return the number of answers; the slider that sets it stands under its chart."""
    last = numbers[-1]
    return nearest(
        numbers,
        state.slider_position(f"answered_{last}", nearest(numbers, planned.questions), most=last),
    )


def nearest(numbers: Iterable[int], position: float) -> int:
    """Return the number that is nearest to a position."""
    return min(numbers, key=lambda m: abs(m - position))


def answers_slider(numbers: tuple[int, ...], planned: BiasQueriesSettings) -> None:
    """Draw the slider of the number of answers."""
    bound(
        _SETTINGS["questions"],
        f"answered_{numbers[-1]}",
        "select_slider",
        label="Answered queries m",
        options=numbers,
        value=nearest(numbers, planned.questions),
        help="With noise all answers share the budget ε: more answers, each noisier.",
    )


# More analyses --------------------------------------------------------------------------------------------------------

_NOISES = ("noisy_sums", "laplace", "smooth_laplace", "cauchy")


def draw_targeted_query(trials: Trials, settings: BiasQueriesSettings) -> None:
    """Draw the curves over epsilon of one query that is aimed at one person."""
    sizes = trials.n_advantaged, trials.n_disadvantaged
    epsilons = sorted(
        {*np.geomspace(EPSILONS[0], EPSILONS[-1], 60).tolist(), *EPSILONS, settings.epsilon}
    )
    curves = {}
    for noise in _NOISES:
        answers = [replace(settings, mechanism=noise, epsilon=e) for e in epsilons]
        rates = [
            float(queries.targeted_leakage(answer.answer_mechanism, *sizes)) for answer in answers
        ]
        curves[NOISES[noise]] = list(zip(epsilons, rates, strict=True))
    limits = {
        "Bound, sizes unknown": [(e, queries.accuracy_limit(e)) for e in epsilons],
        "Bound, sizes known": [(e, queries.accuracy_limit(e, with_sizes=True)) for e in epsilons],
    }
    epsilon = settings.epsilon
    accuracies = {name: dict(points)[epsilon] for name, points in curves.items()}
    worst = max(accuracies, key=lambda name: accuracies[name])
    drawn = panels.titled(
        f"One targeted query: {worst} allows {100 * accuracies[worst]:.1f}% balanced accuracy at ε = {epsilon:g}",
        "The whole budget on one answer about a model that accepts only them, no prior. Random guessing reaches 50%. "
        "The bounds are for noise that keeps its ε",
        draw_targeted(curves, limits, NOISES[settings.mechanism], epsilon),
        key="targeted_chart",
    )
    panels.numbers({"Targeted query": drawn.table}, key="targeted")


def draw_noise(trials: Trials, settings: BiasQueriesSettings, m: int) -> None:
    """Draw the table of scales for m answers, and the list of guarantees."""
    n1 = trials.n_advantaged
    n0 = trials.n_disadvantaged
    left, right = st.columns(2, gap="large")
    with left:
        shell.whisper(
            f"Noise for {m:,} answers at ε = {settings.epsilon:g}",
            f"Groups of {n1:,} and {n0:,}. The scale of Cauchy noise is also its median error. What is spent is what "
            "these people can lose at most (?: no bound); noise that spends less than ε is larger than ε asks for",
        )
        st.dataframe(panels.frame(_noise_rows(trials, settings, m)), hide_index=True)
        for noise in _NOISES:
            st.caption(f"**{NOISES[noise]}.** {shell.escape(_mechanism_with(settings, noise).why)}")
    with right:
        shell.whisper("What is guaranteed", "Largest balanced accuracy of any attacker")
        st.markdown(_guarantees(trials, settings))


def _mechanism_with(settings: BiasQueriesSettings, noise: str) -> Mechanism:
    """Return another kind of noise with the same settings."""
    return replace(settings, mechanism=noise).answer_mechanism


def _noise_rows(trials: Trials, settings: BiasQueriesSettings, m: int) -> Iterator[Row]:
    sizes = trials.n_advantaged, trials.n_disadvantaged
    for noise in _NOISES:
        answer_mechanism = _mechanism_with(settings, noise)
        if isinstance(answer_mechanism, NoisySums):
            answered = trials.ask(m, answer_mechanism, [0])
            count_scale, sum_scale = answer_mechanism.scales(answered.scores[0])
            scale = f"{error_text(sum_scale)} a sum, {error_text(count_scale)} the count"
        elif isinstance(answer_mechanism, AdditiveNoise):
            scale = error_text(answer_mechanism.scale(*sizes, m))
        spent = queries.largest_loss(answer_mechanism, *sizes, m)
        loss = "?" if spent is None else f"{spent:.2g}"
        yield {"noise": NOISES[noise], "scale": scale, "ε spent": loss}


def _guarantees(trials: Trials, settings: BiasQueriesSettings) -> str:
    mechanism = settings.answer_mechanism
    epsilon = settings.epsilon
    if not mechanism.noisy:
        return "Nothing: the answers carry no noise, so no privacy budget limits what they reveal."
    if trials.bound(mechanism) is None:
        return "Nothing at this ε: the theorem behind smooth Laplace noise is stated for ε below 1 only."
    if settings.mechanism == "smooth_laplace":
        delta = settings.delta
    else:
        delta = 0.0
    limits = (
        partial(queries.accuracy_limit, epsilon, delta=delta),
        partial(trials.limit, epsilon, delta=delta),
    )
    accuracies = [limit(with_sizes=True) for limit in limits]
    rows = [
        ("Knows the answers alone", limits[0](with_sizes=False), "e^ε/(1+e^ε)"),
        ("Has the prior", limits[1](with_sizes=False), "posterior odds move by at most e^ε"),
        ("Knows the group sizes", accuracies[0], "e^2ε/(1+e^2ε): people are linked"),
        ("Has the prior, knows the sizes", accuracies[1], "posterior odds move by at most e^2ε"),
    ]
    lines = [f"| {who} | **{100 * rate:.1f}%** | {why} |" for who, rate, why in rows]
    fails = f"Smooth Laplace noise may fail with probability δ = {delta:g}, with which each bound is larger."
    also = f"\n\n{fails}" if delta else ""
    return "\n".join(["| An attacker who … | at most | because |", "|:--|--:|:--|", *lines]) + also

"""A small, likely table to upload, with names and cells that must be shown as they are and never obeyed."""

import numpy as np

HOSTILE_NAME = "<script>alert(1)</script>"
STYLED_NAME = "*a*_b_"
HOSTILE_CELL = "<img src=x onerror=alert(2)> [k](javascript:alert(3)) **F** :red[x]"


def people(count=900, *, seed=5, woman="F", man="M"):
    """Return a CSV of so many people: who was hired, with two columns that depend on the sex, a woman's or a man's."""
    rng = np.random.default_rng(seed)
    female = rng.random(count) < 0.45
    hours = np.where(female, rng.normal(33, 6, count), rng.normal(39, 5, count)).round().astype(int)
    age = rng.integers(20, 61, count)
    styles = np.where(rng.random(count) < np.where(female, 0.7, 0.3), "*clerk*_x_", "|driver| $5$ `7`")
    hired = rng.random(count) < 0.25 + 0.4 * ~female + 0.01 * (hours - 36)
    columns = zip(age, hours, styles, np.where(female, woman, man), np.where(hired, "yes", "no"), strict=True)
    rows = [f'{years},{hour},"{style}","{sex}",{answer}' for years, hour, style, sex, answer in columns]
    return "\n".join([f"age,{HOSTILE_NAME},{STYLED_NAME},sex,hired", *rows, ""]).encode()


def predicted(table, *, seed=7):
    """Return a table of `people` with the labels and scores of a model that is right for two in three."""
    header, *rows = table.decode().splitlines()
    rng = np.random.default_rng(seed)
    yes = np.array([row.endswith("yes") for row in rows]) ^ (rng.random(len(rows)) < 1 / 3)
    score = (np.where(yes, 0.5, 0.0) + rng.random(len(rows)) / 2).round(2).clip(0, 0.99)
    answers = zip(rows, np.where(yes, "yes", "no"), score, strict=True)
    lines = [f"{row},{answer},{at:g}" for row, answer, at in answers]
    return "\n".join([f"{header},predicted,score", *lines, ""]).encode()

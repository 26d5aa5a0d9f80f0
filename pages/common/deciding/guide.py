"""How the verdict is reached."""

from __future__ import annotations

__all__ = ["GUIDE"]

GUIDE = (
    "**The scale.** Every bar runs from 0 to twice the limit, the limit in the middle; green is allowed. The dot is "
    "the measured number, the thick line the interval it is judged by; ▸ means that it goes on beyond the bar. Open "
    "a row to read what was attacked, what the attacker knows, and against which control.\n\n"
    "**Pass and fail** are said only where the whole interval is on one side of the limit. All limits are decided "
    "together (Holm's correction), so that the chance that any number exactly at its limit is called kept or broken "
    "is at most what the confidence leaves, 5% as a rule. The interval judged by is therefore wider than the 95% one "
    "written below the bar.\n\n"
    "**Inconclusive** means that the interval holds the limit: more people would tell. **Not run** means that there is "
    "no number, with the reason; an attack that broke is not run either. Both block a release that requires the check. "
    "A check that is not required is shown and never blocks.\n\n"
    "**Measured, declared, combined.** A measured number comes from an attack that was run, or from counting. A "
    "declared one follows from what is planned, such as a privacy budget, and nothing was attacked. A combined one "
    "rests on both.\n\n"
    "**Limits** are the policy's. But for the four-fifths rule, FairLeak's own are starting points with no standard "
    "behind them, and are marked so; replace them by yours. A limit changed here is judged by at once, without "
    "attacking again, and says that it was changed until you say who set it and why.\n\n"
    "**What it does not say.** A pass holds for these attacks on this model and this table. It is no statement about "
    "attacks nobody has tried. `python -m core audit plan.toml` repeats the audit on the command line, with the plan "
    "and the policy downloaded here beside your table; `verify` and `replay` check a report later."
)

"""The words of a report, explained for those who decide."""

from __future__ import annotations

GLOSSARY = (
    (
        "Pass, fail, inconclusive",
        "Pass: the whole interval lies on the allowed side of the limit. Fail: it lies on the other side. "
        "Inconclusive: it holds the limit, so these people cannot tell. Inconclusive blocks a release like a fail.",
    ),
    (
        "Not run, not asked",
        "Not run: the policy asks for the check and there is no number, with the reason; this blocks. Not asked: the "
        "policy sets no limit; this never blocks.",
    ),
    (
        "Measured, combined, declared",
        "Measured: counted or attacked on this model and these people. Declared: computed from settings somebody "
        "promises to keep. Combined: a measurement that also rests on such a promise.",
    ),
    (
        "Interval",
        "Where the number would lie for other people like these, in 95 of 100 audits. The band the verdict is reached "
        "on is wider where several limits are judged at once.",
    ),
    (
        "Holm's correction",
        "With many limits, one is easily called kept or broken by luck. The correction asks for more evidence: the "
        "chance that any number exactly at its limit is called kept or broken is at most what the policy allows (Holm "
        "1979). That the side called is right is proved besides where the numbers are independent, not for numbers "
        "about the same people.",
    ),
    (
        "Control",
        "What is reached without the model, the promise or the answers. Only what lies beyond it is a leak of theirs.",
    ),
    (
        "Points",
        "Hundredths: from 75.9% to 82.9% are 7 points.",
    ),
    (
        "Balanced accuracy",
        "The average, over the groups, of the share of a group that is named rightly. Naming the larger group for "
        "everybody gets 50% of two groups.",
    ),
    (
        "Statistical parity, predictive equality, equal opportunity, equalized odds",
        "Every group is accepted equally often: among all, among those with a negative label, among those with a "
        "positive label, among both.",
    ),
    (
        "Unfairness",
        "The largest deviation of a group's rate of acceptance from the overall rate.",
    ),
    (
        "Difference between groups",
        "The highest rate of acceptance of a group minus the lowest: Fairlearn's demographic parity difference. It is "
        "at least as large as the unfairness.",
    ),
    (
        "Tolerance, fairness promise",
        "How much unfairness the model is allowed. Told to others, it helps to guess who is in which group.",
    ),
    (
        "Prior",
        "What an attacker makes of features and label alone.",
    ),
    (
        "Members, false alarms",
        "Members are people the model was trained on. A false alarm names somebody as a member who is none.",
    ),
    (
        "LiRA",
        "An attack that compares the model with others trained with and without a person (Carlini et al. 2022).",
    ),
    (
        "ε (epsilon)",
        "A privacy budget: the odds of any guess about a person change by a factor of at most e to the power of ε.",
    ),
    (
        "AttriGuard",
        "Noise added to a person's record so that attackers guess an attribute wrongly (Jia and Gong 2018).",
    ),
)
"""Term and explanation, in the order they are met."""

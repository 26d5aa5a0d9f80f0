"""The glossary: every technical term with its meaning; page, report and documentation read it from here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

GLOSSARY: Mapping[str, Mapping[str, str]] = {
    "Attacks on attributes": {
        "Attacker": "A party that uses published information to learn something about individuals.",
        "Sensitive attribute": "The column to protect. Fairlearn says sensitive feature, Hamman et al. protected "
        "attribute, Jia and Gong private attribute.",
        "Attribute inference": "Predicting a person's sensitive attribute from other information. For the whole "
        "training set it is also called reconstruction.",
        "Accuracy": "Of an attack: share of people whose attribute is inferred correctly. Of a model: share of people "
        "whose label it predicts correctly.",
        "Balanced accuracy": "Mean of the accuracies in each group. Random guessing between two groups reaches 50%.",
        "Baseline": "What anyone gets without any information: always guess the largest group.",
        "Imputation baseline": "Inference from the other columns alone, without the model (Jayaraman and Evans 2022). "
        "What it reaches is no leak of the model.",
        "Control": "The same attack without the leak: on shuffled predictions, on non-members, or after random "
        "deletion. What it reaches is no leak of the model.",
        "Permutation control": "The same attack on shuffled predictions. What it gains does not come from the model.",
        "Prior": "The probability the attacker gives to a person's attribute before anything is published.",
        "Near-certain inference": "A disclosed attribute: the probability of a group was 5% to 95% before publication, "
        "and is above 99.5% or below 0.5% after it.",
        "Information gain (bits)": "By how many bits the published numbers shorten a description of everybody's "
        "attribute.",
        "Leakage estimate": "Expected information gain, computed without the true attribute.",
        "Log-loss": "Mean of −log₂ of the probability that was given to the true group, in bits. Lower is better for "
        "the attacker.",
        "Entropy": "Uncertainty in bits: 1 for a person with probability 50%, 0 for a certain one.",
        "Information projection": "The probabilities closest to the prior that agree with all published numbers.",
        "Model card": "The published fairness numbers of one or more models.",
    },
    "Fairness": {
        "Selection rate (PPR)": "Share of a group that is predicted positive: its positive prediction rate.",
        "Fairness constraint": "A fairness metric and a tolerance that the model should satisfy. It is disclosed when "
        "the attacker knows it.",
        "Disclosed, target and achieved": "The disclosed tolerance is published. The target tolerance is what training "
        "aims at. The achieved unfairness is what the model has.",
        "Satisfied, violated": "A constraint is satisfied if the achieved unfairness is at most the tolerance.",
        "Unfairness": "Largest deviation of a group's rate from the overall rate. For two groups it is smaller than "
        "the difference between them.",
        "Difference between groups": "Highest rate of a group minus the lowest: Fairlearn's demographic parity "
        "difference and its kin.",
        "Gap": "Rate of one group minus the rate of the others, with its sign.",
        "Statistical parity": "Equal selection rates; also called demographic parity.",
        "Predictive equality": "Equal selection rates among people with a negative label (false-positive-rate parity).",
        "Equal opportunity": "Equal selection rates among people with a positive label (true-positive-rate parity).",
        "Equalized odds": "Predictive equality and equal opportunity together.",
        "Selection-rate ratio": "Lowest selection rate of a group divided by the highest. The four-fifths rule asks "
        "for 0.8 (29 CFR 1607).",
        "Exponentiated gradient": "Training that weighs records again in rounds until the constraint holds. It draws "
        "one of its models for each prediction (Agarwal et al. 2018).",
        "Threshold optimizer": "A threshold on the scores of a trained model for each group (Hardt et al. 2016).",
        "Correlation remover": "Features are made uncorrelated with the sensitive attribute before training.",
        "Group proportions": "Share of each group among the people attacked.",
        "Reconstruction correction": "The smallest weighted change of the attacker's guesses that satisfies the "
        "disclosed constraint (Ferry et al. 2023, model RC_e). The page Correction is about it.",
        "Certificate": "The solver's record of a correction: its cost, and a bound that no correction can undercut. "
        "Where both are equal it is optimal.",
        "Published attack": "On the page Correction, the random forest of Ferry et al. (2023). The membership attack "
        "of Zhang et al. (2020) is called by their name.",
        "Correction cost": "Weight of changing one guess: a power of the attacker's confidence, its log-odds, or 1.",
    },
    "Queries and privacy": {
        "Bias query": "A question about a model's fairness gap on somebody's test set (Hamman et al. 2023).",
        "Leakage": "Balanced accuracy of the reconstruction (Hamman et al. 2023, definition 5.1).",
        "Targeted query": "A query built to isolate one person's contribution.",
        "Decoder": "A method that infers people's attributes from the answers to bias queries.",
        "ℓ1 decoder": "The decoder of Hamman et al. (2023): the solution with the smallest sum of absolute values.",
        "Theoretical bound": "Best accuracy that any attacker can expect under ε and the given prior.",
        "ε, privacy budget": "One person's data changes the probability of any output by a factor of at most e^ε.",
        "Promised, spent, measured ε": "What is declared; what a ledger or proof says; the least an audit shows.",
        "Canary": "A record that is put into a table or not, at random, to see whether a model reveals which.",
        "Post-processing (no charge)": "Computed from answers that are already paid for. It reveals nothing further.",
        "New noisy answer": "It costs budget again, with new noise; a repeated query gets the most precise answer.",
        "Total privacy budget": "Sum of ε for one test set and attribute. It cannot be increased.",
        "DP training noise": "Random noise in the training of a differentially private (DP) model.",
        "DP-ID3": "A decision tree built from noisy counts, within a privacy budget ε.",
        "Laplace noise, Cauchy noise, smooth Laplace noise": "Random numbers added to each answer. Laplace noise is as "
        "large as any data need; the two others fit the groups' sizes (Hamman et al. 2023).",
        "Noisy sums": "Laplace noise on a group's size and its sums of scores, from which the answers are computed.",
        "Answer noise": "Random noise on the answers to bias queries.",
        "AttriGuard perturbation": "Changes to a person's public record that mislead a classifier (Jia and Gong 2018).",
        "Noise budget β": "Largest mean number of entries changed for each person; the paper's utility-loss budget.",
        "Surrogate classifier": "The classifier against which the defender optimises the perturbation.",
        "Target distribution": "The predictions that the defender wants attackers to make.",
        "Adaptive attacker": "An attacker who allows for the perturbation, for example by training on protected "
        "records. The opposite is defense-unaware.",
    },
    "Membership": {
        "Members, non-members": "Records in the training set, and records that are not.",
        "TPR, FPR": "True-positive and false-positive rate: share of members, and of non-members, that an attack "
        "classifies as members.",
        "TPR at 1% FPR": "Share of members identified while 1% of non-members are misclassified as members "
        "(Carlini et al. 2022).",
        "AUC": "Area under the ROC curve: 0.5 is random guessing, 1 is a perfect attack.",
        "Membership advantage": "TPR minus FPR (Yeom et al. 2018). Its difference between groups is the disparate "
        "vulnerability (Kulynych et al. 2022).",
        "Vulnerability disparity (VD)": "Difference of TPR between groups (Zhang et al. 2020). It ignores false "
        "positives.",
        "FairPick (θ)": "Deletes training records until the groups are alike; θ is the share of each difference that "
        "stays.",
        "Shadow model": "A model the attacker trains in the same way, with known training records.",
    },
    "Verdict": {
        "Limit": "Largest or smallest value that the policy accepts.",
        "Placeholder": "A limit that FairLeak starts with. Nobody in your organisation has set it yet.",
        "Pass, fail, inconclusive": "Pass: the whole interval is on the allowed side of the limit. Fail: it is on the "
        "other side. Inconclusive: the interval contains the limit, an estimate has no interval, or the self-test "
        "failed. If the check is required, it blocks a release as a fail does.",
        "Not run, not covered": "Not run: the policy limits the check and there is no number; the reason is given. "
        "If the check is required, this blocks, unless it could not be run and its limit allows that. Not covered: "
        "the policy sets no limit; this never blocks.",
        "Measured, combined, declared": "Measured: an attack was run on this model and these people, or its answers "
        "about them were counted. Declared: calculated from stated settings, no attack was run. Combined: a "
        "measurement that also assumes such settings.",
        "95% CI": "95% confidence interval: range for other people like these, with the same model and seed unless "
        "stated. A verdict can use a wider one, as all limits are judged together.",
        "Statistically significant": "The 95% CI leaves out the value without an effect.",
        "Holm's correction": "All limits are tested together. The chance of any wrong pass or fail is at most what the "
        "policy allows, for values exactly at their limit (Holm 1979). That the side itself is right holds for "
        "independent numbers; it is not proved for numbers about the same people.",
        "Worst leak": "The largest gain of an attack over chance, relative to its limit: 1 is the limit.",
        "Half that chooses, half that judges": "Two halves of the people. One chooses a model among many, the other "
        "judges the chosen one, so that its numbers are not those of the luckiest.",
        "Percentage points": "From 75.9% to 82.9% is +7.0 points.",
        "Self-test": "Runs each attack on models with no leak and on models with a planted leak.",
        "Internal report, public summary": "The internal report holds every number. The public summary holds settings, "
        "limits, verdict words, kinds of caveats and the number of records: no number measured on people.",
        "Audit settings": "Dataset, attribute, metric, tolerance, method, training share and seed.",
    },
}
"""Chapter -> term -> its meaning."""


def terms_in(text: str, attacks: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return those terms that stand in a text, by chapter; of "TPR, FPR" each name counts by itself."""
    lowered = text.lower()
    used: dict[str, dict[str, str]] = {}
    for chapter, terms in chapters(attacks).items():
        for term, meaning in terms.items():
            names = re.split(r", | \(", term.rstrip(")").lower())
            if any(name in lowered for name in names):
                used.setdefault(chapter, {})[term] = meaning
    return used


def chapters(attacks: Mapping[str, Any]) -> dict[str, Mapping[str, str]]:
    """Return the whole glossary: the terms of this file, and the membership attacks, which describe themselves."""
    return {
        **GLOSSARY,
        "Membership attacks": {attack.title: attack.described for attack in attacks.values()},
    }

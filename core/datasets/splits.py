"""Four disjoint sets: trained on, known to the attacker (two), only tested; equal records.

A record of the test set that also stands in the training set is not unseen: accuracy on it says how well it is
remembered, and an attacker who holds an equal record knows the answer. Equal records may be the same person entered
twice, or two people who are alike in every column; the table cannot say which.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..base.caveats import Caveat, CaveatKind
from ..base.errors import InputError
from ..base.validation import child_generator, seed_value
from .columns import bare_name, parse_bool, quoted
from .dataset import AuditDataset

SETS = ("train", "attack", "test")
"""The sets a record can be in; out of the attack records some are set aside for validation."""

_VALIDATION_NAMES = (
    *("validation", "validate", "valid", "val", "dev", "validation set"),
    *("validierung", "validierungsmenge"),
)
"""Names of attack records that mean test records where nothing else does: a table of train and val."""

SET_NAMES = {
    "train": (
        *(
            "train",
            "training",
            "trn",
            "learn",
            "learning",
            "fit",
            "fitting",
            "development",
            "estimation",
            "build",
        ),
        *("in sample", "in-sample", "insample", "member", "members", "training set", "train set"),
        *("trainingsmenge", "trainingsdaten", "lernmenge", "lernen", "mitglied"),
        *("apprentissage", "entraînement", "entrainement", "membre"),
    ),
    "attack": (
        *("attack", "attacker", "shadow", "auxiliary", "attaque"),
        *_VALIDATION_NAMES,
    ),
    "test": (
        *("test", "testing", "tst", "test set", "eval", "evaluation", "unseen"),
        *(
            "holdout",
            "hold-out",
            "hold out",
            "held out",
            "held-out",
            "oot",
            "out of time",
            "out-of-time",
        ),
        *("oos", "out of sample", "out-of-sample"),
        *(
            "nonmember",
            "nonmembers",
            "non-member",
            "non-members",
            "non member",
            "not member",
            "not a member",
        ),
        *("testmenge", "testdaten", "prüfung", "nichtmitglied", "kein mitglied"),
        *("non membre", "non-membre", "hors échantillon", "hors echantillon"),
    ),
}
"""Set -> what it may be called, in any case."""

TRAINED_ON = (
    *(
        "in training",
        "in train",
        "is train",
        "is training",
        "train",
        "training",
        "trained",
        "trained on",
    ),
    *(
        "training set",
        "used in training",
        "member",
        "is member",
        "membership",
        "in sample",
        "is in sample",
    ),
    *(
        "in train set",
        "in training set",
        "in training data",
        "train flag",
        "is train row",
        "used for fit",
        "used for training",
        "im training",
        "trainingsset",
        "trainiert",
        "mitglied",
        "membre",
    ),
)
"""Bare names of columns that say with a yes or no who was in training."""

TESTED_ON = (
    "is test",
    "in test",
    "in test set",
    "test set",
    "holdout",
    "is holdout",
    "held out",
    "is held out",
    "test flag",
    "is test row",
    "oos",
    "is oos",
    "oot",
    "is oot",
)
"""Bare names of columns that say with a yes or no who was not in training."""

_TRAINED_TERMS = {"train", "trained", "trainiert"}
"""Words of a name by which a yes may say who was in training: "used_to_train"; or who was taught something."""

_LETTERS = ("t", "f", "y", "n")
_IN_OR_OUT = {"in": True, "out": False}


def named_set(value: str, column: str = "") -> str:
    """Return which of `SETS` a cell means; empty if none.

    A yes or no counts in a column called as in `TRAINED_ON` or `TESTED_ON`, or with "train" or "trained" in its name.
    """
    word = " ".join(value.split()).casefold()
    name = next((name for name, names in SET_NAMES.items() if word in names), "")
    if name:
        return name
    says_yes = _IN_OR_OUT.get(word, parse_bool(word, _LETTERS))
    if says_yes is None:
        return ""
    column_name = bare_name(column)
    if column_name in TESTED_ON:
        says_yes = not says_yes
    elif column_name not in TRAINED_ON and _TRAINED_TERMS.isdisjoint(column_name.split()):
        return ""
    if says_yes:
        return "train"
    return "test"


def named_sets(values: Iterable[str], column: str = "", training_value: str = "") -> dict[str, str]:
    """Return which of `SETS` each value of a column means; empty for one that means none.

    With a `training_value` that one means train and any other test, whatever they are called. Where no value means
    test, those of validation do: a table with train and val means that the others were unseen.
    """
    if training_value:
        return {value: "train" if value == training_value else "test" for value in values}
    sets = {value: named_set(value, column) for value in values}
    if "test" in sets.values():
        return sets
    for value in sets:
        if " ".join(value.split()).casefold() in _VALIDATION_NAMES:
            sets[value] = "test"
    return sets


def persons_in_several_sets(persons: npt.NDArray[np.integer], sets: npt.NDArray[np.integer]) -> int:
    """Return how many people have records in more than one set; both are codes from 0, of shape (n,)."""
    pairs = np.unique(np.column_stack([persons, sets]), axis=0)
    return int((np.bincount(pairs[:, 0]) > 1).sum())


def one_row_a_person(
    persons: npt.NDArray[np.integer], ranks: npt.NDArray[np.integer] | None
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return one record of each person, drawn at random, and how many records each has.

    A record of a lower rank goes before others. The records drawn are the same for every seed of an audit, so that two
    seeds speak of the same records.

    Parameters
    ----------
    persons : ndarray of int, shape (n,)
        Codes; a record of -1 is a person by itself.
    ranks : ndarray of int, shape (n,), or None
        Of the records' sets, the training records' lowest.
    """
    persons = persons.copy()
    unnamed = persons < 0
    persons[unnamed] = persons.max(initial=-1) + 1 + np.arange(int(unnamed.sum()))
    order = child_generator(0, "one row a person").permutation(persons.size)
    if ranks is not None:
        order = order[np.argsort(ranks[order], kind="stable")]
    _, first, records = np.unique(persons[order], return_index=True, return_counts=True)
    return order[first], records


MAX_ATTACKER_SAMPLE = 100_000
"""Most people an attacker learns from; of more they take a seeded sample."""

_VALIDATION_SHARE = 0.3
_FEWEST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Splits:
    """Row numbers of the four sets, disjoint and together everybody.

    Attributes
    ----------
    train : ndarray of int
        Records the audited model is trained on, and whose attribute is attacked.
    attack : ndarray of int
        Records whose sensitive attribute the attacker knows, to learn from.
    validation : ndarray of int
        The attacker's own held-out records: confidence exponent, calibration.
    test : ndarray of int
        Records nobody is trained on; the published protocol tunes the attacker on them.
    """

    train: npt.NDArray[np.intp]
    attack: npt.NDArray[np.intp]
    validation: npt.NDArray[np.intp]
    test: npt.NDArray[np.intp]

    @property
    def attacker_rows(self) -> npt.NDArray[np.intp]:
        """Everybody whose attribute the attacker knows: attack and validation records."""
        return np.concatenate([self.attack, self.validation])

    def part(self, rows: npt.NDArray[np.bool_]) -> Splits:
        """Return the sets without the records that are not in `rows`, of shape (n,)."""
        return Splits(
            train=self.train[rows[self.train]],
            attack=self.attack[rows[self.attack]],
            validation=self.validation[rows[self.validation]],
            test=self.test[rows[self.test]],
        )


def split(dataset: AuditDataset, *, train_share: float = 0.34, seed: int = 0) -> Splits:
    """Return the four sets of the people with an answer of the model; see `split_everybody`."""
    everybody = split_everybody(dataset, train_share=train_share, seed=seed)
    if dataset.answered is None:
        return everybody
    answered = everybody.part(dataset.answered)
    _check_sides(answered, dataset)
    return answered


def split_everybody(dataset: AuditDataset, *, train_share: float = 0.34, seed: int = 0) -> Splits:
    """Return the four sets: those the table names, else drawn, `train_share` for training, the rest halved.

    Rows come in random order: where guesses cost the same to correct, the order decides which of them are changed.
    Train, attacker's and test records are those of the experiments of Ferry et al. (2023) for share 0.34; out of
    the attacker's records 30% are set aside for validation. A table that names train and test records alone gives
    half of the test records, drawn with the seed, to the attacker; the training share is not used then.

    Raises
    ------
    InputError
        If the share lies outside [0.1, 0.8] or a set is left with fewer than three records of a group or label.
    """
    from sklearn.model_selection import train_test_split

    if not 0.1 <= train_share <= 0.8:
        raise InputError(f"The training share must be in [0.1, 0.8], got {train_share!r}.")
    seed = seed_value(seed)
    if dataset.sets is None:
        everybody = np.arange(dataset.n)
        train, rest = train_test_split(everybody, test_size=1 - train_share, random_state=seed)
        attacker_rows, test = train_test_split(rest, test_size=0.5, random_state=seed)
    else:
        train, attacker_rows, test = sets = [np.flatnonzero(dataset.sets == name) for name in SETS]
        halved = not attacker_rows.size
        _check_sizes([rows.size for rows in sets], dataset, halved=halved)
        if halved:
            attacker_rows, test = train_test_split(test, test_size=0.5, random_state=seed)
        rng = child_generator(
            seed, "order of the named sets"
        )  # a table may be sorted by what is attacked
        train = rng.permutation(train)
        test = rng.permutation(test)
    attack, validation = train_test_split(
        attacker_rows, test_size=_VALIDATION_SHARE, random_state=seed
    )
    splits = Splits(train=train, attack=attack, validation=validation, test=test)
    _check_sides(splits, dataset)
    return splits


def known_shares(dataset: AuditDataset, splits: Splits) -> tuple[float, ...]:
    """Return the shares of the groups among the records whose attribute the attacker knows."""
    counts = np.bincount(dataset.sensitive[splits.attacker_rows], minlength=dataset.n_groups)
    return tuple((counts / counts.sum()).tolist())


def attacker_sample(
    rows: npt.NDArray[np.intp], seed: int, *, most: int = MAX_ATTACKER_SAMPLE
) -> npt.NDArray[np.intp]:
    """Return the people an attacker learns from: all they know, or a seeded sample of so many."""
    if rows.size <= most:
        return rows
    return np.sort(child_generator(seed, "people taught").choice(rows, most, replace=False))


def _check_sizes(sizes: Sequence[int], dataset: AuditDataset, *, halved: bool) -> None:
    """Refuse named sets too small to be cut any further; without attack records the test records are halved before."""
    for name, size in zip(SETS, sizes, strict=True):
        least = 2 * _FEWEST * (1 + (halved and name == "test"))
        if size < least and not (halved and name == "attack"):
            half = ", half of them the attacker's," * (least > 2 * _FEWEST)
            raise InputError(
                f"The {name} records{half} that {quoted(dataset.roles.sets)} names must be at least {least} records, "
                f"got {size}."
            )


def _check_sides(splits: Splits, dataset: AuditDataset) -> None:
    if dataset.sets is not None:
        drawn = "with these sets and this seed"
    else:
        drawn = "with this split and seed"
    for name in ("train", "attack", "validation", "test"):
        rows = getattr(splits, name)
        for side, names, side_name in (
            (dataset.sensitive, dataset.group_names, "group"),
            (dataset.labels, dataset.label_names, "label"),
        ):
            counts = np.bincount(side[rows], minlength=len(names))
            if counts.min() < _FEWEST:
                raise InputError(
                    f"The {name} records must hold at least {_FEWEST} people of each {side_name}; {drawn} "
                    f"{side_name} {names[int(counts.argmin())]} has {int(counts.min())}."
                )


def kinds_of_records(
    features: npt.NDArray[np.float64],
    labels: npt.NDArray[np.uint8],
    sensitive: npt.NDArray[np.uint8],
) -> npt.NDArray[np.intp]:
    """Return a number for each record that equal records, and only they, have in common, of shape (n,)."""
    import pandas as pd

    kinds = labels.astype(np.intp) * (int(sensitive.max(initial=0)) + 1) + sensitive
    for column in features.T:
        codes, levels = pd.factorize(column + 0.0)  # -0 is 0
        kinds = pd.factorize(kinds * len(levels) + codes)[0]
    return np.asarray(kinds, dtype=np.intp)


def repeated_records(kinds: npt.NDArray[np.intp]) -> Caveat | None:
    """Caveat on the records that stand twice or more; None if none does."""
    sizes = np.bincount(kinds)
    repeated = int(sizes[sizes > 1].sum())
    if not repeated:
        return None
    text = (
        f"{repeated:,} of {kinds.size:,} records are equal to another one in every column used "
        f"({int((sizes > 1).sum()):,} different ones), so that some may be both trained on and tested."
    )
    return Caveat(CaveatKind.RECORDS_REPEATED, text, count=repeated, total=kinds.size)


def shared_records(dataset: AuditDataset, splits: Splits) -> dict[str, int]:
    """Return how many attack, validation and test records equal a training record in every column used, by set."""
    kinds = kinds_of_records(dataset.features, dataset.labels, dataset.sensitive)
    trained = np.zeros(kinds.max(initial=0) + 1, dtype=bool)
    trained[kinds[splits.train]] = True
    return {
        name: int(trained[kinds[getattr(splits, name)]].sum())
        for name in ("attack", "validation", "test")
    }


def sharing(dataset: AuditDataset, splits: Splits) -> Caveat | None:
    """Caveat on the test and attack records that equal a training record; None if none does."""
    shared = shared_records(dataset, splits)
    n_shared = shared["attack"] + shared["validation"]
    if not (n_shared or shared["test"]):
        return None
    text = (
        f"{shared['test']:,} of {splits.test.size:,} test records and {n_shared:,} of {splits.attacker_rows.size:,} "
        "records "
        "the attacker knows equal a training record in every column used."
    )
    total = int(splits.test.size + splits.attacker_rows.size)
    return Caveat(CaveatKind.RECORDS_SHARED, text, count=shared["test"] + n_shared, total=total)

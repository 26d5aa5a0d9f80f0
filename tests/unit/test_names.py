"""Names that the code gives: nouns of the field, and one meaning for each class."""

from collections import defaultdict

from tests import house

ALLOWED = {
    ("core/auditing/result.py", "told"): "key of a report's self-tests",
    ("core/datasets/roles.py", "each"): "key of a plan's table of data",
}
"""File and private name -> the reason why it stays."""


def test_no_name_ends_in_a_private_word():
    private = {
        (path.relative_to(house.ROOT).as_posix(), name)
        for path in [*house.sources().values(), *(house.ROOT / "tests").rglob("*.py")]
        for name in house.declared_names(path)
        if house.last_word(name) in house.PRIVATE_VOCABULARY
    }
    assert private == set(ALLOWED)


def test_no_two_classes_share_a_name():
    homes = defaultdict(set)
    for path in house.sources().values():
        for name in house.class_names(path):
            homes[name.lstrip("_")].add(path.relative_to(house.ROOT).as_posix())
    assert {name: sorted(paths) for name, paths in homes.items() if len(paths) > 1} == {}

"""Ratings: the published files, uploads, what is refused and with which words, and the invented ones."""

import numpy as np
import pytest
from scipy import sparse

from core.base.errors import DataUnavailableError, InputError
from core.datasets import demo_ratings, ratings_from_csv, read_ratings
from core.datasets import ratings as ratings_module
from core.datasets.ratings import build_ratings

FILES = {
    "train_user.txt": b"0:1.0 3:0.8\n\n1:0.2\n2:1.0 0:0.6\n",
    "train_label.txt": b"7\n0\n10\n0\n",
    "test_user.txt": b"4:0.4\n\n",
    "test_label.txt": b"10\n7\n",
}
TABLE = "person;item;rating;attribute\n" + "".join(
    f"u{i};i{i % 7};{1 + i % 5};{'ab'[i % 2]}\nu{i};i9;5;{'ab'[i % 2]}\n" for i in range(40)
)


def written(folder, **changed):
    for name, content in (FILES | {f"{key}.txt": value for key, value in changed.items()}).items():
        (folder / name).write_bytes(content)
    return folder


def test_the_four_files(tmp_path):
    ratings = read_ratings(written(tmp_path))
    assert ratings.people_train.toarray().tolist() == [[1, 0, 0, 0.8, 0], [0] * 5, [0, 0.2, 0, 0, 0], [0.6, 0, 1, 0, 0]]
    assert ratings.people_test.toarray().tolist() == [[0, 0, 0, 0, 0.4], [0] * 5]
    assert ratings.values == ("city 0", "city 7", "city 10")
    assert (ratings.values_train.tolist(), ratings.values_test.tolist()) == ([1, 0, 2, 0], [2, 1])
    assert ratings.shares.tolist() == [0.5, 0.25, 0.25]
    (tmp_path / "test_label.txt").unlink()
    with pytest.raises(DataUnavailableError, match=r"test_label\.txt cannot be read"):
        read_ratings(tmp_path)


AS_PUBLISHED = "must be as they were published"
BAD = [
    ({"train_label": b"0\n1\n"}, rf"train_user.txt and its labels {AS_PUBLISHED}"),
    ({"test_label": b"10\n8\n"}, r"Every value of 'city' must occur among the people who publish it, got '8'"),
    ({"train_label": b"0\n0\n0\n0\n"}, r"'city' must have 2 to 30 values .*, got 1\."),
    ({"test_user": b"4:0.4\n100000:1\n"}, AS_PUBLISHED),
    ({"train_user": b"0:1\n\n-1:1\n2:1\n"}, AS_PUBLISHED),
    ({"test_user": b"4:1.2\n\n"}, AS_PUBLISHED),
    ({"test_user": b"4 1\n\n"}, AS_PUBLISHED),
    ({"test_user": b"4:0.4 5:1 4:0.2\n\n"}, AS_PUBLISHED),
    ({"train_user": b"0:1\n\n0:0.5\n0:1\n", "test_user": b"0:1\n\n"}, r"must be of at least 2 items, got 1\."),
    ({"train_user": b"0:0\n\n1:0\n2:0\n"}, r"who publish the attribute must have a rating above 0, got none\."),
    ({"train_user": b"\xff\xfe\x00"}, AS_PUBLISHED),
]


@pytest.mark.parametrize("changed, message", BAD, ids=[next(iter(c)) + str(i) for i, (c, _) in enumerate(BAD)])
def test_a_bad_file_is_one_sentence(changed, message, tmp_path):
    with pytest.raises(InputError, match=message):
        read_ratings(written(tmp_path, **changed))


def test_published_files_and_a_table_are_read_in_a_child_process(own_process, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(ratings_module, "lines_of", None)  # here it is not called
        assert read_ratings(written(tmp_path)).people_train.shape == (4, 5)
    first, second = (ratings_from_csv(TABLE.encode(), name) for name in ("mine.csv", "MINE.CSV"))
    assert first.fingerprint == second.fingerprint


def test_a_table_of_ratings():
    ratings = ratings_from_csv(TABLE.encode(), "mine.csv", seed=1)
    assert ratings.people_train.shape == (30, 8) and ratings.people_test.shape == (10, 8)
    assert ratings.values == ("a", "b") and ratings.attribute == "attribute" and ratings.uploaded
    assert set(ratings.items) == {"i9", *(f"i{i}" for i in range(7))}
    both = sparse.vstack([ratings.people_train, ratings.people_test]).toarray()
    assert set(np.unique(both)) <= {0.0, 0.2, 0.4, 0.6, 0.8, 1.0}
    assert (both[:, ratings.items.index("i9")] == 1.0).all()
    assert ratings.fingerprint != ratings_from_csv(TABLE.encode(), "mine.csv", seed=2).fingerprint


@pytest.mark.parametrize("users, hidden", [(40, 10), (100, 10), (160, 16)])
def test_a_tenth_of_the_users_keep_the_attribute_and_ten_at_least(users, hidden):
    towns = [*"cdefghi", *"ab" * users]  # seven have a town of their own, and publish it
    rows = "".join(f"u{i};{item};5;{towns[i]}\n" for i in range(users) for item in (f"i{i % 7}", "i9"))
    ratings = ratings_from_csv(f"person;item;rating;attribute\n{rows}".encode(), "mine.csv")
    assert ratings.people_test.shape[0] == hidden and ratings.people_train.shape[0] == users - hidden
    assert set(ratings.values_test) <= {0, 1} and ratings.values == tuple("abcdefghi")


BAD_TABLES = [
    ("", "is empty"),
    ("person,item,rating" + "\nu,i,5" * 60, "columns person, item, rating and attribute, got 'person, item, rating'"),
    (TABLE + "u1;i1;5;b\nu1;i1;4;b\n", r"must rate an item once, got person 'u1' and item 'i1' twice"),
    (TABLE + "u1;i5;6;b\n", r"Ratings must be from 1 to 5, or all in \[0, 1\], got 6"),
    (TABLE + "u1;i5;0.5;b\n", r"Ratings must be from 1 to 5, or all in \[0, 1\], got 0.5"),
    (TABLE + "u1;i5;good;b\n", r"Ratings must be numbers, got 'good'"),
    (TABLE + "u1;i5;;b\n", r"both an item and a rating, or neither"),
    (TABLE + "u1;i5;5;a\n", r"the same attribute, person 'u1' has none or several"),
    (TABLE + "u1;i5;5;\n", r"the same attribute, person 'u1' has none or several"),
    (TABLE + ";i5;5;a\n", r"must have a person, got one without"),
    ("\n".join(["person;item;rating;attribute", *(f"u1;i{i};5;a" for i in range(60))]), r"at least 30 people, got 1\."),
]


@pytest.mark.parametrize("content, message", BAD_TABLES, ids=[message[:25] for _, message in BAD_TABLES])
def test_a_bad_table_is_one_sentence(content, message):
    with pytest.raises(InputError, match=message):
        ratings_from_csv(content.encode(), "mine.csv")


@pytest.mark.parametrize("name", ["train_user.txt", "mine.zip", "mine"])
def test_another_file_is_refused(name):
    with pytest.raises(InputError, match=r"Ratings must be one CSV file with the columns person, item, rating and"):
        ratings_from_csv(TABLE.encode(), name)


def test_values_are_2_to_30():
    people = sparse.csr_array(np.eye(62))
    labels = [str(i) for i in range(31)]
    arguments = {"title": "", "source": "", "attribute": "x", "items": labels * 2}
    with pytest.raises(InputError, match="2 to 30 values among the people who publish it, got 31"):
        build_ratings((people[:31], people[31:]), (labels, labels), **arguments)
    thirty = [*labels[1:], "7"]
    assert build_ratings((people[:31], people[31:]), (thirty, thirty), **arguments).values == tuple(labels[1:])
    with pytest.raises(InputError, match="at least one person to protect, got none"):
        build_ratings((people, people[:0]), (["a", "b"] * 31, []), **arguments)


def test_the_invented_ratings():
    ratings = demo_ratings()
    assert ratings.synthetic and "no real person" in ratings.source
    assert (len(ratings.values), len(set(ratings.items))) == (8, 600)
    assert ratings.fingerprint != demo_ratings(1).fingerprint
    assert ratings.fingerprint.startswith("d5f758e98f8da3b0")  # the figures in the documentation are of these ratings

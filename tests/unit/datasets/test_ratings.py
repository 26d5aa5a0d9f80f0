"""Ratings: the four files, uploads, what is refused and with which words, and the invented ones."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import core.datasets.ratings as ratings
from core.datasets import Ratings, demo_ratings, ratings_from_files, read_ratings
from core.datasets.ratings import build_ratings
from core.errors import DataUnavailableError, InputError
from tests import ratings_samples

FILES = {
    "train_user.txt": b"0:1.0 3:0.8\n\n1:0.2\n2:1.0 0:0.6\n",
    "train_label.txt": b"7\n0\n10\n0\n",
    "test_user.txt": b"4:0.4\n\n",
    "test_label.txt": b"10\n7\n",
}
TABLE = "User;item;rating;town\n" + "".join(
    f"u{i};i{i % 7};{1 + i % 5};{'ab'[i % 2]}\nu{i};i9;5;{'ab'[i % 2]}\n" for i in range(40)
)
REAL = Path(os.environ.get("FAIRLEAK_DATA", "/nowhere")) / "google_play_ratings"


def packed(files: dict[str, bytes], folder: str = "mine/") -> bytes:
    """Return a zip archive of files in a folder."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in files.items():
            archive.writestr(folder + name, content)
    return made.getvalue()


def written(folder: Path, **changed: bytes) -> Path:
    """Write the four files, some of them changed."""
    for name, content in (FILES | {f"{key}.txt": value for key, value in changed.items()}).items():
        (folder / name).write_bytes(content)
    return folder


def same(first: Ratings, second: Ratings) -> bool:
    return first.fingerprint == second.fingerprint


def test_the_four_files(tmp_path: Path):
    found = read_ratings(written(tmp_path))
    assert found.people_train.toarray().tolist() == [[1, 0, 0, 0.8, 0], [0] * 5, [0, 0.2, 0, 0, 0], [0.6, 0, 1, 0, 0]]
    assert found.people_test.toarray().tolist() == [[0, 0, 0, 0, 0.4], [0] * 5]
    assert found.values == ("city 0", "city 7", "city 10")
    assert found.values_train.tolist() == [1, 0, 2, 0] and found.values_test.tolist() == [2, 1]
    assert found.items == ("app 0", "app 1", "app 2", "app 3", "app 4")
    assert found.shares.tolist() == [0.5, 0.25, 0.25] and not found.synthetic and not found.uploaded


def test_a_missing_file_is_named(tmp_path: Path):
    (written(tmp_path) / "test_label.txt").unlink()
    with pytest.raises(DataUnavailableError, match=r"test_label\.txt cannot be read"):
        read_ratings(tmp_path)


BAD = [
    ({"train_label": b"0\n1\n"}, r"train_label.txt must have one label for each of the 4 lines .*, got 2\."),
    ({"test_label": b"10\n\n"}, r"test_label.txt must have a label in every line, got none in line 2\."),
    ({"test_label": b"10\n8\n"}, r"Every value of 'city' must occur among the people who publish it, got '8'"),
    ({"train_label": b"0\n0\n0\n0\n"}, r"'city' must have 2 to 30 values .*, got 1\."),
    ({"test_user": b"4:0.4\n100000:1\n"}, r"from 0 to 99999 and .* got '100000:1' in line 2 of test_user.txt\."),
    ({"train_user": b"0:1\n\n-1:1\n2:1\n"}, r"got '-1:1' in line 3 of train_user.txt\."),
    ({"test_user": b"4:1.2\n\n"}, r"a rating in \[0, 1\], got '4:1.2' in line 1 of test_user.txt\."),
    ({"test_user": b"4:nan\n\n"}, r"got '4:nan' in line 1"),
    ({"test_user": b"\n4:good\n"}, r"got '4:good' in line 2 of test_user.txt\."),
    ({"test_user": b"4 1\n\n"}, r"got '4' in line 1"),
    ({"test_user": b"4:0.4 5:1 4:0.2\n\n"}, r"got item 4 twice in line 1 of test_user.txt\."),
    ({"test_user": b""}, r"The file 'test_user.txt' is empty"),
    ({"train_label": b" \n"}, r"The file 'train_label.txt' is empty"),
    ({"train_user": b"0:1\n\n0:0.5\n0:1\n", "test_user": b"0:1\n\n"}, r"must be of at least 2 items, got 1\."),
    ({"train_user": b"0:0\n\n1:0\n2:0\n"}, r"who publish the attribute must have a rating above 0, got none\."),
    ({"train_user": b"\xff\xfe\x00"}, r"train_user.txt must be text in UTF-8"),
]


@pytest.mark.parametrize("changed, words", BAD, ids=[next(iter(c)) + str(i) for i, (c, _) in enumerate(BAD)])
def test_a_bad_file_is_one_sentence(changed: dict[str, bytes], words: str, tmp_path: Path):
    with pytest.raises(InputError, match=words):
        read_ratings(written(tmp_path, **changed))


def test_an_upload_of_the_four_files_and_of_their_archive():
    found = ratings_from_files(FILES)
    assert found.uploaded and found.attribute == "attribute" and found.values[1] == "attribute 7"
    fewer = ratings_from_files(FILES | {"test_user.txt": b"0:0.4\n\n"})  # the last item is rated in one file alone
    assert fewer.people_train.shape == (4, 4) and fewer.people_test.shape == (2, 4)
    assert same(found, ratings_from_files({"mine.zip": packed(FILES | {"prior.txt": b"0.5"})}))
    with pytest.raises(InputError, match="got 2"):
        ratings_from_files(FILES | {"train_label.txt": b"0\n1\n"})


def test_the_four_files_are_read_in_a_process_of_their_own_and_up_to_a_limit(own_process, monkeypatch):
    monkeypatch.setattr(ratings, "_rating_lines", None)  # here it is not called
    found = ratings_from_files(FILES)
    monkeypatch.undo()
    monkeypatch.setattr(ratings, "ask_child", lambda what, function, pair, **rest: ratings.lines_of(None, **pair))
    for most, fits in ((5, True), (4, False)):
        monkeypatch.setattr(ratings, "_MOST_RATINGS", most)
        if fits:
            assert same(found, ratings_from_files(FILES))
            continue
        with pytest.raises(InputError, match=r"train_user.txt must not have more than 4 ratings"):
            ratings_from_files(FILES)


def test_labels_that_look_like_numbers_are_words():
    long = "7" * 5000
    labels = f"\N{SUPERSCRIPT TWO}\n{long}\n10\n9\n".encode()
    found = ratings_from_files(FILES | {"train_label.txt": labels, "test_label.txt": b"9\n10\n"})
    assert found.values == ("attribute 9", "attribute 10", long, "\N{SUPERSCRIPT TWO}")


def test_a_table_of_ratings():
    found = ratings_from_files({"mine.csv": TABLE.encode()}, seed=1)
    assert found.people_train.shape == (30, 8) and found.people_test.shape == (10, 8)
    assert found.values == ("a", "b") and found.attribute == "town"
    assert set(found.items) == {"i9", *(f"i{i}" for i in range(7))}
    both = sparse.vstack([found.people_train, found.people_test]).toarray()
    assert set(np.unique(both)) <= {0.0, 0.2, 0.4, 0.6, 0.8, 1.0}
    assert (both[:, found.items.index("i9")] == 1.0).all()
    assert same(found, ratings_from_files({"mine.zip": packed({"mine.csv": TABLE.encode()})}, seed=1))
    assert not same(found, ratings_from_files({"mine.csv": TABLE.encode()}, seed=2))


@pytest.mark.parametrize("users, hidden", [(40, 10), (100, 10), (160, 16)])
def test_a_tenth_of_the_users_keep_the_attribute_and_ten_at_least(users: int, hidden: int):
    towns = [*"cdefghi", *"ab" * users]  # seven have a town of their own, and publish it
    told = "user;item;rating;town\n" + "".join(f"u{i};i{i % 7};5;{towns[i]}\n" for i in range(users))
    found = ratings_from_files({"mine.csv": told.encode()})
    assert found.people_test.shape[0] == hidden and found.people_train.shape[0] == users - hidden
    assert set(found.values_test) <= {0, 1} and found.values == tuple("abcdefghi")


BAD_TABLES = [
    ("", "is empty"),
    ("user,item,rating\nu,i,5\n", r"must have the columns user, item, rating and one private attribute"),
    ("user,User,item,rating\nu,a,i,5\n", r"got 'user, User, item, rating'"),
    ("user,item,rating,town,age\nu,i,5,a,9\n", r"got 'user, item, rating, town, age'"),
    (TABLE + "u1;i1;5;b\nu1;i1;4;b\n", r"must rate an item once, got user 'u1' and item 'i1' twice"),
    (TABLE + "u1;i5;6;b\n", r"Ratings must be from 1 to 5, or all in \[0, 1\], got 6"),
    (TABLE + "u1;i5;0.5;b\n", r"Ratings must be from 1 to 5, or all in \[0, 1\], got 0.5"),
    (TABLE + "u1;i5;good;b\n", r"Ratings must be numbers, got 'good'"),
    (TABLE + "u1;i5;;b\n", r"both an item and a rating, or neither"),
    (TABLE + "u1;i5;5;a\n", r"the same value of 'town', user 'u1' has none or several"),
    (TABLE + "u1;i5;5;\n", r"the same value of 'town', user 'u1' has none or several"),
    (TABLE + ";i5;5;a\n", r"must have a user, got one without"),
    (TABLE.splitlines()[0], r"must have lines under its header, 'mine.csv' has none"),
    ("\n".join(TABLE.splitlines()[:2]), r"must have at least 30 users, got 1\."),
    (TABLE.replace(";a", ";b"), r"'town' must have 2 to 30 values .*, got 1"),
]


@pytest.mark.parametrize("content, words", BAD_TABLES, ids=[words[:25] for _, words in BAD_TABLES])
def test_a_bad_table_is_one_sentence(content: str, words: str):
    with pytest.raises(InputError, match=words):
        ratings_from_files({"mine.csv": content.encode()})


def test_other_files_are_refused():
    for files in ({"a.csv": b"x", "b.csv": b"y"}, {"train_user.txt": b"1:1\n"}, {"a.xlsx": b"x"}, {}):
        with pytest.raises(InputError, match="Ratings must be the four files"):
            ratings_from_files(files)
    with pytest.raises(InputError, match="a whole zip archive without a password"):
        ratings_from_files({"mine.zip": b"PK\x03\x04 and no more"})
    with pytest.raises(InputError, match="must not unpack to more than 1 MB"):
        ratings_from_files({"mine.zip": packed({"mine.csv": b"0" * 2_000_000})}, max_bytes=1024 * 1024)
    most = sum(map(len, FILES.values()))
    for files, words in ((FILES, "must not be larger than"), ({"mine.zip": packed(FILES)}, "must not unpack to more")):
        assert same(ratings_from_files(files, max_bytes=most), ratings_from_files(FILES))
        with pytest.raises(InputError, match=words):
            ratings_from_files(files, max_bytes=most - 1)


def test_values_are_2_to_30():
    whole = sparse.csr_array(np.eye(62))
    labels = [str(i) for i in range(31)]
    told = {"title": "", "source": "", "attribute": "x", "items": labels * 2}
    with pytest.raises(InputError, match="2 to 30 values among the people who publish it, got 31"):
        build_ratings((whole[:31], whole[31:]), (labels, labels), **told)  # type: ignore[arg-type]
    thirty = [*labels[1:], "7"]
    assert build_ratings((whole[:31], whole[31:]), (thirty, thirty), **told).values == tuple(labels[1:])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="at least one person to protect, got none"):
        build_ratings((whole, whole[:0]), (["a", "b"] * 31, []), **told)  # type: ignore[arg-type]


def test_the_fingerprint_follows_every_rating():
    made = ratings_samples.ratings()
    changed = made.people_test.copy()
    changed.data[-1] = 0.4
    labels = tuple([made.values[i] for i in part] for part in (made.values_train, made.values_test))
    told = {"title": "t", "source": "s", "attribute": made.attribute, "items": made.items}
    assert same(made, build_ratings((made.people_train, made.people_test), labels, **told))  # type: ignore[arg-type]
    assert not same(made, build_ratings((made.people_train, changed), labels, **told))  # type: ignore[arg-type]


def test_the_invented_ratings():
    found = demo_ratings()
    assert found.synthetic and not found.uploaded and "no real person" in found.source
    assert found.people_train.shape == (2700, 600) and found.people_test.shape == (300, 600)
    assert len(found.values) == 8 and len(set(found.items)) == 600 == len(found.items)
    assert found.items[239:241] == ("Hollin museums 3", "chat 1") and found.items[-1] == "languages 36"
    assert set(np.unique(found.people_train.data)) == {0.2, 0.4, 0.6, 0.8, 1.0}
    assert np.diff(found.people_train.indptr).min() >= 9
    assert same(found, demo_ratings()) and not same(found, demo_ratings(1))
    assert found.fingerprint.startswith("d5f758e98f8da3b0")  # the figures in the documentation are of these ratings


def test_beside_one_user_of_each_value_ten_are_left_to_protect():
    def table(values: int) -> dict[str, bytes]:
        lines = [f"u{u},i{i},{1 + (u + i) % 5},t{u % values}" for u in range(30) for i in range(3)]
        return {"r.csv": "\n".join(["user,item,rating,town", *lines]).encode()}

    assert len(ratings_from_files(table(20)).values_test) == 10
    with pytest.raises(InputError, match="at least 10 users besides one of each value of 'town', got 9"):
        ratings_from_files(table(21))

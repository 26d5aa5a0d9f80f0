"""The folder of prepared results, damaged, foreign, gone, full or shared: what cannot be relied on counts as absent."""

import os
import shutil
import stat
import subprocess
import sys
import time

import numpy as np
import pytest

from core.base.errors import InputError
from core.datasets import AuditDataset
from core.stats.estimates import proportion
from core.store import prepared
from core.store.prepared import PreparedResults, ResultWriter, only_process
from pages.shell import preparation
from tests import expected, hermetic
from tests.patience import finished

KEY, SECOND_KEY = "a" * 64, "b" * 64
RESULT = {"share": proportion(3, 9), "people": np.arange(5)}


@pytest.fixture
def folder(tmp_path):
    """A folder with a result and the list of the page it belongs to."""
    location = tmp_path / "cache" / "prepared" / "fairleak-1"
    writer = ResultWriter(location)
    writer.save(KEY, RESULT)
    writer.finish("model_card")
    return location


def loaded(folder):
    result = PreparedResults(folder).load(KEY)
    if result is None:
        return False
    assert result["share"] == RESULT["share"]
    return True


def test_a_result_is_read_by_another_start_and_under_no_other_key(folder):
    assert loaded(folder) and PreparedResults(folder).has_page("model_card")
    assert PreparedResults(folder).load(SECOND_KEY) is None
    assert not PreparedResults(folder).has_page("people")
    (folder / KEY).rename(folder / SECOND_KEY)
    assert PreparedResults(folder).load(SECOND_KEY) is None


def test_folders_and_files_are_the_users_alone(folder):
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (folder.parent, folder, *folder.iterdir())}
    assert modes == {"prepared": 0o700, "fairleak-1": 0o700, KEY: 0o600, "page-model-card": 0o600}


DAMAGES = {
    "empty": lambda content: b"",
    "half": lambda content: content[: len(content) // 2],
    "longer": lambda content: content + b"x",
    "one bit": lambda content: content[:-40] + bytes([content[-40] ^ 1]) + content[-39:],
    "no header": lambda content: content.partition(b"\n")[2],
    "other format": lambda content: content.replace(b'"format": 1', b'"format": 2', 1),
    "zeros": lambda content: bytes(len(content)),
}


@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damaged_file_is_ignored_and_written_again(kind, folder):
    content = (folder / KEY).read_bytes()
    (folder / KEY).write_bytes(DAMAGES[kind](content))
    assert not loaded(folder) and not PreparedResults(folder).has_page("model_card")
    writer = ResultWriter(folder)
    assert writer.load(KEY) is None
    writer.save(KEY, RESULT)
    assert writer.load(KEY) is not None and loaded(folder)


def share(location):
    os.chmod(location, stat.S_IMODE(location.stat().st_mode) | 0o020)


def give_away(location):
    if not hasattr(os, "getuid") or os.getuid() != 0:
        pytest.skip("only root can give files away")
    os.chown(location, 12345, -1)


posix = pytest.mark.skipif(os.name != "posix", reason="permissions, links and pipes of POSIX")


@posix
@pytest.mark.parametrize("change", [share, give_away])
@pytest.mark.parametrize("name", ["", KEY, ".."])
def test_what_others_may_write_to_or_own_is_not_read(name, change, folder):
    change(folder / name)
    assert not loaded(folder)
    if name != KEY:
        with pytest.raises(InputError, match="the user's alone"):
            ResultWriter(folder)


@posix
@pytest.mark.parametrize("make", [lambda path: path.symlink_to("elsewhere"), os.mkfifo, os.mkdir])
def test_what_is_no_file_is_not_read(make, folder):
    (folder / KEY).rename(folder / "elsewhere")
    make(folder / KEY)
    assert not loaded(folder)


@posix
def test_a_folder_is_not_written_to_through_a_link(folder, tmp_path):
    linked = tmp_path / "linked"
    linked.mkdir(mode=0o700)
    (linked / "fairleak-1").symlink_to(folder)
    with pytest.raises(InputError):
        ResultWriter(linked / "fairleak-1")


@pytest.mark.parametrize("name", ["../../secret", "/etc/passwd", "A", "", "a\0b", "." * 10])
def test_a_name_leads_nowhere_else(name, folder):
    assert PreparedResults(folder).load(name) is None


def test_a_folder_deleted_meanwhile_is_made_again(folder):
    writer, reader = ResultWriter(folder), PreparedResults(folder)
    shutil.rmtree(folder.parent)
    assert reader.load(KEY) is None and not reader.has_page("model_card")
    writer.save(KEY, RESULT)
    writer.finish("model_card")
    assert loaded(folder) and reader.has_page("model_card")


def test_a_folder_that_cannot_be_made_is_said_in_one_sentence(tmp_path):
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(InputError, match="must be the user's alone"):
        ResultWriter(tmp_path / "cache" / "prepared" / "fairleak-1")


def test_results_of_another_version_are_ignored_and_deleted_after_a_month(folder):
    long_ago, lately = folder.parent / "fairleak-0", folder.parent / "fairleak-00"
    for version, days in ((long_ago, 31), (lately, 29)):
        shutil.copytree(folder, version)
        os.utime(version, (time.time() - days * 86_400,) * 2)
    ResultWriter(folder)
    assert loaded(folder) and lately.exists() and not long_ago.exists()


def test_half_a_file_is_no_result_and_is_swept_up(folder):
    half = folder / ".0123.part"
    half.write_bytes((folder / KEY).read_bytes()[:100])
    ResultWriter(folder)
    assert half.exists()  # somebody may be writing it
    os.utime(half, (time.time() - 7200,) * 2)
    ResultWriter(folder)
    assert not half.exists()


def test_one_process_at_a_time_prepares(folder):
    for _ in range(2):
        with only_process(folder) as first, only_process(folder) as second:
            assert (first, second) == (True, False)


def test_a_dataset_gets_its_memo_back_with_a_result_about_it(folder):
    dataset = expected.demo()
    key = ("imputed", "a test")
    dataset.keep({key: RESULT["people"], ("imputed", "a function"): len})
    try:
        ResultWriter(folder).save(SECOND_KEY, (dataset, 7), [dataset])
    finally:
        dataset.keep({key: None, ("imputed", "a function"): None})
    fresh = AuditDataset(**{name: getattr(dataset, name) for name in AuditDataset.__dataclass_fields__})
    about, number = PreparedResults(folder).load(SECOND_KEY, [fresh])
    assert about is fresh and number == 7
    assert fresh.cached_results()[key].tolist() == [0, 1, 2, 3, 4]
    assert PreparedResults(folder).load(SECOND_KEY) is None  # the dataset is not at hand


@pytest.mark.long
def test_the_process_ends_at_once_where_it_cannot_write(tmp_path):
    location = tmp_path / "cache"
    location.write_text("a file")
    environment = {**os.environ, "XDG_CACHE_HOME": str(location), preparation.PREPARE: "on"}
    command = [sys.executable, "-m", "pages.shell.prepare"]
    done = finished(command, cwd=hermetic.ROOT, env=environment, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout) == (0, "")


def test_a_server_whose_folder_holds_all_pages_starts_no_process(tmp_path, monkeypatch):
    monkeypatch.setenv(preparation.PREPARE, "on")
    monkeypatch.setattr(preparation, "version_folder", lambda: tmp_path / "prepared" / "fairleak-1")
    monkeypatch.setattr(preparation.subprocess, "Popen", None)  # whoever starts one breaks here
    writer = ResultWriter(preparation.version_folder())
    for page in preparation.PAGES:
        writer.finish(page)
    now = preparation.Preparation()
    now._follow()
    assert now.finished_pages == set(preparation.PAGES) and not now.busy
    shutil.rmtree(tmp_path / "prepared")
    with pytest.raises(TypeError):
        now._follow()


def test_off_neither_reads_nor_prepares(monkeypatch):
    monkeypatch.setenv(preparation.PREPARE, "off")
    assert preparation.open_results() is None and not preparation.is_on()


def test_the_writer_is_opened_by_the_process_that_prepares_alone():
    sources = [*(hermetic.ROOT / "core").rglob("*.py"), *(hermetic.ROOT / "pages").rglob("*.py")]
    users = {path.name for path in sources if "ResultWriter(" in path.read_text(encoding="utf-8")}
    assert users == {"prepared.py", "prepare.py"}
    assert not hasattr(PreparedResults, "save") and hasattr(prepared.ResultWriter, "save")

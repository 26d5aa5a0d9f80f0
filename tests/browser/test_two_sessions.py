"""Two people at once, each with a table and a model of their own: neither ever sees anything of the other's."""

import io
import time
from dataclasses import dataclass

import pandas as pd
import skops.io
from playwright.sync_api import expect
from sklearn.tree import DecisionTreeClassifier

from tests.browser.driver import Server
from tests.browser.hurried import SECONDS
from tests.browser.reports import downloaded
from tests.browser.tables import people
from tests.browser.view import View
from tests.hostile.test_files import killer
from tests.hostile.test_reaching_models import endless
from tests.patience import MINUTE, PATIENT


@dataclass(frozen=True)
class Person:
    """Somebody whose table, column, group and model bear a word that nobody else's do."""

    view: View
    word: str
    seed: int

    @property
    def group(self):
        return f"{self.word}woman"

    def table(self):
        return people(600, seed=self.seed, woman=self.group).replace(b"age,", f"{self.word}age,".encode(), 1)

    def model(self):
        frame = pd.read_csv(io.BytesIO(self.table()))
        features = frame[[f"{self.word}age", frame.columns[1]]]
        return bytes(skops.io.dumps(DecisionTreeClassifier(max_depth=self.seed).fit(features, frame["hired"])))


def has_single_entry(view):
    """Return whether the list of tables holds one of one's own; whatever is drawn anew closes the list."""
    box = view.field("dataset")
    if box.get_attribute("aria-expanded") != "true":
        box.click()
        view.page.wait_for_timeout(300)
    return view.page.get_by_role("option", name="Your table", exact=True).count() == 1


def test_two_sessions_at_once(look):
    both = [Person(look("data"), "Alder", 3), Person(look("data"), "Birch", 6)]
    for person in both:
        person.view.finding_with("%")
    for person in both:
        person.view.give("upload", f"{person.word}table.csv", person.table())
    for person in both:
        person.view.finding_with(f"{person.word}table.csv", "until you press")
        person.view.assign("sex", person.group, label="hired", positive="yes")
        person.view.finding_with("%", person.group)
    for person in both:
        person.view.give("model_file", f"{person.word}model.skops", person.model())
    for person in both:
        person.view.wait_for(person.view.page.get_by_text(f"{person.word}model.skops has predicted for everybody"))
        person.view.idle()
    for person in both:  # both are attacked at the same time
        person.view.sidebar.get_by_role("link", name="Report", exact=True).click()
    downloads = [downloaded(person.view) for person in both]
    for person, stranger, editions in zip(both, reversed(both), downloads, strict=True):
        assert person.group in editions["internal"].html
        for content in (person.view.page.content(), *(report.html for report in editions.values())):
            assert stranger.word not in content
        person.view.go("Data")
        person.view.finding_with("%", person.group)
        assert stranger.word not in person.view.page.content()
        person.view.until(lambda view=person.view: has_single_entry(view), "one table of one's own in the list")
        assert stranger.word not in person.view.page.content()
        person.view.in_order()
    first, second = (editions["internal"].findings for editions in downloads)
    assert first["data"]["fingerprint"] != second["data"]["fingerprint"]
    assert first["model"] != second["model"]


def move(view, turn):
    end, tolerance = (("End", 0.2), ("Home", 0.0))[turn % 2]
    view.field("told").press(end)
    view.until(lambda: [mark["x"] for mark in view.points("told_chart")] == [[tolerance]], f"a marker at {tolerance}")


def test_models_that_end_their_process_or_never_end_leave_others_alone(browser):
    with Server(module="tests.browser.hurried") as server:
        bystander, sender = View(browser, server.address), View(browser, server.address)
        bystander.open("correction")
        bystander.finding_with("%")
        sender.open("data")
        sender.bring_people(people())
        for turn, name in enumerate(("one.onnx", "two.onnx")):
            sender.give("model_file", name, killer(column="age", width=1))
            expect(sender.warnings.filter(has_text=name)).to_have_count(1)
            move(bystander, turn)
        began = time.monotonic()
        sender.give("model_file", "endless.onnx", endless(column="age", width=1))
        refused = sender.warnings.filter(has_text="endless.onnx")
        moves = 0
        while not refused.count():
            move(bystander, moves)
            moves += 1
        took = time.monotonic() - began
        expect(refused).to_contain_text("was stopped after 8 seconds, the longest it may take")
        sender.go("Model")
        sender.finding_with("%")
        for view in (bystander, sender):
            view.in_order()
            view.close()
    assert moves >= 2
    assert took <= SECONDS + 5.0 * PATIENT / MINUTE  # more on a machine that others use

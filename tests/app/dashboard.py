"""The dashboard in-process: open pages, wait for their jobs, read what they say."""

import re
import threading
from contextlib import nullcontext
from pathlib import Path
from typing import ClassVar
from unittest.mock import patch

import streamlit as st
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from core.base.serialize import content_fingerprint
from core.experiments.attacked_models import MEASURES
from core.experiments.engine import measured_points, point_key
from core.experiments.experiment import ModelMeasurements
from core.stats.estimates import certain
from pages.shell import shell
from pages.shell.background import Job
from tests.patience import PATIENT, wait_until
from tests.policy_samples import done

UNIQUE_ROLES = ("label", "sensitive", "crossed", "prediction", "score", "sets", "person")

APP = Path(__file__).resolve().parents[2] / "app.py"


def plain(text):
    return re.sub(r"\\(.)", r"\1", text).replace("\N{NO-BREAK SPACE}", " ")


class Gate:
    """Lets work pass unless a test has closed it (`open.clear()`); `reached` tells that some has come."""

    def __init__(self):
        self.open, self.reached = threading.Event(), threading.Event()
        self.open.set()

    def wait(self):
        """Wait until it is open, in a job's thread: the test that waits for the job has no more than its patience."""
        self.reached.set()
        self.open.wait()


class RecordedJob(Job):
    """A job that can be waited for."""

    started: ClassVar[list[Job]] = []

    def __init__(self, work, lane, *arguments):
        self.lane = lane.removeprefix("own ")
        self.started.append(self)
        super().__init__(work, lane, *arguments)

    def end(self):
        wait_until(lambda: not self.busy, "the end of a job", steps)


def steps():
    """Return how far the jobs are; one that another thread has only begun to make is left out."""
    jobs = [job for job in RecordedJob.started if hasattr(job, "state")]
    return [(job.state, job.done, len(job.partial)) for job in jobs]


def sweep_job():
    return [job for job in RecordedJob.started if job.lane == "sweep"][-1]


class PointsOnDemand:
    """Yields as many models as it is allowed to; stands in for `core.experiments.engine.measured_points`."""

    def __init__(self):
        self.allowed = threading.Semaphore(0)
        self.over = False

    def __call__(self, configs, dataset, *, store, n_jobs, measure, parts, result):
        if parts != (MEASURES,):
            yield from measured_points(configs, dataset, store=store, measure=measure, parts=parts, result=result)
            return
        measured = tuple(done(name, 0.5, 0.1, control=certain(0.5, 100)) for name in MEASURES)
        for plans in configs:
            self.allowed.acquire()
            if self.over:
                return
            measurements = ModelMeasurements(plans={content_fingerprint(plan): measured for plan in plans})
            store.save(point_key(plans, dataset, ModelMeasurements, *parts), measurements)
            yield measurements

    def allow(self, count):
        self.allowed.release(count)

    def end(self):
        self.over = True
        self.allowed.release(1000)


class Dashboard:
    """One session of the dashboard, started from app.py."""

    def __init__(self, link=None):
        self.test = AppTest.from_file(APP, default_timeout=PATIENT)
        self.test.query_params.update(link or {})

    def settle(self):
        """Run the page until none of the audits it waits for is under way."""
        wait_until(self._settled, "the page's audits", steps, pause=lambda: None)
        return self

    def _settled(self):
        over = {id(job) for job in RecordedJob.started if not job.busy}
        self.test.run()
        assert not self.test.exception, self.test.exception[0].value
        awaited = [job for job in RecordedJob.started if job.lane != "sweep" and id(job) not in over]
        for job in awaited:
            job.wait(30)
        return not awaited

    def until(self, check):
        """Run the page until a check holds, without waiting for its jobs."""

        def checked():
            self.test.run()
            assert not self.test.exception
            return check()

        wait_until(checked, "what the page is to show", pause=lambda: None)

    def open(self, page, *, settled=True):
        """Go to a page by its address, and wait until it is complete unless told otherwise."""
        self.test._page_hash = calc_hash("home" if page == "overview" else page)  # the first page's address is bare
        if settled:
            return self.settle()
        self.test.run()
        return self

    def press(self, key):
        """Press the button whose key begins like this and let the page hear of it; a click alone waits for a run."""
        self.button(key).click()
        self.test.run()

    def click(self, key):
        """Press the button whose key begins like this, and look at the page when all is there.

        Roles are applied without the audit that follows: the page stays, and no attack is started.
        """
        self.button(key).click()
        with patch("streamlit.switch_page", lambda *_, **__: st.rerun()) if key == "use_roles" else nullcontext():
            return self.settle()

    def submit(self, key, **controls):
        """Fill in a form by the beginnings of its controls' keys, and press its button."""
        for name, value in controls.items():
            self.widget(name).set_value(value)
        return self.click(key)

    def give(self, key, name, content):
        self.test.file_uploader(key=key).set_value((name, content, "application/octet-stream"))
        return self.settle()

    def upload(self, name, content):
        return self.give("upload", name, content)

    def assign(self, **columns):
        """Fill in the form as `draft` does, and press its button."""
        return self.draft(**columns).click("use_roles")

    def draft(self, **columns):
        """Give columns their roles, an empty one to none, and fill in the values; `excluded` are all left out."""
        for role in (*UNIQUE_ROLES, "excluded"):
            if role in columns:
                names = [columns[role]] if isinstance(columns[role], str) else list(columns[role])
                for column, now in self.column_roles().items():
                    if (column in names) != (now == role):
                        self._set(self.role_box(column), role if column in names else "feature")
        self._confirm_guesses()
        for name in ("positive", "favourable", "way", "group", "limit", "missing"):
            if name in columns:
                self._set(self.widget(f"{name}_"), columns[name])
        return self.favour()

    def favour(self):
        """Confirm the guesses, and answer which outcome is good for the person, where nobody has: the one predicted."""
        self._confirm_guesses()
        favourable = self.widgets("favourable_")
        if favourable and not favourable[0].value:
            predicted = [widget.value for widget in self.widgets("positive_")]
            self._set(favourable[0], next(iter(predicted), favourable[0].options[0]))
        return self

    def _confirm_guesses(self):
        """Say of the guessed outcome and attribute that they are right, where they are asked for."""
        for kind in ("outcome", "attribute"):
            for question in self.widgets(f"answer_{kind}"):
                if question.value is None:
                    self._set(question, question.options[-1])

    def _set(self, widget, value):
        widget.set_value(value)
        self.test.run()
        assert not self.test.exception

    def column_roles(self):
        boxes = [box for box in self.test.selectbox if (box.key or "").startswith("role_")]
        return {plain(box.label).removeprefix("Role of "): box.value for box in boxes}

    def role_box(self, column):
        return next(box for box in self.test.selectbox if box.label == f"Role of {shell.escape(column)}")

    def bring(self, name, content, roles):
        """Upload a table and let its columns be what these roles say."""
        values = {"group": list(roles.group)} if roles.group else {"way": "each"} if roles.each else {}
        role_columns = {role: getattr(roles, role, "") for role in (*UNIQUE_ROLES, "positive", "missing")}
        return self.open("data").upload(name, content).assign(**role_columns, **values, excluded=roles.excluded)

    def nodes(self):
        """Yield every block and element of the page."""
        nodes = [self.test._tree]
        while nodes:
            yield (node := nodes.pop())
            nodes.extend(getattr(node, "children", {}).values())

    @property
    def texts(self):
        """All Markdown of the page, sidebar included."""
        return [element.value for element in self.test.markdown]

    @property
    def findings(self):
        """The page's second-level headings, with the grey line."""
        return [text for text in self.texts if text.startswith("## ")]

    @property
    def finding(self):
        (text,) = self.findings
        return text

    @property
    def plain_finding(self):
        return plain(self.finding)

    def assert_says(self, study, result, settings):
        """Check that the page's finding is core's of a result; return all that core finds."""
        findings = study.findings(result, settings)
        assert findings[0].point in self.plain_finding and findings[0].evidence in self.plain_finding, self.finding
        return findings

    def plain_problem(self):
        """The one sentence that says what is wrong, as it is read."""
        (warning,) = self.test.warning
        return plain(warning.value)

    def has_button(self, key):
        return any((button.key or "").startswith(key) for button in self.test.button)

    def button(self, key):
        return next(button for button in self.test.button if (button.key or "").startswith(key))

    def widget(self, key):
        """Return the control whose key begins like this, one of the whole key before others."""
        candidates = self.widgets(key)
        return next((widget for widget in candidates if widget.key == key), candidates[0])

    def widgets(self, key):
        kinds = ("selectbox", "multiselect", "slider", "select_slider", "number_input", "toggle", "button_group")
        kinds += ("checkbox", "radio", "text_input", "text_area", "date_input")
        return [widget for kind in kinds for widget in getattr(self.test, kind) if (widget.key or "").startswith(key)]

    def choose(self, **controls):
        """Set controls by the beginning of their key, and look at the page; also before one that is not there yet."""
        for key, value in controls.items():
            if not self.widgets(key):
                self.settle()
            self.widget(key).set_value(value)
        return self.settle()

    @property
    def page_text(self):
        """All text but the explanations, as it is read."""
        return plain(" ".join([*self.texts, *(caption.value for caption in self.test.caption)]))

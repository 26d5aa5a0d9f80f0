"""One person's look at FairLeak through a browser: what is on screen, and the few gestures the tests need."""

import re
from urllib.parse import urlsplit

from playwright.sync_api import Error, TimeoutError, expect

from core.datasets.roles import COLUMN_ROLES
from pages.shell.shell import escape
from tests import patience
from tests.patience import wait_until

PATIENT = 1000 * patience.PATIENT
"""Milliseconds to wait for what comes at once on an idle machine; for work see `View.until`."""

expect.set_options(timeout=PATIENT)

FRESH = "[data-testid=stElementContainer]:not([data-stale=true])"
"""Elements that are not the remainder of an earlier run."""

FINDING = f"[data-testid=stMain] {FRESH} h2"
"""The page's finding."""

FINDING_SCRIPT = f"""words => {{
    const idle = document.querySelector('[data-testid=stApp][data-test-script-state=notRunning]');
    const found = document.querySelectorAll('{FINDING}');
    if (!idle || found.length !== 1) return null;
    const plain = text => text.replace(/[\\u200b\\u00ad]/g, '').replace(/\\s+/g, ' ');
    const told = plain((found[0].closest('[data-testid=stMarkdownContainer]') || found[0]).textContent);
    return words.every(word => told.includes(plain(word))) ? found[0].innerText : null;
}}"""
"""The finding's text if it and what stands below hold all words and no script runs, else null; in one moment."""

PROGRESS = """() => {
    const main = document.querySelector('[data-testid=stMain]');
    const bars = Array.from(document.querySelectorAll('[data-testid=stProgress] [role=progressbar]'));
    const charts = document.querySelectorAll('.js-plotly-plot .main-svg:first-of-type');
    const text = main ? main.innerText.replace(/about \\d+ (s|min) left|time left not known yet/g, '') : '';
    return [text, charts.length, ...bars.map(bar => bar.getAttribute('aria-valuenow'))].join(' ');
}"""
"""What moves on the page while its work goes on: its text, but for the guess of the time left, bars, charts."""

MARKERS = """plots => ((plots.length && plots[0].data) || []).filter(t => t.mode === 'markers')
    .map(t => ({x: Array.from(t.x || []), y: Array.from(t.y || [])}))"""
"""The first chart's traces of markers; none while it is painted anew."""

WIDER = """() => {
    const main = document.querySelector('[data-testid=stMain]'), root = document.documentElement;
    const charts = Array.from(document.querySelectorAll('.js-plotly-plot .main-svg'));
    return [root.scrollWidth - window.innerWidth, main.scrollWidth - main.clientWidth,
        ...charts.map(chart => Math.round(chart.getBoundingClientRect().right - window.innerWidth))];
}"""
"""By how many pixels the window, the main part and each chart are too wide."""


class View:
    """A browser context of its own, that is a session of its own, with one page.

    What must never happen anywhere is noted and checked by `close`: a request that leaves the machine, a dialog, an
    error in the page's own script.
    """

    def __init__(self, browser, address, **options):
        self.address = address
        self.hosts = set()
        self.mishaps = []
        self.context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **options})
        self.page = self.context.new_page()
        self.page.set_default_timeout(PATIENT)
        self.context.on("request", self._note_request)
        self.page.on("dialog", lambda dialog: (self.mishaps.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        self.page.on("pageerror", lambda error: self.mishaps.append(f"script error: {error.message}"))

    def _note_request(self, request):
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob"):
            self.hosts.add(parts.hostname or request.url)

    def close(self):
        self.context.close()
        assert self.mishaps == []
        assert self.hosts <= {"localhost", "127.0.0.1"}, self.hosts

    # What is on screen

    @property
    def finding(self):
        return self.page.locator(FINDING)

    @property
    def sidebar(self):
        return self.page.locator("[data-testid=stSidebar]")

    @property
    def warnings(self):
        """Boxes that say in one sentence what is wrong, once they are not the remainder of an earlier run."""
        return self.page.locator(f"{FRESH} [data-testid=stAlertContentWarning]")

    @property
    def charts(self):
        return self.page.locator(".js-plotly-plot .main-svg:first-of-type")

    def keyed(self, key):
        return self.page.locator(f".st-key-{key}")

    def field(self, key):
        """What one types into, or moves, in the widget with this key."""
        return self.keyed(key).locator("input").first

    def points(self, chart):
        """Return the x and y of each trace of markers the chart with this key holds now; none while it is repainted."""
        return self.keyed(chart).locator(".js-plotly-plot").evaluate_all(MARKERS)

    def inks(self):
        """Return the colours that charts are written in."""
        colours = "plots => plots.map(plot => plot.layout?.font?.color)"
        return set(self.page.locator(".js-plotly-plot").evaluate_all(colours))

    def trained(self):
        """Return the tolerances of the models on the curve of trained models."""
        return sorted(tolerance for trace in self.points("trained_chart") for tolerance in trace["x"])

    def text(self):
        return self.page.locator("[data-testid=stMain]").inner_text()

    # Gestures

    def open(self, path=""):
        self.page.goto(f"{self.address}/{path}")

    def go(self, name):
        """Go to a page by the navigation, which folds some pages where a table of one's own is audited."""
        link = self.sidebar.get_by_role("link", name=name, exact=True)
        self._unfold(link, self.keyed("folded_links").locator("summary"))
        link.click()
        title = {"Query desk": "Private query desk", "Report": "Release report"}.get(name, name)
        expect(self.page.locator(f"{FRESH} h1", has_text=re.compile(f"^{title}"))).to_be_visible()
        self.idle()

    def _unfold(self, target, folded):
        """Open what hides the target, if something does."""
        expect(target.or_(folded).first).to_be_visible()
        if not target.is_visible():
            folded.click()

    def choose(self, key, option):
        self._choose(self.field(key), option)

    def _choose(self, box, option):
        self._pick(box, option)
        expect(box).to_have_value(option)
        self.page.wait_for_timeout(200)  # the server hears of it a moment later
        self.idle()

    def _pick(self, box, option):
        """Click an option; whatever is drawn anew meanwhile closes the list, which is then opened again."""
        self.idle()
        listed = self.page.get_by_role("option", name=option, exact=True)

        def picked():
            if box.get_attribute("aria-expanded") != "true":
                box.click()
            return listed.is_visible() and self.clicked(listed)

        self.until(picked, f"an option {option!r}")

    def regroup(self, group):
        """Make one value the whole first group, on the form for one's own columns."""
        box = self.page.get_by_role("combobox", name="Group 1 (values)")
        change = self.keyed("gate_groups").get_by_role("button", name="Change")

        def unfolded():
            self.idle()
            return box.is_visible() or not self.clicked(change)

        self.until(unfolded, "the choice of groups")
        around = self.page.locator("[data-testid=stMultiSelect]", has=box)

        def grouped():
            self.idle()
            chosen = around.locator("[data-tag]").evaluate_all("tags => tags.map(tag => tag.ariaLabel)")
            if chosen == [group]:
                return True
            if chosen:
                around.get_by_role("button", name="Clear all").click()
            self._pick(box, group)
            self.page.wait_for_timeout(300)
            return False

        self.until(grouped, f"{group!r} as the first group")
        self.page.keyboard.press("Escape")

    def assign(self, sensitive, group, **columns):
        """Say on the Data page what these columns are, what the label's values mean and who is the first group.

        Which outcome is good for the person is the positive one, unless it is given.
        """
        values = {role: columns.pop(role) for role in ("positive", "favourable") if role in columns}
        for role, column in {**columns, "sensitive": sensitive}.items():
            box = self.page.get_by_role("combobox", name=f"Role of {escape(column)}", exact=True)
            self._unfold(box, self.page.locator("summary").filter(has_text="more features"))
            self._choose(box, COLUMN_ROLES[role])
        for kind in ("outcome", "attribute"):  # the guesses are right
            self.idle()
            question = self.page.locator(f"[class*=st-key-answer_{kind}]").get_by_role("radio")
            if question.count():
                question.last.click()
        if "positive" in values:
            values.setdefault("favourable", values["positive"])
        for role, value in values.items():
            self.answer(role, value)
        self.regroup(group)
        self.press("use_roles")
        self.finding_with("erdict", "released:")
        self.go("Data")

    def answer(self, role, value):
        """Choose a value of the label on the Data page: for what the score predicts, or what is good for a person."""
        line = self.keyed(f"gate_{role}")
        self.idle()
        if line.get_by_role("radio").count():
            self.segment(f"gate_{role}", value)
        else:
            self._choose(line.locator("input").first, value)

    def bring_people(self, content, *, group="F"):
        """Upload a table of `tests.browser.tables.people` on the Data page and say what its columns are."""
        self.finding_with("%")
        self.bring_predictions("people.csv", content, label="hired", positive="yes", sensitive="sex", group=group)

    def bring_predictions(self, name, content, *, sensitive, group, **columns):
        """Upload a table with a model's answers on the Data page, and say what its columns are, by label's key."""
        self.give("upload", name, content)
        self.finding_with(name, "until you press")
        self.assign(sensitive, group, **columns)
        self.finding_with("%", f"= {columns['positive']} for")

    def enter(self, key, value):
        self.field(key).fill(value)
        self.field(key).press("Enter")

    def entered(self, key, value):
        """Enter a text; return whether it is there after the run that follows, as a field drawn anew loses it."""
        self.enter(key, value)
        self.page.wait_for_timeout(200)  # the server hears of it a moment later
        self.idle()
        return self.field(key).input_value() == value

    def press(self, key):
        self.keyed(key).get_by_role("button").first.click()

    def clicked(self, target):
        """Click what may go by itself; return whether it was there for long enough."""
        try:
            target.click(timeout=3000)
        except TimeoutError:
            return False
        return True

    def halt(self, cancel):
        """Press this button unless the work ends by itself first; return whether it was, once the work is over."""
        work, pressed = self.keyed(cancel), False

        def decided():
            nonlocal pressed
            pressed = work.count() > 0 and self.clicked(work.get_by_role("button"))
            return pressed or not work.count()

        self.idle()
        self.until(decided, f"{cancel} to be pressed or gone")
        self.gone(work)
        self.idle()
        return pressed

    def segment(self, key, name):
        radio = self.keyed(key).get_by_role("radio", name=name, exact=True).first  # two while it is drawn anew
        radio.click()
        expect(radio).to_have_attribute("aria-checked", "true")
        self.idle()

    def give(self, key, name, content):
        """Give a file to the upload box with this key, without putting it on this machine's disk."""
        file = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
        self.keyed(key).locator("input[type=file]").set_input_files(file)

    def stop_training(self):
        """Stop the models that Correction trains in the background; they slow down whatever is tested next."""
        cancel, ended = self.keyed("cancel_sweep"), self.keyed("start_sweep")

        def over():
            return ended.count() > 0 or len(self.trained()) >= 15  # of all tolerances as many come at least

        self.until(lambda: cancel.count() > 0 or over(), "the models under way")
        self.halt("cancel_sweep")
        self.until(over, "the models stopped, or all of them trained")

    # Waiting and judging

    def idle(self):
        app = self.page.locator("[data-testid=stApp][data-test-script-state=notRunning]")
        self.until(lambda: app.count() > 0, "the end of the page's run")

    def finding_with(self, *phrases):
        """Wait until no script runs and the finding holds these words, or a percentage if none are given."""
        required = list(phrases or ("%",))
        texts = []

        def written():
            text = self._read(FINDING_SCRIPT, required)
            texts.extend([] if text is None else [str(text)])
            return bool(texts)

        try:
            self.until(written, f"a finding with {phrases}")
        except AssertionError:
            raise AssertionError(f"no finding with {phrases} but {self.finding.all_inner_texts()}") from None
        return texts[0]

    def gone(self, target):
        self.until(lambda: target.count() == 0, f"the end of {target}")

    def wait_for(self, target):
        self.until(target.is_visible, f"{target}")

    def until(self, check, what):
        """Wait until a check holds: a minute from each step of the page's work that it shows."""
        wait_until(check, what, lambda: self._read(PROGRESS), lambda: self.page.wait_for_timeout(100))

    def _read(self, script, *arguments):
        """Return what a script reads off the page; None while the browser is on its way to another one."""
        try:
            return self.page.evaluate(script, *arguments)
        except Error as error:
            if "context was destroyed" not in error.message:
                raise
            return None

    def steady(self, read, what):
        """Wait until a reading is not empty and has been the same for a while, and return it."""
        readings = []

        def still():
            readings.append(read())
            return bool(readings[-1]) and readings[-6:] == [readings[-1]] * 6

        self.until(still, what)
        return readings[-1]

    def painted(self, count, *, or_more=False):
        """Wait until so many charts are painted, and no more unless more are welcome."""
        self.until(lambda: self.charts.count() == count or (or_more and self.charts.count() > count), f"{count} charts")

    def in_order(self):
        errors = self.page.locator("[data-testid=stException], [data-testid=stAlertContentError]")
        expect(errors).to_have_count(0)
        assert "Something went wrong" not in self.text()

    def fits(self, what):
        """Check that window, main part and charts are not wider than the screen, once all have their places."""

        def fitting():
            return max(self.steady(lambda: self.page.evaluate(WIDER), f"the widths of {what}")) <= 0

        self.until(fitting, f"{what} to fit the screen")

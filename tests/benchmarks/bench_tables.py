"""How long large tables take from upload to the first headline, in a browser: printed, with no limit.

Roles are applied as they are guessed but for the sensitive attribute; the model is trained and attacked. Needs
Chromium; says so and stops where there is none.
"""

from __future__ import annotations

import tempfile
import time

import numpy as np
import pandas as pd
from playwright.sync_api import sync_playwright

from tests.browser.driver import CHROMIUM, LAUNCH_ARGS, Server
from tests.browser.tables import people
from tests.browser.view import View

RECORDS = 1_000_000


def wide(count: int = 100_000, columns: int = 100) -> bytes:
    """Return the people of `tests.browser.tables.people` with further columns of numbers."""
    rows = people(count).decode().splitlines()
    numbers = np.random.default_rng(1).integers(0, 1000, (count, columns))
    more = pd.DataFrame(numbers, columns=[f"n{i}" for i in range(columns)]).to_csv(index=False).splitlines()
    return "\n".join(f"{a},{b}" for a, b in zip(rows, more, strict=True)).encode()


def main() -> None:
    """Print for each table the seconds until roles are guessed, and from there until the first headline."""
    if CHROMIUM is None:
        print("large tables: Chromium is missing")
        return
    made = {"30,000 people": people(30_000), "300,000 people": people(300_000), "1,000,000 people": people(RECORDS)}
    made["100,000 people, 105 columns"] = wide()
    with tempfile.TemporaryDirectory() as folder:
        environment = {"FAIRLEAK_DATA": None, "XDG_CACHE_HOME": folder, "XDG_DATA_HOME": f"{folder}/data"}
        with Server(environment=environment) as server, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=LAUNCH_ARGS)
            for name, content in made.items():
                view = View(browser, server.address)
                view.open("data")
                view.found("%")
                begun = time.perf_counter()
                view.upload("people.csv", content)
                view.found("people.csv", "until you press")
                guessed = time.perf_counter()
                view.assign("sex", "F", label="hired", positive="yes")
                view.found("%", "= yes for")
                view.go("Correction")
                view.found("Publishing the fairness tolerance")
                done = time.perf_counter()
                size = len(content) / 1e6
                print(f"{name} ({size:.0f} MB): roles guessed {guessed - begun:.0f} s, headline {done - guessed:.0f} s")
                view.close()
            browser.close()


if __name__ == "__main__":
    main()

"""The README's pictures, taken anew from the dashboard as it is: ``make pictures``. Needs Chromium.

Each page is opened by itself on the built-in demo, in light mode, and waited for until nothing is under way on it.
"""

import sys

from tests.browser.driver import CHROMIUM, ROOT, Server, chromium
from tests.browser.view import View


def main():
    if CHROMIUM is None:
        print("Pictures need Chromium, and none was found (Debian: apt-get install chromium).", file=sys.stderr)
        return 1
    with Server(environment={"FAIRLEAK_DATA": None}) as server, chromium() as browser:
        for name in ("correction", "bias_queries"):
            view = View(browser, server.address, viewport={"width": 1440, "height": 900}, color_scheme="light")
            view.open(name)
            view.finding_with("%")
            view.gone(view.page.get_by_test_id("stProgress"))
            view.idle()
            view.steady(view.page.screenshot, f"the look of {name}")
            view.in_order()
            file = ROOT / "docs" / "img" / f"{name}.png"
            view.page.screenshot(path=file)
            view.close()
            print(file, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

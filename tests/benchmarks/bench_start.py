"""How long each page of the demo waits on a fresh server: with no prepared results, and with all of them.

*Finding* is when the page's finding is on screen, *settled* when no script has run and no progress has been shown for a
second and a half after. The first start prepares results beside the visits, as it always does; the folder is filled
before the second. ``python -m tests.benchmarks.bench_start FOLDER`` takes a cache folder that is full already, and
leaves the first start out.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Error

from pages.shell.preparation import PAGES, PREPARE
from tests.benchmarks.measuring import verdicts
from tests.browser.driver import CHROMIUM, ROOT, Server, chromium

LONGEST, QUIET = 600.0, 1.5  # seconds after which a page is given up, and of silence after which it is settled

LOOK = """() => {
    const idle = document.querySelector('[data-testid=stApp][data-test-script-state=notRunning]');
    const found = document.querySelector('.st-key-finding h2') || document.querySelector('[data-testid=stMain] h2');
    const bars = document.querySelectorAll('[data-testid=stMain] [data-testid=stProgress]');
    return [!!found && /[^ ]/.test(found.innerText), !!idle && !bars.length];
}"""


def visit(page, address):
    """Return seconds until a page's finding is there, and until it is settled; infinity where that is not reached."""
    begun = time.monotonic()
    page.goto(address, wait_until="commit")
    finding = settled = float("inf")
    while (now := time.monotonic() - begun) < LONGEST:
        try:
            has_finding, is_quiet = page.evaluate(LOOK)
        except Error:  # the page is just being opened
            has_finding = is_quiet = False
        if has_finding:
            finding = min(finding, now)
        settled = min(settled, now) if has_finding and is_quiet else float("inf")
        if now - settled > QUIET:
            return finding, settled
        time.sleep(0.05)
    return finding, float("inf")


def measured(browser, cache, title):
    """Return the times of a fresh server's pages, printed as they come."""
    print(f"{title}: seconds to finding, and until settled", flush=True)
    times = []
    with Server(environment={PREPARE: "on", "XDG_CACHE_HOME": str(cache)}) as server:
        for name in ("overview", "data", *PAGES, "desk", "choose", "learn", "glossary"):
            context = browser.new_context(viewport={"width": 1440, "height": 900})
            finding, settled = visit(context.new_page(), f"{server.address}/{name}")
            context.close()
            times.append((name, finding, settled))
            print(f"  {name:18}{finding:8.1f}{settled:8.1f}", flush=True)
    return times


def fill(cache):
    """Prepare all pages."""
    code = (
        "import tempfile; from pathlib import Path; from pages.shell import prepare, preparation;"
        "from core.store.prepared import ResultWriter;"
        "prepare.prepare(ResultWriter(preparation.version_folder()), Path(tempfile.mkdtemp()))"
    )
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), PREPARE: "on"}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    command = [sys.executable, "-c", code]
    subprocess.run(command, cwd=ROOT, env=environment | threads, check=True, capture_output=True)


def main():
    if CHROMIUM is None:
        print("Starts not measured: no Chromium found (Debian: apt-get install chromium).")
        return
    print(f"load: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        cache = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(folder)
        if len(sys.argv) == 1:
            measured(browser, cache, "first start")
            fill(cache)
        times = measured(browser, cache, "second start")
        for name, finding, end in times:
            verdicts((f"s to the finding of {name}", finding, 3), (f"s until {name} is settled", end, 10))


if __name__ == "__main__":
    main()

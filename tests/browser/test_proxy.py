"""FairLeak behind nginx, with the configuration of the documentation: TLS, a path of its own, uploads, headers."""

import http.client
import shutil
import ssl
import subprocess
from contextlib import closing, suppress
from types import SimpleNamespace

import pytest
from playwright.sync_api import expect

from tests.browser.driver import ROOT, Server, free_port
from tests.browser.signing_in import provider, secrets, sign_in, title
from tests.browser.tables import people
from tests.browser.view import View
from tests.patience import wait_until

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin")
MEGABYTE = 2**20

pytestmark = [
    pytest.mark.skipif(NGINX is None, reason="no nginx found (Debian: apt-get install nginx-light)"),
    pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl found, to make a certificate"),
]


def answer(port, method, path, **headers):
    unchecked = ssl._create_unverified_context()  # the certificate is the test's own
    with closing(http.client.HTTPSConnection("localhost", port, timeout=60, context=unchecked)) as connection:
        connection.putrequest(method, path, skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders()
        response = connection.getresponse()
        return SimpleNamespace(status=response.status, headers=response.headers, body=response.read())


def configure(folder, port, plain, behind):
    """Write nginx's whole configuration: the documentation's file, with ports and certificate of the test's own."""
    configuration = (ROOT / "docs" / "how-to" / "nginx.conf").read_text()
    for before, after in {
        "127.0.0.1:8600": f"127.0.0.1:{behind}",
        "listen 80;": f"listen 127.0.0.1:{plain};",
        "listen 443 ssl;": f"listen 127.0.0.1:{port} ssl;",
        "/etc/ssl/certs/audit.example.org.pem": f"{folder}/own.pem",
        "/etc/ssl/private/audit.example.org.key": f"{folder}/own.key",
        "server_name audit.example.org;": "server_name localhost;",
    }.items():
        assert before in configuration, before
        configuration = configuration.replace(before, after)
    (folder / "site.conf").write_text(configuration)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "\n".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    (folder / "nginx.conf").write_text(
        f"daemon off;\npid {folder}/nginx.pid;\nerror_log {folder}/error.log;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{places}\ninclude {folder}/site.conf;\n}}\n"
    )


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    """Where nginx listens, with FairLeak behind it."""
    folder = tmp_path_factory.mktemp("nginx")
    subject = ["-subj", "/CN=localhost", "-keyout", f"{folder}/own.key", "-out", f"{folder}/own.pem"]
    request = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject]
    subprocess.run(request, check=True, capture_output=True)
    port, plain = free_port(), free_port()
    with provider() as at:
        secrets_file = secrets(folder / "secrets.toml", at, redirect=f"https://localhost:{port}/fairleak")
        environment = {"STREAMLIT_SECRETS_FILES": secrets_file, "STREAMLIT_SERVER_BASE_URL_PATH": "fairleak"}
        environment["FAIRLEAK_DATA"] = None
        with Server(environment=environment, path="fairleak") as server:
            configure(folder, port, plain, server.port)
            command = [str(NGINX), "-p", str(folder), "-c", str(folder / "nginx.conf")]
            process = subprocess.Popen([*command, "-e", f"{folder}/error.log"])

            def answers():
                assert process.poll() is None, (folder / "error.log").read_text()
                with suppress(OSError):
                    return answer(port, "GET", "/fairleak/_stcore/health").body == b"ok"

            wait_until(answers, "nginx")
            yield port
            process.terminate()
            process.wait(15)


@pytest.fixture
def view(browser, port):
    view = View(browser, f"https://localhost:{port}/fairleak", ignore_https_errors=True)
    yield view
    view.close()


def test_a_deep_link_signs_in_and_tables_go_up_to_the_limit(view, tmp_path):
    view.open("data?tolerance=0.2")
    sign_in(view, "olga")
    title(view, "Data")
    assert view.page.url == f"{view.address}/data?tolerance=0.2"
    view.give("upload", "people.csv", people())
    view.finding_with("people.csv", "until you press")
    large = tmp_path / "large.csv"
    with large.open("wb") as file:
        file.truncate(201 * MEGABYTE)
    view.page.get_by_role("button", name="Another file").click()
    view.keyed("upload").locator("input[type=file]").set_input_files(large)
    expect(view.page.get_by_text("File must be 200.0MB or smaller.")).to_be_visible()
    view.go("Glossary")
    assert view.page.url.startswith(f"{view.address}/glossary")


def test_nginx_ends_what_is_too_large_and_says_what_it_should(port):
    upload = "/fairleak/_stcore/upload_file/a/b"
    assert answer(port, "PUT", upload, Content_Length=str(202 * MEGABYTE)).status == 413
    assert answer(port, "PUT", upload, Content_Length="0").status == 403  # nobody is signed in
    first = answer(port, "GET", "/fairleak/")
    assert first.status == 200
    assert first.headers["strict-transport-security"] == "max-age=31536000"
    assert first.headers["x-content-type-options"] == "nosniff"
    assert "frame-ancestors 'none'" in first.headers["content-security-policy"]
    assert answer(port, "GET", "/fairleak").headers["location"].endswith("/fairleak/")
    assert answer(port, "GET", "/fairleak/_stcore/metrics").status == 404
    assert answer(port, "GET", "/fairleak/", Host="elsewhere.example.org").status == 403

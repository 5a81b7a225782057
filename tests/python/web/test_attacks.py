"""What must be refused, tried on a real server: without a key, from elsewhere, out of bounds.

test_floods has requests that are too many or too large.
"""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from serving import DEADLINE_S, Server, long_suite, read_start, suite
from strider.engine import Engine
from strider.web.guard import HEADERS, IDLE_S, LONGEST_S, Keys
from strider.web.runs import FILES

ADDRESSES = [
    ("GET", "/"),
    ("GET", "/configure"),
    ("GET", "/runs"),
    ("GET", "/runs/x"),
    ("GET", "/stream"),
    ("GET", "/stream?run=x"),
    ("POST", "/api/streams/x"),
    ("GET", "/runs/x/report"),
    ("GET", "/runs/x/exports"),
    ("GET", "/runs/x/files/run.json"),
    ("GET", "/jobs/x"),
    ("GET", "/compare?run=x&run=y"),
    ("GET", "/static/style.css"),
    ("GET", "/api/description"),
    ("GET", "/api/gallery"),
    ("POST", "/api/cards"),
    ("POST", "/api/runs/x/labels"),
    ("POST", "/api/runs/x/delete"),
    ("GET", "/api/suites/load"),
    ("GET", "/api/jobs"),
    ("GET", "/api/jobs/x"),
    ("POST", "/api/suite"),
    ("POST", "/api/picture"),
    ("POST", "/api/plan"),
    ("POST", "/api/suites"),
    ("POST", "/api/jobs"),
    ("POST", "/api/jobs/x/cancel"),
]
"""Every address of the server."""


# --- without a key


@pytest.mark.parametrize(("method", "path"), ADDRESSES)
def test_nothing_is_reported_without_a_session(server: Server, method: str, path: str) -> None:
    assert server.ask(method, path, {}, cookie="").status == 401


@pytest.mark.parametrize("value", ["", "x", "é", "a" * 4000])
def test_a_guessed_session_is_no_session(server: Server, value: str) -> None:
    name = server.cookie.partition("=")[0]
    assert server.ask("GET", "/runs", cookie=f"{name}={value}".encode().decode("latin-1")).status == 401


@pytest.mark.parametrize("token", ["", "x", "%00", "%ff"])
def test_a_guessed_token_opens_nothing(server: Server, token: str) -> None:
    answer = server.ask("GET", f"/enter?token={token}", cookie="")
    assert (answer.status, answer.headers.get("set-cookie")) == (401, None)


def test_a_token_is_good_once(server: Server) -> None:
    assert server.ask("GET", server.entrance, cookie="").status == 401


@pytest.mark.parametrize(
    ("method", "header"),
    [
        ("HEAD", {}),
        ("POST", {}),
        ("GET", {"sec_purpose": "prefetch;prerender"}),
        ("GET", {"purpose": "prefetch"}),
        ("GET", {"x_moz": "prefetch"}),
        ("GET", {"sec_fetch_dest": "image"}),
    ],
)
def test_only_a_visit_uses_a_token_up(
    method: str, header: dict[str, str | None], engine: Engine, tmp_path: Path
) -> None:
    with Server(engine, tmp_path / "a", tmp_path / "s") as started:
        looked = started.ask(method, started.entrance, {} if method == "POST" else None, cookie="", **header)
        assert (looked.status, looked.headers.get("set-cookie")) == (405, None)
        assert started.enter().status == 200


def test_a_session_can_be_ended_and_its_stream_with_it(engine: Engine, tmp_path: Path) -> None:
    with Server(engine, tmp_path / "a", tmp_path / "s") as started:
        started.enter()
        with started.connect() as stream:
            head = (
                f"GET /stream HTTP/1.1\r\nhost: 127.0.0.1:{started.port}\r\ncookie: {started.cookie}\r\n\r\n"
            )
            stream.sendall(head.encode())
            assert stream.recv(12) == b"HTTP/1.1 200"
            assert started.ask("POST", "/api/leave", {}, origin=None).status == 403
            assert started.ask("GET", "/runs").status == 200
            assert started.ask("POST", "/api/leave", {}).status == 200
            assert started.ask("GET", "/runs").status == 401
            stream.settimeout(DEADLINE_S)
            received = b" "
            while received:
                received = stream.recv(1 << 16)


def test_a_session_ends_by_itself() -> None:
    now = 0.0
    keys = Keys(used=lambda: None, clock=lambda: now)
    idle, busy = (keys.exchange(keys.new_token()) or "" for _ in range(2))
    for _ in range(6):
        now += IDLE_S * 0.9
        assert keys.use(busy)
    assert not keys.is_open(idle)
    while now < LONGEST_S:
        keys.use(busy)
        now += IDLE_S * 0.9
    assert not keys.use(busy)


def test_looking_whether_a_session_is_open_does_not_keep_it_open() -> None:
    now = 0.0
    keys = Keys(used=lambda: None, clock=lambda: now)
    session = keys.exchange(keys.new_token()) or ""
    now = IDLE_S * 0.9
    assert keys.is_open(session)
    now = IDLE_S * 1.1
    assert not keys.is_open(session)


def test_the_terminal_shows_another_token_when_one_is_used(engine: Engine, tmp_path: Path) -> None:
    with Server(engine, tmp_path / "a", tmp_path / "s") as started:
        started.enter()
        assert started.process.stderr is not None
        other = (
            started.process.stderr.readline()
            .rpartition("127.0.0.1:")[2]
            .strip()
            .removeprefix(str(started.port))
        )
        first, second = (started.ask("GET", other, cookie="").status for _ in range(2))
    assert (first, second) == (200, 401)


def test_the_page_on_entering_names_the_icon_so_that_no_browser_asks_for_another(
    engine: Engine, tmp_path: Path
) -> None:
    with Server(engine, tmp_path / "a", tmp_path / "s") as started:
        assert 'href="/static/icon.svg"' in started.enter().text
        assert started.ask("GET", "/static/icon.svg").status == 200


def test_the_cookie_is_kept_from_scripts_and_other_sites(engine: Engine, tmp_path: Path) -> None:
    with Server(engine, tmp_path / "a", tmp_path / "s") as started:
        cookie = started.enter().headers["set-cookie"].casefold()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


# --- from elsewhere


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example",
        "evil.example:80",
        "evil@127.0.0.1",
        "",
        "[::1",
        "0.0.0.0",
        None,
    ],
)
def test_a_foreign_host_is_refused(server: Server, host: str | None) -> None:
    assert server.ask("GET", "/runs", host=host).status in (400, 421)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1"])
def test_a_foreign_origin_is_refused(server: Server, origin: str) -> None:
    assert server.ask("GET", "/runs", origin=origin).status == 403
    assert server.ask("POST", "/api/suite", {"text": ""}, origin=origin).status == 403


def test_a_change_must_say_where_it_comes_from(server: Server) -> None:
    assert server.ask("POST", "/api/suites", {"text": ""}, origin=None).status == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_requests_of_other_sites_are_refused_though_they_bear_the_cookie(server: Server, site: str) -> None:
    assert server.ask("GET", "/runs", sec_fetch_site=site).status == 403


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", None]
)
def test_what_a_form_of_another_site_can_send_is_refused(server: Server, kind: str | None) -> None:
    answer = server.ask("POST", "/api/jobs", {"text": suite(server.allowed)}, content_type=kind)
    assert answer.status == 415


@pytest.mark.parametrize(("method", "path"), [*ADDRESSES, ("GET", "/nothing"), ("POST", "/runs")])
@pytest.mark.parametrize("key", ["with", "without"])
def test_every_answer_forbids_foreign_scripts_frames_and_guesses(
    server: Server, method: str, path: str, key: str
) -> None:
    answer = server.ask(method, path, {}, cookie=None if key == "with" else "")
    assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
    assert "unsafe" not in answer.headers["content-security-policy"]


# --- out of bounds


def target_of(server: Server, name: str) -> str:
    """A target outside of the allowed directories, by several ways."""
    outside = server.store.parent / "outside"
    outside.mkdir(exist_ok=True)
    link = server.allowed / "link"
    if not link.is_symlink():
        link.symlink_to(outside)
    return {
        "beside": str(outside),
        "above": f"{server.allowed}/../outside",
        "through a link": str(link),
        "a longer name": f"{server.allowed}-outside",
        "home": "~",
        "root": "/",
        "relative": ".",
    }[name]


@pytest.mark.parametrize(
    "way", ["beside", "above", "through a link", "a longer name", "home", "root", "relative"]
)
def test_a_target_outside_of_what_is_allowed_is_refused(server: Server, way: str) -> None:
    text = suite(Path(target_of(server, way)))
    text = text.replace(json.dumps(str(Path(target_of(server, way)))), json.dumps(target_of(server, way)))
    answer = server.ask("POST", "/api/jobs", {"text": text})
    assert answer.status == 400
    assert "outside the permitted directories" in answer.json()["message"]
    seen = server.ask("POST", "/api/suite", {"text": text}).json()
    assert [finding["severity"] for finding in seen["plan"]["findings"]] == ["error"]
    assert not list((server.store.parent / "outside").iterdir())


def test_a_link_that_leads_out_only_when_the_run_begins_is_not_followed(
    engine: Engine, tmp_path: Path
) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "allowed" / "inside"
    with Server(engine, tmp_path / "allowed", tmp_path / "store") as started:
        started.enter()
        inside.mkdir()
        outside.mkdir()
        first = started.submit(long_suite(started.allowed))
        second = started.submit(suite(inside))
        inside.rmdir()
        inside.symlink_to(outside)
        started.ask("POST", f"/api/jobs/{first}/cancel", {})
        ended = started.job(second, "done", "failed")
        started.stop(signal.SIGTERM)
    assert ended["state"] == "failed"
    assert "outside the permitted directories" in ended["output"]
    assert not list(outside.iterdir())


@pytest.mark.parametrize("way", ["beside", "through a link", "a device"])
def test_a_file_outside_of_what_is_allowed_is_refused_before_it_is_opened(server: Server, way: str) -> None:
    secret = server.store.parent / "secret.csv"
    secret.write_text("root:secret:0\n", encoding="utf-8")
    link = server.allowed / "link.csv"
    if not link.is_symlink():
        link.symlink_to(secret)
    name = {"beside": secret, "through a link": link, "a device": "/dev/zero"}[way]
    text = suite(server.allowed).replace('pattern = "strided"', f'pattern = "list"\nfile = "{name}"')
    text = text.replace('transfer = "4KiB"\ncount = 8\n', "")
    for path in ("/api/jobs", "/api/plan", "/api/suites"):
        answer = server.ask("POST", path, {"text": text})
        assert answer.status == 400
        assert "is outside the permitted directories" in answer.json()["message"]
    (mistake,) = server.ask("POST", "/api/suite", {"text": text}).json()["mistakes"]
    assert (mistake["key"], mistake["case"]) == ("file", 0)
    assert "secret:0" not in mistake["message"]


OUTSIDE = ["..", "%2e%2e", "..%2f..", "../../etc", ".jobs", ".", "%2fetc", "x%00", "", "*", "suites"]


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_run_id_leads_nowhere_else(server: Server, name: str) -> None:
    (server.store.parent / "run.json").write_text("{}")
    for rest in ("", "/report", "/exports", "/files/run.json"):
        answer = server.ask("GET", f"/runs/{name}{rest}")
        assert answer.status in (303, 307, 404), (name, rest)
        if answer.status != 404:
            assert answer.headers["location"] in ("/configure", f"{server.address}/runs", "/runs")


def a_run(server: Server) -> str:
    """A run of the server, made by it."""
    for path in server.store.glob("*/run.json"):  # other tests leave links, and some that were never finished
        if not path.parent.is_symlink() and json.loads(path.read_text()).get("status") == "complete":
            return path.parent.name
    return str(server.job(server.submit(suite(server.allowed)), "done")["run"])


@pytest.mark.parametrize(
    "name",
    [
        "../run.json",
        "%2e%2e%2frun.json",
        "..",
        "nothing",
        "run.json%00.html",
        "%2fetc%2fpasswd",
        "plan.json/",
    ],
)
def test_a_file_name_leads_nowhere_else(server: Server, name: str) -> None:
    assert server.ask("GET", f"/runs/{a_run(server)}/files/{name}").status in (307, 404)


def test_links_in_a_run_directory_are_not_followed(server: Server) -> None:
    secret = server.store.parent / "secret"
    secret.write_text("secret")
    run = server.store / a_run(server)
    (run / "ranks.parquet").unlink(missing_ok=True)
    (run / "ranks.parquet").symlink_to(secret)
    assert server.ask("GET", f"/runs/{run.name}/files/ranks.parquet").status == 404
    (run / "ranks.parquet").unlink()
    # Not even where the report is made again each time.
    (run / "report.html").unlink(missing_ok=True)
    (run / "report.html").symlink_to(secret)
    os.utime(secret)
    assert "secret" not in server.ask("GET", f"/runs/{run.name}/report").text
    assert secret.read_text() == "secret"
    (run / "report.html").unlink(missing_ok=True)
    os.mkfifo(run / "report.html")
    assert server.ask("GET", f"/runs/{run.name}/files/report.html").status == 404
    (run / "report.html").unlink()
    (server.store / "linked").symlink_to(run)
    assert server.ask("GET", "/runs/linked").status == 404


def test_files_of_runs_are_downloads_of_their_kind(server: Server) -> None:
    run = a_run(server)
    for name in FILES:
        answer = server.ask("GET", f"/runs/{run}/files/{name}")
        if answer.status == 200:
            assert answer.headers["content-type"] == FILES[name]
            assert answer.headers["content-disposition"].startswith("attachment")


@pytest.mark.parametrize("name", ["..%2f..%2fx", "%2e%2e", "x%2fy", ".%00"])
def test_a_suite_name_leads_nowhere_else(server: Server, name: str) -> None:
    assert server.ask("GET", f"/api/suites/{name}").status in (400, 404)


def test_a_kept_suite_cannot_be_named_out_of_its_folder(server: Server) -> None:
    for name in ("../x", "/etc/x", "x/y", "", "a" * 65, "..", ".", ".x", "-x"):
        answer = server.ask("POST", "/api/suites", {"text": suite(server.allowed, name=name)})
        assert answer.status == 400, name
    kept = server.ask("POST", "/api/suites", {"text": suite(server.allowed, name="x..")})
    assert kept.json() == {"name": "x.."}
    assert [file.name for file in (server.store / "suites").iterdir()] == ["x...toml"]


@pytest.mark.parametrize(
    "path", ["/static/../guard.py", "/static/%2e%2e/guard.py", "/static/..%2fguard.py", "/static/"]
)
def test_static_files_are_those_of_the_folder(server: Server, path: str) -> None:
    assert server.ask("GET", path).status == 404


@pytest.mark.parametrize(
    "query",
    ["run=..&run=x", "run=x", "run=%2fetc&by=interface", "run=--help&run=-o", "run=x&by=--output%3Dx", ""],
)
def test_a_comparison_is_of_runs_of_the_store_and_by_a_key(server: Server, query: str) -> None:
    assert server.ask("GET", f"/compare?{query}").status in (400, 404)


# --- what users typed


MARKUP = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'


def test_markup_in_what_was_typed_stays_text_on_every_page(server: Server) -> None:
    run = server.store / a_run(server)
    evil = server.store / "2026-01-01-000000-evil-aaaa"
    evil.mkdir()
    for name in ("plan.json", "run.json"):
        document = json.loads((run / name).read_text())
        if name == "plan.json":
            document["suite"] = {"name": MARKUP, "description": MARKUP}
            document["cases"][0]["name"] = MARKUP
            document["cases"][0]["pattern"]["name"] = MARKUP
        else:
            document |= {"directory": MARKUP, "status": MARKUP}
            document["environment"] |= {"host": MARKUP, "target": {"path": MARKUP}}
        (evil / name).write_text(json.dumps(document))
    (evil / "events.jsonl").write_bytes((run / "events.jsonl").read_bytes())
    (evil / "suite.toml").write_text(f"# {MARKUP}\n")
    pages = {
        "/runs": server.ask("GET", "/runs"),
        "search": server.ask("GET", f"/runs?q={MARKUP.replace(' ', '%20')}"),
        "run": server.ask("GET", f"/runs/{evil.name}"),
        "configure": server.ask("GET", f"/configure?run={evil.name}&suite={MARKUP.replace(' ', '%20')}"),
        "report": server.ask("GET", f"/runs/{evil.name}/report"),
        "no job": server.ask("GET", "/jobs/<script>alert(1)"),
    }
    for name, answer in pages.items():
        assert "<script>alert" not in answer.text, name
        assert "<img src=x" not in answer.text, name
        assert answer.text.count("alert(1)") > 0, f"{name} does not show it at all"


def test_what_a_suite_says_never_reaches_a_shell(server: Server) -> None:
    mark = server.store.parent / "mark"
    odd = server.allowed / f"$(touch {mark.name}) ; touch mark"
    odd.mkdir(exist_ok=True)
    text = suite(odd, case='name = "`touch mark`; $(touch mark)"')
    job = server.submit(text)
    assert server.job(job, "done", "failed")["state"] == "done"
    assert not list(server.store.parent.rglob("mark"))
    assert not Path("mark").exists()


def test_a_report_runs_no_script(server: Server) -> None:
    answer = server.ask("GET", f"/runs/{a_run(server)}/report")
    assert answer.status == 200, answer.text
    policy = answer.headers["content-security-policy"]
    assert "sandbox" in policy
    assert "default-src 'none'" in policy
    assert "script" not in policy.replace("script-src 'none'", "")


# --- the socket


def test_a_unix_socket_is_its_owners_alone(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "web.sock"
    command = [
        sys.executable,
        "-I",
        "-m",
        "strider",
        "serve",
        "--allow",
        str(tmp_path),
        "--socket",
        str(path),
    ]
    environment = {**os.environ, "STRIDER_ENGINE": str(engine.path), "STRIDER_STORE": str(tmp_path / "store")}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        try:
            read_start(process)
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(DEADLINE_S)
                connection.connect(str(path))
                connection.sendall(b"GET /runs HTTP/1.1\r\nhost: localhost\r\n\r\n")
                assert connection.recv(12) == b"HTTP/1.1 401"
        finally:
            process.terminate()
    assert not path.exists()


def serve_on(path: Path, engine: Engine, allowed: Path) -> "subprocess.Popen[str]":
    command = ["-m", "strider", "serve", "--allow", str(allowed), "--socket", str(path)]
    environment = {**os.environ, "STRIDER_ENGINE": str(engine.path), "STRIDER_STORE": str(allowed / "store")}
    return subprocess.Popen(
        [sys.executable, "-I", *command], stderr=subprocess.PIPE, text=True, env=environment
    )


@pytest.mark.parametrize("depth", ["", "below"])
def test_a_socket_that_others_may_replace_is_refused(depth: str, engine: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "everybodys"
    (folder / depth).mkdir(parents=True)
    folder.chmod(0o777)
    with serve_on(folder / depth / "web.sock", engine, tmp_path) as process:
        _, said = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 2
    assert "other users can replace the socket" in said
    assert not (folder / depth / "web.sock").exists()


def test_a_socket_in_a_folder_for_temporary_files_gets_a_warning(engine: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    folder.chmod(0o1777)
    with serve_on(folder / "web.sock", engine, tmp_path) as process:
        said = read_start(process)
        process.terminate()
    assert any("warning" in line and "all users can write" in line for line in said)


def test_a_file_that_is_no_list_is_not_quoted(server: Server) -> None:
    secret = server.allowed / "shadow"
    secret.write_text("root:$6$abcdefgh:19000:0:99999:7:::\n")
    text = (
        suite(server.allowed)
        .replace('"strided"', '"list"')
        .replace('transfer = "4KiB"\ncount = 8', f'file = "{secret}"')
    )
    for path, body in (("/api/suite", {"text": text}), ("/api/jobs", {"text": text})):
        said = server.ask("POST", path, body).text
        assert "is not a header" in said
        assert "abcdefgh" not in said

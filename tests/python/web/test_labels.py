"""Tags, notes and results in the list of runs, and deleting a run."""

from pathlib import Path

import pytest

from builders import MIB, CaseSpec, RunBuilder
from serving import Server, long_suite
from strider.report import write_html
from strider.store import load
from strider.store.labels import read_labels, write_labels
from strider.web.runs import Runs


def made(store: Path, name: str, status: str | None = "complete") -> Path:
    return RunBuilder([CaseSpec()], suite=name).write(store / f"2026-11-01-101112-{name}-abcd", status=status)


def test_labels_are_kept_and_a_damaged_file_is_none(tmp_path: Path) -> None:
    run = made(tmp_path, "alpha")
    assert write_labels(run, " slow, slow new ", " why \n").tags == ["slow", "new"]
    assert read_labels(run).note == "why"
    (run / "labels.json").write_text("{")
    assert read_labels(run).tags == []


def test_a_listed_run_has_what_its_report_answers(tmp_path: Path) -> None:
    run = made(tmp_path, "alpha")
    runs = Runs(tmp_path)
    assert runs.summary(run.name).headline == ""
    write_html([load(run)], run / "report.html")
    listed = runs.summary(run.name)
    assert listed.headline == "no trusted result (best grade: C short, verified)"
    assert listed.interfaces == ("posix",)
    assert listed.took_s is not None
    write_labels(run, "old-disk", "with <b>")
    assert runs.found("old-disk posix") == [run.name]
    assert runs.found("mpiio") == []


def test_a_run_with_a_trusted_result_and_no_headline_says_so(tmp_path: Path) -> None:
    """Three long and steady repetitions have grade B, but a headline needs five."""
    builder = RunBuilder([CaseSpec(operations=("write",), common={"verify": "off"})])
    builder.client_bytes = 2048 * MIB
    run = builder.write(tmp_path / "2026-11-01-101112-alpha-abcd")
    write_html([load(run)], run / "report.html")
    assert Runs(tmp_path).summary(run.name).headline == "no headline (best grade: B 3 repetitions, spread)"


def test_tags_and_notes_from_the_page_are_text(server: Server) -> None:
    run = made(server.store, "noted")
    path = f"/api/runs/{run.name}/labels"
    answer = server.ask("POST", path, {"tags": "<i>x</i>", "note": "<script>"})
    assert answer.json() == {"tags": ["<i>x</i>"], "note": "<script>"}
    for page in ("/runs", f"/runs/{run.name}"):
        text = server.ask("GET", page).text
        assert "&lt;script&gt;" in text
        assert "<i>x" not in text
    assert server.ask("POST", path, {"note": "x" * 5000}).status == 400
    assert server.ask("POST", "/api/runs/none/labels", {"note": "x"}).status == 400


def test_a_run_is_deleted_alone(server: Server) -> None:
    run, other = made(server.store, "gone"), made(server.store, "stays")
    (run / "outside").symlink_to(other)
    assert server.ask("POST", f"/api/runs/{run.name}/delete", {}).status == 200
    assert not run.exists()
    assert (other / "run.json").is_file()
    assert not list(server.store.glob(".deleted*"))
    assert server.ask("POST", f"/api/runs/{run.name}/delete", {}).status == 400


@pytest.mark.parametrize("name", ["..", ".jobs", "suites", "%2e%2e"])
def test_nothing_but_a_run_is_deleted(server: Server, name: str) -> None:
    (server.store / "suites").mkdir(exist_ok=True)
    assert server.ask("POST", f"/api/runs/{name}/delete", {}).status in (400, 404, 405)
    assert (server.store / "suites").is_dir()


def test_an_active_run_is_not_deleted(server: Server) -> None:
    unfinished = made(server.store, "open", status=None)
    answer = server.ask("POST", f"/api/runs/{unfinished.name}/delete", {})
    assert "may be active" in answer.json()["message"]
    job = server.submit(long_suite(server.allowed))
    run = server.started(job)
    assert "is active" in server.ask("POST", f"/api/runs/{run}/delete", {}).json()["message"]
    server.quiet()
    assert (server.store / run).is_dir()

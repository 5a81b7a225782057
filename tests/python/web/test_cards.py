"""The card of a directory from the page: `strider quick`, within the allowed directories."""

import json
import re
from pathlib import Path

import pytest

import report_runs
from serving import Server
from strider.card import read_card


@pytest.mark.slow
def test_a_card_is_measured_followed_and_shown(server: Server) -> None:
    order = {"directory": str(server.allowed), "budget": "5s"}
    answer = server.ask("POST", "/api/cards", order)
    assert answer.status == 201, answer.text
    ended = server.job(answer.json()["job"], "done", "failed")
    assert ended["run"], ended["output"]
    directory = server.store / ended["run"]
    command = " ".join(json.loads((directory / "run.json").read_text())["command"])
    assert f"--within {server.allowed.resolve()} " in command
    assert "--confine" in command
    card = read_card(directory)
    assert card
    page = server.ask("GET", f"/runs/{ended['run']}").text
    assert "Storage card" in page
    assert all(line.label in page for line in card.lines if line.rate)
    assert not list(server.allowed.iterdir())


@pytest.mark.parametrize(
    ("directory", "budget", "message"),
    [
        ("/", "60s", "outside the permitted directories"),
        ("{allowed}/../store", "60s", "outside the permitted directories"),
        ("{allowed}/none", "60s", "does not exist"),
        ("{allowed}", "1s", "not within 5 s and 3600 s"),
        ("{allowed}", "--help", "budget: "),
    ],
)
def test_what_cannot_be_measured_is_refused_before_it_waits(
    directory: str, budget: str, message: str, server: Server
) -> None:
    order = {"directory": directory.format(allowed=server.allowed), "budget": budget}
    answer = server.ask("POST", "/api/cards", order)
    assert answer.status == 400
    assert message in answer.json()["message"]


def test_the_page_of_a_card_has_its_sentence_and_its_grades(server: Server) -> None:
    run = report_runs.make("card", server.store)
    named = server.store / "2026-11-01-101112-quick-card"
    run.directory.rename(named)
    card = read_card(named)
    assert card
    page = server.ask("GET", f"/runs/{named.name}").text
    assert card.verdict in page
    grades = re.findall(r'class="grade (\w)"', page)
    assert grades == [line.grade for line in card.lines if line.rate]


def test_every_workload_of_the_gallery_has_a_picture_and_a_suite_without_mistakes(server: Server) -> None:
    workloads = server.ask("GET", "/api/gallery").json()
    assert len(workloads) == 9
    for one in workloads:
        assert one["picture"].get("ranks") or one["picture"]["items"]
        text = json.loads(
            re.search(
                r'id="start">(.*?)</script>', server.ask("GET", f"/configure?workload={one['name']}").text
            )[1]  # type: ignore[index]
        )["text"]
        answer = server.ask("POST", "/api/suite", {"text": text}).json()
        assert answer["mistakes"] == [], one["name"]
        assert f'name = "{one["name"]}"' in text


def test_an_unknown_workload_is_the_blank_suite(server: Server) -> None:
    assert server.ask("GET", "/configure?workload=none").status == 200
    assert Path(server.allowed).is_dir()

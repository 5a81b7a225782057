"""`strider serve`: serves the web page."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from strider.console import echo
from strider.running.options import ConfineOption, StoreOption


def serve(
    allow: Annotated[
        list[str],
        typer.Option(
            "--allow",
            metavar="DIR",
            help="Directory that may be measured, including all below it. May be repeated.",
        ),
    ],
    allow_place: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-place",
            metavar="KEY=VALUE",
            help="Host, URL, volume or file that suites may name, for example gfapi.server=io1. May be "
            "repeated.",
        ),
    ] = None,
    port: Annotated[
        int,
        typer.Option(
            "--port",
            metavar="PORT",
            min=0,
            max=65535,
            help="Port on the loopback interface; 0: any free port.",
        ),
    ] = 0,
    socket: Annotated[
        Path | None,
        typer.Option(
            "--socket",
            metavar="PATH",
            help="Listen on this Unix socket instead of a port; only you can connect to it.",
        ),
    ] = None,
    confine: ConfineOption = "require",
    store: StoreOption = None,
) -> None:
    """Serve a web page to configure suites, preview plans, and start, watch and compare runs.

    Prints an address with a one-time token. The page is reachable from this machine only. Use a Unix socket
    (--socket) on shared machines and for remote access through ssh. Suites may measure only the directories
    of --allow, and may name other resources, such as servers, only if --allow-place lists them. Runs are
    queued and executed one at a time. Ctrl-C interrupts the active run as in strider run.
    """
    from strider import engine as engines
    from strider.engine import Engine
    from strider.launch import parse_confine_mode
    from strider.listing.names import store_of
    from strider.suite.places import listed
    from strider.suite.vocabulary import Vocabulary
    from strider.web import server
    from strider.web.site import ENGINE_DEADLINE_S, Site, allowed_directories

    found = Engine(engines.find().path.resolve(), ENGINE_DEADLINE_S)
    places = listed(allow_place or [], Vocabulary.of(found.description))
    site = Site(
        found, store_of(store).absolute(), allowed_directories(allow), parse_confine_mode(confine), places
    )
    server.serve(site, socket or port, lambda line: echo(f"strider: {line}", stream=sys.stderr))

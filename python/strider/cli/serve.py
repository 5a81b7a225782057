"""`strider serve`: the web page."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from strider.cli.options import ConfineOption, StoreOption


def serve(
    allow: Annotated[
        list[str],
        typer.Option(
            "--allow",
            metavar="DIR",
            help="Directory that may be measured, with all below it. May be repeated.",
        ),
    ],
    allow_place: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-place",
            metavar="KEY=VALUE",
            help="A host, URL, volume or file that suites may name: gfapi.server=io1. May be repeated.",
        ),
    ] = None,
    port: Annotated[
        int,
        typer.Option(
            "--port",
            metavar="PORT",
            min=0,
            max=65535,
            help="Port of the loopback interface; 0: one that is free.",
        ),
    ] = 0,
    socket: Annotated[
        Path | None,
        typer.Option(
            "--socket",
            metavar="PATH",
            help="Listen on a unix socket of this path instead, which only you may use.",
        ),
    ] = None,
    confine: ConfineOption = "require",
    store: StoreOption = None,
) -> None:
    """Serve a web page: configure suites, see what they mean, run, watch and compare them.

    It prints an address with a token that is good once. Only this machine can reach it; on machines with
    other users, and from afar by ssh, a unix socket (--socket) is the better way. Only directories named by
    --allow can be measured; other places that suites name, such as servers, are refused unless --allow-place
    lists them. One run goes on at a time, others wait; each is a strider run, and Ctrl-C here
    ends it as Ctrl-C there.
    """
    from strider import engine as engines
    from strider.engine import Engine
    from strider.launch import wish_of
    from strider.launch.rundir import store as store_of
    from strider.suite.places import listed
    from strider.suite.vocabulary import Vocabulary
    from strider.web import server
    from strider.web.site import ENGINE_DEADLINE_S, Site, allowed_directories

    found = Engine(engines.find().path.resolve(), ENGINE_DEADLINE_S)
    places = listed(allow_place or [], Vocabulary.of(found.description))
    site = Site(found, store_of(store).absolute(), allowed_directories(allow), wish_of(confine), places)
    server.serve(site, socket or port, lambda line: print(f"strider: {line}", file=sys.stderr, flush=True))

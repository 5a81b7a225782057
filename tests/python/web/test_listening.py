"""Who can reach the server: this machine alone."""

import socket

from strider.web import server


def test_it_listens_on_the_loopback_interface_and_the_port_that_was_asked_for() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with server._listening(port) as listener:
        assert listener.getsockname() == ("127.0.0.1", port)

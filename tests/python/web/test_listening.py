"""Access to the server: from this machine alone."""

from strider.lab.site import free_ports
from strider.web import server


def test_it_listens_on_the_loopback_interface_and_the_port_that_was_asked_for() -> None:
    (port,) = free_ports(1)
    with server._listening(port) as listener:
        assert listener.getsockname() == ("127.0.0.1", port)

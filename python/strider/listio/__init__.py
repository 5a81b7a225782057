"""Manages volumes of the list-I/O service: start, status, check, stop.

Servers and protocol are C++ programs beside the engine (docs/listio.md). A volume is a directory with the
servers' folders, a file with their addresses, and a file with their processes.
"""

from strider.listio.answers import (
    out_text,
    problems,
    reaches_into_servers,
    require_answers,
    require_servers,
    restart_commands,
    serve_command,
    silent_of,
    volumes,
)
from strider.listio.mounts import (
    MountOptions,
    mount,
    mount_program,
    mounted,
    start_mount,
    unmount,
    unmount_below,
)
from strider.listio.preload import preload_variables
from strider.listio.servers import (
    ServerOptions,
    is_check_advised,
    is_down,
    note_clean_check,
    processes_of,
    serve,
    stop,
)
from strider.listio.temporary import MOUNT, temporary_volume, volume_above
from strider.listio.tool import check, registration, remove_run, scrub, status
from strider.listio.volume import VOLUME_FILE, Volume, read_volume

__all__ = [
    "MOUNT",
    "VOLUME_FILE",
    "MountOptions",
    "ServerOptions",
    "Volume",
    "check",
    "is_check_advised",
    "is_down",
    "mount",
    "mount_program",
    "mounted",
    "note_clean_check",
    "out_text",
    "preload_variables",
    "problems",
    "processes_of",
    "reaches_into_servers",
    "read_volume",
    "registration",
    "remove_run",
    "require_answers",
    "require_servers",
    "restart_commands",
    "scrub",
    "serve",
    "serve_command",
    "silent_of",
    "start_mount",
    "status",
    "stop",
    "temporary_volume",
    "unmount",
    "unmount_below",
    "volume_above",
    "volumes",
]

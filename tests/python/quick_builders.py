"""Invented directories."""

from strider.quick import Place


def place(kind: str = "local", **facts: object) -> Place:
    values = {
        "path": "/scratch",
        "file_system": {"local": "ext4", "memory": "tmpfs"}.get(kind, kind),
        "kind": kind,
        "device": "vda",
        "is_virtual": True,
        "total_bytes": 252 * 10**9,
        "free_bytes": 72 * 10**9,
        "free_files": None,
        "is_direct": True,
        "cores": 2,
        "memory_bytes": 24 * 10**9,
        "available_bytes": 20 * 10**9,
    }
    return Place(**{**values, **facts})  # type: ignore[arg-type]

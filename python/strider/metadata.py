"""What operations of metadata do, where more than one part of Strider asks."""

LOOKUPS = frozenset(
    [
        "access",
        "chdir",
        "close",
        "getxattr",
        "lseek",
        "open",
        "open-close",
        "readdir",
        "readdir-stat",
        "readlink",
        "small-read",
        "stat",
        "stat-directory",
    ]
)
"""Operations that change nothing; clients may answer them from their own caches."""
MAKING = frozenset(["create", "mkdir", "mknod"])
"""Operations that make items, and need none."""

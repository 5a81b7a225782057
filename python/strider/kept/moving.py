"""Gives a file a name, or takes it away, without ever replacing or losing another one."""

import ctypes
import errno
import os
from contextlib import suppress

_NO_REPLACE = 1
_UNSUPPORTED = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM, errno.EXDEV, errno.EMLINK)


def move(name: str, source: int, new_name: str, target: int) -> None:
    """Moves a file to a name that does not exist yet.

    Args:
        name: The file.
        source: Descriptor of its directory.
        new_name: Its new name.
        target: Descriptor of the directory for it, in the same file system.

    Raises:
        FileExistsError: The new name exists; nothing was moved.
        OSError: It cannot be moved.
    """
    try:
        _rename_unless_exists(name, source, new_name, target)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
        _link_or_reserve(name, source, new_name, target)


def _rename_unless_exists(name: str, source: int, new_name: str, target: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    rename = getattr(libc, "renameat2", None)
    if rename is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), new_name)
    if rename(source, os.fsencode(name), target, os.fsencode(new_name), _NO_REPLACE) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), new_name)


def _link_or_reserve(name: str, source: int, new_name: str, target: int) -> None:
    """For file systems that cannot rename without replacing, such as NFS."""
    try:
        os.link(name, new_name, src_dir_fd=source, dst_dir_fd=target, follow_symlinks=False)
        os.unlink(name, dir_fd=source)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
        # Without links as well: reserve the name, and replace the reserved file.
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        os.close(os.open(new_name, flags, 0o600, dir_fd=target))
        try:
            os.rename(name, new_name, src_dir_fd=source, dst_dir_fd=target)
        except OSError:
            with suppress(OSError):
                os.unlink(new_name, dir_fd=target)
            raise

"""Files of the kernel in /proc and /sys."""

import re
from pathlib import Path


def text_of(path: str | Path) -> str:
    """Returns the text of a file; empty if it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def unescaped(text: str) -> str:
    """Decodes the octal escapes of the kernel's mount table."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)

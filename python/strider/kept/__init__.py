"""Test files that stay in the user's directory under the user's names (`strider ior -k`, `-r`, `-E`).

New files are written in the run's folder and moved to their names at the end, never over another file.
Existing files are read and rewritten where they are. The marker beside them, `.strider-data.NAME`, names the
files that Strider wrote: only those are ever replaced or removed.
"""

from strider.kept.claims import KeptClaims, claimed
from strider.kept.guard import Existing, examine
from strider.kept.names import FileNames
from strider.kept.use import KeptUse, with_manifests

__all__ = ["Existing", "FileNames", "KeptClaims", "KeptUse", "claimed", "examine", "with_manifests"]

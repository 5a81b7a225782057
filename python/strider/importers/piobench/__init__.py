"""PIObench (Frank Shorter, Clemson, 2003): its `pio-bench.conf`, and the lines in which it reports.

`language` reads the file, `modules` knows the patterns and their directives, `suite` makes a suite of them,
and `lines` prints results.
"""

from strider.importers.piobench.suite import read, recognises

__all__ = ["read", "recognises"]

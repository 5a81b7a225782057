"""Reads what other benchmarks take as input, and makes a suite of it.

An importer is a file or a folder here; where its input is a file, it has a line in
`strider.importers.formats`. All of them give an `Imported`: a suite of which each key knows where in the
original it comes from, so that mistakes are named there.
"""

from strider.importers.imported import CaseDraft, Imported, SuiteDraft

__all__ = ["CaseDraft", "Imported", "SuiteDraft"]

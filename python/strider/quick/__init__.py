"""A quick measurement of a directory: the suite that `strider quick` runs, within a time box.

It looks at the directory, probes its rates in seconds, and chooses sizes and cases so that phases last about
a second and come from storage. The results become a card (`strider.card`).
"""

from strider.quick.look import Place, look
from strider.quick.pairs import Paired, pair_document
from strider.quick.probe import (
    Probe,
    native_document,
    probe_document,
    probed,
    probed_rates,
    rates_document,
)
from strider.quick.sizes import Sizes, sizes_of
from strider.quick.suite import Budgeted, quick_document

__all__ = [
    "Budgeted",
    "Paired",
    "Place",
    "Probe",
    "Sizes",
    "look",
    "native_document",
    "pair_document",
    "probe_document",
    "probed",
    "probed_rates",
    "quick_document",
    "rates_document",
    "sizes_of",
]

"""The sections of a comparison, one file each, as those of a report (`strider.report.sections`)."""

from strider.compare.model import Comparison
from strider.compare.sections import changes, summary
from strider.report.blocks import Section

SECTIONS: list[Section[Comparison]] = [summary.SECTION, changes.SECTION]

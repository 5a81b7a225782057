"""Results for people: the table in the terminal (`table.render`) and the report in one HTML file."""

from strider.report.page import write_html

__all__ = ["write_html"]

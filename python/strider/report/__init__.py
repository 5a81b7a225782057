"""Results for people: the table in the terminal (`table.render`) and the report in one HTML file."""

from strider.report.page import views_of, write_html, write_views

__all__ = ["views_of", "write_html", "write_views"]

"""Results for people: the table in the terminal (`table`) and the report in one HTML file (`page`)."""

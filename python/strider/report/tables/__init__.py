"""What stands in which column."""

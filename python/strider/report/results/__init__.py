"""A run with all that its sections are made of."""

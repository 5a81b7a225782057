"""The runs of a store in lists: their names, a summary of each, and an index of the summaries.

Imports nothing that takes long, so that a list of many runs appears at once. `strider.store` reads runs.
"""

"""Sentences on a run."""

"""Runs on behalf of the verbs: preparation, probes, sizes, arrival rates, rounds, presentation of results."""

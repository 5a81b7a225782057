"""The web page of `strider serve`: configure a suite, see its plan, run it, watch it, look at runs.

It computes nothing of its own. A suite is judged by `strider.suite` and the engine, measured by `strider run`
in a process of its own, and shown from its run directory. `guard.py` admits requests; everything else may
rely on that.
"""

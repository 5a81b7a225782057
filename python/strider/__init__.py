"""Strider measures parallel file systems.

Which bytes, in what operation, through which interface, by how many clients, how fast, and why.

The package contains everything around the engine, in the order of the data flow:

- `strider.suite` expands a suite file into a plan, which lists every case in full; - `strider.launch` starts
`strider-engine` on that plan and fills a run directory; - `strider.store` and `strider.statistics` read run
directories and compute numbers from them; - `strider.report` presents those numbers in tables and charts; -
`strider.cli` is the command line, `strider.doctor` checks the environment.

Python never touches the bytes that are measured; `strider.engine` is the only interface to the program that
does.
"""

__version__ = "0.2.0"

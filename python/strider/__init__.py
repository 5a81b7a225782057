"""Strider measures parallel file systems.

Which bytes, in what operation, through which interface, by how many clients, how fast, and why.

The package is everything around the engine, in the order in which data flows:

- `strider.suite` turns a suite file into a plan, every case spelled out;
- `strider.launch` starts `strider-engine` on that plan and fills a run directory;
- `strider.store` and `strider.statistics` read run directories and compute numbers from them;
- `strider.report` draws those numbers for people;
- `strider.cli` is the command line, `strider.doctor` says what works on a machine.

Python never touches the bytes that are measured; `strider.engine` is the only door to the program that does.
"""

__version__ = "0.1.0"

"""Where sections go: the page, the terminal, files."""

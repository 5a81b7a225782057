"""`python -m strider`."""

import sys

from strider.cli import main

sys.exit(main())

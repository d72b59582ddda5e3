"""`python -m burlab` is the command `burlab`."""

import sys

from burlab.cli import main

if __name__ == "__main__":
    sys.exit(main())

"""`python -m backprop`."""

import sys

from backprop.cli import main

if __name__ == "__main__":
    sys.exit(main())

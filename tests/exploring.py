"""How many examples a random test tries."""

import os


def examples(count: int) -> int:
    """So many of the fixed ones; ten times as many where `BURLAB_EXPLORE=1` looks for new ones."""
    return 10 * count if "BURLAB_EXPLORE" in os.environ else count

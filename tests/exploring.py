"""How many examples a random test tries."""

import os


def examples(count: int) -> int:
    """A third of so many; all in the full tier; ten times as many where `BURLAB_EXPLORE=1` looks for new ones."""
    if "BURLAB_EXPLORE" in os.environ:
        return 10 * count
    return count if os.environ.get("BURLAB_TIER") == "full" else -(-count // 3)

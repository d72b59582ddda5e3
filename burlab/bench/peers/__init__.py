"""Other engines, each optional: `open_task(problem, variant)` raises Unavailable where one is not installed."""

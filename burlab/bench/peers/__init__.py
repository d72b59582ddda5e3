"""Other engines, each optional: `open_task(problem, way)` raises Unavailable where one is not installed."""

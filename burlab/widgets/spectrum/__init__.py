"""The curvature of a run's loss while the run does steps."""

"""Rules for sums of squared residuals."""

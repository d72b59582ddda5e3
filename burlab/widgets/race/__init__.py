"""The panel of a race."""

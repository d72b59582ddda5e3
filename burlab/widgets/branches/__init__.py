"""The panel of a tree of branches."""

"""Widgets that a thread keeps up to date while a page looks at them."""

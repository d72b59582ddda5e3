"""Notebooks: importing this registers how types are shown there. Lower layers know no screen."""

from .displays import register

register()

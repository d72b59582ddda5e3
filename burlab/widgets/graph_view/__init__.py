"""How graphs look in a notebook: still pictures, and `GraphView`, which opens them."""

from .stills import register as register

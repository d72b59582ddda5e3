"""Any loop, watched: what it logs, memory and time, and a hand on it while it runs."""

from .monitor import Monitor as Monitor
from .watch import watch as watch

"""Many runs of a problem: sweeps, races, branches, performance profiles, and a search for a learning rate."""

from .lineage import Branch, Branches, branches
from .profile import PerformanceProfile, performance_profile
from .races import Race, race
from .rates import LearningRates, find_lr
from .standings import Lead, Standing
from .sweeps import Row, Sweep, sweep

__all__ = [
    "Branch",
    "Branches",
    "Lead",
    "LearningRates",
    "PerformanceProfile",
    "Race",
    "Row",
    "Standing",
    "Sweep",
    "branches",
    "find_lr",
    "performance_profile",
    "race",
    "sweep",
]

"""Runs side by side: races, branches, performance profiles over many problems, and learning rates tried in a row."""

from .lineage import Branch, Branches, branches
from .profile import PerformanceProfile, performance_profile
from .races import Race, race
from .rates import LearningRates, find_lr
from .standings import Lead, Standing

__all__ = [
    "Branch",
    "Branches",
    "Lead",
    "LearningRates",
    "PerformanceProfile",
    "Race",
    "Standing",
    "branches",
    "find_lr",
    "performance_profile",
    "race",
]

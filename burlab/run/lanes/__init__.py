"""Steps of several runs in the lanes of one kernel, to the bits of each run alone."""

from .lane_kernel import WIDTH, LaneKernel
from .lanes import KernelLanes

__all__ = ["WIDTH", "KernelLanes", "LaneKernel"]

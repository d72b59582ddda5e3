"""From a graph to numbers: the plan, the generated C++, the replay gear, and the kernels that users hold."""

from .executable import Executable, build

__all__ = ["Executable", "build"]

"""Variants of burlab: each gear, called from Python and in a loop of C++."""

from collections.abc import Callable

from burlab.bench.problem import (
    ArrayObjective,
    BatchObjective,
    Method,
    OtherNumbers,
    Problem,
    Scalar,
    SparseTraining,
    Start,
    Task,
    Training,
)

__all__ = ["open_task"]


def open_task(problem: Problem, variant: str) -> Task:
    """The task of a problem in one of burlab's variants."""
    if isinstance(problem, Scalar):
        from . import eager, scalar_gears

        make: dict[str, Callable[[], Task]] = {
            "eager, Python": lambda: eager.PythonEager(problem),
            "eager, loop in C++": lambda: eager.CppEager(problem),
            "replay, Python calls": lambda: scalar_gears.KernelCalls(problem, "replay"),
            "replay, C++ calls": lambda: scalar_gears.KernelLoop(problem, "replay"),
            "compiled, Python calls": lambda: scalar_gears.KernelCalls(problem, "compiled"),
            "compiled, C++ calls": lambda: scalar_gears.KernelLoop(problem, "compiled"),
            "compiled, loop in C++": lambda: scalar_gears.KernelBatch(problem),
        }
        return make[variant]()
    if isinstance(problem, OtherNumbers):
        from .number_calls import burlab_task

        return burlab_task(problem)
    if isinstance(problem, Start):
        from .first_gradient import Process

        return Process(problem, f"burlab {variant}")
    if isinstance(problem, Training):
        from .task import threads
        from .training import Minimize

        return Minimize(problem, 1 if variant.endswith("1 thread") else threads())
    if isinstance(problem, Method):
        from .method import MinimizeMethod

        return MinimizeMethod(problem)
    if isinstance(problem, BatchObjective):
        from .batch_objective import batch_task

        return batch_task(problem, problem.chunks if variant == "by chunks" else None)
    if isinstance(problem, SparseTraining):
        from .sparse_steps import SparseSteps

        return SparseSteps(problem, variant)
    if isinstance(problem, ArrayObjective):
        from .objective import ObjectiveCalls
        from .objective_loop import Compiled

        return Compiled(problem) if variant == "compiled, C++ calls" else ObjectiveCalls(problem, variant)
    from .file_transfer import NumPyTransfer, ParametersTransfer

    return (ParametersTransfer if "parameters" in variant else NumPyTransfer)(problem)

"""How burlab itself computes a problem: each gear, from Python and in a loop of C++."""

from collections.abc import Callable

from burlab.bench.problem import Method, Objective, Problem, Scalar, Start, Task, Training

__all__ = ["open_task"]


def open_task(problem: Problem, variant: str) -> Task:
    """The task of a problem in one of burlab's variants."""
    if isinstance(problem, Scalar):
        from . import eager, kernels

        make: dict[str, Callable[[], Task]] = {
            "eager, Python": lambda: eager.Python(problem),
            "eager, loop in C++": lambda: eager.Cpp(problem),
            "replay, Python calls": lambda: kernels.Calls(problem, "replay"),
            "replay, C++ calls": lambda: kernels.Loop(problem, "replay"),
            "compiled, Python calls": lambda: kernels.Calls(problem, "compiled"),
            "compiled, C++ calls": lambda: kernels.Loop(problem, "compiled"),
            "compiled, loop in C++": lambda: kernels.AllAtOnce(problem),
        }
        return make[variant]()
    if isinstance(problem, Start):
        from .start import Process

        return Process(problem, f"burlab {variant}")
    if isinstance(problem, Training):
        from .training import Minimize

        return Minimize(problem)
    if isinstance(problem, Method):
        from .method import Steps

        return Steps(problem)
    if isinstance(problem, Objective):
        from .objective import Calls
        from .objective_loop import Compiled

        return Compiled(problem) if variant == "compiled, C++ calls" else Calls(problem, variant)
    from .transfer import Parameters, Raw

    return (Parameters if "parameters" in variant else Raw)(problem)

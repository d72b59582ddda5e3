"""Variants in which each engine solves a kind of problem."""

SCALAR_VARIANTS = {
    "burlab": (
        "eager, Python",
        "eager, loop in C++",
        "replay, Python calls",
        "replay, C++ calls",
        "compiled, Python calls",
        "compiled, C++ calls",
        "compiled, loop in C++",
    ),
    "torch": ("eager",),
    "jax": ("jit", "jit for all points at once"),
    "autograd": ("eager",),
    "micrograd": ("eager",),
}
TRAINING_VARIANTS = {
    "burlab": ("minimize",),
    "torch": ("eager",),
    "jax": ("jit of a step",),
    "autograd": ("eager",),
}

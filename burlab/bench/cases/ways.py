"""Which engine does a kind of problem in which ways."""

SCALAR_WAYS = {
    "burlab": (
        "eager, Python",
        "eager, loop in C++",
        "replay, Python calls",
        "replay, loop in C++",
        "compiled, Python calls",
        "compiled, loop in C++",
        "compiled for all points at once",
    ),
    "torch": ("eager",),
    "jax": ("jit", "jit for all points at once"),
    "autograd": ("eager",),
    "micrograd": ("eager",),
}
TRAINING_WAYS = {
    "burlab": ("minimize",),
    "torch": ("eager",),
    "jax": ("jit of a step",),
    "autograd": ("eager",),
}

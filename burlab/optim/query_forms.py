"""The calls of the queries of an update in words, for messages."""

from burlab.graph.query import QUERIES


def query_forms() -> list[str]:
    """Return the calls that an update can make, and the values that it can read."""
    forms = {
        "hvp": "(y, v)",
        "jvp": "(y, v)",
        "partial_grad": "(y, coordinates)",
        "surrogate": "(y, goals, scale)",
        "part_value_and_grad": "(y, part)",
    }
    return [
        *(f"f.{name}{forms.get(name, '(y)')}" for name in QUERIES),
        "f.residual_blocks(y)",
        "f.tables",
        "f.products",
        "f.indices",
        "f.weights",
        "f.key",
        "f.batch",
        "f.samples",
    ]

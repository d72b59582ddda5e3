"""The calls of the queries of an update in words, for messages."""

from burlab.graph.query import PART_QUERIES, QUERIES


def query_forms() -> list[str]:
    """Return the calls that an update can make, and the values that it can read."""
    forms = {
        "hvp": "(y, v)",
        "jvp": "(y, v)",
        "partial_grad": "(y, coordinates)",
        "surrogate": "(y, goals, scale)",
        "link_grads": "(y, block)",
    }
    return [
        *(f"f.{name}{forms.get(name, '(y)')}" for name in QUERIES if name not in PART_QUERIES),
        "f.part(name)",
        "f.part_value_and_grad(y, part)",
        "f.residual_blocks(y)",
        "f.tables",
        "f.products",
        "f.indices",
        "f.weights",
        "f.key",
        "f.batch",
        "f.samples",
    ]

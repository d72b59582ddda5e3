"""The form of the document in a run's file: types, ranges and words of every field (`recipe.py` writes it)."""

from functools import partial
from typing import Any, cast

from burlab.errors import FileError
from burlab.graph.query import CLIENT_QUERIES, QUERIES
from burlab.optim.lazy_form import Correction
from burlab.problems.kernels.tiles import LARGEST as LARGEST_TILE
from burlab.problems.sampling import Sampling
from burlab.run.record.recorder import COUNTERS
from burlab.runtime.checks.stored import (
    LONGEST,
    Check,
    either,
    fields,
    flag,
    integer,
    matching,
    nothing,
    one_of,
    optional,
    record,
    several,
    size,
    text,
    whole,
)
from burlab.runtime.dtypes import DTYPES, STORED

_DEEPEST = 64  # depth of nested trees
_DTYPES = one_of(STORED)
_WHOLE = one_of([name for name, dtype in DTYPES.items() if dtype.kind in "iub"])
_SHAPE = several(size, 32)
_STEPS = whole(0, LONGEST)
_COUNT = whole(1, LONGEST)
_HEX = matching(r"-?0x[01]\.[0-9a-f]{1,13}p[+-][0-9]{1,4}|-?inf|nan")  # of a float64, as Python writes it

_CUT = several(record(whole(2, LONGEST), whole(1, LARGEST_TILE))), either(nothing, one_of(("sqrt",)), size)
_FORM = text, several(size), several(text), flag, *_CUT
_KERNEL = either(
    record(*_FORM, whole(1, LARGEST_TILE)),
    record(*_FORM, _COUNT, _COUNT),  # of a loss of whole batches, whose size comes twice
    record(*_FORM),  # older files do not say how long slots are
)
_KERNELS = record(_KERNEL, optional(_KERNEL))
_DRAWN = size, size, one_of([kind.name for kind in Sampling if kind is not Sampling.listed]), whole(0, 2**64 - 1)
_STREAM = either(record(*_DRAWN), record(*_DRAWN, whole(1, LONGEST)))  # the last one: samples of a block
_DATA = several(record(_DTYPES, _SHAPE, matching("[0-9a-f]{64}")))
_stop = partial(
    fields,
    seconds=optional(_HEX), grad_norm=optional(_HEX), value=optional(_HEX), steps=optional(_STEPS),
    non_finite=flag, when=flag,
)  # fmt: skip
_STOP = either(_stop(of=one_of(("batch", "estimator", "full")), every=_COUNT), _stop())
_VALIDATION = fields(loss=_KERNELS, data=_DATA, stream=_STREAM, threads=_COUNT, every=_COUNT)


def _tree(value: object, depth: int = 0) -> bool:
    """A structure, as `structure.py` writes it."""
    if value in ("leaf", "none") or depth > _DEEPEST:
        return depth <= _DEEPEST

    def child(inner: object) -> bool:
        return _tree(inner, depth + 1)

    key = either(text, integer, record(text))
    part = either(child, fields(static=_static), fields(shown=text))
    kinds = (
        record(one_of(("list", "tuple")), several(child)),
        record(one_of(("dict",)), several(record(key, child))),
        record(one_of(("object",)), text, several(record(text, part))),
    )
    return either(*kinds)(value)


def _static(value: object) -> bool:
    return type(value) in (str, int, float, bool, type(None))


_QUERY = matching(
    rf"({'|'.join((*QUERIES, *CLIENT_QUERIES))})(\{{[1-9][0-9]{{0,8}}\}})?(\[[1-9][0-9]{{0,8}}\])?|key|indices|rows"
)
_recipe = partial(
    fields,
    structure=_tree, shapes=several(_SHAPE), state=_tree, cells=several(record(_SHAPE, _DTYPES)), loss=_KERNELS,
    query_losses=several(record(text, size, _KERNELS)), update=text, hypers=several(text), schedules=several(text),
    queries=several(_QUERY), data=_DATA, stream=_STREAM, threads=_COUNT, budgets=record(_STEPS, _STEPS),
    stop=_STOP, validation=optional(_VALIDATION), bits=text,
)  # fmt: skip
_COUNTED = record(one_of(COUNTERS), _STEPS)
_logged = partial(
    _recipe,
    logged=several(text),
    output=optional(text),
    spent=several(_COUNTED),
    trainable=optional(several(flag)),
    weighted=several(record(text, size, _KERNELS)),
)
_of_clients = partial(_logged, clients=several(_COUNT))
# The others were written before files knew samplers, clients, and before rules logged metrics.
_sampled = partial(_of_clients, full=optional(record(_KERNELS, _COUNT)), sampler=optional(text), size=optional(text))
_decoded = partial(_sampled, digits=optional(several(optional(_WHOLE))))
_valued = partial(_decoded, value_at=text)
_lazy = partial(_valued, lazy=optional(record(whole(0, max(Correction)), _STEPS, flag)))
_numbered = partial(_lazy, numbers=optional(record(_STEPS, _STEPS, flag)))
_RECIPE: Check = either(
    _numbered(loss_state=record(_COUNT, _tree)),
    _numbered(),
    _lazy(),
    _valued(),
    _decoded(),
    _sampled(),
    _of_clients(),
    _logged(),
    _recipe(),
)
_EXTENT = record(_STEPS, _STEPS)
_PARTS: dict[str, Check] = {
    "recipe": _RECIPE,
    "standing": fields(step=_STEPS, done=_STEPS, reason=_STEPS),
    "tables": either(
        fields(record=_EXTENT, stamps=_EXTENT, path=optional(_EXTENT), traces=_EXTENT),
        fields(record=_EXTENT, stamps=_EXTENT, path=optional(_EXTENT)),  # as it was written before there were traces
    ),
}


_RENAMED = {"told": "logged", "asked": "query_losses", "questions": "queries"}


def with_current_names(document: object) -> Any:
    """Return a document whose recipe has today's field names; files keep those of the burlab that wrote them."""
    found = cast("dict[str, Any]", document) if isinstance(document, dict) else {}
    recipe = found.get("recipe")
    if not isinstance(recipe, dict):
        return found
    named = {_RENAMED.get(name, name): value for name, value in cast("dict[str, Any]", recipe).items()}
    return found | {"recipe": named}


_OPTIONAL = {"formats", "before"}  # formats of numbers, and the document of the run of earlier steps in others


def check_document(document: object, depth: int = 0) -> None:
    """Raise FileError, which names the wrong part."""
    found = cast("dict[str, Any]", document) if type(document) is dict else {}
    if found.keys() - _OPTIONAL != _PARTS.keys() or depth > _DEEPEST:
        raise FileError(f"it is malformed: expected {', '.join(_PARTS)} in its document. Use another copy.")
    for name, check in _PARTS.items():
        if not check(found[name]):
            raise FileError(f"it is malformed: its {name} holds what is not of the type or range. Use another copy.")
    if "before" in found:
        check_document(found["before"], depth + 1)

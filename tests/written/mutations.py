"""Changed files: any one value of a JSON document replaced, left out, added or repeated, with payloads of all kinds."""

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

RUN = '{ std::fclose(std::fopen("sentinel", "w")); }'
MARK = "payload_of_the_test"  # stands in every text that a mutation brings in
TEXTS = [
    f"{MARK}\n{RUN}\n#define z", f"{MARK}\u2028{RUN}\u2028#define z", f"{MARK}\r{RUN}\r#define z", f"{MARK}\\\n{RUN}",
    f"{MARK}??/\n{RUN}", f'{MARK}"); {RUN} //', f"{MARK}*/ {RUN} /*", f"{MARK}\0{RUN}", f"tanh'0(){{}} {RUN} {MARK}",
    f"tanh'0, 0>::{MARK}", f"{MARK}'0", f"add'{MARK}", f"float64; {MARK}", f"ab,bc->ac{MARK}", f"{MARK}\ud800", MARK,
    f"../{MARK}", f"{{0}} {{T}} %s @unit {MARK}", f"x\x85{RUN}{MARK}", f"os:system {MARK}",
]  # fmt: skip
WORDS = [
    "", "tanh", "tanh'0", "where'0", "less'0", "exp'0'0'0'0'0'0'0'0'0", "sum", "scan", "while", "input", "constant",
    "float32", "int32", "bool", "uint64", "object", "V8", "<f8", "float128", "aa,a->a", "a,b->aab", ",->", "ab->b",
    "leaf", "none", "os:_exit", "builtins:dict", "value", "grad", "uniform", "sequential", "listed", "nan",
    "0x1p-3", "inf",
]  # fmt: skip
DTYPES = ["float64", "float32", "int64", "int32", "uint64", "bool"]
NUMBERS = [
    0, 1, 2, 3, 7, 31, -1, -2, 64, 2**31 - 1, 2**31, 2**40 + 1, 2**53 + 1, 2**63 - 1, 2**63, 2**64, -(2**63), 10**30,
    0.5, -0.0, 1e308, float("nan"), float("inf"), float("-inf"), True, False, None,
]  # fmt: skip


def _deep(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


SHAPES: list[Any] = [
    [], {}, [[]], [0], [1, 1], [-1], [2**62, 4], [1] * 70, [0, 2**62, 2**62], [None], [{}], {"array": ""}, _deep(300),
    {"array": "AAAA", "shape": [2**40], "dtype": "float64"}, {"region": 0, "item": 0, "batch": []},
    {"call": "f", "graph": {}, "backward": None},
]  # fmt: skip


def places(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values inside of a document."""
    items = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in items:
        yield (*path, key)
        if isinstance(value, (dict, list)):
            yield from places(value, (*path, key))


def mutated(document: Any, rng: random.Random) -> tuple[Any, str]:
    """A document with one value changed, and what was changed.

    Kinds of places are drawn first, lest the many sizes and numbers of nodes hide what there are few of.
    """
    kinds: dict[Any, list[tuple[Any, ...]]] = {}
    for path in places(document):
        kinds.setdefault(tuple(key for key in path if isinstance(key, str))[-2:], []).append(path)
    *above, key = rng.choice(kinds[rng.choice(list(kinds))])
    changed = copy.deepcopy(document)
    holder = changed
    for step in above:
        holder = holder[step]
    kinds_of_changes = (
        "payload payload word number number shape other near missing more everywhere everywhere labels".split()
    )
    what = rng.choice(kinds_of_changes)
    if what == "missing":
        del holder[key]
    elif what == "everywhere":
        return _everywhere(document, rng)
    elif what == "labels":
        payload = rng.choice(TEXTS)
        return _labelled(document, payload), f"every label becomes {payload!r}"
    elif what == "more":
        _add(holder, key, rng)
    else:
        holder[key] = _value(what, holder[key], document, rng)
    now = "gone" if what == "missing" else repr(holder[key])[:200]
    return changed, f"{what} at {(*above, key)}: {now}"


def _everywhere(document: Any, rng: random.Random) -> tuple[Any, str]:
    """Every value that is equal to one of them replaced: a dtype, a size or an operation that may fit again."""
    values: list[Any] = []
    for path in places(document):
        value = document
        for step in path:
            value = value[step]
        if path[-1] in ("op", "dtype") or (type(value) in (int, str) and (rng.random() < 0.05 or not values)):
            values.append(value)
    old = rng.choice(values)
    alike = DTYPES if old in DTYPES else [value for value in values if type(value) is type(old)]
    new = rng.choice([*alike, *alike, rng.choice(WORDS if type(old) is str else NUMBERS)])

    def replaced(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: replaced(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [replaced(inner) for inner in value]
        return new if type(value) is type(old) and value == old else value

    return replaced(document), f"everywhere {old!r} becomes {new!r}"


def _labelled(value: Any, payload: str) -> Any:
    """Every text that means nothing to a computation replaced: files, scopes, names of arguments and functions."""
    if isinstance(value, list):
        return [_labelled(inner, payload) for inner in value]
    if not isinstance(value, dict):
        return value
    new = {key: _labelled(inner, payload) for key, inner in value.items()}
    new |= {key: payload for key in ("scope", "call") if key in value}
    if value.get("origin"):
        new["origin"] = [payload, 7]
    if value.get("op") == "input":
        new["params"] = payload
    return new


def _add(holder: Any, key: Any, rng: random.Random) -> None:
    if isinstance(holder, dict):
        holder[rng.choice([*TEXTS, "place", "__class__"])] = rng.choice(NUMBERS)
        return
    holder.insert(key, copy.deepcopy(rng.choice([holder[key], rng.choice(NUMBERS), rng.choice(TEXTS)])))


def _value(what: str, old: Any, document: Any, rng: random.Random) -> Any:
    if what == "near" and type(old) in (int, float, bool):
        return rng.choice([old + 1, old - 1, -old, old * 2, old * 10**9, float(old), str(old), [old], bool(old)])
    if what == "near" and isinstance(old, str) and old:
        k = rng.randrange(len(old))
        return rng.choice(
            [old[:k] + old[k + 1 :], old[:k] + rng.choice("'\n\"\\,az09 \u2028") + old[k:], old * 2, [old]]
        )
    if what in ("near", "other"):  # what stands elsewhere, or there in another order
        if isinstance(old, list) and len(old) > 1 and rng.random() < 0.5:
            return rng.sample(old, len(old))
        value: Any = document
        for step in rng.choice(list(places(document))):
            value = value[step]
        return copy.deepcopy(value)
    table: list[Any] = {"payload": TEXTS, "word": WORDS, "number": NUMBERS, "shape": SHAPES}[what]
    return copy.deepcopy(rng.choice(table))


def dumped(document: Any) -> str:
    """JSON text, in which nan and inf stand as Python's own reader takes them."""
    return json.dumps(document)

"""Names in the code of a function: names that it reads, texts, and modules that it imports."""

import dis
from functools import lru_cache
from importlib.util import resolve_name
from types import CodeType, FunctionType

_GETTERS = frozenset({"getattr", "hasattr"})
_CALLS = ("CALL", "PRECALL")
_NAMESPACES = frozenset({"globals", "vars", "locals", "eval", "exec"})


@lru_cache(maxsize=4096)
def names_of(code: CodeType) -> tuple[str, ...]:
    """All names that a function and those defined inside of it look up, also those written out for getattr."""
    inner = [name for part in _inside(code) for name in names_of(part)]
    texts = [part for part in code.co_consts if isinstance(part, str) and part.isidentifier()]
    return tuple(dict.fromkeys((*code.co_names, *texts, *inner)))


@lru_cache(maxsize=4096)
def texts_of(code: CodeType) -> tuple[str, ...]:
    """All texts in a function's code."""
    own = (part for part in code.co_consts if isinstance(part, str))
    return tuple(dict.fromkeys((*own, *(text for part in _inside(code) for text in texts_of(part)))))


@lru_cache(maxsize=4096)
def globals_of(code: CodeType) -> tuple[str, ...]:
    """The global names that a function and those inside of it look up: not attributes, as the T of x.T."""
    own = [i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")]
    return tuple(dict.fromkeys((*own, *(name for part in _inside(code) for name in globals_of(part)))))


@lru_cache(maxsize=4096)
def optional_names(code: CodeType) -> tuple[str, ...]:
    """The optional names that a function requests with getattr or hasattr."""
    uses_getters = not _GETTERS.isdisjoint(globals_of(code))
    return tuple(text for text in texts_of(code) if text.isidentifier()) if uses_getters else ()


@lru_cache(maxsize=4096)
def reads_namespaces(code: CodeType) -> bool:
    """Return True if a function reads globals by names that it does not mention: in a dictionary, or in source text."""
    return not _NAMESPACES.isdisjoint(globals_of(code))


@lru_cache(maxsize=4096)
def makes_names(code: CodeType) -> bool:
    """Return True if a function looks up attributes by names that it makes at run time."""
    if "__dict__" in code.co_names or reads_namespaces(code):
        return True
    steps = list(dis.get_instructions(code))
    getter_steps = (k for k, step in enumerate(steps) if step.opname == "LOAD_GLOBAL" and step.argval in _GETTERS)
    return any(not _is_written_out(steps[k + 1 :]) for k in getter_steps) or any(map(makes_names, _inside(code)))


def _is_written_out(steps: list[dis.Instruction]) -> bool:
    """Return True if the call that begins here names the attribute by a text in the code."""
    for k, step in enumerate(steps):
        if step.opname.startswith(_CALLS):
            return False
        if step.opname == "LOAD_CONST" and isinstance(step.argval, str):
            rest = steps[k + 1 : k + 3]  # it is the last argument, or the last but one
            return any(after.opname.startswith(_CALLS) for after in rest) and rest[0].opname.startswith(
                (*_CALLS, "LOAD")
            )
    return False


@lru_cache(maxsize=4096)
def imports_of(code: CodeType, package: str) -> tuple[str, ...]:
    """The modules that a function imports when it runs, by their whole names; `package`: its own, for relative ones."""
    found: list[str] = []
    before: list[dis.Instruction] = []
    for instruction in dis.get_instructions(code):
        if instruction.opname == "IMPORT_NAME":
            level = before[-2].argval if len(before) > 1 else 0
            name = "." * level + str(instruction.argval)
            parts = (resolve_name(name, package) if level else name).split(".")
            found += [".".join(parts[: k + 1]) for k in range(len(parts))]
        before.append(instruction)
    return tuple(dict.fromkeys((*found, *(name for part in _inside(code) for name in imports_of(part, package)))))


def package_of(f: FunctionType) -> str:
    """The package that the relative imports of a function begin from."""
    return f.__globals__.get("__package__") or str(f.__globals__.get("__name__", "")).rpartition(".")[0]


def _inside(code: CodeType) -> list[CodeType]:
    """The functions, classes and comprehensions that are defined in a function."""
    return [part for part in code.co_consts if isinstance(part, CodeType)]

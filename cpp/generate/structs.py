"""Write the C++ structs that Python shares, from the headers, to two modules of `burlab/runtime`: `make pages`.

A struct is shared where the comment above it has "Mirrored in Python". The compiler confirms sizes, places and kinds of
all fields in `tests/project/test_mirrors.py`.
"""

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
CPP = ROOT / "cpp"
TARGETS = {  # folders of headers, and where their structs are written: the first that fits
    "burlab/kernels/": ROOT / "burlab/runtime/kernel_structs.py",
    "burlab/": ROOT / "burlab/runtime/structs.py",
}
MAX_LINE = 121  # characters of a line, with its end
HEAD = '''"""C++ structs of {folder} that Python shares, as ctypes. `make pages` writes them from the headers.

Names are those of C++ (`CBlock` is `Block`, `in_` is `in`), where comments explain the fields. Pointers are addresses.
"""

import ctypes
from typing import Any

{names} = {kinds}


def _of(kind: type[Any], names: str) -> list[tuple[str, Any]]:
    return [(name, kind) for name in names.split()]
'''
# Scalar types of the headers, and their sizes and signs; enumerations have those of their underlying types.
KINDS = {
    "std::int64_t": "c_int64", "std::int32_t": "c_int32", "std::uint64_t": "c_uint64", "std::uint32_t": "c_uint32",
    "Int": "c_int64", "Word": "c_uint32", "Size": "c_ssize_t", "int": "c_int", "unsigned": "c_uint", "bool": "c_bool",
    "double": "c_double", "Status": "c_int32", "Part": "c_int32", "Sampling": "c_int32", "Dtype": "c_int64",
    "Narrow": "c_int64", "Correction": "c_int64", "Kind": "c_int", "Elsewhere": "c_void_p",
    "burlab::kernels::Kernel": "c_void_p",
}  # fmt: skip
ARRAYS = {"Key": "ctypes.c_uint64 * 2"}
SHORT = {"c_int64": "_INT", "c_double": "_REAL", "c_void_p": "_POINTER"}
MARK = "Mirrored in Python."
STRUCT = re.compile(r"((?:^///[^\n]*\n)+)struct (\w+) \{\n(.*?)^\};", re.MULTILINE | re.DOTALL)
FUNCTION = re.compile(r"[\w:<> ]+\(\*(\w+)\)\(.*\)(?: noexcept)?")
FIELDS = re.compile(r"(const )?([\w:]+)((?: |\*|&)[^(]*)")
NAME = re.compile(r"^([* ]*)(\w+)(?:\[(\d+)\])?$")


class Struct(NamedTuple):
    """A C++ struct: its full name, its header, and its fields with their types in ctypes."""

    name: str
    header: str
    fields: dict[str, str]

    @property
    def mirror(self) -> str:
        """The name of the class of Python."""
        return f"C{self.name.rpartition('::')[2]}"

    @property
    def text(self) -> str:
        """The class of Python."""
        groups = groupby(self.fields, key=lambda name: self.fields[name])
        runs = [f'*_of({kind}, "{" ".join(names)}")' for kind, names in groups]
        fields = f"    _fields_ = [{', '.join(runs)}]\n"
        if len(fields) > MAX_LINE:
            fields = "".join(("    _fields_ = [\n", *(f"        {run},\n" for run in runs), "    ]\n"))
        return f'class {self.mirror}(ctypes.Structure):\n    """{self.name}, {self.header}."""\n\n{fields}'


def shared() -> list[Struct]:
    """Return the structs that Python shares, those that others contain first."""
    found = {struct.mirror: struct for file in sorted(CPP.rglob("*.hpp")) for struct in _structs(file)}
    ordered: dict[str, Struct] = {}

    def add(name: str) -> None:
        for kind in found[name].fields.values():
            if (part := kind.partition(" ")[0]) in found:
                add(part)
        ordered[name] = found[name]

    for name in found:
        add(name)
    return list(ordered.values())


def target(struct: Struct) -> Path:
    """Return the module that a struct is written to."""
    return next(path for folder, path in TARGETS.items() if struct.header.startswith(folder))


def modules() -> dict[Path, str]:
    """Return the texts of the modules."""
    found: dict[Path, list[Struct]] = {}
    for struct in shared():
        found.setdefault(target(struct), []).append(struct)
    folders = {path: folder for folder, path in TARGETS.items()}
    return {
        path: "\n\n".join([_head(folders[path], structs), *(struct.text for struct in structs)])
        for path, structs in found.items()
    }


def _head(folder: str, structs: list[Struct]) -> str:
    """The first lines of a module, with the short names of types that its structs have."""
    used = {kind for struct in structs for kind in struct.fields.values()}
    shorts = {short: f"ctypes.{kind}" for kind, short in (*SHORT.items(), ("c_char_p", "_TEXT")) if short in used}
    return HEAD.format(folder=f"`cpp/{folder}`", names=", ".join(shorts), kinds=", ".join(shorts.values()))


def _structs(file: Path) -> Iterator[Struct]:
    text = file.read_text()
    space = re.search(r"^namespace (burlab[\w:]*)", text, re.MULTILINE)
    for comment, name, body in STRUCT.findall(text):
        if MARK in " ".join(comment.replace("///", "").split()) and space:
            header = file.relative_to(CPP).as_posix()
            yield Struct(
                f"{space[1]}::{name}", header, {f: kind for s in _statements(body) for f, kind in _fields(s, space[1])}
            )


def _statements(body: str) -> Iterator[str]:
    """Statements of a struct's body, without comments, functions, types and constants."""
    text = " ".join(re.sub(r"//.*", "", body).replace("unsigned char", "char").split())
    text = re.sub(r"union \{ ([^;]+);[^}]*\}", r"\1", text)  # its first member stands for it
    while re.search(r"\{[^{}]*\}", text):
        text = re.sub(r"[^;{}]*\{[^{}]*\};?", ";", text)
    for statement in map(str.strip, text.split(";")):
        if statement and not statement.startswith(("static ", "using ")):
            yield statement


def _fields(statement: str, space: str) -> Iterator[tuple[str, str]]:
    """Names of the fields that a statement declares, and their ctypes."""
    if function := FUNCTION.fullmatch(statement):
        yield function[1], "_POINTER"
    elif match := FIELDS.fullmatch(statement):
        const, kind, rest = match.groups()
        for declared in rest.split(","):
            stars, name, count = NAME.findall(re.sub(r"\bconst\b", "", declared.split("=")[0]).strip())[0]
            yield f"{name}_" if name == "in" else name, _type(kind, space, stars.count("*"), bool(const), count)


def _type(kind: str, space: str, stars: int, const: bool, count: str) -> str:
    if stars:
        return "_TEXT" if stars == 1 and const and kind == "char" else "_POINTER"
    scalar = KINDS.get(f"{space}::{kind}") or KINDS.get(kind)
    one = SHORT.get(scalar, f"ctypes.{scalar}") if scalar else ARRAYS.get(kind, f"C{kind}")
    return f"{one} * {count}" if count else one


if __name__ == "__main__":
    for path, text in modules().items():
        path.write_text(text)

"""Names and docstrings of the code that break the rules on words."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]

# Words that no name of a function, class or constant has: the field has others (log, query, refresh, iteration, ...).
WORDS = frozenset(
    "tell tells told ask asks asked asking say says said look looks looked hear hears heard obey obeys turn turns "
    "kept made begun beside carried moved armed there harvest shelf".split()
)
# What no name of a constant begins with: it names neither what is bounded nor the unit.
VAGUE = frozenset("most least few long near far some own look looks rest".split())
OPENING = re.compile(r"(What|Who|Whose|Whether|Those)\b")
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)
_CPP = re.compile(
    r"\b(?:class|struct|enum|concept|using|namespace) (?P<type>\w{2,})"
    r"|^[ \t]*[\w:<>,*& \[\]]+[ *&](?P<function>\w+)\([^;{}]*\)(?: const)?(?: noexcept)?(?: -> [^{;]+)? \{"
    r"|\bconstexpr [\w:<>]+ (?P<constant>k[A-Z]\w*)",
    re.MULTILINE,
)
_JAVASCRIPT = re.compile(
    r"\b(?:function\*?|class) (?P<type>\w{2,})"
    r"|^ +(?:async |static |get |set )*(?P<function>(?!if|for|while|switch|catch|function)\w+)\([^()]*\) \{"
    r"|^(?:export )?const (?P<constant>\w+)",
    re.MULTILINE,
)


def is_dialect(name: str) -> bool:
    """Return True if a name has a word that must not come back."""
    constant = re.fullmatch(r"k?([A-Z]\w*)", name) if re.match(r"k[A-Z]", name) else re.fullmatch(r"([A-Z_0-9]+)", name)
    words = [word.lower() for word in WORD.findall(constant[1] if constant else name)]
    return not WORDS.isdisjoint(words) or (constant is not None and not VAGUE.isdisjoint(words[:1]))


def python_names(tree: ast.Module) -> Iterator[str]:
    """Functions and classes at any depth, and names that the module assigns."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
    for statement in tree.body:
        for target in getattr(statement, "targets", [getattr(statement, "target", None)]):
            yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name)) if target else ()


def scanned_names(text: str, suffix: str) -> Iterator[str]:
    """Functions, types and constants that C++ (`.hpp`) or JavaScript (`.js`) declares."""
    for found in (_CPP if suffix == ".hpp" else _JAVASCRIPT).finditer(_COMMENTS.sub("", text)):
        yield found["type"] or found["function"] or found["constant"]


def openings(tree: ast.AST, inside: str = "") -> Iterator[str]:
    """Full names of what has a docstring that opens with What, Who, Whose, Whether or Those."""
    if isinstance(tree, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        inside = f"{inside}.{getattr(tree, 'name', 'module')}".removeprefix(".")
        if OPENING.match(ast.get_docstring(tree) or ""):
            yield inside
    for child in ast.iter_child_nodes(tree):
        yield from openings(child, "" if inside == "module" else inside)


def repeated(places: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Of pairs (file, name), those whose name is in several files."""
    files = defaultdict[str, set[str]](set)
    for file, name in places:
        files[name].add(file)
    return ((file, name) for name, where in files.items() if len(where) > 1 for file in where)


def found(root: Path = ROOT) -> set[tuple[str, str]]:
    """Pairs (file, offence) of a checkout; an offence is `word:NAME`, `opening:NAME`, `class:NAME` or `file:NAME`."""
    offences, classes, names = set[tuple[str, str]](), list[tuple[str, str]](), list[tuple[str, str]]()
    for path in sources(root):
        file, text = path.relative_to(root).as_posix(), path.read_text()
        if path.suffix != ".py":
            offences |= {(file, f"word:{name}") for name in scanned_names(text, path.suffix) if is_dialect(name)}
            continue
        tree = ast.parse(text)
        offences |= {(file, f"word:{name}") for name in python_names(tree) if is_dialect(name)}
        offences |= {(file, f"opening:{name}") for name in openings(tree)}
        classes += [(file, n.name) for n in tree.body if isinstance(n, ast.ClassDef) and not n.name.startswith("_")]
        public = path.parent == root / "burlab/functions/scipy"  # users import these, under SciPy's names
        names += [(file, path.name)] * (not public and not path.name.startswith("__"))
    offences |= {(file, f"class:{name}") for file, name in repeated(classes)}
    return offences | {(file, f"file:{name}") for file, name in repeated(names)}


def sources(root: Path) -> list[Path]:
    """Files of Python, C++ and JavaScript that users get, without bundles and libraries of npm."""
    files = [*(root / "burlab").rglob("*.py"), *(root / "cpp/burlab").rglob("*.hpp")]
    files += (root / "burlab/widgets").rglob("*.js")
    return sorted(file for file in files if {"node_modules", "bundle", "__pycache__"}.isdisjoint(file.parts))

"""burlab's headers as one text, for programs that are compiled where burlab is not installed."""

import re
from collections.abc import Iterable
from pathlib import Path

from burlab.runtime.interpreter import header_folder

_INCLUDE = re.compile(r'\s*#\s*include\s+"(.+)"')


def amalgamated(headers: Iterable[str]) -> str:
    """The text of headers such as "burlab/kernels/matrix/gemm.hpp", with all that they include, each once."""
    root = Path(header_folder())
    lines: list[str] = []
    seen: set[Path] = set()
    for header in headers:
        _add(root / header, root, seen, lines)
    return "\n".join(lines)


def _add(path: Path, root: Path, seen: set[Path], lines: list[str]) -> None:
    path = path.resolve()
    if path in seen:
        return
    seen.add(path)
    lines.append(f"// ---- {path.relative_to(root.resolve()) if path.is_relative_to(root.resolve()) else path.name}")
    for line in path.read_text(encoding="utf-8").splitlines():
        included = _INCLUDE.match(line)
        if included:
            sibling = path.parent / included[1]
            _add(sibling if sibling.exists() else root / included[1], root, seen, lines)
        elif line.strip() != "#pragma once":
            lines.append(line)

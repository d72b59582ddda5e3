"""Programs of docs/ and cpp/generate/, each of which writes a text that is checked in."""

import importlib.util
from pathlib import Path
from types import ModuleType

DOCS = Path(__file__).parents[2] / "docs"


def program(name: str, folder: Path = DOCS) -> ModuleType:
    """Load FOLDER/NAME.py as a module."""
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

"""Assets of pages: bundles of JavaScript, which `hatch_build.py` builds, and style sheets."""

from pathlib import Path
from typing import Any

from burlab.errors import ConfigurationError
from burlab.runtime.extras import late

WIDGETS = Path(__file__).parent
CHART_STYLE = "chart/chart.css"

_traitlets: Any = late("traitlets", "lab")


def bundled(name: str) -> str:
    """Return a module of `WIDGETS` with all that it imports, as one file.

    Raises ConfigurationError in a checkout whose bundle was not built.

    >>> bundled("missing.js")
    Traceback (most recent call last):
        ...
    burlab.errors.ConfigurationError: the JavaScript of the widgets is not built (missing.js): run `make bundle`
    """
    try:
        return (WIDGETS / "bundle" / name).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigurationError(f"the JavaScript of the widgets is not built ({name}): run `make bundle`") from None


def module(name: str) -> Any:
    """Return the trait `_esm` of a widget: the text of a bundled module, read when the first widget is created."""

    class Module(_traitlets.Unicode):
        def default(self, obj: Any = None) -> str:
            return "" if obj is None else bundled(name)

    return Module().tag(sync=True)


def style_module(name: str, *names: str) -> Any:
    """Return the trait `_css` of a widget: the style sheet that the bundle has for a module, then others."""

    class StyleModule(_traitlets.Unicode):
        def default(self, obj: Any = None) -> str:
            return "" if obj is None else bundled(name) + styles(*names)

    return StyleModule().tag(sync=True)


def styles(*names: str) -> str:
    """Return the text of style sheets of `WIDGETS`, one after another.

    >>> "{" in styles(CHART_STYLE)
    True
    """
    return "\n".join((WIDGETS / name).read_text(encoding="utf-8") for name in names)

"""How a `Run` is shown in a notebook: its panel, and a note in its place where there is no kernel behind it."""

from html import escape
from importlib import import_module
from typing import Any

# A page that cannot find a panel's kernel says "model not found". The note below it says what to do; wherever a panel
# is there, or styles are not known (and so neither is the place), it stays hidden.
_NOTE = """<style>
.burlab-note {{ display: none; }}
.jp-OutputArea:not(:has(.burlab-panel)) .burlab-note {{ display: block; animation: burlab-late 0s 4s backwards; }}
.jp-OutputArea:not(:has(.burlab-panel)) .jp-OutputArea-child:has(+ .jp-OutputArea-child .burlab-note) {{
  display: none; animation: burlab-gone 0s 4s backwards; }}
@keyframes burlab-gone {{ from {{ display: block; }} }}
@keyframes burlab-late {{ from {{ visibility: hidden; }} }}
</style>
<div class="burlab-note"><b>The panel of a run was here.</b> It is live while its kernel runs: run this cell again.<br>
When it was shown: <code>{summary}</code></div>"""


def show(run: Any) -> None:
    """Display the panel of a run."""
    from .panel import panel_of

    screen: Any = import_module("IPython.display")
    screen.display(panel_of(run).view.root)
    screen.display(screen.HTML(_NOTE.format(summary=escape(repr(run)))))


def register() -> None:
    """Tell IPython how to show a run, by name: in a notebook's kernel only, a terminal has no panel."""
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()
    if shell is not None and hasattr(shell, "kernel"):
        shell.display_formatter.ipython_display_formatter.for_type_by_name("burlab.run.run", "Run", show)

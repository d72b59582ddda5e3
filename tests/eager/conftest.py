"""A real IPython shell, whose cells tests run."""

from collections.abc import Iterator
from typing import Any

import pytest


class Notebook:
    """Cells of one IPython shell, whose errors are raised here."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell

    def __getitem__(self, name: str) -> Any:
        return self.shell.user_ns[name]

    def cell(self, text: str) -> Any:
        done = self.shell.run_cell(text)
        done.raise_error()
        return done.result

    def cpp(self, text: str, name: str = "") -> None:
        self.cell(f"%%cpp {name}\n{text}")


@pytest.fixture
def notebook(capfd: pytest.CaptureFixture[str]) -> Iterator[Notebook]:
    from IPython.core.interactiveshell import InteractiveShell  # tests beside this fixture run without Jupyter

    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    try:
        notebook = Notebook(shell)
        notebook.cell("%load_ext burlab\nimport burlab as bl\nimport numpy as np")
        yield notebook
    finally:
        shell.reset()
        shell.restore_sys_module_state()  # else its `__main__` stays, which no process can be spawned from
        InteractiveShell.clear_instance()
        capfd.readouterr()  # IPython shows the errors too

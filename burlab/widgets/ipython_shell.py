"""The IPython shell of this process, and the kernel of the notebook that it belongs to."""

from typing import Any


def ipython_shell() -> Any:
    """Return IPython's shell; None if there is none."""
    try:
        from IPython.core.getipython import get_ipython
    except ImportError:
        return None
    return get_ipython()


def notebook_kernel() -> Any:
    """Return the kernel of the notebook that this process serves; None in terminals and programs."""
    return getattr(ipython_shell(), "kernel", None)

"""Messages of pages, handled while a cell runs.

A kernel handles one request at a time, and a page's messages about a widget wait for the running cell.
ipykernel 7 has subshells, threads that handle messages concurrently; JupyterLab names one for its widgets.
What this needs of ipykernel's own is in `ipykernel_internals.py`.
"""

import warnings
from functools import cache
from importlib import import_module
from importlib.metadata import version
from typing import Any

from .ipykernel_internals import ShellChannel, let_choose_subshell, new_subshell, shell_channel
from .ipython_shell import notebook_kernel

# What a page asks when it is loaded anew, and what its widgets say. Cells that are to run wait, as ever.
_HANDLED_TYPES = ("comm_open", "comm_msg", "comm_close", "comm_info_request", "kernel_info_request")
_MIN_PARTS = 5  # parts of a message: ends of routes, a delimiter, signature, headers, content


def receive_during_cells(widget: Any) -> None:
    """Handle messages to a widget in a subshell: the one that the page names, or else one of our own.

    ipykernel 7.4 asks a comm about it, in the thread in which messages arrive, and would answer with the shell that
    opened the comm: the one in which the cell runs. Older ones do as the page says.
    """

    def reply_subshell(_data: Any, subshell: Any) -> Any:
        return subshell or _own_subshell()

    let_choose_subshell(widget.comm, reply_subshell)


_own: dict[int, str | None] = {}  # id of the manager -> subshell


def _own_subshell() -> str | None:
    """A subshell for pages that know none. Only the thread in which messages arrive may make one."""
    channel = getattr(notebook_kernel(), "shell_channel_thread", None)
    if channel is None:
        return None
    manager = channel.manager
    if _own.get(id(manager)) not in manager.list_subshell():
        _own[id(manager)] = new_subshell(manager)
    return _own[id(manager)]


class Inbox:
    """Messages for the main shell, handled while a cell runs there, as often as the cell calls `poll`.

    For kernels without subshells; and a page that is loaded anew does not show its widgets before the main shell has
    answered. `close` hands the other messages back, in their order.
    """

    def __init__(self, channel: ShellChannel) -> None:
        self._channel = channel
        self._deferred: list[Any] = []

    def poll(self) -> None:
        """Handle the messages that have arrived."""
        zmq = import_module("zmq")
        while True:
            try:
                parts = self._channel.socket.recv_multipart(zmq.NOBLOCK, copy=False)
            except zmq.Again:
                return
            if not self._handled(parts):
                self._deferred.append(parts)

    def close(self) -> None:
        """Hand back the messages of other types."""
        for parts in self._deferred:
            self._channel.give_back(parts)
        self._deferred.clear()

    def _handled(self, parts: list[Any]) -> bool:
        session = self._channel.kernel.session
        if len(parts) < _MIN_PARTS:
            return False
        route, rest = session.feed_identities(parts, copy=False)
        kind = session.deserialize(rest, content=False, copy=False)["msg_type"]
        if kind not in _HANDLED_TYPES:
            return False
        self._channel.handle(kind, route, session.deserialize(rest, content=True, copy=False))
        return True


def inbox() -> Inbox | None:
    """One for the kernel of this process, in its main thread; None where there is no kernel, or one that has no way."""
    kernel = notebook_kernel()
    if kernel is None:
        return None
    channel = shell_channel(kernel)
    if channel is None:
        _warn_that_pages_wait()
        return None
    return Inbox(channel)


@cache
def _warn_that_pages_wait() -> None:
    """Warn once in a process."""
    warnings.warn(
        f"burlab does not know ipykernel {version('ipykernel')} well enough to handle a panel's buttons while a cell "
        "runs: they act when it ends. Install another one, such as pip install 'ipykernel==7.4'.",
        RuntimeWarning,
        stacklevel=2,
    )

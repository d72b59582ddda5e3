"""Messages of pages, handled while a cell runs. Measured with ipykernel 6.31 and 7.4.

A kernel handles one request at a time, and a page's messages about a widget wait for the running cell.
ipykernel 7 has subshells, threads that handle messages concurrently; JupyterLab names one for its widgets.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

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

    if hasattr(widget.comm, "__dict__"):
        vars(widget.comm)["_reply_subshell_for"] = reply_subshell


_own: dict[int, str] = {}  # id of the manager -> subshell


def _own_subshell() -> str | None:
    """A subshell for pages that know none. Only the thread in which messages arrive may make one."""
    channel = getattr(notebook_kernel(), "shell_channel_thread", None)
    if channel is None:
        return None
    manager = channel.manager
    if _own.get(id(manager)) not in manager.list_subshell():
        _own[id(manager)] = manager._create_subshell()  # noqa: SLF001 - a request for one comes from pages only
    return _own[id(manager)]


class Inbox:
    """Messages for the main shell, handled while a cell runs there, as often as the cell calls `poll`.

    For kernels without subshells; and a page that is loaded anew does not show its widgets before the main shell has
    answered. `close` hands the other messages back, in their order.
    """

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self._deferred: list[Any] = []
        channel = getattr(kernel, "shell_channel_thread", None)
        self._give_back: Callable[[Any], None]
        if channel is None:
            self._socket = kernel.shell_stream.socket
            self._answers = kernel.shell_stream
            self._give_back = lambda parts: kernel.schedule_dispatch(kernel.dispatch_shell, parts)
        else:
            manager = channel.manager
            pair = manager._shell_channel_to_main  # noqa: SLF001 - here and below: no kernel has a public way
            self._socket = pair.to_socket
            self._answers = manager.get_subshell_to_shell_channel_socket(None)
            self._give_back = lambda parts: channel.io_loop.add_callback(
                pair.from_socket.send_multipart, parts, copy=False
            )

    def poll(self) -> None:
        """Handle the messages that have arrived."""
        zmq = import_module("zmq")
        while True:
            try:
                parts = self._socket.recv_multipart(zmq.NOBLOCK, copy=False)
            except zmq.Again:
                return
            if not self._handled(parts):
                self._deferred.append(parts)

    def close(self) -> None:
        """Hand back the messages of other types."""
        for parts in self._deferred:
            self._give_back(parts)
        self._deferred.clear()

    def _handled(self, parts: list[Any]) -> bool:
        kernel = self._kernel
        if len(parts) < _MIN_PARTS:
            return False
        route, rest = kernel.session.feed_identities(parts, copy=False)
        kind = kernel.session.deserialize(rest, content=False, copy=False)["msg_type"]
        if kind not in _HANDLED_TYPES:
            return False
        message = kernel.session.deserialize(rest, content=True, copy=False)
        asked, came = kernel.get_parent("shell"), kernel._parent_ident["shell"]  # noqa: SLF001
        kernel.set_parent(route, message)
        try:
            kernel._publish_status("busy", "shell", message)  # noqa: SLF001
            _finish(kernel.shell_handlers[kind](self._answers, route, message))
            kernel._publish_status("idle", "shell", message)  # noqa: SLF001 - who has asked waits for it
        finally:
            kernel.set_parent(came, asked)
            kernel._publish_status("busy", "shell", asked)  # noqa: SLF001 - with the cell, as before
        if hasattr(self._answers, "flush"):
            self._answers.flush(import_module("zmq").POLLOUT)
        return True


def inbox() -> Inbox | None:
    """One for the kernel of this process, in its main thread; None where there is no kernel."""
    kernel = notebook_kernel()
    return None if kernel is None else Inbox(kernel)


def _finish(answer: Any) -> None:
    """Carry a handler to its end, which waits for nothing."""
    if hasattr(answer, "send"):
        try:
            answer.send(None)
        except StopIteration:
            return
        answer.close()

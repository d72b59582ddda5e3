"""The private members of ipykernel that burlab uses, all of them: ipykernel has no public way to what they do.

Run with ipykernel 6.31 and 7.4. Another release may lack one: each function here then returns None, and messages of
pages wait until the cell ends, as for any other widget.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

_KERNEL = ("_parent_ident", "_publish_status", "get_parent", "session", "set_parent", "shell_handlers")


@dataclass(frozen=True, slots=True)
class ShellChannel:
    """Messages for the main shell, which the kernel would handle after the cell that runs.

    socket: where they arrive. answers: where handlers write. give_back: takes the parts of a message, to be handled
    after the cell.
    """

    kernel: Any
    socket: Any
    answers: Any
    give_back: Callable[[Any], None]

    def handle(self, kind: str, route: Any, message: Any) -> None:
        """Handle a message now, as the kernel does between cells; the cell is then its shell's request again."""
        kernel = self.kernel
        asked, came = kernel.get_parent("shell"), kernel._parent_ident["shell"]  # noqa: SLF001
        kernel.set_parent(route, message)
        try:
            kernel._publish_status("busy", "shell", message)  # noqa: SLF001
            _finish(kernel.shell_handlers[kind](self.answers, route, message))
            kernel._publish_status("idle", "shell", message)  # noqa: SLF001 - who has asked waits for it
        finally:
            kernel.set_parent(came, asked)
            kernel._publish_status("busy", "shell", asked)  # noqa: SLF001 - with the cell, as before
        if hasattr(self.answers, "flush"):
            self.answers.flush(import_module("zmq").POLLOUT)


def shell_channel(kernel: Any) -> ShellChannel | None:
    """The channel of a kernel, None where this ipykernel lacks a member that it needs."""
    if not all(hasattr(kernel, name) for name in _KERNEL):
        return None
    try:
        thread = getattr(kernel, "shell_channel_thread", None)
        if thread is None:  # before subshells
            dispatch, schedule = kernel.dispatch_shell, kernel.schedule_dispatch
            stream = kernel.shell_stream
            return ShellChannel(kernel, stream.socket, stream, lambda parts: schedule(dispatch, parts))
        pair, add = thread.manager._shell_channel_to_main, thread.io_loop.add_callback  # noqa: SLF001
        send, answers = pair.from_socket.send_multipart, thread.manager.get_subshell_to_shell_channel_socket(None)
        return ShellChannel(kernel, pair.to_socket, answers, lambda parts: add(send, parts, copy=False))
    except (AttributeError, KeyError, TypeError):
        return None


def new_subshell(manager: Any) -> str | None:
    """A new subshell of a kernel, None where this ipykernel makes none on demand: a request comes from pages only."""
    create = getattr(manager, "_create_subshell", None)
    return None if create is None else create()


def let_choose_subshell(comm: Any, choose: Callable[[Any, Any], Any]) -> None:
    """Let `choose(data, subshell)` say where messages to a comm are handled: ipykernel asks it since 7.4."""
    if hasattr(comm, "__dict__"):
        vars(comm)["_reply_subshell_for"] = choose


def _finish(answer: Any) -> None:
    """Carry a handler to its end, which waits for nothing."""
    if hasattr(answer, "send"):
        try:
            answer.send(None)
        except StopIteration:
            return
        answer.close()

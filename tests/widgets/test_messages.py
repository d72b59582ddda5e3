"""Messages of pages while a cell runs, to a real kernel without a page: a client sends them."""

import re
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from burlab.widgets import ipykernel_internals

jupyter_client = pytest.importorskip("jupyter_client", reason="no notebooks here: pip install 'burlab[lab]'")
ipykernel = pytest.importorskip("ipykernel", reason="no notebooks here: pip install 'burlab[lab]'")

SECONDS = 60.0
SETUP = """
import comm, os, threading, time
import burlab as bl
from burlab.widgets import kernel_messages
heard, one = [], comm.create_comm(target_name="a page")
one.on_msg(lambda message: heard.append((message["content"]["data"], threading.current_thread().name)))
class Widget: comm = one
def rest(look, until, seconds=120.0):
    end = time.monotonic() + seconds
    while not until() and time.monotonic() < end:
        look()
        time.sleep(0.01)
print(one.comm_id)
"""
SUBSHELL = """
kernel_messages.receive_during_cells(Widget)
print("begun", flush=True)
rest(lambda: None, lambda: heard)
print(heard[0][0], heard[0][1] != threading.main_thread().name)
"""
POLLED = """
inbox = kernel_messages.inbox()
print("begun", flush=True)
rest(inbox.poll, lambda: heard)
rest(inbox.poll, lambda: False, 0.3)
inbox.close()
print(heard[0][0], heard[0][1] == threading.main_thread().name)
"""
UNKNOWN = """
import warnings
from burlab.widgets import ipykernel_internals
known, ipykernel_internals._KERNEL = ipykernel_internals._KERNEL, ("_a_member_that_is_gone",)
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    print(kernel_messages.inbox(), kernel_messages.inbox(), len(said), "they act when it ends" in str(said[0].message))
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from burlab.widgets.watched import panel_screen
    print(type(panel_screen(bl.watch(lr=0.1))).__name__)
print("begun", flush=True)
rest(lambda: None, lambda: heard, 0.5)
ipykernel_internals._KERNEL = known
print(heard)
"""
LOOP = """
def stop_after_three():
    rest(lambda: None, lambda: w.t >= 3 and not w.running)
    w.stop()
def steered(message):
    w.hyper["lr"] = 0.5
    w.step(3)
    threading.Thread(target=stop_after_three).start()
one.on_msg(steered)
print("begun", flush=True)
inbox = kernel_messages.inbox()
class Screen:
    poll, close = staticmethod(inbox.poll), staticmethod(inbox.close)
from burlab.monitor import screen
screen._screens[:] = [lambda _: Screen]
w = bl.watch(lr=0.1)
w.pause()
with w:
    for step in range(100):
        w.log(step, value=1.0)
print(w.t, w.lr, w.stopped.reason)
"""


@pytest.fixture(scope="module")
def client():
    """A client of a new kernel."""
    manager, client = jupyter_client.manager.start_new_kernel(startup_timeout=SECONDS)
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def printed(client, request, until=None):
    """Return a cell's output: all of it, or up to the arrival of a text."""
    text, end = "", time.monotonic() + SECONDS
    while time.monotonic() < end:
        message = client.get_iopub_msg(timeout=SECONDS)
        if message["parent_header"].get("msg_id") != request:
            continue
        content = message["content"]
        assert message["msg_type"] != "error", content
        text += content.get("text", "")
        if until is not None and until in text:
            return text
        if message["msg_type"] == "status" and content["execution_state"] == "idle":
            return text
    raise AssertionError(text)


def send_intent(client, comm, data):
    """Send the message of a page that knows no subshells."""
    client.shell_channel.send(client.session.msg("comm_msg", {"comm_id": comm, "data": data}))


def replies(client, *requests):
    """The replies to these requests, in the order in which they come: their positions here."""
    found = []
    while len(found) < len(requests):
        asked = client.get_shell_msg(timeout=SECONDS)["parent_header"]["msg_id"]
        found += [requests.index(asked)] if asked in requests else []
    return found


@pytest.fixture
def comm(client):
    request = client.execute(SETUP)
    return printed(client, request).split()[-1]


@pytest.mark.skipif(ipykernel.version_info < (7, 4), reason="this ipykernel asks no comm where it is to be heard")
def test_page_without_subshells_is_handled_next_to_the_cell(client, comm):
    request = client.execute(SUBSHELL)
    printed(client, request, until="begun")
    send_intent(client, comm, "hello")
    assert "hello True" in printed(client, request)


def test_inbox_handles_pages_and_answers_a_loaded_one_while_cells_wait(client, comm):
    request = client.execute(POLLED)
    printed(client, request, until="begun")
    after = [client.execute(f"print('cell {k}')") for k in range(3)]
    asked = [client.comm_info(), client.kernel_info()]
    send_intent(client, comm, "hello")
    assert "hello True" in printed(client, request)
    assert [printed(client, one) for one in after] == ["cell 0\n", "cell 1\n", "cell 2\n"]
    assert replies(client, *asked, request, *after) == [0, 1, 2, 3, 4, 5]


def test_resting_loop_handles_the_message_that_resumes_it(client, comm):
    request = client.execute(LOOP)
    printed(client, request, until="begun")
    send_intent(client, comm, "go")
    # What comes before step 0 is done lets that one through as well.
    assert re.search(r"[34] 0\.5 stopped", printed(client, request))


def test_an_ipykernel_without_the_members_shows_panels_and_handles_pages_after_the_cell(client, comm):
    request = client.execute(UNKNOWN)
    text = printed(client, request, until="begun")
    assert "None None 1 True" in text
    assert "PanelScreen" in text
    send_intent(client, comm, "hello")
    assert "[]" in printed(client, request)
    assert "hello" in printed(client, client.execute("print(heard[0][0])"))


def kernel_like(**changes):
    """A kernel as ipykernel 7 has it, of stand-ins."""
    manager = SimpleNamespace(
        _shell_channel_to_main=SimpleNamespace(from_socket=SimpleNamespace(send_multipart=1), to_socket="socket"),
        get_subshell_to_shell_channel_socket=lambda _: "answers",
    )
    members = dict.fromkeys(ipykernel_internals._KERNEL)
    thread = SimpleNamespace(manager=manager, io_loop=SimpleNamespace(add_callback=print))
    return SimpleNamespace(**(members | {"shell_channel_thread": thread} | changes))


def test_a_channel_is_there_where_all_members_are():
    found = ipykernel_internals.shell_channel(kernel_like())
    assert (found.socket, found.answers) == ("socket", "answers")


@pytest.mark.parametrize("name", ["_parent_ident", "_publish_status", "get_parent", "set_parent", "shell_handlers"])
def test_a_missing_member_of_the_kernel_is_a_missing_channel(name):
    kernel = kernel_like()
    delattr(kernel, name)
    assert ipykernel_internals.shell_channel(kernel) is None


@pytest.mark.parametrize(
    "path", ["manager", "io_loop", "manager._shell_channel_to_main", "manager.get_subshell_to_shell_channel_socket"]
)
def test_a_missing_member_of_its_threads_is_a_missing_channel(path):
    kernel = kernel_like()
    *owners, name = path.split(".")
    delattr(kernel.shell_channel_thread if not owners else kernel.shell_channel_thread.manager, name)
    assert ipykernel_internals.shell_channel(kernel) is None


def test_a_kernel_of_neither_form_has_no_channel_and_a_manager_may_make_no_subshell():
    assert ipykernel_internals.shell_channel(kernel_like(shell_channel_thread=None)) is None
    assert ipykernel_internals.new_subshell(object()) is None


def test_private_members_of_ipykernel_are_in_one_module():
    package = Path(ipykernel_internals.__file__).parent
    private = re.compile(
        r"\._(parent_ident|publish_status|create_subshell|shell_channel_to_main)\b|_reply_subshell_for"
    )
    users = [file.name for file in package.rglob("*.py") if private.search(file.read_text())]
    assert users == ["ipykernel_internals.py"]

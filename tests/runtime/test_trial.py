"""A copy of this process says whether this one would live."""

import os
import signal
import threading

import pytest

from burlab.errors import CompileError
from burlab.runtime import compile_text, hide_macros, interpreter, trial
from burlab.runtime.cling import DeadlyText, try_text


def test_death_of_a_trial_process_is_reported():
    seen: list[int] = []
    assert trial.death_in(lambda: seen.append(1)) == ""
    assert seen == []  # of the copy
    assert trial.death_in(lambda: os.kill(os.getpid(), signal.SIGABRT)) == "SIGABRT"
    assert trial.death_in(lambda: os._exit(0)) == "exit(0)"
    assert trial.death_in(lambda: 1 / 0) == ""


def test_a_copy_that_waits_for_a_thread_is_given_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(trial, "_STUCK", 0.1)
    lock = threading.Lock()
    lock.acquire()
    assert trial.death_in(lock.acquire) == ""


def test_an_interrupt_ends_the_copy():
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()

    def for_ever() -> None:
        while True:
            pass

    with pytest.raises(KeyboardInterrupt):
        trial.death_in(for_ever)
    timer.join()


def test_a_text_that_kills_is_refused_before_it_does():
    interpreter()
    with pytest.raises(DeadlyText, match="SIGSEGV"):
        try_text("int trial_crash() { return *(volatile int*)8; }\nint trial_crashed = trial_crash();")
    try_text("int trial_fine = 1;")
    compile_text("int trial_fine = 2;")  # the copy's variable is not ours


def test_macros_of_users_are_unknown_to_texts_of_ours():
    compile_text("#define trial_macro 7", users=True)
    hide_macros(["trial_macro"])
    compile_text("int trial_macro = 1;")
    compile_text("static_assert(trial_macro == 7);", users=True)
    with pytest.raises(CompileError):
        compile_text("int trial_macro = 2;", users=True)

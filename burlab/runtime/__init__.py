"""The border to C++: cppyy and Cling, the buffer gate, Status to exception, CPU features, interruptible waits."""

from .cling import DeadlyText, address, compile_text, declare, declared, hide_macros, is_compiled, taken, try_text
from .cpu import InstructionSet, cpu_flags, instruction_set
from .host import host_compiler
from .interpreter import header_folder, interpreter, reflect, started

__all__ = [
    "DeadlyText",
    "InstructionSet",
    "address",
    "compile_text",
    "cpu_flags",
    "declare",
    "declared",
    "header_folder",
    "hide_macros",
    "host_compiler",
    "instruction_set",
    "interpreter",
    "is_compiled",
    "reflect",
    "started",
    "taken",
    "try_text",
]

"""The border to C++: cppyy and Cling, the buffer gate, Status to exception, CPU features, interruptible waits."""

from .cling import address, compile_text, declare, declared, kept, taken
from .cpu import InstructionSet, cpu_flags, instruction_set
from .host import host_compiler
from .interpreter import header_folder, interpreter, started
from .reflection import reflect

__all__ = [
    "InstructionSet",
    "address",
    "compile_text",
    "cpu_flags",
    "declare",
    "declared",
    "header_folder",
    "host_compiler",
    "instruction_set",
    "interpreter",
    "kept",
    "reflect",
    "started",
    "taken",
]

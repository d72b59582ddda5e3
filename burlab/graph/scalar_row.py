"""A row of a table of scalar operations: what its C++ struct states, see `cpp/burlab/ops/facts.hpp`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ScalarOp:
    """A scalar operation: its name, number of arguments, table (`family`), documentation, and what is known of it.

    differentiable: comparisons and logic, whose results are masks, and operations on integers have no derivative.
    of_floats: integers are converted to floats before. of_integers: it is not defined for floats.
    cheap: computing it again costs less than keeping it. own_lanes: functions of ours compute it, also in SIMD lanes.
    linear_in: `all` of its arguments together, `each` by itself, or the `first`; "" for none.
    formula, integer_formula: the C++ text of its value, "" where a function is called. partials: those of its
    derivatives, in which the result is counted after the arguments. See `compiler/ir/spelling.py`.
    file, struct: of an operation that a user has registered, its header and the name of its struct.
    """

    name: str
    arity: int
    family: str
    doc: str
    differentiable: bool = False
    of_floats: bool = False
    of_integers: bool = False
    cheap: bool = False
    own_lanes: bool = False
    linear_in: str = ""
    formula: str = ""
    integer_formula: str = ""
    partials: tuple[str, ...] = ()
    file: str = ""
    struct: str = ""

    @property
    def header(self) -> str:
        """The header of its struct and of all that it is made of."""
        return self.file or f"burlab/ops/{self.family}.hpp"

    @property
    def kernels(self) -> str:
        """The header of the kernels that it can be compiled into; "" for the first table, which all kernels know."""
        return self.file or ("" if self.family == "table" else f"burlab/kernels/families/{self.family}.hpp")

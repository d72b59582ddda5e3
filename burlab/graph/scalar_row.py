"""A row of a table of scalar operations: what its C++ struct states, see `cpp/burlab/ops/facts.hpp`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ScalarOp:
    """A scalar operation: its name, number of arguments, table (`family`), documentation, and what is known of it.

    differentiable: comparisons and logic, whose results are masks, and operations on integers have no derivative.
    of_floats: integers are converted to floats before. of_integers: it is not defined for floats. of_masks: it is for
    masks only. chooses: by its first argument, a mask, between the others.
    cheap: computing it again costs less than keeping it. activation: of neural networks. inlined: its function is
    short but for what is rare. long_chain: an element of float64 is a chain of 30 dependent operations.
    own_lanes: functions of ours compute it and its derivatives, also in SIMD lanes. common_lanes: they compute it so
    for common arguments, and tell others apart. first_own, last_own: of another one, the orders of the derivatives that
    they compute. max_own_order: of a function of an order, its first argument, up to which they do; each derivative
    raises it. no_lanes: why it, or a first derivative, has none; "" where all of them have.
    literal: the argument that stands in the text of kernels, with all behind it unless it is the first; -1: none.
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
    of_masks: bool = False
    chooses: bool = False
    cheap: bool = False
    activation: bool = False
    inlined: bool = False
    long_chain: bool = False
    own_lanes: bool = False
    common_lanes: bool = False
    first_own: int = 0
    last_own: int = -1
    max_own_order: int = -1
    no_lanes: str = ""
    literal: int = -1
    linear_in: str = ""
    formula: str = ""
    integer_formula: str = ""
    partials: tuple[str, ...] = ()
    file: str = ""
    struct: str = ""

    @property
    def is_mask(self) -> bool:
        """True if its values are masks, as those of comparisons, tests and logic are."""
        return not (self.differentiable or self.of_integers)

    @property
    def has_own_orders(self) -> bool:
        """True if its first argument is an order, which determines whether our functions compute it."""
        return self.max_own_order >= 0

    @property
    def header(self) -> str:
        """The header of its struct and of all that it is made of."""
        return self.file or f"burlab/ops/{self.family}.hpp"

    @property
    def kernels(self) -> str:
        """The header of the kernels that it can be compiled into; "" for the first table, which all kernels know."""
        return self.file or ("" if self.family == "table" else f"burlab/kernels/families/{self.family}.hpp")


NOT_SCALAR = ScalarOp("", 0, "", "")
"""What stands in the place of a scalar operation where there is none."""

"""Objects that stay in the process that made them: compiled code, and the addresses that lead to it."""

import sys
from typing import Self

from burlab.errors import StatusError


class Resident:
    """An immutable object with compiled code: a copy is the object itself, as of a function, and no pickle holds it."""

    __slots__ = ()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce_ex__(self, _: object) -> str:
        name = getattr(self, "__qualname__", "")
        if getattr(sys.modules.get(getattr(self, "__module__", "")), name, None) is self:
            return name  # a decorated function of a module: found again by its name
        raise StatusError(
            f"{self!r} is compiled code of this process, which cannot be pickled. Pickle the function that it was made "
            "of, and call bl.compile, bl.grad, ... where it is read; kernel.export(folder) writes C++."
        )

"""The names of HIPS autograd on burlab, so that one program text runs on both."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from scipy import special

import burlab as bl
from tests.programs import optimizers
from tests.programs.convolution import convolve

TEXTS = Path(__file__).parent / "texts"


def load(name: str, engine: str) -> ModuleType:
    """The program of this name, run from its text on an engine: burlab, or autograd itself."""
    text = (TEXTS / f"{name}.py").read_text()
    program = ModuleType(f"{name}_on_{engine}")
    with _imports(_tree() if engine == "burlab" else {}):
        exec(compile(text, f"{name}.py", "exec"), program.__dict__)
    return program


@contextmanager
def _imports(tree: dict[str, Any]) -> Generator[None]:
    """While a program is imported, `import autograd...` finds these modules."""
    hidden = {name: sys.modules.pop(name) for name in list(sys.modules) if tree and _is_autograd(name)}
    sys.modules.update(tree)
    try:
        yield
    finally:
        for name in tree:
            del sys.modules[name]
        sys.modules.update(hidden)


def _is_autograd(name: str) -> bool:
    return name == "autograd" or name.startswith("autograd.")


def _tree() -> dict[str, Any]:
    """Each module of autograd by its name, on burlab."""
    transforms = _transforms()
    scipy = {
        "special": _module("autograd.scipy.special", **vars(special) | {"logsumexp": bl.logsumexp}),
        "stats": bl.scipy.stats,
        "signal": _module("autograd.scipy.signal", convolve=convolve),
        "linalg": bl.scipy.linalg,
    }
    extend = _module("autograd.extend", primitive=Primitive, defvjp=_defvjp)
    misc = {
        "flatten": _module("autograd.misc.flatten", flatten=optimizers.flatten),
        "optimizers": _module("autograd.misc.optimizers", **optimizers.ALL),
    }
    tree: dict[str, Any] = {"autograd.numpy": np, "autograd.extend": extend}
    tree["autograd.scipy"] = _module("autograd.scipy", **scipy)
    tree["autograd.misc"] = _module("autograd.misc", **misc | {"flatten": optimizers.flatten})
    tree |= {f"autograd.scipy.{name}": module for name, module in scipy.items()}
    tree |= {f"autograd.misc.{name}": module for name, module in misc.items()}
    tree |= {f"autograd.numpy.{name}": getattr(np, name) for name in ("random", "linalg", "fft")}
    tree |= {f"autograd.scipy.stats.{k}": v for k, v in vars(scipy["stats"]).items() if not k.startswith("_")}
    packages = {name.split(".")[1]: module for name, module in tree.items() if name.count(".") == 1}
    tree["autograd"] = _module("autograd", **transforms, **packages)
    return tree


def _module(name: str, **names: Any) -> ModuleType:
    module = ModuleType(name)
    module.__dict__.update(names)
    return module


def _defvjp(f: Any, *rules: Callable[..., Any]) -> None:
    f.rules = rules


def _backward(rules: tuple[Callable[..., Any], ...]) -> Callable[..., Any]:
    """autograd's rules, one for each argument, as the one rule of burlab."""

    def backward(g: Any, y: Any, *args: Any) -> Any:
        return tuple(rule(y, *args)(g) for rule in rules)

    return backward


class Primitive:
    """A function whose derivative `defvjp` gives."""

    def __init__(self, f: Callable[..., Any]) -> None:
        self.f, self.rules, self.traced = f, (), None

    def __call__(self, *args: Any) -> Any:
        if self.traced is None:
            examples = [np.linspace(0.5, 1.5, int(np.size(a))).reshape(np.shape(a)) for a in args]
            self.traced = bl.custom_vjp(self.f, _backward(self.rules), *examples)
        return self.traced(*args)


def _transforms() -> dict[str, Callable[..., Any]]:
    """autograd's operators by those of burlab, which take argnums after the function."""

    def by(f: Any, argnum: int, args: Any) -> Any:
        return lambda x: f(*args[:argnum], x, *args[argnum + 1 :])

    def elementwise_grad(f: Any, argnum: int = 0) -> Any:
        return bl.grad(lambda *args: np.sum(f(*args)), argnum)

    def make_vjp(f: Any, argnum: int = 0) -> Any:
        def at(*args: Any) -> Any:
            value, pull = bl.vjp(by(f, argnum, args), args[argnum])
            return lambda g: pull(g)[0], value

        return at

    def make_jvp(f: Any, argnum: int = 0) -> Any:
        return lambda *args: lambda v: bl.jvp(by(f, argnum, args), (args[argnum],), (v,))

    def hessian_vector_product(f: Any, argnum: int = 0) -> Any:
        def at(*args: Any) -> Any:
            *args, v = args
            return bl.jvp(bl.grad(by(f, argnum, args)), (args[argnum],), (v,))[1]

        return at

    def make_hvp(f: Any, argnum: int = 0) -> Any:
        return make_vjp(bl.grad(f, argnum), argnum)

    return {
        "grad": bl.grad, "value_and_grad": bl.value_and_grad, "jacobian": bl.jacobian, "hessian": bl.hessian,
        "elementwise_grad": elementwise_grad, "make_vjp": make_vjp, "make_jvp": make_jvp, "make_hvp": make_hvp,
        "hessian_vector_product": hessian_vector_product, "hessian_tensor_product": hessian_vector_product,
    }  # fmt: skip

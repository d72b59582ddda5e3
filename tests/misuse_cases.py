"""Mistakes of a first hour, as a table: what was done, which error, and its message.

Each error is a BurlabError, so who catches those catches all. A case that computes something instead has lost numbers,
or meaning, without a word.
"""

import array
from collections.abc import Callable
from typing import Any

import numpy as np

import burlab as bl
from burlab.errors import ArgumentError, DTypeError, ShapeError, StatusError, TapeError, TraceError
from tests.engines import torch_or_skip
from tests.misuse import Misuse, X, squares
from tests.misuse_sizes import FAR_SIZES
from tests.misuse_traced import TRACED

MASKED = np.ma.array(X, mask=[False, True, False])
METRES = X.view(type("Metres", (np.ndarray,), {}))
MATRIX = np.array([[1.0, 2.0], [3.0, 4.0]]).view(np.matrix)
LOOP: list[Any] = []
LOOP.append(LOOP)


def warm(f: Callable[..., Any], x: Any) -> Callable[..., Any]:
    """The function after calls that were right: nothing of Python runs any more between caller and kernel."""
    for _ in range(3):
        f(x)
    return f


def exports(kind: str, value: Any, says: str) -> list[Misuse]:
    """Every door through which an array comes in, with an array that means more than its numbers."""
    plain = np.array(value)
    problem = bl.FiniteSum(lambda x, a: squares(x) * a, np.ones(2))
    kernel = bl.compile(squares, plain)
    rows: dict[str, Callable[[], Any]] = {
        "grad": lambda: bl.grad(squares)(value),
        "grad, warm": lambda: warm(bl.grad(lambda x: np.sum(x * x)), plain)(value),
        "value_and_grad": lambda: bl.value_and_grad(squares)(value),
        "jit": lambda: bl.jit(squares)(value),
        "a leaf of a tree": lambda: bl.grad(lambda p: squares(p["w"]))({"w": value}),
        "vmap": lambda: bl.vmap(lambda x: 2 * x)(value),
        "jvp, primal": lambda: bl.jvp(squares, (value,), (plain,)),
        "jvp, tangent": lambda: bl.jvp(squares, (plain,), (value,)),
        "vjp": lambda: bl.vjp(squares, value),
        "vjp, cotangent": lambda: bl.vjp(lambda x: 2 * x, plain)[1](value),
        "hvp": lambda: bl.hvp(squares)(plain, value),
        "hessian": lambda: bl.hessian(squares)(value),
        "jacobian": lambda: bl.jacobian(lambda x: 2 * x)(value),
        "check_grads": lambda: bl.check_grads(squares, value),
        "compile": lambda: bl.compile(squares, value),
        "kernel": lambda: kernel(value),
        "kernel, warm": lambda: warm(bl.compile(squares, plain), plain)(value),
        "kernel, gradient": lambda: warm(kernel.value_and_grad, plain)(value),
        "kernel, rows": lambda: bl.compile(lambda x: 2 * x, 1.0).map(value),
        "kernel, out": lambda: bl.compile(lambda x: 2 * x, plain)(plain, out=value),
        "captured": lambda: bl.grad(lambda x: np.sum(x * value))(plain),
        "captured, first": lambda: bl.grad(lambda x: np.sum(value * x))(plain),
        "captured in a list": lambda: bl.grad(lambda x: np.sum(x * [value, value]))(plain),
        "captured, where": lambda: bl.grad(lambda x: np.sum(np.where(x > 0, value, x)))(plain),
        "while_loop": lambda: bl.while_loop(lambda s: np.sum(s) < 0, lambda s: 2 * s, value),
        "scan, elements": lambda: bl.scan(lambda c, x: (c + np.sum(x), c), 0.0, value),
        "relu": lambda: bl.relu(value),
        "softmax": lambda: bl.softmax(value),
        "asarray": lambda: bl.asarray(value),
        "data of a sum": lambda: bl.FiniteSum(lambda x, a: x * a, value),
        "point of a sum": lambda: problem.grad(value),
        "vector of a sum": lambda: problem.hvp(plain, value),
        "x0": lambda: bl.minimize(squares, value, bl.optim.GD(0.1)),
        "layer": lambda: bl.nn.Linear(plain.shape[-1], 2, key=bl.random.key(0))(value),
        "weight": lambda: bl.nn.Linear(3, 3, key=bl.random.key(0)).replace(weight=value),
        "dropout": lambda: bl.nn.Dropout(0.5)(value, key=bl.random.key(0)),
        "save_parameters": lambda: bl.nn.save_parameters("unwritten.safetensors", {"w": value}),
        "a Value": lambda: np.add(value, bl.Value(2.0)),
    }
    return [Misuse(f"{kind} for {door}", do, (DTypeError, TraceError), says) for door, do in rows.items()]  # type: ignore[arg-type]


def _times_mask(mask: Any) -> Callable[[], Any]:
    return lambda: bl.grad(lambda x: x * mask)(1.0)


ARRAYS = [
    *exports("a masked array", MASKED, "mask would be lost"),
    *exports("a matrix", MATRIX, "np.asarray"),
    *exports("an array with units", METRES, "Metres.*np.asarray"),
    Misuse(
        "masked positions", lambda: bl.FiniteSum(lambda x, a: x * a, X).grad(1.0, np.ma.array([0])), DTypeError, "mask"
    ),
    Misuse(
        "masked features",
        lambda: bl.problems.least_squares(np.ma.array(np.eye(2)), X[:2]),
        DTypeError,
        "features is",
    ),
    Misuse("nothing but a mask", lambda: bl.grad(lambda x: x * np.ma.masked)(1.0), DTypeError, "mask would be lost"),
    Misuse("nothing but a mask, captured", _times_mask(np.ma.masked), DTypeError, "mask would be lost"),
]

TENSORS: dict[str, Callable[[Any], Any]] = {  # of the module of PyTorch
    "a tensor that requires grad": lambda torch: torch.ones(3, requires_grad=True),
    "a bfloat16 tensor": lambda torch: torch.ones(3).bfloat16(),
    "a sparse tensor": lambda torch: torch.ones(3).to_sparse(),
    "a conjugated tensor": lambda torch: torch.ones(3, dtype=torch.complex64).conj(),
    "a tensor without numbers": lambda torch: torch.ones(3, device="meta"),
}
FOREIGN = [
    Misuse(f"{kind} {place}", lambda do=do, t=t: do(t(torch_or_skip())), DTypeError, r"NumPy cannot read.*detach\(\)")
    for kind, t in TENSORS.items()
    for place, do in {
        "for grad": bl.grad(squares),
        "for a kernel": bl.compile(squares, X),
        "captured": lambda t: bl.grad(lambda x: np.sum(x * t))(X),
        "as data": lambda t: bl.FiniteSum(lambda x, a: x * a, t),
        "as x0": lambda t: bl.minimize(squares, t, bl.optim.GD(0.1)),
    }.items()
]

OTHERS = {
    "a string": "abc", "bytes": b"abc", "a range": range(3), "a memory": memoryview(X), "a set": {1.0}, "None": None,
    "an array of Python": array.array("d", X), "a bytearray": bytearray(8), "a frozenset": frozenset([1.0]),
    "a function": len, "a tree that holds itself": LOOP, "a dictionary of strings": {"a": "b"}, "a complex number": 1j,
    "dates": X.astype("M8[s]"), "objects": X.astype(object), "long doubles": X.astype("g"), "texts": np.array(["a"]),
}  # fmt: skip
STRANGE = [
    Misuse(f"{kind} {place}", lambda do=do, v=v: do(v), Exception, r"\w")
    for kind, v in OTHERS.items()
    for place, do in {
        "for grad": bl.grad(squares),
        "for a warm grad": warm(bl.grad(lambda x: np.sum(x * x)), X),
        "for jit": bl.jit(squares),
        "for vmap": bl.vmap(squares),
        "for hessian": bl.hessian(squares),
        "for compile": lambda v: bl.compile(squares, v)(v),
        "for a kernel": bl.compile(squares, X),
        "for a warm kernel": warm(bl.compile(squares, X), X),
        "as a point": lambda v: bl.FiniteSum(lambda x, a: np.sum(x) * a, X).value(v),
        "as x0": lambda v: bl.minimize(squares, v, bl.optim.GD(0.1)),
    }.items()
    if not (
        (kind in ("a frozenset", "a function", "an array of Python", "None") and place == "for jit")
        or (kind == "a complex number" and place in ("for jit", "for compile"))
    )
]

NUMBERS = [
    *(
        Misuse(f"vmap(in_axes={axes!r})", lambda a=axes: bl.vmap(squares, a)(np.ones((2, 3))), error, "axis|axes")
        for axes, error in [
            ({"x": 0}, ArgumentError), ({0: 0}, ArgumentError), (({"a": 0},), ArgumentError), ("a", ArgumentError),
            (1.5, ArgumentError), (((0, 1),), ArgumentError), (True, ArgumentError), (np.array([0]), ArgumentError),
            (5, ShapeError), (-3, ShapeError), (None, ShapeError), ((0, 0), ArgumentError),
        ]
    ),
    *(
        Misuse(f"vmap(out_axes={axes!r})", lambda a=axes: bl.vmap(squares, 0, a)(np.ones((2, 3))), error, "out_axes")
        for axes, error in [
            ({"x": 0}, ArgumentError), ("a", ArgumentError), (None, ArgumentError), ((0,), ArgumentError),
            (True, ArgumentError), (5, ShapeError), (-2, ShapeError),
        ]
    ),
    *(
        Misuse(f"{name}(argnums={n!r})", lambda do=do, n=n: do(n), ArgumentError, "argnums")
        for name, do in {
            "grad": lambda n: bl.grad(squares, n)(X),
            "value_and_grad": lambda n: bl.value_and_grad(squares, n)(X),
            "jacobian": lambda n: bl.jacobian(squares, n)(X),
            "hessian": lambda n: bl.hessian(squares, n)(X),
            "hvp": lambda n: bl.hvp(squares, n)(X, X),
            "compile": lambda n: bl.compile(squares, X, argnums=n),
        }.items()
        for n in ("a", 1.5, None, (), (0, "a"), True, {0}, np.array(0.5), {"x": 0})
    ),
    Misuse("a returned tree that holds itself", lambda: bl.jit(lambda _: LOOP)(1.0), ArgumentError, "holds itself"),
    Misuse("argnums beyond the arguments", lambda: bl.grad(squares, 1)(X), ArgumentError, "argnums=1, but.*got 1"),
    Misuse("an axis that is not there", lambda: bl.grad(lambda x: np.sum(x, axis=4))(X), ShapeError, "line.*1 axis"),
    Misuse("a traced array times None", lambda: bl.grad(lambda x: x * None)(1.0), TraceError, "NoneType met a traced"),
    Misuse("a text plus a traced array", lambda: bl.grad(lambda x: "a" + x)(1.0), TraceError, "str met a traced"),
]  # fmt: skip


def _dumped(make: Callable[[], Any]) -> Callable[[], Any]:
    import pickle

    return lambda: pickle.dumps(make())


_SUM = bl.FiniteSum(lambda x, a: x * a, X)
INDICES = [
    Misuse(f"{what} as positions{', warm' * again}", lambda i=i, n=again: _positions(i, n), error, says)
    for again in (False, True)
    for what, i, error, says in [
        ("a masked array", np.ma.array([0, 1], mask=[False, True]), DTypeError, "mask would be lost"),
        ("a matrix", np.array([[0, 1]]).view(np.matrix), DTypeError, "np.matrix"),
        ("a tensor that requires grad", TENSORS["a tensor that requires grad"], DTypeError, r"detach\(\)"),
        ("a bfloat16 tensor", TENSORS["a bfloat16 tensor"], DTypeError, "NumPy cannot read"),
        ("lists of different lengths", [[0], 1], ShapeError, "different shapes"),
        ("numbers beyond all dtypes", [10**400, 0.5], DTypeError, "expected integers"),
    ]
]


def _positions(indices: Any, again: bool) -> Any:
    if callable(indices):
        indices = indices(torch_or_skip())
    if again:
        warm(lambda x: _SUM.grad(x, [0, 1]), 1.0)
    return _SUM.grad(1.0, indices)


PICKLES = [
    Misuse("pickle a kernel", _dumped(lambda: bl.compile(squares, X)), StatusError, r"cannot be pickled.*bl\.compile"),
    Misuse("pickle a warm kernel", _dumped(lambda: warm(bl.compile(squares, X), X)), StatusError, "cannot be pickled"),
    Misuse("pickle a gradient", _dumped(lambda: bl.grad(squares)), StatusError, "cannot be pickled"),
    Misuse("pickle a tape", _dumped(bl.Tape), TapeError, "cannot be copied or pickled"),
    Misuse("pickle a Value", _dumped(lambda: bl.Value(1.0)), DTypeError, "cannot be copied or pickled"),
    Misuse("pickle a run", _dumped(lambda: bl.minimize(squares, X, bl.optim.GD(0.1))), StatusError, "run.fork"),
]

OPTIM = bl.optim
KEY = bl.random.key(0)
GD = OPTIM.GD(0.1)


def _live(value: Any, optimizer: Any = GD, name: str = "lr") -> Callable[[], Any]:
    def change() -> None:
        bl.minimize(squares, X, optimizer).hyper[name] = value

    return change


_FIELDS = {
    OPTIM.Adam: {"lr": (-1, np.nan, np.inf), "b1": (1.0, -0.1, np.nan), "b2": (1.5,), "eps": (-1e-8, np.nan)},
    OPTIM.AMSGrad: {"lr": (-1.0,)},
    OPTIM.AdamW: {"weight_decay": (-0.1, np.inf)},
    OPTIM.NAdam: {"momentum_decay": (-1.0,)},
    OPTIM.GD: {"lr": (np.float32(-1), np.nan, -np.inf)},
    OPTIM.Momentum: {"mu": (-2.0, 1.5, np.nan), "dampening": (2.0,)},
    OPTIM.RMSProp: {"alpha": (1.5,)},
    OPTIM.Adagrad: {"lr_decay": (-1.0,), "initial_accumulator_value": (-1.0, np.nan)},
    OPTIM.Adadelta: {"rho": (1.5,)},
    OPTIM.Rprop: {"eta_minus": (1.5,), "eta_plus": (0.5,), "step_max": (0.0,)},
    OPTIM.LBFGS: {"c1": (0.0, 1.5), "c2": (np.nan,), "memory": (0, 1.5)},
    OPTIM.Newton: {"damping": (-1.0, np.nan)},
    OPTIM.TrustRegion: {"eta": (0.5,), "radius": (-1.0, np.nan)},
    OPTIM.BarzilaiBorwein: {"first": (0.0, np.nan)},
    OPTIM.ball: {"radius": (-1.0, np.nan)},
    OPTIM.simplex: {"total": (0.0, np.nan)},
}
_WITH = {
    "cosine(nan)": lambda: OPTIM.cosine(np.nan, steps=10),
    "cosine(steps=0)": lambda: OPTIM.cosine(0.1, steps=0),
    "cosine(steps='a')": lambda: OPTIM.cosine(0.1, steps="a"),  # type: ignore[arg-type]
    "constant(nan)": lambda: OPTIM.constant(np.nan),
    "step(every=-1)": lambda: OPTIM.step(0.1, every=-1),
    "exponential(factor=inf)": lambda: OPTIM.exponential(0.1, factor=np.inf),
    "polynomial(power=0)": lambda: OPTIM.polynomial(0.1, steps=3, power=0),
    "warmup(steps=nan)": lambda: OPTIM.warmup(np.nan, then=0.1),
    "clip_by_norm(-1)": lambda: OPTIM.clip_by_norm(GD, -1.0),
    "clip_by_value(nan)": lambda: OPTIM.clip_by_value(GD, np.nan),
    "weight_decay(-1)": lambda: OPTIM.weight_decay(GD, -1.0),
    "l1(-1)": lambda: OPTIM.l1(-1.0),
    "l2(nan)": lambda: OPTIM.l2(np.nan),
    "gradient_noise(eta=-1)": lambda: OPTIM.gradient_noise(GD, eta=-1.0),
    "LossScale(interval=0)": lambda: OPTIM.LossScale(interval=0),
    "LossScale(nan)": lambda: OPTIM.LossScale(np.nan),
    "LossScale(growth='a')": lambda: OPTIM.LossScale(growth="a"),  # type: ignore[arg-type]
    "rounded(gradients='fp8')": lambda: OPTIM.rounded(GD, "fp8"),
    "Formats(compute=3)": lambda: bl.Formats(compute=3),  # type: ignore[arg-type]
    "precision(mode='even')": lambda: bl.precision(np.exp, "e4m3", mode="even"),
    "round_to(bits=0)": lambda: bl.round_to("e4m3", 1.0, key=bl.random.key(0), bits=0),
    "lr = nan, live": _live(np.nan),
    "lr = -1, live": _live(-1.0),
    "lr = inf, live": _live(np.inf),
    "b1 = 1, live": _live(1.0, OPTIM.Adam(), "b1"),
    "lr = -1, live, inside": _live(-1.0, OPTIM.clip_by_norm(GD, 1.0)),
    "LayerNorm(eps=-1)": lambda: bl.nn.LayerNorm(3, eps=-1),
    "LayerNorm(eps=nan)": lambda: bl.nn.LayerNorm(3, eps=np.nan),
    "LayerNorm(eps='a')": lambda: bl.nn.LayerNorm(3, eps="a"),  # type: ignore[arg-type]
    "RMSNorm(eps=-1)": lambda: bl.nn.RMSNorm(3, eps=-1),
    "Dropout('a')": lambda: bl.nn.Dropout("a"),  # type: ignore[arg-type]
    "Dropout(nan)": lambda: bl.nn.Dropout(np.nan),
    "Dropout(1)": lambda: bl.nn.Dropout(1),
    "Linear(bound=-1)": lambda: bl.nn.Linear(2, 2, key=KEY, bound=-1.0),
    "Linear(dtype='foo')": lambda: bl.nn.Linear(2, 2, key=KEY, dtype="foo"),
    "Linear(dtype=int)": lambda: bl.nn.Linear(2, 2, key=KEY, dtype=int),
    "Embedding()(-1)": lambda: bl.nn.Embedding(5, 3, key=KEY)(-1),
    "Embedding()(5)": lambda: bl.nn.Embedding(5, 3, key=KEY)(np.array([0, 5])),
    "Embedding()(-1), compiled": lambda: bl.jit(bl.nn.Embedding(5, 3, key=KEY))(np.array(-1)),
    "save_parameters(None)": lambda: bl.save_parameters("unwritten.safetensors", None),
    "save_parameters({})": lambda: bl.save_parameters("unwritten.safetensors", {}),
    "init.uniform((-1,))": lambda: bl.nn.init.uniform(KEY, (-1,)),
    "init.uniform('a')": lambda: bl.nn.init.uniform(KEY, "a"),  # type: ignore[arg-type]
    "init.uniform(dtype='foo')": lambda: bl.nn.init.uniform(KEY, (2,), "foo"),
    "init.uniform(low=nan)": lambda: bl.nn.init.uniform(KEY, (2,), low=np.nan),
    "init.normal(std=-1)": lambda: bl.nn.init.normal(KEY, (2,), std=-1.0),
    "init.trunc_normal(std=0)": lambda: bl.nn.init.trunc_normal(KEY, (2,), std=0.0),
    "init.zeros((-1,))": lambda: bl.nn.init.zeros(KEY, (-1,)),
    "init.ones(dtype='foo')": lambda: bl.nn.init.ones(KEY, (2,), "foo"),
    "init.xavier_uniform((0, 2))": lambda: bl.nn.init.xavier_uniform(KEY, (0, 2)),
    "init.orthogonal((3,))": lambda: bl.nn.init.orthogonal(KEY, (3,)),
    "random.key('a')": lambda: bl.random.key("a"),  # type: ignore[arg-type]
    "random.key(1.5)": lambda: bl.random.key(1.5),  # type: ignore[arg-type]
    "random.key(None)": lambda: bl.random.key(None),  # type: ignore[arg-type]
    "random.normal((2.5,))": lambda: bl.random.normal(KEY, (2.5,)),  # type: ignore[arg-type]
    "random.normal(dtype='foo')": lambda: bl.random.normal(KEY, (2,), "foo"),
    "random.uniform('a')": lambda: bl.random.uniform("a", (2,)),
    "sampler, an array": lambda: bl.minimize(bl.FiniteSum(lambda x, a: x * a, X), 1.0, GD, sampler=np.arange(3)),  # type: ignore[arg-type]
    "sampler, a list": lambda: bl.minimize(bl.FiniteSum(lambda x, a: x * a, X), 1.0, GD, sampler=[0, 1]),  # type: ignore[arg-type]
}
RANGES = [
    *(
        Misuse(f"{kind.__name__}({name}={value!r})", lambda k=kind, n=name, v=value: k(**{n: v}), ArgumentError, name)
        for kind, fields in _FIELDS.items()
        for name, values in fields.items()
        for value in values
    ),
    *(Misuse(what, do, Exception, r"\w") for what, do in _WITH.items()),
]


LAB: Any = bl  # who begins knows no types
KERNEL: Any = bl.compile(squares, X)
ROSENBROCK = bl.problems.rosenbrock()
BEGINNERS = [
    Misuse("grad of an array", lambda: LAB.grad(X)(X), ArgumentError, "expected a function of arrays, got ndarray"),
    Misuse("grad without an argument", bl.grad(squares), ArgumentError, "argnums=0, but squares got 0"),
    Misuse("hvp without a vector", lambda: bl.hvp(squares)(X), ArgumentError, r"got 1 .*bl\.hvp\(f\)\(x, v\)"),
    Misuse("jvp of an array", lambda: LAB.jvp(squares, X, X), ArgumentError, r"primals.*ndarray.*\(x,\), \(v,\)"),
    Misuse("jvp along an array", lambda: LAB.jvp(squares, (X,), X), ArgumentError, r"tangents.*ndarray.*\(x,\)"),
    Misuse("cond of two numbers", lambda: LAB.cond(True, 1.0, squares), ArgumentError, r"true side.*float.*np\.where"),
    *(
        Misuse(f"a list for {what}", do, TraceError, r"a list of 3 numbers as argument 0.*np\.array")
        for what, do in {
            "grad": lambda: bl.grad(squares)([1.0, 2.0, 3.0]),
            "hvp": lambda: bl.hvp(squares)([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]),
            "a method": lambda: bl.grad(lambda x: x.sum())([1.0, 2.0, 3.0]),
            "minimize": lambda: LAB.minimize(bl.problems.rosenbrock(3), [1.0, 2.0, 3.0], bl.optim.GD(0.1)),
        }.items()
    ),
    Misuse("a list for a kernel", lambda: KERNEL([1.0, 2.0, 3.0]), ArgumentError,
           r"an array or number.*\[\*, \*, \*\]"),
    Misuse("a kernel without arguments", KERNEL, ArgumentError, "for 1 arguments, got 0"),
    Misuse("steps that are no int", lambda: LAB.minimize(ROSENBROCK, X[:2], bl.optim.GD(0.1), steps=1e3), ArgumentError,
           r"steps=1000\.0"),
    Misuse("a problem that was not made", lambda: LAB.minimize(bl.problems.rosenbrock, X, GD), ArgumentError,
           r"called first: f = bl\.problems\.rosenbrock\(\)"),
]  # fmt: skip

CASES = [*ARRAYS, *FOREIGN, *STRANGE, *NUMBERS, *INDICES, *PICKLES, *RANGES, *TRACED, *FAR_SIZES, *BEGINNERS]

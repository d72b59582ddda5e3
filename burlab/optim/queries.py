"""The `f` of an update: queries about the problem at this step, at any point."""

from typing import Any, NoReturn

import numpy as np

from burlab.errors import ArgumentError, DTypeError, ShapeError, TraceError
from burlab.graph import Node
from burlab.graph.linear_nodes import concatenate, reshape
from burlab.graph.node import as_node, constant
from burlab.graph.numpy_api.promotion import as_dtype
from burlab.graph.origin import location
from burlab.graph.query import CLIENT_QUERIES, QUERIES, PartForm, Question, is_whole, query
from burlab.graph.tracing.trace import depth
from burlab.transforms import switch
from burlab.typing import ArrayLike

from .batches import ROWS, VALUE, Batches, Known, chosen_numbers
from .part_loss import PartLoss
from .query_forms import query_forms
from .step_facts import StepFacts

Vector = Any  # shape (d,), x's dtype
Indices = Any  # shape (b,), integers


class Queries(StepFacts):
    """The problem as an update sees it: f(y) = the mean of the loss over this step's batch, plus the regularizer.

    Points and vectors are flat, shape (d,), of x's dtype; so are gradients, and values are numbers of that dtype. A
    loss that takes a key gets the same ones for every query of a step. `f.value(x)` and `f.grad(x)` at the x of this
    step are known and cost nothing, nor does `f.per_sample_grads(x)` beside g: the step then computes its gradient
    sample by sample. Every other query is one pass over the batch. Queries may stand inside of `bl.while_loop`, and
    `bl.vmap` makes them at many points.

    indices: integers of shape (b,), traced or not: the samples that a query is about in place of the step's, as in
    FiniteSum; the sample at position p gets the key of the step's position p. `f.indices` are those of the step.

    >>> from dataclasses import dataclass
    >>> import numpy as np, burlab as bl
    >>> @dataclass(frozen=True)
    ... class Extragradient(bl.optim.Optimizer):  # Korpelevich 1976
    ...     lr: bl.optim.Hyper = 0.1
    ...     def update(self, g, state, x, t, *, f):
    ...         return x - self.lr * f.grad(x - self.lr * g), state
    >>> bl.minimize(lambda x: np.sum(x**2), np.ones(1), Extragradient(0.25), steps=1).x
    array([0.75])
    """

    def __init__(self, known: Known, batches: Batches, size: Node | None = None) -> None:
        """Start with the values of a step. size: number of its samples, where that varies."""
        super().__init__(known, batches, size)
        self._depth = depth()
        self._clients_at_x: Any = None  # a row of value and gradient for each

    def value(self, y: Vector, *, indices: Indices = None) -> Any:
        """f(y)."""
        return self._known.value if self._knows(y, indices) else self._query("value", (), indices, y)

    def grad(self, y: Vector, *, indices: Indices = None) -> Any:
        """The gradient of f at y."""
        return self._known.gradient if self._knows(y, indices) else self._query("grad", self._shape, indices, y)

    def value_and_grad(self, y: Vector, *, indices: Indices = None) -> tuple[Any, Any]:
        """f(y) and its gradient, for the price of the gradient."""
        if self._knows(y, indices):
            return self._known.value, self._known.gradient
        both: Any = self._query("value_and_grad", (self._shape[0] + 1,), indices, y)
        return both[0], both[1:]

    def part(self, name: str | None = None) -> PartLoss:
        """The loss of one of `f.parts`, by its name: `.value(y)`, `.grad(y, by=)`, `.hvp(y, v, by=)`; see `PartLoss`.

        For problems of `bl.problems.Alternating`; a point y is a dict of parts. None: the part in turn, in a rule for
        one part of `bl.optim.alternating`.
        """
        return PartLoss(self, name, self._known.x)

    def part_value_and_grad(self, y: Vector, part: Any, *, indices: Indices = None) -> tuple[Any, Any]:
        """Value and gradient at y of the loss of one of `f.parts`, by its number, traced or not: 0 for other parts."""
        if not self.parts:
            raise ArgumentError(
                f"{location()}f.part_value_and_grad asks for the loss of a part, and only bl.problems.Alternating has "
                "losses of parts. Minimize one, or use f.value_and_grad."
            )

        def answer(k: int) -> Any:
            return lambda: self.part_query("part_value_and_grad", PartForm(k, (k,)), y, indices=indices)

        return switch(part, [answer(k) for k in range(len(self.parts))])

    def part_query(self, name: str, form: PartForm, *points: Vector, indices: Indices = None) -> Any:
        """Answer a query about the loss of a part, at vectors of all of x: gradients are 0 for parts not asked about.

        Args:
            name: Of `PART_QUERIES`.
            form: The part, what its gradient is by, and along which parts.
            points: Of shape (d,): y, or y and v.
            indices: As for other queries.
        """
        sizes = {"part_value": (), "part_hvp": self._shape}
        shape = sizes.get(name, (self._shape[0] + 1,))
        found: Any = self._query(name, shape, indices, *points, form=form.number(len(self.parts)))
        return (found[0], found[1:]) if name == "part_value_and_grad" else found

    def forget(self, name: str, form: PartForm) -> None:
        """Take back a query about a part over the step's samples, whose answer nothing reads."""
        self._used[Question(name, 0, form.number(len(self.parts)))] -= 1

    def hvp(self, y: Vector, v: Vector, *, indices: Indices = None) -> Any:
        """The Hessian of f at y times v."""
        return self._query("hvp", self._shape, indices, y, v)

    def hessian(self, y: Vector, *, indices: Indices = None) -> Any:
        """The Hessian of f at y, shape (d, d); it counts as d products with vectors."""
        return self._query("hessian", (*self._shape, *self._shape), indices, y)

    def jvp(self, y: Vector, v: Vector, *, indices: Indices = None) -> Any:
        """The derivative of f at y along v: a number, by one forward sweep, which stores no gradient."""
        return self._query("jvp", (), indices, y, v)

    def partial_grad(self, y: Vector, coordinates: ArrayLike, *, indices: Indices = None) -> Any:
        """Entries of the gradient of f at y: a number for one coordinate, shape (k,) for k of them, traced or not.

        It computes what these need: of products of matrices the rows and columns, of sums of separate terms their own.
        A few entries cost at most about as much as the value, all of them up to 1.3 times the whole gradient.
        """
        node, size = as_node(coordinates), self._shape[0]
        flat = node if node.ndim else np.reshape(node.params, 1) if node.is_constant else reshape(node, (1,))
        entries = chosen_numbers(flat, "coordinates of f.partial_grad", "entries of x", size)
        found = self._query("partial_grad", (node.size,), indices, y, entries=entries)
        return reshape(found, node.shape)

    def link_grads(self, y: Vector, firsts: ArrayLike, size: int) -> Any:
        """Gradients by a block of rows of the matrix of each `bl.nn.SparseLinear` of x, in one vector of a size.

        firsts: of the rows of each, int64. A rule with `all_leaves = True` calls `f.link_grads(y, block)` instead: for
        the layers of a tree y, and one of `bl.optim.missing_links.BLOCKS` blocks, which may be traced. It gets a list
        of matrices. The regularizer is left out. It counts as one sample gradient each.
        """
        return self._query("link_grads", (size,), None, y, entries=as_node(firsts))

    def resampled_grad(self, y: Vector, *, indices: Indices = None) -> Any:
        """The gradient of the mean loss at y for labels that the model draws, without the regularizer.

        For problems with `resampled`. The sample at position p draws by the key that it gives the loss.
        """
        return self._query("resampled_grad", self._shape, indices, y)

    def targets(self, y: Vector) -> tuple[Any, Any]:
        """Return the model's output for each sample of the step, shape (b, k), and the gradients of the loss by it.

        For problems with `model`; k numbers for each sample, flat. It counts as one sample gradient each.
        """
        k = self._target_size("targets")
        both: Any = self._query("targets", (self._batches.batch, 2 * k), None, y, target=k)
        return both[:, :k], both[:, k:]

    def residuals_and_jacobian(self, y: Vector, *, indices: Indices = None) -> tuple[Any, Any]:
        """Return the residuals r of the step's samples at y, shape (m,), and their Jacobian J, shape (m, d).

        For `bl.Residuals`; m is the number of samples times that of the residuals of one. |r|^2 / 2 divided by the
        number of samples has the gradient of f, and J'J its Gauss-Newton curvature: of a robust loss both are scaled by
        the correction of Triggs et al. 2000, section 4.3. It counts as one sample gradient each.
        """
        k, d = self._target_size("residuals_and_jacobian"), self._shape[0]
        if self.tables is not None:
            raise ArgumentError(
                f"{location()}the residuals of this problem are of pairs of rows, and their Jacobian has few entries. "
                "Use f.residual_blocks(y)."
            )
        rows = self._batches.batch if self._is_own(indices) else self._chosen("residuals_and_jacobian", indices).size
        both: Any = self._query("residuals_and_jacobian", (rows, k * (1 + d)), indices, y, target=k)
        return reshape(both[:, :k], (rows * k,)), reshape(both[:, k:], (rows * k, d))

    def residual_blocks(self, y: Vector) -> tuple[Any, Any, Any]:
        """Return r, shape (b, k), and the blocks of J by the row of the first and of the second table, (b, k, w).

        For `bl.Residuals(..., pairs=True)`; else as `residuals_and_jacobian`. The rows are those of `f.tables`.
        """
        k, tables = self._target_size("residual_blocks"), self.tables
        if tables is None:
            raise ArgumentError(
                f"{location()}f.residual_blocks is about residuals of pairs of rows. Make the problem with "
                "bl.Residuals(r, data, pairs=True), or use f.residuals_and_jacobian(y)."
            )
        b, w, width = self._batches.batch, tables.first_shape[1], tables.width
        both: Any = self._query("residuals_and_jacobian", (b, k * (1 + width)), None, y, target=k)
        rows = reshape(both[:, k:], (b, k, width))
        return both[:, :k], rows[:, :, :w], rows[:, :, w:]

    def surrogate(self, y: Vector, goals: ArrayLike, scale: ArrayLike) -> tuple[Any, Any]:
        """Value and gradient of the mean of |model(y) - goal|^2 / (2 scale), plus the regularizer.

        No loss is computed. The query counts in column "surrogates".

        Args:
            goals: One for each sample of the step, shape (b, k), as `f.targets` gives.
            scale: Above 0.
        """
        k, x = self._target_size("surrogate"), self._known.x
        given, shape = as_node(goals), (self._batches.batch, k)
        if given.shape != shape:
            raise ShapeError(f"{location()}f.surrogate takes a goal for each sample, shape {shape}, got {given.shape}.")
        parts = as_dtype(reshape(as_node(scale), (1,)), x.dtype), as_dtype(reshape(given, (given.size,)), x.dtype)
        both: Any = self._query("surrogate", (x.size + 1,), None, y, target=k, more=parts)
        return both[0], both[1:]

    def _target_size(self, name: str) -> int:
        if not self._batches.targets:
            raise ArgumentError(
                f"{location()}f.{name} is about what a model gives, and this problem does not say where its model "
                "ends. Make it with bl.FiniteSum(loss, data, model=model), the loss being one of what the model gives, "
                "or of residuals with bl.Residuals(r, data)."
            )
        return self._batches.targets

    def full_value(self, y: Vector) -> Any:
        """f(y) over all samples; where a step uses all of them, it is `value`."""
        return self.value(y) if self._batches.full else self._query("full_value", (), None, y)

    def full_grad(self, y: Vector) -> Any:
        """The gradient over all samples; where a step uses all of them, it is `grad`."""
        return self.grad(y) if self._batches.full else self._query("full_grad", self._shape, None, y)

    def per_sample_grads(self, y: Vector, *, indices: Indices = None) -> Any:
        """The gradient of the loss of every sample, shape (b, d), without the regularizer."""
        if self._knows(y, indices):
            self._used[Question(ROWS)] += 1
        rows = self._batches.batch if self._is_own(indices) else self._chosen("per_sample_grads", indices).size
        return self._query("per_sample_grads", (rows, *self._shape), indices, y)

    def per_sample_values(self, y: Vector, *, indices: Indices = None) -> Any:
        """The loss of every sample at y, shape (b,), without the regularizer."""
        rows = self._batches.batch if self._is_own(indices) else self._chosen("per_sample_values", indices).size
        return self._query("per_sample_values", (rows,), indices, y)

    def client_grads(self, y: Vector, *, clients: Indices = None, indices: Indices = None) -> Any:
        """The gradient of every client of a `bl.problems.federated`, shape (clients, d), or of those that are chosen.

        Args:
            y: One point for all, shape (d,), or one for each, shape (r, d).
            clients: Numbers of clients, integers of shape (r,), traced or not; None: all.
            indices: Samples of each of them, numbered from 0 within the client, integers of shape (r, b), traced or
                not; None: all of its samples.
        """
        sizes = self._sizes("client_grads")
        if y is self._known.x and clients is None and indices is None and self._computes_clients_at_x():
            return self._clients_at_x[:, 1:]
        chosen = np.arange(len(sizes)) if clients is None else clients
        listed = chosen_numbers(chosen, "clients of f.client_grads", "clients", len(sizes))
        numbers: list[int] = listed.params.tolist() if listed.is_constant else list(range(len(sizes)))
        held = {sizes[c] for c in numbers}
        r = listed.shape[0]
        if indices is not None:
            some = self._some(indices, r)
            held, listed = {some.shape[1]}, concatenate([listed, reshape(some, (some.size,))], 0)
        point = self._vector("client_grads", y, (r, *self._shape))
        return self._about_clients("client_grads", point, (r, *self._shape), listed, "grad", held)

    def _computes_clients_at_x(self) -> bool:
        """Return True if clients can compute their values with their gradients at x, for the value of the step.

        Not within a loop or the like: a logged metric must be known outside.
        """
        if self._clients_at_x is None and self._batches.clients_log and depth() == self._depth:
            sizes, (d,) = self._batches.clients, self._shape
            everyone = constant(np.arange(len(sizes)))
            self._clients_at_x = self._about_clients(
                "client_values_and_grads", self._known.x, (len(sizes), 1 + d), everyone, "value_and_grad", set(sizes)
            )
        return self._clients_at_x is not None

    def client_hessians(self, y: Vector) -> Any:
        """The Hessian of every client over all of its samples, shape (clients, d, d).

        It counts as d products with vectors for each sample, which is what it takes where d is above 128.
        """
        sizes, point = self._sizes("client_hessians"), self._vector("client_hessians", y)
        shape = len(sizes), *self._shape, *self._shape
        each = "hessian" if is_whole(self._shape[0]) else "hvp"
        return self._about_clients("client_hessians", point, shape, constant(np.arange(len(sizes))), each, set(sizes))

    @property
    def client_sizes(self) -> tuple[int, ...]:
        """Number of samples of each client."""
        return self._sizes("client_sizes")

    @property
    def clients(self) -> int:
        """Number of clients."""
        return len(self._sizes("clients"))

    def _sizes(self, name: str) -> tuple[int, ...]:
        if not self._batches.clients:
            raise ArgumentError(
                f"{location()}f.{name} is about the clients of a federation, and this problem has none. Make one: "
                "bl.problems.federated(loss, clients)."
            )
        return self._batches.clients

    @property
    def logged(self) -> dict[str, Any]:
        """Metrics given to `log`, and the value of the step where clients computed it."""
        rows = self._clients_at_x
        known: dict[str, Any] = {} if rows is None else {VALUE: np.mean(rows[:, 0])}
        return known | self._logged

    @property
    def used(self) -> tuple[str, ...]:
        """The queries so far, in a fixed order, then "key", "indices" and "rows" where these were used."""
        order = (*QUERIES, *CLIENT_QUERIES, "key", "indices", ROWS)
        used = (question for question, times in self._used.items() if times > 0)
        return tuple(str(q) for q in sorted(used, key=lambda q: (order.index(q.name), *q[1:])))

    @property
    def _shape(self) -> tuple[int, ...]:
        return self._known.x.shape

    def _is_own(self, indices: Indices) -> bool:
        """Return True if these are the samples of the step."""
        return indices is None or indices is self._known.indices

    def _knows(self, y: Vector, indices: Indices) -> bool:
        return y is self._known.x and self._is_own(indices)

    def _query(
        self,
        name: str,
        shape: tuple[int, ...],
        indices: Indices,
        *points: Vector,
        entries: Node | None = None,
        target: int = 0,
        more: tuple[Node, ...] = (),
        form: int = 0,
    ) -> Node:
        """Add a query.

        entries: of the gradient. target: size of one. more: arguments besides points. form: of a query about a part.
        """
        if self._batches.elsewhere:
            raise ArgumentError(
                f"{location()}f.{name} is about samples, and these are on a cluster, which answers f.client_grads and "
                "f.client_hessians alone. Build the problem without cluster=, or use a rule for clients."
            )
        chosen = None if self._is_own(indices) else self._chosen(name, indices)
        first = constant(np.array([form])) if form else entries
        listed = [x for x in (first, chosen) if x is not None]
        number = target or form if entries is None else entries.size
        self._used[Question(name, 0 if chosen is None else chosen.size, number)] += 1
        nodes = [*(self._vector(name, y) for y in points), *more]
        return query(name, self._known.oracle, concatenate(nodes, 0), shape, concatenate(listed, 0) if listed else None)

    def _about_clients(
        self, name: str, y: Node, shape: tuple[int, ...], listed: Node, query_: str, batches: set[int]
    ) -> Node:
        """A question about clients, which is one `query_` about so many samples for each row of the answer."""
        self._used.update([Question(name), *(Question(query_, batch) for batch in batches)])
        return query(name, self._known.oracle, reshape(y, (y.size,)), shape, listed)

    def _some(self, indices: Indices, clients: int) -> Node:
        """Samples of each client."""
        node = as_node(indices)
        if node.dtype.kind not in "iu":
            raise DTypeError(
                f"{location()}indices of f.client_grads has dtype {node.dtype}, expected integers, numbered from 0 "
                "within each client."
            )
        if node.ndim != 2 or node.shape[0] != clients or not node.size:
            raise ShapeError(
                f"{location()}indices of f.client_grads has shape {node.shape}, expected ({clients}, b): a row of "
                "samples for each client."
            )
        return as_dtype(node, np.dtype(np.int64))

    def _chosen(self, name: str, indices: Indices) -> Node:
        return chosen_numbers(indices, f"indices of f.{name}", "samples", self._batches.samples)

    def _vector(self, name: str, y: Vector, rows: tuple[int, ...] = ()) -> Node:
        """rows: the shape that it may have besides that of x."""
        node, x = as_node(y), self._known.x
        if node.shape not in (x.shape, rows or x.shape):
            raise ShapeError(
                f"{location()}f.{name} is about vectors of shape {x.shape}, as x is, got {node.shape}. "
                "An update sees all parameters as one flat vector."
            )
        if node.dtype != x.dtype and not node.is_constant:
            raise DTypeError(
                f"{location()}f.{name} is about vectors of {x.dtype}, as x is, got {node.dtype}. "
                "Convert with .astype(x.dtype)."
            )
        return as_dtype(node, x.dtype)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise TraceError(f"{location()}f.{name} is nothing that an update can ask. It can: {', '.join(query_forms())}.")

"""The probe of a PyTorch loop: norms, bytes, and the numbers in its optimizer's parameter groups."""

from collections.abc import Callable
from itertools import count
from time import perf_counter_ns
from typing import Any

from burlab.errors import ArgumentError
from burlab.runtime.extras import late

from .columns import OTHER_NAMES
from .foreign_numbers import as_number, as_step
from .memory_samples import tree_bytes
from .monitor import Monitor
from .param_groups import Field, fields_of

torch: Any = late("torch", "bench")
norms: Any = late("torch.nn.utils", "bench")

MAX_MEASURING_SHARE = 0.2  # of the time
MEMORY_NANOSECONDS = 50_000_000  # between two measurements of memory


class TorchProbe:
    """Hooks of a model and its optimizer, inside of a watch.

    Before a step the knobs go into the optimizer, and the norm of the gradient is taken; after it that of the change.
    Where this would take more than a fifth of the time, some steps are left out. A step of which the loop logs nothing
    gets its row when the next one begins. Other threads read what was measured, never the tensors.
    """

    def __init__(self, model: Any, optimizer: Any) -> None:
        _check(model, optimizer)
        self._model, self._optimizer = model, optimizer
        self.fields: list[Field] = fields_of(optimizer.param_groups)
        self._known = {field.name: field.read() for field in self.fields}  # what the optimizer was left with
        self._monitor: Any = None
        self._hooks: list[Any] = []
        self._steps = 0  # done by the optimizer
        self._called = False  # whether the model was, to be trained, since the last step
        self._open = False  # whether something was logged since that call
        self._logs_first = False  # whether the loop logs a step before it does it: what came before a step was open
        self._offset = 0  # what steps are called in the loop, less what they are here
        self._silent = False  # whether nothing was logged of the last step
        self._measured: dict[str, float] = {}
        self._before: list[Any] | None = None  # parameters, in a step that is measured
        self._last = self._cost = 0  # nanoseconds: when the last measurement ended, and what it took
        self._bytes: dict[str, int] = {}
        self._weighed = 0  # nanoseconds: when the bytes were measured

    def attach(self, monitor: Monitor) -> None:
        """Put the hooks in place."""
        self._monitor = monitor
        self._bytes = self._weigh()
        self._hooks = [
            self._optimizer.register_step_pre_hook(self._before_step),
            self._optimizer.register_step_post_hook(self._after_step),
            self._model.register_forward_pre_hook(self._on_forward),
        ]

    def detach(self) -> None:
        """Take the hooks away, and log the last step."""
        for hook in self._hooks:
            hook.remove()
        self._flush()
        self._before = None

    def completed(self, step: int | None, values: dict[str, Any]) -> tuple[int | None, dict[str, Any]]:
        """Return the step of logged values, and them with the measured ones; a logged value replaces a measured one."""
        ahead = self._called and self._logs_first
        if ahead:
            self._flush()
        self._open = self._called
        here = self._steps if ahead else max(self._steps - 1, 0)
        if step is None:
            step = max(here + self._offset, self._monitor.t - 1)
        else:
            step = as_step(step)
            self._offset = step - here
        measured, self._measured, self._silent = self._measured, {}, False
        if measured:
            logged = {OTHER_NAMES.get(name, name) for name in values}
            values = {name: value for name, value in measured.items() if name not in logged} | values
        return step, values

    def memory(self) -> dict[str, int]:
        """Bytes of parameters and buffers, of gradients, and of the optimizer's state. From any thread."""
        return self._bytes

    def _on_forward(self, model: Any, _: Any) -> None:
        if model.training and torch.is_grad_enabled():
            self._called, self._open = True, False

    def _before_step(self, _: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """arguments: the optimizer, and a closure or nothing."""
        self._logs_first |= self._open
        self._flush()
        self._apply_hypers()
        start = perf_counter_ns()
        if (start - self._last) * MAX_MEASURING_SHARE >= self._cost:
            self._before = [tensor.detach().clone() for tensor in self._tensors()]
        closure = options.get("closure") or next(iter(arguments[1:]), None)
        if closure is not None:
            return (arguments[0], self._recording(closure)), {}
        self._take_gradient()
        self._cost = perf_counter_ns() - start
        return None

    def _recording(self, closure: Callable[[], Any]) -> Callable[[], Any]:
        """Return a closure that records its first value and gradient: those where the step begins."""
        calls = count()

        def recording() -> Any:
            value = closure()
            if next(calls) == 0:
                if value is not None:
                    self._measured["value"] = as_number("what the closure returns", value)
                self._take_gradient()
            return value

        return recording

    def _after_step(self, *_: Any) -> None:
        self._steps += 1
        self._called, self._open, self._silent = False, False, True
        if self._before is None:
            return
        start = perf_counter_ns()
        changes = [new.detach() - old for new, old in zip(self._tensors(), self._before, strict=False)]
        self._measured["step_norm"] = _norm(changes)
        self._before = None
        if start - self._weighed >= MEMORY_NANOSECONDS:
            self._bytes, self._weighed = self._weigh(), start
        self._last = perf_counter_ns()
        self._cost += self._last - start

    def _weigh(self) -> dict[str, int]:
        """Return the bytes now. Only in the loop's thread: backward writes gradients without the GIL."""
        tensors = list(self._model.parameters())
        return {
            "parameters": tree_bytes([*tensors, *self._model.buffers()]),
            "gradients": tree_bytes([_stored(tensor.grad) for tensor in tensors]),
            "optimizer_state": tree_bytes([dict(state) for state in self._optimizer.state.values()]),
        }

    def _take_gradient(self) -> None:
        if self._before is None:
            return
        gradients = [tensor.grad.detach() for tensor in self._tensors() if tensor.grad is not None]
        self._measured["gradient_norm"] = _norm(gradients)

    def _flush(self) -> None:
        """Log the last step, if the loop has not."""
        if self._silent:
            called, self._called = self._called, False
            self._monitor.log()
            self._called = called

    def _apply_hypers(self) -> None:
        """Write the hyperparameters into the optimizer; follow what a scheduler has written since the last step."""
        hyper = self._monitor.hyper
        for field in self.fields:
            found = field.read()
            if found != self._known[field.name]:
                hyper.follow(field.name, found)
            if (wanted := hyper[field.name]) != found:
                field.write(wanted)
            self._known[field.name] = field.read()

    def _tensors(self) -> list[Any]:
        """Return the parameters of the optimizer."""
        return [tensor for group in self._optimizer.param_groups for tensor in group["params"]]


def _stored(gradient: Any) -> Any:
    """The arrays that a gradient consists of."""
    if gradient is not None and gradient.is_sparse:
        return gradient._indices(), gradient._values()  # noqa: SLF001 - the public ones want it coalesced
    return gradient


def _norm(tensors: list[Any]) -> float:
    """The Euclidean norm of all entries; of sparse ones, those that are stored."""
    dense = [t.coalesce().values() if t.is_sparse else t for t in tensors]
    return float(norms.get_total_norm(dense).item())


def _check(model: Any, optimizer: Any) -> None:
    module, kind = torch.nn.Module, torch.optim.Optimizer
    if isinstance(model, kind) and isinstance(optimizer, module):
        raise ArgumentError("the optimizer came first. Call bl.watch.torch(model, optimizer).")
    if not isinstance(model, module):
        raise ArgumentError(f"the model is a {type(model).__name__}, expected a torch.nn.Module.")
    if not isinstance(optimizer, kind):
        raise ArgumentError(f"the optimizer is a {type(optimizer).__name__}, expected one of torch.optim.")
    own = {id(tensor) for group in optimizer.param_groups for tensor in group["params"]}
    if own.isdisjoint(id(tensor) for tensor in model.parameters()):
        raise ArgumentError(
            "expected an optimizer of the model's parameters, got one of others. "
            "Create it from model.parameters(), after the model."
        )

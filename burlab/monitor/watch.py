"""`burlab.watch`: the panel of a run for any loop."""

from typing import Any

from burlab.errors import ArgumentError

from .monitor import Monitor
from .pytorch import TorchProbe

_HISTORY_BYTES = 64 << 20


class Watch:
    """A panel for a loop of your own, in plain Python, JAX or PyTorch: curves, memory, pause, step, sliders.

    `with bl.watch(lr=0.1) as w:` encloses the loop, which reads `w.lr` and calls `w.log(step, value=...)`. In a
    notebook that shows the panel, in a terminal a line. The panel's sliders set the hyperparameters; Pause and Step
    hold the loop in `log`, also while its cell runs. What was logged is `w.history`. See `Monitor`.

    `bl.watch.torch(model, optimizer)` is for PyTorch.

    >>> import burlab as bl
    >>> with bl.watch("halving", factor=0.5) as w:
    ...     x = 1.0
    ...     for step in range(4):
    ...         w.log(step, value=x)
    ...         x *= w.factor
    >>> w
    <Monitor at step 4, value 0.125, factor=0.5>
    """

    def __call__(
        self,
        title: str = "a loop",
        /,
        *,
        show: bool | None = None,
        history_bytes: int = _HISTORY_BYTES,
        to: Any = None,
        **hypers: float,
    ) -> Monitor:
        """Return a monitor for one loop.

        Args:
            title: The name of the loop in the panel.
            show: False for no panel and no line, True for a line even where nobody seems to see it.
            history_bytes: The most bytes of the record; from then on entries are merged, keeping minima and maxima.
            to: A log of another tool that gets each row, too, with the hyperparameters: an object with `add_scalar`
                (TensorBoard), `log_metrics` (MLflow) or `log` (Weights & Biases, trackio), see `run.history.to`.
            hypers: The numbers that can be changed while the loop runs, as `w.lr` or `w.hyper["lr"]`, with the values
                to start from.

        Raises:
            ArgumentError: A hyperparameter has the name of an attribute of `Monitor`, or `to` has none of the methods.
            DTypeError: The value of a hyperparameter is not a number.
        """
        return Monitor(title, hypers, {}, show=show, history_bytes=history_bytes, to=to)

    def torch(
        self,
        model: Any,
        optimizer: Any,
        *,
        show: bool | None = None,
        history_bytes: int = _HISTORY_BYTES,
        to: Any = None,
        **hypers: float,
    ) -> Monitor:
        """Return a monitor for a loop of PyTorch, whose hyperparameters are the numbers of the parameter groups.

        A slider that is moved, or `w.hyper["lr"] = 0.01`, is written into the optimizer at its next step, and held
        there against a scheduler until `w.hyper["lr"] = None`. Numbers in which groups differ have one each: lr_0,
        lr_1; of the two betas there are beta1 and beta2. Each step is a row: the norms of the gradient as the step uses
        it and of the change of the parameters, where measuring takes a fifth of the time at most; the loss is what the
        loop logs, or what the closure returns. `memory` has the bytes of parameters, gradients and optimizer state.

        Args:
            model: A torch.nn.Module.
            optimizer: An optimizer of torch.optim, with parameters of the model.
            show, history_bytes, to: See `watch`.
            hypers: Numbers of your own that can be changed while the loop runs.

        Raises:
            ArgumentError: `model` or `optimizer` is something else, or a hyperparameter has the name of another one.

        >>> import torch, burlab as bl  # doctest: +SKIP
        >>> with bl.watch.torch(model, optimizer) as w:  # doctest: +SKIP
        ...     for x, y in batches:
        ...         optimizer.zero_grad()
        ...         loss = loss_of(model(x), y)
        ...         loss.backward()
        ...         optimizer.step()
        ...         w.log(loss=loss)
        """
        probe = TorchProbe(model, optimizer)
        found = {field.name: field for field in probe.fields}
        if taken := found.keys() & hypers.keys():
            raise ArgumentError(f"{min(taken)} is a number of the optimizer already. Rename yours.")
        title = f"{type(optimizer).__name__} on {type(model).__name__}"
        values = {name: field.read() for name, field in found.items()} | hypers
        ranges = {name: field.allowed for name, field in found.items() if field.allowed is not None}
        return Monitor(title, values, ranges, show=show, history_bytes=history_bytes, to=to).fit(probe)


watch = Watch()

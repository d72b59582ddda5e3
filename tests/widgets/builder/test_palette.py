"""The palette holds every scalar operation, layer and loss, and each computes what its namesake does."""

import inspect

import numpy as np
import pytest

import burlab as bl
from burlab.graph.scalar import scalar_ops
from burlab.widgets.builder.block_palette import kind_of, palette

# Layers without a block: a key for every call, a state that is a pair, thousands of tokens, a layer that holds another,
# links that are integers.
ABSENT = {"Dropout", "LSTMCell", "GPT", "Layer", "LoRALinear", "PaCALinear", "SparseLinear"}


def test_every_operation_of_the_table_is_there():
    assert not set(scalar_ops()) - set(palette())
    assert all(len(palette()[name].ports) == row.arity for name, row in scalar_ops().items())


def test_every_layer_is_there():
    kinds = {name: getattr(bl.nn, name) for name in bl.nn.__all__}
    layers = {name for name, kind in kinds.items() if inspect.isclass(kind) and issubclass(kind, bl.nn.Layer)}
    assert {f"nn.{name}" for name in layers - ABSENT} <= set(palette())
    assert not {f"nn.{name}" for name in ABSENT} & set(palette())


def test_all_blocks_have_a_description():
    assert all(row.doc for row in palette().values())


@pytest.mark.parametrize("name", [name for name, row in palette().items() if row.group in ("arithmetic", "functions")])
def test_an_operation_has_the_value_and_the_gradient_of_its_function(name):
    numbers = [0.25 + 0.125 * k for k in range(len(kind_of(name).ports))]  # inside of every domain
    b = bl.GraphBuilder()
    keys = [b.add("input", value=x) for x in numbers]
    y = b.add(name, *keys)
    f = bl.compile(b.function(), *numbers, argnums=tuple(range(len(keys))), gear="replay")
    value, gradients = f.value_and_grad(*numbers)
    assert b.value(y) == pytest.approx(value, rel=1e-15)
    assert [b.gradient(key) for key in keys] == pytest.approx(list(gradients), rel=1e-14)


def test_numpy_names_compute_what_numpy_does():
    x = np.array([[0.5, -1.0], [2.0, 0.25]])
    for name in ("sum", "mean", "prod", "max", "min", "var", "std", "cumsum", "sort", "transpose", "flip", "argmax"):
        b = bl.GraphBuilder()
        y = b.add(name, b.add("input", value=x))
        options = {option.name: option.default for option in kind_of(name).options}
        np.testing.assert_allclose(b.value(y), getattr(np, name)(x, **options), rtol=1e-15, err_msg=name)


@pytest.mark.parametrize(
    ("kind", "shape", "result"),
    [
        ("nn.Linear", (2,), (2,)),
        ("nn.Monarch", (4,), (4,)),
        ("nn.RaftMLP", (2, 2, 2), (2, 2, 2)),
        ("nn.TensorTrainLinear", (4,), (4,)),
        ("nn.BitLinear", (2,), (2,)),
        ("nn.MLGRU", (3, 4), (3, 4)),
        ("nn.MLP", (2,), (1,)),
        ("nn.LayerNorm", (4,), (4,)),
        ("nn.RMSNorm", (4,), (4,)),
        ("nn.GroupRational", (3, 4), (3, 4)),
        ("nn.Conv1d", (2, 8), (2, 6)),
        ("nn.Conv2d", (2, 5, 5), (2, 3, 3)),
        ("nn.SelfAttention", (3, 4), (3, 4)),
        ("nn.Block", (3, 4), (3, 4)),
        ("nn.max_pool", (1, 4), (1, 2)),
        ("nn.avg_pool", (1, 4), (1, 2)),
    ],
)
def test_a_layer_gives_its_shape_and_gradients_of_its_parameters(kind, shape, result):
    b = bl.GraphBuilder()
    x = b.add("input", value=np.linspace(-1.0, 1.0, int(np.prod(shape))).reshape(shape))
    layer = b.add(kind, x)
    b.add("sum", b.add("square", layer))
    assert not b.result.faults
    assert b.value(layer).shape == result
    assert b.gradient(x).shape == shape
    assert (layer in b.result.weights) == (kind_of(kind).layer is not None)


def test_recurrent_cells_take_a_state_and_an_input():
    for kind in ("nn.RNNCell", "nn.GRUCell"):
        b = bl.GraphBuilder()
        state, x = (b.add("input", value=[0.5, -0.5]) for _ in range(2))
        assert b.value(b.add(kind, state, x)).shape == (2,)

"""Which numbers of PyTorch's optimizers can be turned."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'burlab[bench]'")

from burlab.monitor.param_groups import fields_of  # noqa: E402 - only where there is PyTorch

NAMES = {
    "SGD": "lr momentum dampening weight_decay",
    "Adam": "lr beta1 beta2 eps weight_decay",
    "AdamW": "lr beta1 beta2 eps weight_decay",
    "RMSprop": "lr momentum alpha eps weight_decay",
    "Adagrad": "lr lr_decay eps weight_decay",
    "Adadelta": "lr rho eps weight_decay",
    "Rprop": "lr eta1 eta2 step_size1",
    "LBFGS": "lr tolerance_grad tolerance_change",
    "NAdam": "lr beta1 beta2 eps weight_decay momentum_decay",
    "ASGD": "lr lambd alpha t0 weight_decay",
}


def parameters(count=1):
    return [torch.nn.Parameter(torch.ones(2)) for _ in range(count)]


@pytest.mark.parametrize("name", NAMES)
def test_the_numbers_of_an_optimizer(name):
    optimizer = getattr(torch.optim, name)(parameters(), lr=0.5)
    assert {field.name for field in fields_of(optimizer.param_groups)} == set(NAMES[name].split())


@pytest.mark.parametrize("name", NAMES)
def test_written_hyperparameter_is_read_and_used(name):
    optimizer = getattr(torch.optim, name)(parameters(), lr=0.5)
    for field in fields_of(optimizer.param_groups):
        wanted = 0.5 * field.read() or 0.25
        field.write(wanted)
        assert field.read() == wanted
    again = [field.read() for field in fields_of(optimizer.param_groups)]
    tensor = optimizer.param_groups[0]["params"][0]

    def closure():
        optimizer.zero_grad()
        loss = (tensor**2).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    assert [field.read() for field in fields_of(optimizer.param_groups)] == again


def test_groups_that_differ_have_knobs_of_their_own():
    first, second = parameters(2)
    optimizer = torch.optim.SGD([{"params": [first], "lr": 0.1}, {"params": [second]}], lr=0.2, momentum=0.9)
    fields = {field.name: field for field in fields_of(optimizer.param_groups)}
    assert list(fields) == ["lr_0", "lr_1", "momentum", "dampening", "weight_decay"]
    fields["lr_1"].write(0.3)
    fields["momentum"].write(0.5)
    assert [(group["lr"], group["momentum"]) for group in optimizer.param_groups] == [(0.1, 0.5), (0.3, 0.5)]


def test_a_learning_rate_that_is_a_tensor_stays_the_same_one():
    rate = torch.tensor(0.1)
    optimizer = torch.optim.Adam(parameters(), lr=rate)
    field = fields_of(optimizer.param_groups)[0]
    assert (field.name, round(field.read(), 6)) == ("lr", 0.1)
    field.write(0.5)
    assert (optimizer.param_groups[0]["lr"] is rate, float(rate)) == (True, 0.5)


def test_scheduler_fields_are_not_hyperparameters():
    optimizer = torch.optim.SGD(parameters(), lr=0.1)
    torch.optim.lr_scheduler.OneCycleLR(optimizer, 1.0, total_steps=10)
    names = [field.name for field in fields_of(optimizer.param_groups)]
    assert names == ["lr", "momentum", "dampening", "weight_decay"]

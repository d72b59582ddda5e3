"""Numbers in classes and objects."""

import abc
import dataclasses
import enum
import threading
import types
import weakref
from typing import Any, NamedTuple

from tests.graph.tracing.reach.table import CONSTANTS, attribute, row, setter


class Plain:
    rate = 1.0


class Slotted:
    __slots__ = ("rate",)


class Meta(type):
    rate = 1.0


class WithMeta(metaclass=Meta):
    pass


class Descriptor:
    def __init__(self):
        self.value = 1.0

    def __get__(self, instance, owner=None):
        return self.value


class Described:
    rate = Descriptor()


class Callable:
    def __init__(self):
        self.rate = 1.0

    def __call__(self, x):
        return x * self.rate


class Forwards:
    def __init__(self, table):
        self._table = table

    def __getattr__(self, name):
        return self._table[name]


@dataclasses.dataclass
class Data:
    rate: float = 1.0
    many: list[float] = dataclasses.field(default_factory=lambda: [1.0])


class Pair(NamedTuple):
    rates: Any


class Colour(enum.Enum):
    RED = 1.0


def rated(own):
    own.rate = 1.0
    CONSTANTS.append(own)
    return own


def read(own):
    """A function that reads the rate of an object, and what sets it."""
    return lambda x: x * own.rate, attribute(own)


@row
def an_attribute_of_a_class():
    return lambda x: x * Plain.rate, attribute(Plain)


@row
def an_attribute_of_an_instance():
    return read(Plain())


@row
def an_attribute_of_a_subclass():
    class Child(Plain):
        pass

    Plain.rate = 1.0
    return lambda x: x * Child.rate, attribute(Plain)


@row
def an_attribute_in_a_dictionary():
    own = rated(Plain())
    return lambda x: x * vars(own)["rate"] * own.__dict__["rate"], attribute(own)


@row
def a_slot():
    return read(rated(Slotted()))


class Private:
    __slots__ = ("__rate",)

    def __init__(self):
        self.__rate = 1.0

    def get(self):
        return self.__rate

    def put(self, v):
        self.__rate = v


@row
def a_private_slot():
    own = Private()
    return lambda x: x * own.get(), own.put


@row
def an_attribute_of_a_metaclass():
    return lambda x: x * WithMeta.rate, attribute(Meta)


@row
def a_descriptor():
    return lambda x: x * Described.rate, lambda v: setattr(vars(Described)["rate"], "value", v)


@row
def an_object_that_is_called():
    own = Callable()
    return lambda x: 1.0 * own(x), attribute(own)


@row
def an_object_itself():
    own = Callable()
    return own, attribute(own)


@row
def attributes_that_are_forwarded():
    table = {"rate": 1.0}
    own = Forwards(table)
    return lambda x: x * own.rate, setter(table, "rate")


@row
def a_dataclass():
    return read(Data())


@row
def a_list_in_a_dataclass():
    own = Data()
    return lambda x: x * own.many[0], setter(own.many, 0)


@row
def a_named_tuple():
    own = Pair([1.0])
    return lambda x: x * own.rates[0], setter(own.rates, 0)


@row
def an_enumeration():
    return lambda x: x * Colour.RED.value, attribute(Colour.RED, "_value_")


@row
def an_abstract_class():
    class Base(abc.ABC):
        rate = 1.0

        @abc.abstractmethod
        def scaled(self, x): ...

    class Child(Base):
        def scaled(self, x):
            return x * self.rate

    child = Child()
    return lambda x: 1.0 * child.scaled(x), attribute(Base)


@row
def a_dataclass_with_slots():
    @dataclasses.dataclass(slots=True)
    class Own:
        rate: float = 1.0

    return read(Own())


@row
def a_frozen_dataclass():
    @dataclasses.dataclass(frozen=True)
    class Own:
        rate: float = 1.0

    own = Own()
    return lambda x: x * own.rate, lambda v: object.__setattr__(own, "rate", v)


@row
def a_proxy():
    own = rated(Plain())
    proxy = weakref.proxy(own)
    return lambda x: x * proxy.rate, attribute(own)


@row
def a_namespace():
    return read(types.SimpleNamespace(rate=1.0))


@row
def a_namespace_by_a_key():
    own = types.SimpleNamespace(rate=1.0)
    return lambda x: x * vars(own)["rate"], attribute(own)


@row
def an_attribute_of_this_thread():
    return read(rated(threading.local()))


@row
def a_weak_reference():
    own = rated(Plain())
    ref = weakref.ref(own)
    return lambda x: x * ref().rate, attribute(own)


@row
def a_weak_dictionary():
    own = rated(Plain())
    table = weakref.WeakValueDictionary(a=own)
    return lambda x: x * table["a"].rate, attribute(own)

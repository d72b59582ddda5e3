"""Numbers in modules."""

from tests.graph.tracing.reach.table import attribute, module, row


@row
def an_attribute_of_a_module():
    made = module("settings", "rate = 1.0")
    return lambda x: x * made.rate, attribute(made)


@row
def modules_that_begin_as_libraries_do():
    names = ("numpy_helpers", "mathtools", "scipyextra", "burlab_models", "builtins2", "mathx.inner")
    made = [module(name, "rate = 1.0\ndef scaled(x): return x * rate") for name in names]

    def change(v):
        for one in made:
            one.rate = v

    calls = [one.scaled for one in made]
    return lambda x: sum(call(x) for call in calls), change


@row
def an_object_of_such_a_module():
    made = module("numpy_helpers", "class Model:\n    rate = 1.0\n    def __call__(self, x): return x * self.rate\n")
    model = made.Model()
    return lambda x: 1.0 * model(x), attribute(made.Model)


@row
def a_module_that_makes_its_attributes():
    made = module("lazy_settings", "hidden = 1.0\ndef __getattr__(name): return hidden\n")
    return lambda x: x * made.rate, attribute(made, "hidden")


@row
def a_submodule():
    package = module("pack", "", __path__=[])
    package.sub = module("pack.sub", "rate = 1.0")
    return lambda x: x * package.sub.rate, attribute(package.sub)


@row
def an_import_inside():
    made = module("inner_settings", "rate = 1.0")

    def f(x):
        import inner_settings

        return x * inner_settings.rate

    return f, attribute(made)


@row
def a_name_that_is_imported_inside():
    made = module("inner_settings", "rate = 1.0")

    def f(x):
        from inner_settings import rate

        return x * rate

    return f, attribute(made)


@row
def a_module_by_its_name():
    import importlib

    made = module("inner_settings", "rate = 1.0")
    return lambda x: x * importlib.import_module("inner_settings").rate, attribute(made)


@row
def a_relative_import_inside():
    package = module("pack", "", __path__=[])
    package.near = module("pack.near", "rate = 1.0")
    text = "def f(x):\n    from .near import rate\n    return x * rate\n"
    return module("pack.user", text, __package__="pack").f, attribute(package.near)

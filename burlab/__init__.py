"""burlab: write NumPy, get derivatives from C++ compiled on the spot.

>>> import numpy as np
>>> import burlab as bl
>>> bl.grad(lambda x: np.sum(x**3))(np.array([1.0, 2.0]))
array([ 3., 12.])

Importing burlab loads nothing else: each public name is imported at its first use, and the C++ compiler starts with the
first computation.
"""

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from burlab._version import __version__ as __version__

if TYPE_CHECKING:
    from burlab import (
        analysis as analysis,
        bench as bench,
        data as data,
        nn as nn,
        optim as optim,
        plots as plots,
        problems as problems,
    )
    from burlab.analysis import check_gears as check_gears, digits as digits
    from burlab.communication import compressors as compressors, robust as robust
    from burlab.eager.tape import Tape as Tape
    from burlab.eager.value import Value as Value
    from burlab.eager.value_functions import (
        dot as dot,
        mean_and_mean_of_squares as mean_and_mean_of_squares,
        mean_of_squares as mean_of_squares,
        negative_mean as negative_mean,
        reduce_mean as reduce_mean,
        reduce_prod as reduce_prod,
        reduce_sum as reduce_sum,
        sum_of_squares as sum_of_squares,
        variance as variance,
    )
    from burlab.errors import BurlabError as BurlabError
    from burlab.experiments import (
        Between as Between,
        branches as branches,
        find_lr as find_lr,
        performance_profile as performance_profile,
        race as race,
        sweep as sweep,
    )
    from burlab.functions import (
        bincount as bincount,
        erf as erf,
        gelu as gelu,
        linalg as linalg,
        log_softmax as log_softmax,
        logsumexp as logsumexp,
        relu as relu,
        scipy as scipy,
        sigmoid as sigmoid,
        silu as silu,
        softmax as softmax,
        softplus as softplus,
        top_k as top_k,
        unique as unique,
    )
    from burlab.graph import Graph as Graph, scope as scope
    from burlab.graph.buffers.buffer_functions import (
        at_add as at_add,
        at_set as at_set,
        buffer as buffer,
        empty as empty,
        full as full,
        ones as ones,
        zeros as zeros,
    )
    from burlab.graph.numpy_api.indexing import asarray as asarray
    from burlab.graph.tree import pytree as pytree
    from burlab.monitor import watch as watch
    from burlab.nn import load_parameters as load_parameters, save_parameters as save_parameters
    from burlab.optim.number_formats import Formats as Formats
    from burlab.problems import (
        Batch as Batch,
        BatchLoss as BatchLoss,
        BlockShuffle as BlockShuffle,
        FiniteSum as FiniteSum,
        Residuals as Residuals,
    )
    from burlab.run import Run as Run, Stop as Stop, curve_fit as curve_fit, load_run as load_run, minimize as minimize
    from burlab.runtime.thread_limit import set_threads as set_threads
    from burlab.transforms import (
        associative_scan as associative_scan,
        check_grads as check_grads,
        checkpoint as checkpoint,
        compile as compile,
        cond as cond,
        counts as counts,
        custom_vjp as custom_vjp,
        fixed_point as fixed_point,
        fori_loop as fori_loop,
        ggn_vp as ggn_vp,
        grad as grad,
        hessian as hessian,
        hvp as hvp,
        interval as interval,
        jacfwd as jacfwd,
        jacobian as jacobian,
        jacrev as jacrev,
        jit as jit,
        jvp as jvp,
        linearize as linearize,
        operation as operation,
        random as random,
        root as root,
        scan as scan,
        stop_gradient as stop_gradient,
        straight_through as straight_through,
        switch as switch,
        taylor as taylor,
        tree as tree,
        value_and_grad as value_and_grad,
        vjp as vjp,
        vmap as vmap,
        while_loop as while_loop,
    )
    from burlab.transforms.numbers.formats import Format as Format
    from burlab.transforms.numbers.rounded_functions import precision as precision
    from burlab.transforms.numbers.roundings import round_to as round_to
    from burlab.transforms.ode import odeint as odeint
    from burlab.transforms.sparse import sparse_hessian as sparse_hessian, sparse_jacobian as sparse_jacobian
    from burlab.widgets.analysis.landscape_view import LandscapeView as LandscapeView
    from burlab.widgets.builder import GraphBuilder as GraphBuilder
    from burlab.widgets.export import export_html as export_html
    from burlab.widgets.graph_view.graph_widget import GraphView as GraphView
    from burlab.widgets.playground.playgrounds import playground as playground
    from burlab.widgets.spectrum.spectrum_view import SpectrumView as SpectrumView

# Public name -> the module that defines it. One line per module, in the order of the layers.
_HOME = {
    name: module
    for module, names in {
        "burlab.errors": "BurlabError",
        "burlab.graph": "Graph scope",
        "burlab.graph.buffers.buffer_functions": "at_add at_set buffer empty full ones zeros",
        "burlab.graph.numpy_api.indexing": "asarray",
        "burlab.graph.tree": "pytree",
        "burlab.transforms": "associative_scan check_grads checkpoint compile cond counts custom_vjp fixed_point"
        " fori_loop ggn_vp grad hessian hvp interval jacfwd jacobian jacrev jit jvp linearize operation random root"
        " scan stop_gradient straight_through switch taylor tree value_and_grad vjp vmap while_loop",
        "burlab.eager.tape": "Tape",
        "burlab.eager.value": "Value",
        "burlab.eager.value_functions": "dot mean_and_mean_of_squares mean_of_squares negative_mean reduce_mean"
        " reduce_prod reduce_sum sum_of_squares variance",
        "burlab.transforms.numbers.formats": "Format",
        "burlab.transforms.numbers.rounded_functions": "precision",
        "burlab.transforms.numbers.roundings": "round_to",
        "burlab.transforms.ode": "odeint",
        "burlab.transforms.sparse": "sparse_hessian sparse_jacobian",
        "burlab.functions": "bincount erf gelu log_softmax logsumexp relu sigmoid silu softmax softplus top_k unique",
        "burlab.functions.scipy": "scipy",
        "burlab.functions.linalg": "linalg",
        "burlab.nn": "load_parameters nn save_parameters",  # a module is its own value
        "burlab.communication.compressors": "compressors",
        "burlab.communication.robust": "robust",
        "burlab.optim": "optim",
        "burlab.optim.number_formats": "Formats",
        "burlab.problems": "Batch BatchLoss BlockShuffle FiniteSum Residuals problems",
        "burlab.data": "data",
        "burlab.run": "Run Stop curve_fit load_run minimize",
        "burlab.experiments": "Between branches find_lr performance_profile race sweep",
        "burlab.analysis": "analysis check_gears digits",
        "burlab.monitor": "watch",
        "burlab.runtime.thread_limit": "set_threads",
        "burlab.plots": "plots",
        "burlab.widgets.analysis.landscape_view": "LandscapeView",
        "burlab.widgets.graph_view.graph_widget": "GraphView",
        "burlab.widgets.playground.playgrounds": "playground",
        "burlab.widgets.spectrum.spectrum_view": "SpectrumView",
        "burlab.bench": "bench",
        "burlab.widgets.builder": "GraphBuilder",
        "burlab.widgets.export": "export_html",
    }.items()
    for name in names.split()
}

__all__ = list(_HOME)  # pyright: ignore[reportUnsupportedDunderAll] - the table above is the list


def __getattr__(name: str) -> Any:
    """Import the module that defines `name`, and keep the name (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module 'burlab' has no attribute {name!r}; its public names are in burlab.__all__.")
    module = import_module(_HOME[name])
    value = module if _HOME[name].endswith(f".{name}") else getattr(module, name)
    if "ipykernel" in sys.modules:
        import_module("burlab.widgets")  # a notebook: what it shows registers itself
    globals()[name] = value
    return value


class _PublicModules:
    """Public modules for `import` by their public names: `burlab.scipy.stats` is `burlab.functions.scipy.stats`.

    A finder and a loader in one, without their abstract classes, as the module of those takes 9 ms to import.
    """

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:  # noqa: ARG002
        package, _, name = fullname.partition(".")
        home = _HOME.get(name, "") if package == "burlab" else ""
        elsewhere = home.endswith(f".{name}") and home != fullname
        return ModuleSpec(fullname, cast("Any", self)) if elsewhere else None

    def create_module(self, spec: ModuleSpec) -> None:
        """Return None: the import makes the module."""

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        home = import_module(_HOME[name.removeprefix("burlab.")]).__name__
        inside = [loaded for loaded in sys.modules if loaded == home or loaded.startswith(f"{home}.")]
        sys.modules.update({name + loaded.removeprefix(home): sys.modules[loaded] for loaded in inside})


sys.meta_path.insert(0, _PublicModules())  # else an empty folder of an older checkout would be the module


def load_ipython_extension(shell: Any) -> None:
    """Register the cell magic `%%cpp` and pictures of graphs: `%load_ext burlab` calls this."""
    shell.register_magic_function(import_module("burlab.eager.cells").cell_magic(shell), "cell", "cpp")
    import_module("burlab.widgets").register()


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])

"""The panel of a tree of branches: small pictures, changes of each branch, a comparison, and a fork at the cursor."""

from burlab.experiments import Branches
from burlab.widgets.assets import module
from burlab.widgets.live.live_view import LiveView, style

from .branches_model import BranchesModel


class BranchesView(LiveView):
    """The view of a tree of branches, which a notebook shows for `bl.branches(run)`.

    >>> import burlab as bl
    >>> f = bl.problems.rosenbrock()
    >>> view = BranchesView(bl.branches(bl.minimize(f, f.start, bl.optim.Momentum(1e-4), steps=300)))
    """

    _esm = module("branches/branches.js")
    _css = style("branches/branches.css")

    def __init__(self, branches: Branches) -> None:
        super().__init__(branches, BranchesModel)

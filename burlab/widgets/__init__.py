"""What a notebook shows. Importing this registers it; lower layers know no screen."""

from burlab.run.progress import register_screen
from burlab.widgets.analysis.display import register as register_analysis
from burlab.widgets.builder.display import register as register_builder
from burlab.widgets.graph_view.display import register as register_graph_view
from burlab.widgets.live.display import register as register_live
from burlab.widgets.panel.display import register as register_panel
from burlab.widgets.sweep.display import register as register_sweep

from .graph_view import register
from .parameter_table import register as register_parameters
from .profile import register as register_profile
from .progress import notebook_bar
from .watched import register as register_loops

register()
register_analysis()
register_builder()
register_graph_view()
register_panel()
register_live()
register_sweep()
register_parameters()
register_loops()
register_profile()
register_screen(notebook_bar)

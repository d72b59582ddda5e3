"""What a notebook shows. Importing this registers it; lower layers know no screen."""

from burlab.run.progress import register_screen
from burlab.widgets.panel.display import register as register_panel

from .graph_view import register
from .parameter_table import register as register_parameters
from .progress import notebook_bar

register()
register_panel()
register_parameters()
register_screen(notebook_bar)

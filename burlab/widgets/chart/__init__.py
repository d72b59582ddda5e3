"""Charts on a canvas in a notebook: the data of a `Chart`, sent to a page that draws it."""

from .chart_view import ChartView as ChartView
from .encode_chart import encode as encode

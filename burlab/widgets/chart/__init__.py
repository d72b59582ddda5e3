"""Charts on a canvas in a notebook: what a `Chart` holds, sent to a page that draws it."""

from .chart_view import ChartView as ChartView
from .encode_chart import encode as encode

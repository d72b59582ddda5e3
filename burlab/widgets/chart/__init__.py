"""Charts on a canvas in a notebook: what a `Chart` holds, sent to a page that draws it."""

from .encode import encode as encode
from .view import ChartView as ChartView

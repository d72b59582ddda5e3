"""A thing as one page of HTML: offline, without a kernel, with the charts that notebooks have."""

from .export_file import export_html as export_html

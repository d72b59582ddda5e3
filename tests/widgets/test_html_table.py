"""Layers and tables of their parameters, as text and in a notebook."""

from xml.etree import ElementTree as ET

import numpy as np
import pytest
from IPython.core.formatters import DisplayFormatter

import burlab as bl
from burlab.widgets import html_table

nn = bl.nn
GPT = nn.GPT(key=bl.random.key(0))


def cells(html: str) -> list[list[str]]:
    return [[cell.text or "" for cell in row] for row in ET.fromstring(html).iter("tr")]


def test_the_table_counts_parameters_and_bytes():
    table = nn.summary(GPT)
    assert (table.count, table.nbytes) == (46_337, 4 * 46_337)
    rows = {row.name: row for row in table.rows}
    assert rows["blocks.5.attention.qkv.weight"].shape == (24, 72)
    assert rows["head.bias"].nbytes == 260
    assert sum(row.count for row in table.rows) == nn.count(GPT)
    wide = nn.summary(nn.Linear(2, 3, key=bl.random.key(0), dtype=np.float64))
    assert [(row.dtype, row.nbytes) for row in wide.rows] == [("float64", 48), ("float64", 24)]


def test_the_text_has_straight_columns():
    lines = str(nn.summary(GPT)).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert lines[-1].split() == ["GPT", "46,337", "185,348"]
    assert len(lines) == 4 + len(nn.summary(GPT).rows)


def test_a_notebook_shows_the_same(monkeypatch: pytest.MonkeyPatch):
    class Shell:
        display_formatter = DisplayFormatter()

    monkeypatch.setattr("IPython.core.getipython.get_ipython", Shell)
    for shown in (nn.summary(GPT), GPT):
        data, _ = Shell.display_formatter.format(shown)
        assert cells(data["text/html"]) == [list(row) for row in nn.summary(GPT).cells()]
    assert "&lt;" in html_table.summary_html(nn.summary({"<": np.ones(1)}))

"""One self-contained HTML page about a similarity matrix, its labels and the model chosen for them."""

from similitude.report.findings import Findings, find
from similitude.report.page import page

__all__ = ["Findings", "find", "page"]

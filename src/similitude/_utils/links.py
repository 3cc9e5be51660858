"""The address of an estimator's page, to which its HTML representation links."""

from __future__ import annotations

import sys

SITE = "https://similitude.readthedocs.io/en/stable"


class LinkedEstimator:
    """Mixin of estimators whose HTML representation links to their page in the reference."""

    _doc_link_module = "similitude"
    _doc_link_template = SITE + "/generated/{page}.html"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        """Return the name of the page: the room of the estimator is named unless ``similitude`` exports the class."""
        kind = type(self)
        package = sys.modules["similitude"]
        room = "similitude" if hasattr(package, kind.__name__) else ".".join(kind.__module__.split(".")[:2])
        page = f"{room}.{kind.__name__}"
        # A file system that ignores case would hold one page for the class and the function ``rescale``.
        return {"page": f"{page}-class" if page == "similitude.Rescale" else page}

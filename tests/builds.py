"""Another build of the compiled code in the place of the installed one, such as one that checks every index."""

import importlib.util
import os
import sys


def use_named_build():
    """Load the module that SIMILITUDE_NATIVE names, if it is set; call this before similitude is imported."""
    path = os.environ.get("SIMILITUDE_NATIVE")
    if path:
        spec = importlib.util.spec_from_file_location("similitude._native", path)
        sys.modules["similitude._native"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules["similitude._native"])

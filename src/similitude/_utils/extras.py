"""Optional libraries, which are imported when they are first needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def require(module: str, extra: str) -> Any:
    """Return the imported ``module``, or raise an ImportError that names the extra to install."""
    library = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != library:
            raise  # the library is installed, but one of its own dependencies is not
        raise ImportError(f"this needs {library}: pip install 'similitude[{extra}]'") from error

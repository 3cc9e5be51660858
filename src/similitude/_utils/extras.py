"""Optional libraries, imported when they are first needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def require(module: str, extra: str) -> Any:
    """Return the imported ``module``; an ImportError that names the extra where it is not installed.

    Examples
    --------
    >>> from similitude._utils.extras import require
    >>> require("no_such_library.part", "strings")
    Traceback (most recent call last):
    ImportError: this needs no_such_library: pip install 'similitude[strings]'
    """
    library = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != library:
            raise  # the library is there, and something that it needs itself is not
        raise ImportError(f"this needs {library}: pip install 'similitude[{extra}]'") from error

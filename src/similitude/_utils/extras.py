"""Optional libraries, which are imported when they are first needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def require(module: str, extra: str) -> Any:
    """Return the imported ``module``, or raise an ImportError that names the extra to install.

    Parameters
    ----------
    module : str
        The dotted name of the module.
    extra : str
        The extra of this package that installs the library.

    Returns
    -------
    module
        The imported module.

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
            raise  # the library is installed, but one of its own dependencies is not
        raise ImportError(f"this needs {library}: pip install 'similitude[{extra}]'") from error

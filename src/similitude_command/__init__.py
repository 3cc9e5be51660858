"""The entry point of the command ``similitude``, which can be interrupted while the library is still being imported.

It is a package of its own, because the import of any module of ``similitude`` begins with that of the whole library.
"""

import os

try:
    import signal
except KeyboardInterrupt:
    os._exit(130)


def main() -> None:
    """Run the command ``similitude``; Ctrl-C ends it with the exit code 130 and without a message, at any time."""
    # If the signal is ignored (nohup), it stays ignored.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # Nothing has been written yet, so that the process can end at once.
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    from similitude.cli import main

    main()

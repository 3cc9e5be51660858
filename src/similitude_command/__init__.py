"""The entry point of the command ``similitude``, which ends cleanly while the library is still being imported.

It is a package of its own, because the import of any module of ``similitude`` begins with that of the whole library.
"""

import os

try:
    import signal
    import sys
except KeyboardInterrupt:
    os._exit(130)

_NEEDED = {"ulimit -v": 600 * 2**20, "ulimit -d": 400 * 2**20}
"""The bytes that the library and a small problem take: address space, and that part of it which is data.

An import with less of them ends in an ImportError, a MemoryError or a crash, and OpenBLAS waits for memory for ever.
"""

_PLENTY, _THREAD = 2**32, 2**27
"""A limit above the former, with the latter for each core, leaves room for the buffers of the threads of OpenBLAS."""


def memory_limits() -> dict[str, int]:
    """Return the limits of the memory of this process, in bytes, by the commands that set them."""
    try:
        import resource
    except ImportError:  # there are none on Windows
        return {}
    kinds = {"ulimit -v": resource.RLIMIT_AS, "ulimit -d": resource.RLIMIT_DATA}
    limits = {name: resource.getrlimit(kind)[0] for name, kind in kinds.items()}
    # Other systems have these limits, but do not apply them to all memory.
    return {
        name: limit for name, limit in limits.items() if limit != resource.RLIM_INFINITY and sys.platform == "linux"
    }


def limit_text() -> str:
    """Return the limits as a part of a sentence, or "" if there are none."""
    found = [f"{limit // 1024} kB ({name})" for name, limit in memory_limits().items()]
    return f"the memory of this process is limited to {' and '.join(found)}" if found else ""


def _too_little() -> None:
    needed = " and ".join(f"{_NEEDED[name] // 1024} kB ({name})" for name in memory_limits())
    reason = f"there is not enough memory: {limit_text()}, and the command needs at least {needed}; raise the limit."
    print(f"similitude: {reason}", file=sys.stderr)
    sys.exit(2)


def _check_memory() -> None:
    """End the process if it cannot have the memory that the library needs; if this is scarce, use one thread."""
    limits = memory_limits()
    if any(limit < _PLENTY + (os.cpu_count() or 1) * _THREAD for limit in limits.values()):
        # Worker processes inherit these; this process has read the last of them already.
        os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MALLOC_ARENA_MAX="1")
        _use_one_arena()
    if any(limit < _NEEDED[name] for name, limit in limits.items()):
        _too_little()


def _use_one_arena() -> None:
    """Keep glibc from reserving 128 MB of the address space for each thread."""
    import ctypes

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(-8, 1)  # M_ARENA_MAX


def main() -> None:
    """Run the command ``similitude``; Ctrl-C ends it with the exit code 130 and without a message, at any time."""
    # If the signal is ignored (nohup), it stays ignored.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # Nothing has been written yet, so the process can end at once.
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    _check_memory()
    try:
        from similitude.cli import main
    except (MemoryError, ImportError, OSError, SystemError):
        if not memory_limits():
            raise
        _too_little()

    main()

"""Helpers that do not depend on the subject of the package: files, threads, progress, optional libraries."""

from similitude._utils.checks import check_positive
from similitude._utils.extras import require
from similitude._utils.files import check_writable, is_special, replacing
from similitude._utils.progress import ProgressBars, progress
from similitude._utils.threads import one_blas_thread, over_row_blocks, thread_count
from similitude._utils.versions import versions
from similitude._utils.warn import warn

__all__ = [
    "ProgressBars",
    "check_positive",
    "check_writable",
    "is_special",
    "one_blas_thread",
    "over_row_blocks",
    "progress",
    "replacing",
    "require",
    "thread_count",
    "versions",
    "warn",
]

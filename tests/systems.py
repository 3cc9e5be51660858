"""Marks of tests that need what not every system has."""

import os
import sys

import pytest

needs_posix = pytest.mark.skipif(
    os.name != "posix", reason="needs links, permissions, a shell, limits of resources or signals as POSIX systems have"
)

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc, and limits of memory that hold")

"""Attempts to break the package by forged and damaged files, kills, full disks and threads; see ``make torture``."""

"""Nearest neighbours and what is built on them."""

"""Cross-validated search over whole grids at once."""

"""The answers of every public estimator, kept in a file: what a rebuild must not change."""

"""From an indefinite similarity to a positive semidefinite kernel, with new rows treated alike."""

"""Support vector machines on similarities as kernels."""

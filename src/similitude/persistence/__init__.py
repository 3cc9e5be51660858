"""Saving and loading of models in files that load without running any code."""

from similitude.persistence.model_files import FORMAT, input_reader, load_model, save_model

__all__ = ["FORMAT", "input_reader", "load_model", "save_model"]

"""Data: what ships, what is simulated, what is read from files."""

from similitude.datasets.bundled import load_voting
from similitude.datasets.files import load_proximity
from similitude.datasets.networks import make_copurchase, make_patrol
from similitude.datasets.simulated import make_negative_direction, make_perturbed_centroids

__all__ = [
    "load_proximity",
    "load_voting",
    "make_copurchase",
    "make_negative_direction",
    "make_patrol",
    "make_perturbed_centroids",
]

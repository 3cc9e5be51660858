"""Data sets that are included, simulated, fetched, or read from your own files."""

from similitude.datasets.bundled import load_digit_images, load_promoters, load_voting
from similitude.datasets.fetched import fetch_protein
from similitude.datasets.networks import make_copurchase, make_patrol
from similitude.datasets.simulated import (
    make_complementary,
    make_ellipsoids,
    make_negative_direction,
    make_perturbed_centroids,
)
from similitude.proximity.files import load_objects, load_proximity, save_proximity

__all__ = [
    "fetch_protein",
    "load_digit_images",
    "load_objects",
    "load_promoters",
    "load_proximity",
    "load_voting",
    "make_complementary",
    "make_copurchase",
    "make_ellipsoids",
    "make_negative_direction",
    "make_patrol",
    "make_perturbed_centroids",
    "save_proximity",
]

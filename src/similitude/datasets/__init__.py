"""Data sets that are included, simulated or fetched, and readers of matrices, labels and ids in files."""

from similitude.datasets.bundled import load_voting
from similitude.datasets.bundled_objects import load_digit_images, load_promoters
from similitude.datasets.complementary import make_complementary
from similitude.datasets.ellipsoids import make_ellipsoids
from similitude.datasets.fetched import fetch_protein
from similitude.datasets.files import choose_array, load_proximity, readable
from similitude.datasets.id_files import id_files, write_ids
from similitude.datasets.networks import make_copurchase, make_patrol
from similitude.datasets.simulated import make_negative_direction, make_perturbed_centroids
from similitude.datasets.tables import check_unique, open_text, read_labels, suffix

__all__ = [
    "check_unique",
    "choose_array",
    "fetch_protein",
    "id_files",
    "load_digit_images",
    "load_promoters",
    "load_proximity",
    "load_voting",
    "make_complementary",
    "make_copurchase",
    "make_ellipsoids",
    "make_negative_direction",
    "make_patrol",
    "make_perturbed_centroids",
    "open_text",
    "read_labels",
    "readable",
    "suffix",
    "write_ids",
]

"""File formats of proximities, labels, ids and raw objects: each is read and written here, and nowhere else."""

from similitude.proximity.files.arrays import choose_array, readable
from similitude.proximity.files.columns import Columns
from similitude.proximity.files.fasta import NUCLEOTIDES, read_fasta
from similitude.proximity.files.forms import text_form_of
from similitude.proximity.files.id_files import check_ids, id_files, write_ids
from similitude.proximity.files.labels import Labels, read_labels
from similitude.proximity.files.load import load_proximity
from similitude.proximity.files.objects import TEXT_OBJECTS, Objects, load_objects, read_cells, read_objects
from similitude.proximity.files.reading import Reading
from similitude.proximity.files.save import save_proximity, write_table
from similitude.proximity.files.tables import check_unique
from similitude.proximity.files.text import check_file, check_streams, suffix
from similitude.proximity.files.values import Loaded, load_rows, load_values

__all__ = [
    "NUCLEOTIDES",
    "TEXT_OBJECTS",
    "Columns",
    "Labels",
    "Loaded",
    "Objects",
    "Reading",
    "check_file",
    "check_ids",
    "check_streams",
    "check_unique",
    "choose_array",
    "id_files",
    "load_objects",
    "load_proximity",
    "load_rows",
    "load_values",
    "read_cells",
    "read_fasta",
    "read_labels",
    "read_objects",
    "readable",
    "save_proximity",
    "suffix",
    "text_form_of",
    "write_ids",
    "write_table",
]

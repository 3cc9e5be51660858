"""File formats of proximities, labels, ids and raw objects: each is read and written here, and nowhere else."""

from similitude.proximity.files.contents import Columns, Contents, Reading
from similitude.proximity.files.forms import text_form_of
from similitude.proximity.files.id_files import check_ids, id_files, write_ids
from similitude.proximity.files.labels import Beside, LabelFile
from similitude.proximity.files.load import load_proximity, read_proximity
from similitude.proximity.files.object_tables import NamedColumns, column_options, read_cells, read_object_table
from similitude.proximity.files.objects import load_objects, read_labelled_objects, read_objects
from similitude.proximity.files.save import save_proximity
from similitude.proximity.files.text import NUCLEOTIDES, check_file, check_streams, suffix
from similitude.proximity.files.values import load_row_blocks, load_rows, load_values

__all__ = [
    "NUCLEOTIDES",
    "Beside",
    "Columns",
    "Contents",
    "LabelFile",
    "NamedColumns",
    "Reading",
    "check_file",
    "check_ids",
    "check_streams",
    "column_options",
    "id_files",
    "load_objects",
    "load_proximity",
    "load_row_blocks",
    "load_rows",
    "load_values",
    "read_cells",
    "read_labelled_objects",
    "read_object_table",
    "read_objects",
    "read_proximity",
    "save_proximity",
    "suffix",
    "text_form_of",
    "write_ids",
]

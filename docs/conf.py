"""How the pages become a site: ``make docs`` writes it to docs/_build/html. Nothing here needs a network."""

import re
import sys
from pathlib import Path

from docutils import nodes

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import similitude

project = "similitude"
author = "the similitude developers"
project_copyright = author
release = version = similitude.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "docstrings",
    "names",
    "notebook",
    "method_names",
    "similarity_table",
]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
exclude_patterns = ["_build", "_templates", "data"]
templates_path = ["_templates"]

myst_heading_anchors = 4
myst_enable_extensions = ["deflist"]

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["generated/gallery"],
    "filename_pattern": r"plot_(?!usps|similarities)",  # these data do not ship: the scripts are shown, but not run
    "ignore_pattern": r"(^|/)_",
    "reset_argv": lambda gallery, script: [],
    "remove_config_comments": True,
    "show_memory": False,
    "min_reported_time": 10_000,
    "write_computation_times": False,
    "download_all_examples": False,
}
suppress_warnings = ["config.cache"]  # the function above cannot be pickled

autosummary_generate = True
# A file system that ignores case would hold one page for both.
autosummary_filename_map = {"similitude.Rescale": "similitude.Rescale-class"}
autodoc_typehints = "none"
autodoc_member_order = "bysource"
# One parameter per line where all of them do not fit on one.
maximum_signature_line_length = 80
numpydoc_show_class_members = False
# What is indented after two colons is a formula.
highlight_language = "none"
# Quotes in types belong to the values: "uniform" can be copied.
smartquotes = False
toc_object_entries_show_parents = "hide"

html_theme = "pydata_sphinx_theme"
html_title = "similitude"
html_static_path = ["_static"]
html_favicon = "_static/favicon.svg"
html_css_files = ["similitude.css"]
# The column of sections would be all but empty here.
html_sidebars = {page: [] for page in ("index", "start", "which-method", "gallery", "reproductions")}
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "header_links_before_dropdown": 8,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "show_prev_next": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": [], "papers": []},  # their tables need the room
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
}


def strip_code(app, doctree):
    """An example ends with the blank line that doctest needs; the reader does not."""
    for block in doctree.findall(nodes.literal_block):
        text = block.astext().rstrip()
        if block.rawsource == block.astext():
            block.rawsource = text
            block.children = []
            block += nodes.Text(text)


def keep_figures_whole(app, doctree):
    """In tables, a figure and its unit, or its standard error, are not divided at the end of a line."""
    for entry in doctree.findall(nodes.entry):
        if re.fullmatch(r"\d[^a-z]{0,30}|\d\S* \S{1,4}( \d+)?", entry.astext()):
            for text in list(entry.findall(nodes.Text)):
                text.parent.replace(text, nodes.Text(re.sub(r"(?<!/) ", "\u00a0", text)))


def setup(app):
    """Called by Sphinx."""
    app.connect("doctree-read", keep_figures_whole)
    app.connect("doctree-read", strip_code)

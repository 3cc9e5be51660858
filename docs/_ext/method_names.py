"""The names of the methods, from their records: for the search box, and for the table on the page of the papers."""

from sphinx import addnodes
from sphinx.util import logging

import similitude
from similitude.auto.methods import MIXTURE_RECORDS, RECORDS
from similitude.features.recipes import RECIPES

PAGE = "papers"
_HEAD = "| name in a leaderboard | on the command line | uses | from | page |\n| --- | --- | --- | --- | --- |\n"
_REFERENCE = "generated/similitude."
_SPECTRA = ("clip", "denoise", "flip", "shift", "square")
# What the papers also call a method, or call something that is not in the list of methods.
OTHER_NAMES = {
    f"{_REFERENCE}KNNClassifier": ("KRI", "KRR", "LIME"),
    f"{_REFERENCE}SpectrumModifier": _SPECTRA,
    f"{_REFERENCE}LearnedSpectrumSVC": ("learned spectrum",),
    f"{_REFERENCE}LearnedKernelSVC": ("full kernel", "learned kernel"),
    f"{_REFERENCE}PotentialSVC": ("PSVM", "potential SVM"),
    f"{_REFERENCE}features.recipe": RECIPES,
    f"{_REFERENCE}features.RegularizedQuadratic": ("RQD", "RQD (features)"),
    f"{_REFERENCE}IndefiniteNystroem": ("Nystroem", "Nyström"),
    f"{_REFERENCE}PseudoEuclideanEmbedding": ("pseudo-Euclidean", "pseudo-Euclidean embedding"),
    f"{_REFERENCE}SDA": ("similarity discriminant analysis",),
    f"{_REFERENCE}MixtureSDA": ("mixture SDA",),
    f"{_REFERENCE}LocalBDA": ("BDA", "local BDA"),
    f"{_REFERENCE}FusedClassifier": ("fused SDA and BDA",),
    "neighbors": ("KRI", "KRR", "LIME"),
    "spectrum": _SPECTRA,
    "kernel": ("learned spectrum", "full kernel"),
    "features": ("PSVM", *RECIPES),
    "generative": ("mixture SDA",),
    "fusion": ("BDA", "local BDA", "fused SDA and BDA"),
    "landmarks": ("Nystroem", "Nyström"),
}


def terms():
    """The terms of each page: on that of its family and that of its class, the name of each method."""
    found = {page: list(names) for page, names in OTHER_NAMES.items()}
    for record in (*RECORDS, *MIXTURE_RECORDS):
        estimator = type(record.make({})[0]).__name__
        pages = [record.page]
        if hasattr(similitude, estimator):
            pages.append(f"{_REFERENCE}{estimator}")
        elif record.name.removesuffix(" (features)") in RECIPES:
            pages.append(f"{_REFERENCE}features.recipe")
        for page in pages:
            found.setdefault(page, []).append(record.name)
    return found


TERMS = terms()


def fresh(text):
    """The page of the papers with a row for each method in its last table."""
    rows = [f"| {r.name} | `{r.slug}` | {r.needs} | {r.source} | [{r.page}]({r.page}.md) |\n" for r in RECORDS]
    return text.replace(_HEAD, _HEAD + "".join(rows))


def write_table(app, docname, source):
    """Write the table of methods when Sphinx reads its page."""
    if docname == PAGE:
        source[0] = fresh(source[0])


def add_terms(app, doctree):
    """Add the terms of a page to the index, which the search box reads."""
    found = TERMS.get(app.env.docname, ())
    if found:
        section = doctree[0]
        entries = [("single", term, section["ids"][0], "main", None) for term in found]
        section.insert(1, addnodes.index(entries=entries))


def check_pages(app, env):
    """Warn of terms for a page that does not exist, or no longer."""
    for page in TERMS.keys() - env.all_docs.keys():
        logging.getLogger(__name__).warning("docs/_ext/method_names.py: there is no page %s", page)


def setup(app):
    """Called by Sphinx."""
    app.connect("source-read", write_table)
    app.connect("doctree-read", add_terms)
    app.connect("env-check-consistency", check_pages)
    return {"parallel_read_safe": True}

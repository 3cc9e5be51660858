"""What the papers call the methods, for the search box: typing "KRI" finds the class and the section first."""

from sphinx import addnodes
from sphinx.util import logging

_REFERENCE = "generated/similitude."
_SPECTRA = ("clip", "denoise", "flip", "shift", "square")
_RECIPES = ("LSVM", "RFD", "RQD", "linear SVM", "RBF SVM")
TERMS = {
    f"{_REFERENCE}KNNClassifier": ("k-NN", "affinity k-NN", "KRI", "KRI k-NN", "KRR", "KRR k-NN", "LIME"),
    f"{_REFERENCE}LocalSVC": ("SVM-KNN",),
    f"{_REFERENCE}SimilaritySVC": tuple(f"SVM ({name})" for name in ("clip", "flip", "shift", "square")),
    f"{_REFERENCE}SpectrumModifier": _SPECTRA,
    f"{_REFERENCE}RobustSVC": ("robust SVM",),
    f"{_REFERENCE}LearnedSpectrumSVC": ("learned spectrum", "learned-spectrum SVM"),
    f"{_REFERENCE}LearnedKernelSVC": ("full kernel", "learned kernel"),
    f"{_REFERENCE}PotentialSVC": ("P-SVM", "PSVM", "potential SVM"),
    f"{_REFERENCE}LPMachine": ("LP machine",),
    f"{_REFERENCE}features.recipe": (*_RECIPES, *(f"{name} (features)" for name in _RECIPES)),
    f"{_REFERENCE}features.RegularizedQuadratic": ("RQD", "RQD (features)"),
    f"{_REFERENCE}IndefiniteNystroem": ("Nystroem", "Nyström"),
    f"{_REFERENCE}PseudoEuclideanEmbedding": ("pseudo-Euclidean", "pseudo-Euclidean embedding"),
    f"{_REFERENCE}SDA": ("SDA", "similarity discriminant analysis"),
    f"{_REFERENCE}LocalSDA": ("local SDA", "regularized local SDA"),
    f"{_REFERENCE}MixtureSDA": ("mixture SDA",),
    f"{_REFERENCE}LocalBDA": ("BDA", "local BDA"),
    f"{_REFERENCE}FusedClassifier": ("SDA and BDA fused", "fused SDA and BDA"),
    f"{_REFERENCE}DBoostClassifier": ("DBoost",),
    "neighbors": ("KRI", "KRR", "LIME", "affinity k-NN", "SVM-KNN"),
    "spectrum": _SPECTRA,
    "kernel": ("robust SVM", "learned spectrum", "learned-spectrum SVM", "full kernel"),
    "features": ("P-SVM", "PSVM", "LP machine", *_RECIPES, *(f"{name} (features)" for name in _RECIPES)),
    "generative": ("SDA", "local SDA", "regularized local SDA", "mixture SDA"),
    "fusion": ("BDA", "local BDA", "SDA and BDA fused", "fused SDA and BDA"),
    "boosting": ("DBoost",),
    "landmarks": ("Nystroem", "Nyström"),
}


def add_terms(app, doctree):
    """Add the terms of a page to the index, which the search box reads."""
    terms = TERMS.get(app.env.docname, ())
    if terms:
        section = doctree[0]
        entries = [("single", term, section["ids"][0], "main", None) for term in terms]
        section.insert(1, addnodes.index(entries=entries))


def check_pages(app, env):
    """Warn of terms for a page that does not exist, or no longer."""
    for page in TERMS.keys() - env.all_docs.keys():
        logging.getLogger(__name__).warning("docs/_ext/search_terms.py: there is no page %s", page)


def setup(app):
    """Called by Sphinx."""
    app.connect("doctree-read", add_terms)
    app.connect("env-check-consistency", check_pages)
    return {"parallel_read_safe": True}

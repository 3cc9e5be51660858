"""Model files: what comes back is what was saved, and nothing that a file holds is ever run."""

import io
import json
import os
import subprocess
import sys
import warnings
import zipfile

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from similitude import (
    SDA,
    AutoClassifier,
    KNNClassifier,
    LandmarkClassifier,
    NearestCentroid,
    PairwiseMeta,
    PathSearchCV,
    PotentialSVC,
    Proximities,
    SimilarityFeatures,
    SimilaritySVC,
    SimilarityWarning,
    load_model,
    save_model,
)
from similitude.auto.methods import COMPARED_ONLY, methods
from similitude.datasets import load_voting
from similitude.persistence import model_files as persistence
from similitude.persistence._tree import Decoder, Encoder, _name_of
from similitude.similarities import VDM, Levenshtein, Measure, jaccard, register
from similitude.similarities.registry import _registry
from tests.estimators import FAMILIES, VARIANTS

METHODS = {name: method for name, method in methods().items() if name not in COMPARED_ONLY}


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    classes = np.arange(36) % 3
    X = rng.normal(size=(36, 3)) + 2.0 * (classes[:, None] == np.arange(3))
    S = np.exp(-np.linalg.norm(X[:, None] - X[None], axis=2))
    return S, np.array(["red", "green", "blue, or so"])[classes], 0.9 * S[:9] + 0.05


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.model"


def answers(model, X):
    names = ["predict", "predict_proba", "decision_function"]
    names = [name for name in names if hasattr(model, name)] or ["transform"]
    return {name: getattr(model, name)(X) for name in names}


def assert_same_answers(model, other, X):
    expected, found = answers(model, X), answers(other, X)
    assert expected.keys() == found.keys()
    for name, values in expected.items():
        assert values.dtype == found[name].dtype
        assert np.array_equal(values, found[name]), name


def round_trip(path, model, X):
    save_model(path, model)
    other = load_model(path)
    assert type(other) is type(model)
    assert_same_answers(model, other, X)
    return other


@pytest.mark.parametrize("estimator", [*FAMILIES, *VARIANTS], ids=str)
def test_every_estimator_comes_back_with_the_same_answers(estimator, problem, path):
    S, y, new = problem
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", SimilarityWarning)
        model = clone(estimator).fit(S, y)
        other = round_trip(path, model, new)
        assert repr(other.get_params()) == repr(model.get_params())
        first = path.read_bytes()
        save_model(path, other)
        assert path.read_bytes() == first
        if isinstance(model, PathSearchCV):
            assert other.best_params_ == model.best_params_
            assert other.score(new, y[:9]) == model.score(new, y[:9])
            round_trip(path, model.best_estimator_, new)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_of_compare(name, problem, path):
    S, y, new = problem
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", SimilarityWarning)
        round_trip(path, clone(METHODS[name][0]).fit(S, y), new)


@pytest.mark.filterwarnings("ignore::similitude.SimilarityWarning")
@pytest.mark.parametrize("name", ["k-NN", "SVM (clip)", "nearest mean (embedded)", "LSVM (features)"])
def test_learned_similarities_of_raw_objects(name, path):
    voting = load_voting()
    model = clone(methods(similarity="vdm")[name][0]).fit(voting.data[:80], voting.target[:80])
    round_trip(path, model, voting.data[80:160])


@pytest.mark.parametrize(
    ("similarity", "objects"),
    [
        ("tfidf-cosine", ["a red apple", "a green apple", "the blue sea", "a blue ship"] * 3),
        ("jaccard", [{1, 2}, {1, 3}, {"x"}, {"x", "y"}] * 3),
        (jaccard, [{1, 2}, {1, 3}, {"x"}, {"x", "y"}] * 3),
        ("euclidean", np.arange(24.0).reshape(12, 2)),
        ("canberra", np.arange(24.0).reshape(12, 2)),
        ("rbf", np.arange(24.0).reshape(12, 2)),
        (Levenshtein(), ["abba", "baab", "xyxx", "yxyx"] * 3),
        (VDM(weighted=True), [("a", "x"), ("b", "x"), ("a", "y"), ("b", "y")] * 3),
        ("hausdorff", [np.eye(2), np.eye(2)[:1], np.full((3, 2), 5.0), np.full((2, 2), 6.0)] * 3),
    ],
    ids=lambda value: str(value)[:20],
)
def test_similarities_with_a_name(similarity, objects, path):
    model = KNNClassifier(2, similarity=similarity).fit(objects, [0, 0, 1, 1] * 3)
    round_trip(path, model, objects[:5])


def test_a_similarity_that_was_registered(path):
    register(Measure(lambda a, b: -abs(a - b), name="near"))
    try:
        model = KNNClassifier(1, similarity="near").fit([1, 5, 9], ["a", "b", "c"])
        round_trip(path, model, [2, 8])
    finally:
        del _registry["near"]
    with pytest.raises(ValueError, match="'near' is not registered"):
        load_model(path)


class Own:
    def __call__(self, a, b):
        return -abs(a - b)


@pytest.mark.parametrize("similarity", [lambda a, b: -abs(a - b), Own()], ids=["function", "object"])
def test_a_function_that_nobody_knows_cannot_be_saved(similarity, path):
    model = KNNClassifier(1, similarity=similarity).fit([1, 5, 9], ["a", "b", "c"])
    with pytest.raises(ValueError, match=r"KNNClassifier.similarity is the Python function .*register"):
        save_model(path, model)
    assert os.listdir(path.parent) == []


def test_labels_costs_and_odd_values(path):
    S = np.exp(-np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0))))
    for y in ([0, 1, 2] * 2, np.array([True, False] * 3), np.array(["ä", "日本"] * 3, dtype=object), [-1.0, 2.0] * 3):
        classes = np.unique(y)
        costs = {a: {b: float(a != b) for b in classes.tolist()} for a in classes.tolist()}
        model = KNNClassifier(np.int64(2), costs=costs, priors=np.full(len(classes), 1 / len(classes))).fit(S, y)
        other = round_trip(path, model, S[:3])
        assert other.classes_.tolist() == classes.tolist()
        assert other.costs == costs
    for dtype in (np.float32, sparse.csr_array, sparse.csr_matrix):
        X = S.astype(dtype) if dtype is np.float32 else dtype(S)
        round_trip(path, KNNClassifier(1).fit(X, [0, 1, 2] * 2), X[:2])


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters())
    | st.binary()
    | st.floats(width=32).map(np.float32)
    | st.integers(-(2**63), 2**63 - 1).map(np.int64)
    | st.sampled_from([np.dtype("<f4"), np.float64, slice(None, 3), np.str_("x"), np.bool_(True)]),
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text() | st.integers(), inner)
        | st.sets(st.integers() | st.text())
    ),
    max_leaves=15,
)


@settings(max_examples=20)
@given(VALUES)
def test_any_plain_value_comes_back(value):
    text = json.dumps(Encoder().encode(value, "value"), allow_nan=False)
    other = Decoder(lambda position: None).decode(json.loads(text))
    assert type(other) is type(value)
    assert repr(other) == repr(value) or other == value


@pytest.mark.parametrize(
    "array",
    [
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.zeros((0, 3)),
        np.array(5.0),
        np.array([], dtype="<U0"),
        np.array(["a", "bcd"]),
        np.arange(4, dtype=">i2"),
        np.array([True, False]),
        np.array([1 + 2j]),
    ],
    ids=str,
)
def test_arrays_keep_type_shape_and_order(array, path):
    persistence._write(path, b"{}", [array])
    with zipfile.ZipFile(path) as archive:
        other = persistence._read_array(archive, archive.getinfo("arrays/0.npy"))
    assert (other.dtype, other.shape) == (array.dtype, array.shape)
    assert np.array_equal(other, array)
    assert other.flags.f_contiguous == array.flags.f_contiguous
    assert other.flags.writeable


def test_arrays_are_stored_once():
    array = np.arange(3.0)
    encoder = Encoder()
    assert encoder.encode([array, array, array.copy()], "x") == [{"array": 0}, {"array": 0}, {"array": 1}]
    assert len(encoder.arrays) == 2


def test_masked_and_object_arrays():
    values = [np.ma.MaskedArray([1, 2], [False, True]), np.array([[1, "a"], [None, (2, 3)]], dtype=object)]
    encoder = Encoder()
    masked, objects = Decoder(lambda i: encoder.arrays[i]).decode(encoder.encode(values, "x"))
    assert masked.tolist() == [1, None]
    assert objects.tolist() == [[1, "a"], [None, (2, 3)]]


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
def test_sparse_matrices(kind):
    matrix = kind(np.diag([1.0, 0.0, 2.0]))
    encoder = Encoder()
    other = Decoder(lambda i: encoder.arrays[i]).decode(encoder.encode(matrix, "x"))
    assert type(other) is (type(matrix) if kind is not sparse.coo_array else sparse.csr_array)
    assert np.array_equal(other.toarray(), matrix.toarray())


class TestWhatCanBeSaved:
    def test_not_fitted(self, path):
        with pytest.raises(NotFittedError):
            save_model(path, KNNClassifier())

    def test_a_search_without_a_best_estimator(self, problem, path):
        S, y, _ = problem
        search = PathSearchCV(KNNClassifier(), {"n_neighbors": [1, 3]}, cv=2, refit=False).fit(S, y)
        with pytest.raises(ValueError, match="refit=True"):
            save_model(path, search)

    def test_a_search_of_scikit_learn(self, problem, path):
        S, y, _ = problem
        search = GridSearchCV(KNNClassifier(), {"n_neighbors": [1, 3]}, cv=2).fit(S, y)
        with pytest.raises(ValueError, match="GridSearchCV of scikit-learn; save its best_estimator_, or use PathSe"):
            save_model(path, search)

    def test_scoring_by_name_and_a_splitter(self, problem, path):
        S, y, new = problem
        splitter = StratifiedKFold(3, shuffle=True, random_state=1)
        search = PathSearchCV(KNNClassifier(), {"n_neighbors": [1, 3]}, cv=splitter, scoring="balanced_accuracy")
        other = round_trip(path, search.fit(S, y), new)
        assert other.score(S, y) == search.score(S, y)
        assert other.cv.random_state == 1

    def test_scoring_by_a_function(self, problem, path):
        S, y, _ = problem
        search = PathSearchCV(KNNClassifier(), {"n_neighbors": [1]}, cv=2, scoring=lambda *args: 1.0).fit(S, y)
        with pytest.raises(ValueError, match=r"PathSearchCV.scoring is the Python function"):
            save_model(path, search)

    def test_other_classes_of_scikit_learn(self, problem, path):
        S, y, new = problem
        round_trip(path, make_pipeline(SimilarityFeatures(), LogisticRegression()).fit(S, y), new)
        round_trip(path, PairwiseMeta(CalibratedClassifierCV(SVC(kernel="precomputed"), cv=2)).fit(S, y), new)
        round_trip(
            path, PairwiseMeta(VotingClassifier([("a", KNNClassifier()), ("b", SimilaritySVC())])).fit(S, y), new
        )

    @pytest.mark.parametrize(
        ("model", "message"),
        [
            (make_pipeline(SimilarityFeatures(), RandomForestClassifier(2)), "RandomForestClassifier"),
            (SimilarityFeatures(3, random_state=np.random.RandomState(0)), "SimilarityFeatures.random_state"),
            (SVC(kernel="precomputed"), "must be an estimator of similitude"),
        ],
        ids=["class", "generator", "foreign"],
    )
    def test_what_is_not_on_the_list_is_named(self, model, message, problem, path):
        S, y, _ = problem
        with pytest.raises(ValueError, match=message):
            save_model(path, model.fit(S, y))
        assert not path.exists()

    def test_a_pipeline_forgets_its_cache(self, problem, path, tmp_path):
        S, y, new = problem
        pipeline = make_pipeline(SimilarityFeatures(), LogisticRegression(), memory=str(tmp_path / "cache")).fit(S, y)
        assert round_trip(path, pipeline, new).memory is None

    def test_ids_must_fit(self, problem, path):
        S, y, _ = problem
        with pytest.raises(ValueError, match=r"ids must have one name per training sample \(36\); got 2"):
            save_model(path, KNNClassifier().fit(S, y), ids=["a", "b"])

    def test_where_no_file_can_be(self, problem, tmp_path):
        S, y, _ = problem
        model = KNNClassifier().fit(S, y)
        (tmp_path / "file").write_text("")
        for place in (tmp_path, tmp_path / "nowhere" / "m", tmp_path / "file" / "m"):
            with pytest.raises(ValueError, match="path: "):
                save_model(place, model)

    def test_an_old_file_survives_a_failure(self, problem, path, monkeypatch):
        S, y, new = problem
        model = KNNClassifier().fit(S, y)
        save_model(path, model)

        def fail(*args, **kwargs):
            raise OSError("disk full")

        monkeypatch.setattr(np.lib.format, "write_array", fail)
        with pytest.raises(OSError, match="disk full"):
            save_model(path, SimilaritySVC().fit(S, y))
        assert os.listdir(path.parent) == [path.name]
        assert_same_answers(model, load_model(path), new)


class TestInfo:
    def test_what_the_file_tells(self, problem, path):
        S, y, _ = problem
        names = [f"s{i}" for i in range(36)]
        model = PotentialSVC().fit(Proximities(S, ids=names), y)
        save_model(path, model, notes={"from": "a test"})
        _, info = load_model(path, return_info=True)
        assert info["ids"] == names
        assert info["classes"] == ["blue, or so", "green", "red"]
        assert (info["n_columns"], info["input"], info["notes"]) == (36, "similarities", {"from": "a test"})
        assert info["support_columns"].tolist() == model.support_columns_.tolist()
        assert info["versions"]["scikit-learn"] == sklearn.__version__
        assert set(info["versions"]) == {"similitude", "numpy", "scipy", "scikit-learn", "python"}

    def test_dissimilarities_and_objects(self, problem, path):
        S, y, _ = problem
        save_model(path, make_pipeline(SimilarityFeatures(dissimilarity="max-minus"), SVC()).fit(1 - S, y))
        assert load_model(path, return_info=True)[1]["input"] == "dissimilarities"
        save_model(path, KNNClassifier(similarity="euclidean").fit(S, y))
        assert load_model(path, return_info=True)[1]["input"] == "objects"

    def test_a_data_frame_gives_its_names(self, problem, path):
        pandas = pytest.importorskip("pandas")
        S, y, _ = problem
        names = [f"s{i}" for i in range(36)]
        save_model(path, KNNClassifier().fit(pandas.DataFrame(S, columns=names), y))
        assert load_model(path, return_info=True)[1]["ids"] == names

    def test_another_version_is_a_warning(self, problem, path, monkeypatch):
        S, y, new = problem
        model = KNNClassifier().fit(S, y)
        for module, name in ((sklearn, "scikit-learn"), (sys.modules["similitude._utils.versions"], "similitude")):
            with monkeypatch.context() as patch:
                patch.setattr(module, "__version__", "1.2.3")
                save_model(path, model)
            with pytest.warns(UserWarning, match=rf"saved with {name} 1\.2\.3"):
                other = load_model(path)
            assert_same_answers(model, other, new)


def seal(path, text="similitude model, format 4.0, sha256 "):
    """Make any archive look like a model file: whoever writes one can do so."""
    with zipfile.ZipFile(path, "a") as archive:
        archive.comment = text.encode() + b"0" * 64
    with path.open("r+b") as file:
        digest = persistence._digest(file)
        file.seek(-64, os.SEEK_END)
        file.write(digest)


@pytest.fixture
def saved(problem, path):
    S, y, _ = problem
    save_model(path, SimilaritySVC().fit(S, y))
    return path


def content_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def forge(path, change=None, **options):
    """The model file with its members changed, and a checksum that holds."""
    members = content_of(path)
    tree = json.loads(members["model.json"])
    if change is not None:
        change(tree, members)
    members["model.json"] = members["model.json"] if options.pop("keep", False) else json.dumps(tree).encode()
    path.unlink()
    with zipfile.ZipFile(path, "w", **options) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    seal(path)


class TestDamage:
    def test_every_byte_counts(self, problem, path):
        save_model(path, KNNClassifier(1).fit(np.eye(3), [0, 1, 1]))
        whole = path.read_bytes()
        for i in range(0, len(whole), 7):
            path.write_bytes(whole[:i] + bytes([whole[i] ^ 1]) + whole[i + 1 :])
            with pytest.raises(ValueError, match=r"a\.model: "):
                load_model(path)

    def test_truncated_or_longer(self, saved):
        whole = saved.read_bytes()
        for part in (b"", whole[:10], whole[:-1], whole[: len(whole) // 2], whole + b"\n", whole[10:], b"PK" * 200):
            saved.write_bytes(part)
            with pytest.raises(ValueError, match=r"is not a model file|is damaged"):
                load_model(saved)

    def test_no_file(self, tmp_path):
        with pytest.raises(FileNotFoundError, match="nowhere"):
            load_model(tmp_path / "nowhere")
        with pytest.raises(ValueError, match="not a file"):
            load_model(tmp_path)

    def test_another_format(self, saved):
        seal(saved, "similitude model, format 1.0, sha256 ")
        with pytest.raises(ValueError, match=r"format 1; this version.* reads format 4\. Fit the model again"):
            load_model(saved)
        seal(saved, "similitude model, format 4.7, sha256 ")
        assert isinstance(load_model(saved), SimilaritySVC)


def build(*node):
    def change(tree, members):
        tree["model"] = node[0]

    return change


def nested(depth):
    node = []
    for _ in range(depth):
        node = [node]
    return node


EVIL = [
    ["os.system", []],
    ["builtins.eval", []],
    ["subprocess.Popen", [["args", "touch x"]]],
    ["sklearn.ensemble.RandomForestClassifier", []],
    ["sklearn.utils.Bunch", []],
    ["similitude.cli.data.Input", []],
    ["similitude.similarities.journal.Journal", []],
    ["similitude.base.path.os", []],
    ["similitude.base.path.copy", []],
    ["similitude.base.path.np", []],
    ["similitude.base.path.BaseEstimator", []],
    ["similitude.neighbors.knn.resolve", []],
    ["similitude.neighbors.knn.KNNClassifier.fit", []],
    ["similitude.nowhere.X", []],
    ["similitude..base.X", []],
    ["similitude", []],
    ["", []],
    [None, []],
    [["similitude"], []],
    ["similitude.neighbors.knn.KNNClassifier", None],
    ["similitude.neighbors.knn.KNNClassifier", [["n_neighbors", {"object": ["posix.system", []]}]]],
    ["similitude.neighbors.knn.KNNClassifier", []],
    ["similitude.proximity.check.SimilarityWarning", []],
    ["similitude.generative.max_entropy.Pmfs", []],
]


class TestMalice:
    @pytest.mark.parametrize("evil", EVIL, ids=str)
    def test_classes_that_are_not_on_the_list(self, evil, saved):
        for tag in ("object", "named tuple"):
            forge(saved, build({tag: evil}))
            with pytest.raises(ValueError, match=r"a\.model: cannot be loaded as a model"):
                load_model(saved)

    @pytest.mark.parametrize(
        "node",
        [
            None,
            5,
            [],
            {},
            {"eval": "1"},
            {"array": 10**6},
            {"array": "0"},
            {"array": [0]},
            {"array": -1},
            {"float": "1"},
            {"dtype": "O"},
            {"dtype": "|V8"},
            {"dtype": "<f8,<f8"},
            {"scalar": ["|O8", 1]},
            {"scalar": ["<U999999999", "a"]},
            {"scalar": ["|S999999999", "a"]},
            {"scalar type": "object"},
            {"measure": "os.system"},
            {"measure": "precomputed"},
            {"function": "eval"},
            {"dict": [[[], 1]]},
            {"set": [[]]},
            {"tuple": 3},
            {"bytes": 3},
            {"objects": [[10**12], []]},
            {"objects": [[2, 2], [1]]},
            {"sparse": ["csr_array", [2, 2], {"array": 0}, {"array": 0}, {"array": 0}]},
            {"sparse": ["eval", [2, 2], 1, 1, 1]},
            {"object": ["sklearn.pipeline.Pipeline", [["steps", []]]]},
            {"object": ["similitude.evaluation.path_search.PathSearchCV", [["scoring", "os.system"]]]},
            nested(900),
        ],
        ids=lambda node: str(node)[:40],
    )
    def test_trees_that_are_no_model(self, node, saved):
        forge(saved, build(node))
        with pytest.raises(ValueError, match=r"a\.model: cannot be loaded as a model"):
            load_model(saved)

    def test_a_pipeline_that_lost_its_classifier(self, tmp_path):
        path = tmp_path / "a.model"
        save_model(path, make_pipeline(SimilarityFeatures(), SVC()).fit(np.eye(6), [0, 1] * 3))

        def drop_last_step(tree, members):
            attributes = dict(tree["model"]["object"][1])
            last = attributes["steps"][-1]
            last["tuple"][1] = None

        forge(path, drop_last_step)
        with pytest.raises(ValueError, match="does not have the classes that the file names"):
            load_model(path)

    @pytest.mark.parametrize("text", [b"[" * 10**6, b'{"a":' * 10**5, b"9" * 10**4, b"\xff\xfe", b"", b"[]", b"{}"])
    def test_json_that_is_none(self, text, saved):
        forge(saved, lambda tree, members: members.update({"model.json": text}), keep=True)
        with pytest.raises(ValueError, match=r"a\.model: cannot be loaded as a model"):
            load_model(saved)

    def test_json_that_is_too_long(self, saved, monkeypatch):
        monkeypatch.setattr(persistence, "_LARGEST_TREE", 100)
        with pytest.raises(ValueError, match="100 are allowed"):
            load_model(saved)
        with pytest.raises(ValueError, match="100 are allowed in a model file"):
            save_model(saved, KNNClassifier(1).fit(np.eye(3), [0, 1, 1]))

    @pytest.mark.parametrize(
        "name", ["../evil", "/etc/passwd", "arrays/../../x.npy", "x.npy", "arrays/0.npy/", "arrays\\0.npy", "C:x"]
    )
    def test_members_with_other_names(self, name, saved):
        forge(saved, lambda tree, members: members.update({name: b"x"}))
        with pytest.raises(ValueError, match="which a model file cannot have"):
            load_model(saved)

    def test_two_members_of_one_name(self, saved):
        with zipfile.ZipFile(saved, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("model.json", "{}")
        seal(saved)
        with pytest.raises(ValueError, match="two members"):
            load_model(saved)

    def test_compressed_members(self, saved):
        forge(
            saved,
            lambda tree, members: members.update({"arrays/0.npy": bytes(10**7)}),
            compression=zipfile.ZIP_DEFLATED,
        )
        assert saved.stat().st_size < 10**5
        with pytest.raises(ValueError, match="compressed"):
            load_model(saved)

    def test_sizes_that_are_lies(self, saved):
        # One byte of data, said to be there a thousand times over: what overlapping members amount to.
        with zipfile.ZipFile(saved, "a") as archive:
            first = archive.getinfo("arrays/0.npy")
            for i in range(1000, 3000):
                twin = zipfile.ZipInfo(f"arrays/{i}.npy")
                twin.header_offset, twin.CRC = first.header_offset, first.CRC
                twin.file_size = twin.compress_size = first.file_size
                archive.filelist.append(twin)
                archive.NameToInfo[twin.filename] = twin
            archive._didModify = True
        seal(saved)
        with pytest.raises(ValueError, match=r"add up to more than the file|Overlapped"):
            load_model(saved)

    @pytest.mark.parametrize(
        "header",
        [
            "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }",
            "{'descr': '<U0', 'fortran_order': False, 'shape': (1000000000000,), }",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -2), }",
            "{'descr': '|O', 'fortran_order': False, 'shape': (2,), }",
            "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,), }",
            "{'descr': '<f8', 'fortran_order': False, 'shape': __import__('os').getcwd(), }",
            "not a header",
        ],
    )
    def test_arrays_that_are_none(self, header, saved):
        text = header.encode().ljust(117) + b"\n"
        array = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(16)
        forge(saved, lambda tree, members: members.update({"arrays/0.npy": array}))
        with pytest.raises(ValueError, match=r"a\.model: cannot be loaded as a model"):
            load_model(saved)

    def test_pickled_arrays_are_not_unpickled(self, saved, tmp_path):
        class Touch:
            def __reduce__(self):
                return (os.mkdir, (str(tmp_path / "executed"),))

        np.save(tmp_path / "evil.npy", np.array([Touch()], dtype=object), allow_pickle=True)
        evil = (tmp_path / "evil.npy").read_bytes()
        forge(saved, lambda tree, members: members.update({"arrays/0.npy": evil}))
        with pytest.raises(ValueError, match=r"a\.model: cannot be loaded as a model"):
            load_model(saved)
        assert not (tmp_path / "executed").exists()

    def test_a_cache_of_pickles_cannot_be_smuggled_in(self, problem, path):
        S, y, _ = problem
        save_model(path, make_pipeline(SimilarityFeatures(), LogisticRegression()).fit(S, y))
        forge(path, lambda tree, members: tree["model"]["object"][1].append(["memory", "/tmp/pickles"]))
        assert load_model(path).memory is None

    def test_ids_that_do_not_fit(self, saved):
        forge(saved, lambda tree, members: tree.update(ids=["a"]))
        with pytest.raises(ValueError, match="ids do not fit"):
            load_model(saved)

    @settings(max_examples=40)
    @given(st.data())
    def test_any_change_of_the_tree_is_an_estimator_or_a_value_error(self, tmp_path_factory, data):
        encoder = Encoder()
        tree = encoder.encode(KNNClassifier(1, similarity="vdm").fit([("a",), ("b",)], [0, 1]), "x")
        spots = []

        def walk(node):
            items = enumerate(node) if isinstance(node, list) else node.items() if isinstance(node, dict) else ()
            for key, child in items:
                spots.append((node, key))
                walk(child)

        walk(tree)
        node, key = data.draw(st.sampled_from(spots))
        node[key] = data.draw(st.sampled_from([None, -1, "", [], {}, {"array": 0}, "similitude.base", [[1, 2]], 1e308]))
        path = tmp_path_factory.mktemp("changed") / "a.model"
        content = {"versions": persistence.versions(), "ids": None, "notes": {}, "model": tree}
        persistence._write(path, json.dumps(content).encode(), encoder.arrays)
        try:
            outcome = load_model(path)
        except ValueError as error:
            outcome = str(error)
        assert isinstance(outcome, KNNClassifier) or outcome.startswith(str(path))


def test_loading_unpickles_and_starts_nothing(saved):
    script = """
import sys
from similitude import load_model
def refuse(event, arguments):
    if event in ("pickle.find_class", "os.system", "os.exec", "os.posix_spawn", "subprocess.Popen", "socket.connect"):
        raise SystemExit(event)
sys.addaudithook(refuse)
print(type(load_model(sys.argv[1])).__name__)
"""
    done = subprocess.run([sys.executable, "-c", script, saved], capture_output=True, text=True)
    assert done.stdout == "SimilaritySVC\n", done.stderr


def test_no_class_of_the_list_acts_when_it_is_made_or_dropped():
    modules = [(name, module) for name, module in sys.modules.items() if name.startswith("similitude.")]
    classes = {(name, value) for name, module in modules for value in vars(module).values() if isinstance(value, type)}
    listed = [value for name, value in classes if value.__module__ == name and _name_of(value)]
    assert len(listed) > 40
    for value in listed:
        assert not hasattr(value, "__del__"), value
        assert issubclass(value, tuple) or "__slots__" not in vars(value), value


def test_an_automatic_choice_keeps_its_diagnosis_and_leaderboard(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(30) % 2
    S = np.equal.outer(y, y) + rng.random((30, 30))
    S = S + S.T
    model = AutoClassifier(["k-NN", "nearest centroid"], cv=3).fit(S, y)
    save_model(tmp_path / "model", model)
    again = load_model(tmp_path / "model")
    assert again.diagnosis_ == model.diagnosis_
    assert again.leaderboard_ == model.leaderboard_
    assert np.array_equal(again.predict(S), model.predict(S))


class TestForgedState:
    """Positions and matrices are checked, and the model is tried out; ``tests/torture`` tries thousands of others."""

    @pytest.fixture
    def files(self, problem, path):
        S, y, _ = problem
        save_model(path, KNNClassifier(3, weights="kri").fit(S, y))
        return path

    @staticmethod
    def arrays(path, select, change):
        """Replace the arrays that ``select`` chooses by ``change`` of them, and the checksum."""
        members = content_of(path)
        tree = members.pop("model.json")
        arrays = [np.load(io.BytesIO(members[f"arrays/{i}.npy"])) for i in range(len(members))]
        persistence._write(path, tree, [change(array) if select(array) else array for array in arrays])

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda a: a + 1, r"codes has positions from 1 to 3, outside of 0\.\.2"),
            (lambda a: a - 1, r"codes has positions from -1 to 1, outside of 0\.\.2"),
            (lambda a: a[:-1], "its predict fails: IndexError: index 35 is out of bounds"),
            (lambda a: a.astype(np.int32), "codes is not an array of positions"),
            (lambda a: a.astype(float), "codes is not an array of positions"),
            (lambda a: a[None], "codes is not an array of positions"),
        ],
        ids=["above", "below", "shorter", "int32", "float", "two dimensions"],
    )
    def test_labels_of_the_training_samples(self, files, change, message):
        self.arrays(files, lambda a: a.dtype == np.intp and a.shape == (36,), change)
        with pytest.raises(ValueError, match=message):
            load_model(files)

    @pytest.mark.parametrize(
        ("estimator", "attribute"),
        [
            (PotentialSVC(), "columns_of"),
            (SimilaritySVC(), "columns"),
            (SDA(), "centroids"),
            (NearestCentroid(), "centroids"),
            (SimilarityFeatures(3, random_state=0), "prototypes_"),
            (LandmarkClassifier(4, random_state=0), "positions"),
        ],
        ids=lambda value: str(value),
    )
    def test_negative_positions_of_samples(self, estimator, attribute, problem, path):
        S, y, _ = problem
        save_model(path, estimator.fit(S, y))
        self.arrays(path, lambda a: a.dtype == np.intp and a.ndim == 1 and a.max(initial=0) > 2, lambda a: -1 - a)
        with pytest.raises(ValueError, match=rf"{attribute} has positions from -\d+ to -\d+, outside of 0\.\.35"):
            load_model(path)

    def test_a_model_that_does_not_work_names_the_versions_that_saved_it(self, problem, path):
        S, y, _ = problem
        save_model(path, make_pipeline(SimilarityFeatures(3, random_state=0), LogisticRegression()).fit(S, y))

        def change(tree, members):
            last = tree["model"]["object"][1][0][1][1]["tuple"][1]["object"][1]
            last[:] = [pair for pair in last if pair[0] != "intercept_"]
            tree["versions"]["scikit-learn"] = "0.9"

        forge(path, change)
        message = (
            r"its predict fails: AttributeError.*It was saved with scikit-learn 0\.9; this is .*fit the model again"
        )
        with pytest.raises(ValueError, match=message):
            load_model(path)

    @pytest.mark.parametrize("value", [np.nan, np.inf])
    def test_similarities_that_are_not_finite(self, files, value):
        self.arrays(files, lambda a: a.shape == (36, 36), lambda a: np.where(np.eye(36) > 0, value, a))
        with pytest.raises(ValueError, match=r"\.S is not a matrix of finite numbers"):
            load_model(files)

    @pytest.mark.parametrize(
        ("name", "value", "message"),
        [
            ("predict", 5, "predict would replace a method"),
            ("_path", None, "'NoneType' object has no attribute"),
            ("_readers", 5, "'int' object has no attribute"),
            ("classes_", [0, 1], "its predict fails"),
        ],
    )
    def test_attributes_of_the_estimator(self, files, name, value, message):
        def change(tree, members):
            pairs = [pair for pair in tree["model"]["object"][1] if pair[0] != name]
            tree["model"]["object"][1] = [*pairs, [name, value]]

        forge(files, change)
        with pytest.raises(ValueError, match=message):
            load_model(files)

    def test_public_attributes_are_computed_and_not_read(self, problem, path):
        S, y, _ = problem
        model = PotentialSVC().fit(S, y)
        save_model(path, model)
        self.arrays(path, lambda a: np.array_equal(a, model.coef_), np.zeros_like)
        assert np.array_equal(load_model(path).coef_, model.coef_)


def test_very_many_lists_are_refused_before_they_are_parsed(saved, monkeypatch):
    forge(saved, lambda tree, members: tree.update(notes=[[]] * 5_000_000))
    monkeypatch.setattr(json, "loads", lambda text: pytest.fail("it was parsed"))
    with pytest.raises(ValueError, match=r"model\.json has 50\d+ lists; 4194304 are allowed"):
        load_model(saved)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["ones", "zeros", "single", "tiny", "frame"])
def test_models_of_ugly_matrices_are_not_taken_for_forgeries(kind, problem, path):
    pandas = pytest.importorskip("pandas")
    S, y, _ = problem
    X = {
        "ones": np.ones_like(S),
        "zeros": np.zeros_like(S),
        "single": S.astype(np.float32),
        "tiny": S * 1e-300,
        "frame": pandas.DataFrame(S, columns=[f"s{i}" for i in range(36)]),
    }[kind]
    estimators = [estimator for estimator in FAMILIES if not isinstance(estimator, AutoClassifier)]
    estimators.append(SimilaritySVC(probability=True, class_weight="balanced"))
    loaded = 0
    for estimator in estimators:
        try:
            model = clone(estimator).fit(X, y)
        except ValueError:  # this method cannot use such a matrix
            continue
        round_trip(path, model, X)
        loaded += 1
    assert loaded > 10


def test_a_fit_goes_on_after_loading(path):
    words, y = ["haus", "maus", "laus", "trek", "treck", "dreck"], [1, 1, 1, 0, 0, 0]
    for model in (
        LandmarkClassifier(4, random_state=0, similarity="levenshtein").partial_fit(words, y),
        KNNClassifier(2, similarity="levenshtein", search="graph").fit(words, y),
    ):
        other = round_trip(path, model, words)
        round_trip(path, other.partial_fit(["hase"], [1]), words)
        assert np.array_equal(other.predict(words), model.partial_fit(["hase"], [1]).predict(words))

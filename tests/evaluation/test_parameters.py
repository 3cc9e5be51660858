import json

import numpy as np
from sklearn.svm import SVC

from similitude.evaluation.parameters import parameters_code, parameters_text, plain_parameters


def test_text_names_a_parameter_by_its_last_part_unless_two_share_it():
    parameters = {"svc__C": 10.0, "consistent": True, "kind": "a", "pair": (1, 2)}
    assert parameters_text(parameters) == "C=10, consistent=True, kind=a, pair=(1, 2)"
    assert parameters_text({"a__k": 1, "b__k": 2, "a__C": 3}) == "a__k=1, b__k=2, C=3"
    assert parameters_text({}) == ""


def test_text_rounds_floats_and_keeps_all_digits_of_integers():
    assert parameters_text({"C": 1e-05, "reg": np.float64(0.1) + 0.2, "gamma": np.float32(0.5)}) == (
        "C=1e-05, reg=0.3, gamma=0.5"
    )
    assert parameters_text({"max_iter": 1234567, "k": np.int64(7654321)}) == "max_iter=1234567, k=7654321"


def test_code_is_python():
    code = parameters_code({"n_neighbors": np.int64(3), "reg": 0.1, "weights": "kri", "costs": None})
    assert code == "n_neighbors=3, reg=0.1, weights='kri', costs=None"


def test_plain_parameters_are_what_json_can_hold():
    parameters = {"k": np.int64(3), "C": np.float64(0.5), "on": np.bool_(True), "kind": np.str_("a"), "none": None}
    plain = plain_parameters({**parameters, "last": SVC(C=2)})
    assert json.loads(json.dumps(plain)) == plain
    assert plain == {"k": 3, "C": 0.5, "on": True, "kind": "a", "none": None, "last": "SVC(C=2)"}
    assert [type(value) for value in plain.values()] == [int, float, bool, str, type(None), str]

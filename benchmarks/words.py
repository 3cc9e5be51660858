"""The language of surnames: the family of similarities of words beside what people use otherwise.

``python -m benchmarks words names.csv`` reads a table with the columns ``name`` and ``language``, trains on 2,000 of
its rows, drawn at random, and predicts 1,000 others. The parameters of the peers are chosen by three folds within the
training part.
"""

import argparse
import csv
import random
import time
import warnings

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from similitude import AutoClassifier, KNNClassifier, PathSearchCV, SimilaritySVC

TRAIN, TEST = 2000, 1000
GRAMS = {"analyzer": "char_wb", "ngram_range": (1, 4)}


def split(path, seed):
    """Return the names and languages of the training and the test part."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = [(row["name"], row["language"]) for row in csv.DictReader(file)]
    random.Random(seed).shuffle(rows)
    parts = rows[:TRAIN], rows[TRAIN : TRAIN + TEST]
    return [([name for name, _ in part], np.array([language for _, language in part])) for part in parts]


def candidates(seconds):
    """Return the classifiers by what the table calls them."""
    counts, weights = CountVectorizer(**GRAMS), TfidfVectorizer(sublinear_tf=True, **GRAMS)
    budget = {"time_budget": seconds, "random_state": 0}
    folds = {"cv": 3}
    return {
        "largest class": DummyClassifier(),
        "1-NN, edit distance": KNNClassifier(1, similarity="levenshtein"),
        "naive Bayes on n-grams": GridSearchCV(
            make_pipeline(counts, MultinomialNB()), {"multinomialnb__alpha": [0.01, 0.1, 1.0]}, **folds
        ),
        "logistic regression on tf-idf": GridSearchCV(
            make_pipeline(weights, LogisticRegression(max_iter=1000)), {"logisticregression__C": [1, 10, 100]}, **folds
        ),
        "linear SVM on tf-idf": GridSearchCV(
            make_pipeline(weights, LinearSVC()), {"linearsvc__C": [0.1, 1, 10]}, **folds
        ),
        "SimilaritySVC, tfidf-chars": PathSearchCV(
            SimilaritySVC(similarity="tfidf-chars"), {"C": [1, 10, 100]}, **folds
        ),
        "fit, levenshtein": AutoClassifier(similarity="levenshtein", **budget),
        "fit, tfidf-chars": AutoClassifier(similarity="tfidf-chars", **budget),
        "fit, words": AutoClassifier(similarity="words", **budget),
    }


def main(arguments):
    """Print the errors in percent, and the seconds of the processor and of the clock."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks words", description=__doc__)
    parser.add_argument("table")
    parser.add_argument("--seed", type=int, default=0, help="which rows are drawn; development uses 1000 and above")
    parser.add_argument("--seconds", type=float, default=120, help="time budget of fit")
    parser.add_argument("--only", help="run only the rows that begin with this")
    options = parser.parse_args(arguments)
    (X, y), (Z, z) = split(options.table, options.seed)
    print(f"{len(X)} names for training, {len(Z)} for testing, {len(set(y))} languages, seed {options.seed}")
    print(f"{'':32}{'error':>8}{'balanced':>10}{'processor':>11}{'clock':>8}")
    for name, model in candidates(options.seconds).items():
        if options.only and not name.startswith(options.only):
            continue
        began, clock = time.process_time(), time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            said = model.fit(X, y).predict(Z)
            balanced = 1 - balanced_accuracy_score(z, said)
        spent = time.process_time() - began, time.perf_counter() - clock
        print(
            f"{name:32}{100 * np.mean(said != z):8.1f}{100 * balanced:10.1f}{spent[0]:9.1f} s{spent[1]:6.0f} s",
            flush=True,
        )

"""Sets of classes and typicality, sample by sample, as the formulas are written."""

import numpy as np
from sklearn.base import clone


def lac(posteriors, g):
    return 1 - posteriors[g]


def aps(posteriors, g):
    above = sum(p for p in posteriors if p > posteriors[g])
    return above + sum(p for p in posteriors if p == posteriors[g]) / 2


def cross_conformal(estimator, S, y, rows, folds, score, class_conditional):
    """Return the p-values of new rows by classifiers that are fitted on each fold of a square matrix."""
    classes = sorted(set(y))
    found = np.zeros((len(rows), len(classes)))
    for train, test in folds:
        fitted = clone(estimator).fit(S[np.ix_(train, train)], y[train])
        known = fitted.predict_proba(S[np.ix_(test, train)])
        new = fitted.predict_proba(rows[:, train])
        for x in range(len(rows)):
            for g, label in enumerate(classes):
                for i, posteriors in zip(test, known):
                    if class_conditional and y[i] != label:
                        continue
                    own = score(posteriors, classes.index(y[i]))
                    found[x, g] += own >= score(new[x], g) - 1e-9
    sizes = [np.sum(y == label) if class_conditional else len(y) for label in classes]
    return (1 + found) / (1 + np.array(sizes))


def typicality(S, y, rows):
    """Return the p-values for belonging to each class, from similarities alone."""
    classes = sorted(set(y))
    found = np.empty((len(rows), len(classes)))
    for x, row in enumerate(rows):
        for g, label in enumerate(classes):
            members = [i for i in range(len(y)) if y[i] == label]
            nearest = max(row[i] for i in members)
            own = [max((S[i, j] for j in members if j != i), default=-np.inf) for i in members]
            found[x, g] = (1 + sum(a <= nearest for a in own)) / (1 + len(members))
    return found

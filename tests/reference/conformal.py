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


def local_scores(S, y, rows, k=3):
    """Return the mean of s(x, j) - a_j over the k nearest samples j of each row."""
    found = []
    for row in rows:
        near = sorted(range(len(y)), key=lambda j: -row[j])[:k]
        own = [max(S[j, i] for i in range(len(y)) if i != j and y[i] == y[j]) for j in near]
        found.append(np.mean([row[j] - a for j, a in zip(near, own)]))
    return np.array(found)


def familiarity(S, y, rows):
    """Return the p-values for belonging to one of the classes; each training sample is left out in turn."""

    def profiles(values):
        return np.array([(row - row.mean()) / np.linalg.norm(row - row.mean()) for row in values])

    filled = S.copy()
    for i in range(len(y)):
        filled[i, i] = max(S[i, j] for j in range(len(y)) if j != i)
    own, new = profiles(filled), profiles(rows)
    total, known = 0.0, 0.0
    for among, others in ((S, rows), (own @ own.T, new @ own.T)):
        left_out = []
        for i in range(len(y)):
            rest = [j for j in range(len(y)) if j != i]
            left_out += list(local_scores(among[np.ix_(rest, rest)], y[rest], among[i : i + 1, rest]))
        middle = np.median(left_out)
        deviation = np.mean(np.abs(left_out - middle))
        total = total + (local_scores(among, y, others) - middle) / deviation
        known = known + (np.array(left_out) - middle) / deviation
    return np.array([(1 + np.sum(known <= score)) / (1 + len(y)) for score in total])


def relative_scores(S, y, rows, own, k=3):
    """Return the mean of log s(x, j) / a_j over the k nearest samples j of each row, which share tied places."""
    best = [max([S[j, i] for i in range(len(y)) if i != j and y[i] == y[j]], default=0.0) for j in range(len(y))]
    lowest = min(a for a in best if a > 0)
    scales = [a if a > 0 else o if o > 0 else lowest for a, o in zip(best, own)]
    found = []
    for row in rows:
        hits = [j for j in range(len(y)) if row[j] > 0]
        places = min(k, len(hits))
        if not hits:
            found.append(np.nan)
            continue
        last = sorted((row[j] for j in hits), reverse=True)[places - 1]
        nearer, tied = [j for j in hits if row[j] > last], [j for j in hits if row[j] == last]
        share = (places - len(nearer)) / len(tied)
        logs = [np.log(row[j] / scales[j]) for j in (*nearer, *tied)]
        found.append(np.dot([1.0] * len(nearer) + [share] * len(tied), logs) / places)
    return np.array(found)


def relative_familiarity(S, y, rows):
    """Return the p-values for belonging to one of the classes, of similarities that are nearly all 0."""
    known = []
    for i in range(len(y)):
        rest = [j for j in range(len(y)) if j != i]
        known += list(relative_scores(S[np.ix_(rest, rest)], y[rest], S[i : i + 1, rest], np.diagonal(S)[rest]))
    new = relative_scores(S, y, rows, np.diagonal(S))
    known = np.array([a for a in known if not np.isnan(a)])
    counts = np.array([np.sum(known <= score + 1e-12) for score in new])
    return np.where(np.isnan(new), np.nan, (1 + counts) / (1 + len(known)))

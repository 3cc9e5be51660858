"""A proximity forest, tree by tree and row by row, with the draws of the compiled one."""

import numpy as np

MASK = 2**64 - 1


def splitmix(seed):
    """A function that returns a number below n, from one sequence."""
    state = int(seed)

    def below(n):
        nonlocal state
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        z ^= z >> 31
        return ((z >> 32) * n) >> 32

    return below


def branch_of(values):
    """The position of the largest value, or None if there are several."""
    (best,) = np.nonzero(values == np.max(values))
    return int(best[0]) if len(best) == 1 else None


def impurity(groups, y):
    """The Gini impurities of groups of samples, times their sizes."""
    total = 0.0
    for group in groups:
        sizes = np.unique(y[group], return_counts=True)[1] if group else np.zeros(0)
        total += len(group) * (1 - np.sum((sizes / max(len(group), 1)) ** 2))
    return total


def grow(similarities, y, n_candidates, seed):
    """A tree as nested dicts: nodes are divided level by level."""
    below = splitmix(seed)
    root = {"samples": list(range(len(y)))}
    waiting = [root]
    while waiting:
        node = waiting.pop(0)
        node["samples"].sort(key=lambda i: y[i])
        classes = sorted({y[i] for i in node["samples"]})
        if len(classes) == 1:
            node["leaf"] = classes[0]
            continue
        found = []
        for _ in range(n_candidates):
            v = below(len(similarities))
            of_class = [[i for i in node["samples"] if y[i] == g] for g in classes]
            exemplars = [own[below(len(own))] for own in of_class]
            groups, ties = [[] for _ in exemplars], []
            for i in node["samples"]:
                branch = exemplars.index(i) if i in exemplars else branch_of(similarities[v][i, exemplars])
                (ties if branch is None else groups[branch]).append(i)
            if ties and len(ties) + len(exemplars) == len(node["samples"]):
                continue
            found.append((round(impurity([*groups, ties], y), 9), len(found), v, exemplars, groups, ties))
        if not found:
            node["children"] = [{"leaf": y[i]} for i in node["samples"]]
            continue
        _, _, node["v"], node["exemplars"], groups, ties = min(found, key=lambda each: each[:2])
        node["children"] = [{"samples": group} for group in groups]
        node["ties"] = {"samples": ties} if ties else None
        waiting += node["children"] + ([node["ties"]] if ties else [])
    return root


def vote(node, rows, n_classes):
    """The shares of the classes for one row, given as one array of similarities for each v."""
    if "leaf" in node:
        return np.eye(n_classes)[node["leaf"]]
    reached = node["children"]
    if "v" in node:
        values = rows[node["v"]][node["exemplars"]]
        best = [child for child, value in zip(reached, values) if value == np.max(values)]
        reached = [node["ties"]] if len(best) > 1 and node["ties"] else best
    return np.mean([vote(child, rows, n_classes) for child in reached], axis=0)

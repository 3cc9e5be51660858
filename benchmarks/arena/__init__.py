"""The arena: ``AutoClassifier``, every single method and scikit-learn's classifiers on real proximities.

``python -m benchmarks arena`` runs it. :mod:`~benchmarks.arena.data` has the data sets and their partitions,
:mod:`~benchmarks.arena.cells` runs all entrants on one partition of one data set (a cell),
:mod:`~benchmarks.arena.store` keeps the results, :mod:`~benchmarks.arena.statistics` compares them, and
:mod:`~benchmarks.arena.page` writes the page.
"""

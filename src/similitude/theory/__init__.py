"""How good a similarity is for a problem, and what theorems promise of classifiers that learn from it."""

"""All methods on the same folds: their records, calibration and combination, the leaderboard, and the choice."""

from similitude.auto.auto import AutoClassifier, OutOfFold
from similitude.auto.combined import CombinedClassifier, CombinedMember
from similitude.auto.comparison import SimilarityComparison, SimilarityRow, Together
from similitude.auto.leaderboard import COMBINATION, Leaderboard, LeaderboardRow
from similitude.auto.methods import COMPARED_ONLY, MIXTURES, PEERS, SLOW, methods, mixtures, slug
from similitude.auto.nested import INNER_FOLDS, NO_TIME, Decision, nested_errors
from similitude.auto.race import BudgetReport
from similitude.auto.reading import split_names
from similitude.auto.several import compare_similarities
from similitude.auto.unlabelled import UnlabelledReport
from similitude.auto.votes import Votes

__all__ = [
    "COMBINATION",
    "COMPARED_ONLY",
    "INNER_FOLDS",
    "MIXTURES",
    "NO_TIME",
    "PEERS",
    "SLOW",
    "AutoClassifier",
    "BudgetReport",
    "CombinedClassifier",
    "CombinedMember",
    "Decision",
    "Leaderboard",
    "LeaderboardRow",
    "OutOfFold",
    "SimilarityComparison",
    "SimilarityRow",
    "Together",
    "UnlabelledReport",
    "Votes",
    "compare_similarities",
    "methods",
    "mixtures",
    "nested_errors",
    "slug",
    "split_names",
]

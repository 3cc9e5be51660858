"""Labels that form a tree, and several labels for each sample."""

from similitude.multilabel.hierarchical import HierarchicalClassifier
from similitude.multilabel.multilabel import MultilabelClassifier
from similitude.multilabel.tree import LabelTree

__all__ = ["HierarchicalClassifier", "LabelTree", "MultilabelClassifier"]

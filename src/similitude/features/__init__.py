"""Similarities as features: prototypes, recipes for scikit-learn models, the P-SVM and the LP machine."""

"""The quadratic discriminant, regularised so that classes may have fewer samples than there are features."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data


class RegularizedQuadratic(ClassifierMixin, BaseEstimator):
    """Classify feature vectors by a Gaussian for each class, its covariance drawn towards the identity.

    With n_g samples, mean mu_g and covariance S_g (divided by n_g) of class g, x goes to the class of largest

        log (n_g / n) - (x - mu_g)^T C_g^-1 (x - mu_g) / 2 - log det C_g / 2,   C_g = (1 - reg_param) S_g + reg_param I

    It is scikit-learn's ``QuadraticDiscriminantAnalysis``, which does not take classes with fewer samples than features
    (similarities to many prototypes): C_g is defined for them, and even for a single sample. The identity is a sensible
    target for features of unit variance: put a ``StandardScaler`` before it.

    Parameters
    ----------
    reg_param : float, default=0.1
        In (0, 1]; 1 compares distances to the means.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
    means_ : ndarray of shape (G, d)
    priors_ : ndarray of shape (G,)
        The shares of the classes.

    References
    ----------
    Pekalska & Duin, "Dissimilarity representations allow for building good classifiers", Pattern Recognition Letters
    23, 2002. Friedman, "Regularized discriminant analysis", JASA 84, 1989.

    Examples
    --------
    >>> from similitude.features.quadratic import RegularizedQuadratic
    >>> model = RegularizedQuadratic().fit([[0.0, 0.0], [0.0, 1.0], [3.0, 3.0]], ["a", "a", "b"])
    >>> model.predict([[0.0, 4.0], [2.0, 3.0]])
    array(['a', 'b'], dtype='<U1')
    """

    def __init__(self, reg_param=0.1):
        self.reg_param = reg_param

    def fit(self, X, y):
        """Decompose the covariance of each class."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        reg = self.reg_param
        if not isinstance(reg, Real) or isinstance(reg, bool) or not 0 < float(reg) <= 1:
            raise ValueError(f"reg_param must be a number in (0, 1]; got {reg!r}.")
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y must have at least two classes; got one class, {self.classes_.tolist()[0]!r}.")
        self.priors_ = np.bincount(labels) / len(y)
        members = [X[labels == g] for g in range(len(self.classes_))]
        self.means_ = np.array([rows.mean(axis=0) for rows in members])
        self._covariances = [_Covariance(rows - mean, float(reg)) for rows, mean in zip(members, self.means_)]
        return self

    def _log_joint(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        distances = [c.log_density(X - mean) for c, mean in zip(self._covariances, self.means_)]
        return np.log(self.priors_) + np.column_stack(distances)

    def decision_function(self, X):
        """Log-posteriors up to a constant, (m, G); for two classes the second's less the first's, (m,)."""
        joint = self._log_joint(X)
        return joint[:, 1] - joint[:, 0] if len(self.classes_) == 2 else joint

    def predict(self, X):
        """The class of largest posterior; equal ones: the first of several classes, the second of two."""
        scores = self.decision_function(X)
        return self.classes_[(scores >= 0).astype(np.intp) if scores.ndim == 1 else np.argmax(scores, axis=1)]

    def predict_proba(self, X):
        """Posteriors, (m, G)."""
        return softmax(self._log_joint(X), axis=1)


class _Covariance:
    """``(1 - reg) S + reg I`` of centred rows, by its eigenvectors beyond those of eigenvalue ``reg``."""

    def __init__(self, centred: np.ndarray, reg: float):
        values, self.vectors = np.linalg.svd(centred, full_matrices=False)[1:]
        self.values = (1 - reg) * values**2 / len(centred) + reg
        self.reg = reg
        self.log_det = float(np.log(self.values).sum()) + (centred.shape[1] - len(values)) * np.log(reg)

    def log_density(self, Z: np.ndarray) -> np.ndarray:
        """Of the Gaussian at rows Z, without (2 pi)^(-d/2)."""
        along = Z @ self.vectors.T
        beyond = np.sum((Z - along @ self.vectors) ** 2, axis=1)
        return -0.5 * (np.sum(along**2 / self.values, axis=1) + beyond / self.reg + self.log_det)

"""What a skops file may hold: types that skops trusts, a few more of scikit-learn's, and no call of its author's.

skops trusts scikit-learn's estimators, numpy's and scipy's elementary functions, and plain data. Refused are ways to
build an object that name a method or a call of the file's choice, and estimators whose compiled code writes where the
sizes in the file say.
"""

from __future__ import annotations

ALLOWED_TYPES = (
    "builtins.slice",
    "collections.OrderedDict",
    "numpy.dtype",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.ensemble._hist_gradient_boosting.binning._BinMapper",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.feature_selection._univariate_selection.chi2",
    "sklearn.feature_selection._univariate_selection.f_classif",
    "sklearn.multiclass._ConstantPredictor",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    "sklearn.tree._tree.Tree",
    "sklearn.utils._bunch.Bunch",
)
"""Types beyond those that skops trusts; fully qualified names, as a skops file writes them."""

REFUSED_LOADERS = {
    "ConstructorFromReduceNode": "a call of",
    "MethodNode": "a method of",
    "OperatorFuncNode": "the operator",
    "PartialNode": "the call",
}
"""Ways to build an object that run what the file chooses, and what to call them."""

REFUSED_TYPES = (
    "sklearn.svm._classes.NuSVC",
    "sklearn.svm._classes.SVC",
)
"""Support vector machines with a kernel: libsvm takes the sizes in the file on trust."""

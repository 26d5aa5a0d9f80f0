"""The only types a skops file may hold: nothing outside this list is ever loaded.

A type is on it if three things hold. It is data, or a scikit-learn estimator that predicts from its own numbers; it
keeps no function, expression or pattern of the file's author that would be run; and what compiled code takes from it on
trust is checked here first (`core.models.files.structure`).

Left out on purpose, though skops would trust them:

- functions, methods, partials and everything built from them (FunctionTransformer, SelectKBest, searches);
- text vectorizers, because they run a regular expression of the file's choice;
- support vector machines with a kernel, nearest neighbours and everything kept in their trees, because compiled code
  trusts the sizes and indices in the file;
- sparse matrices, for the same reason;
- polynomial and spline features, because a small file can ask for millions of columns;
- regressors, but for the trees inside gradient boosting: an audit needs a decision about each person.
"""

from __future__ import annotations

__all__ = ["ALLOWED_LOADERS", "ALLOWED_TYPES"]

_PLAIN = (  # containers and texts: no code of their own
    "builtins.bool",
    "builtins.dict",
    "builtins.float",
    "builtins.int",
    "builtins.list",
    "builtins.set",
    "builtins.slice",
    "builtins.str",
    "builtins.tuple",
    "collections.OrderedDict",
    "sklearn.utils._bunch.Bunch",
)

_NUMPY = (  # arrays, read without pickle, and the names of their kinds of cell
    "numpy.bool",
    "numpy.bool_",
    "numpy.dtype",
    "numpy.float32",
    "numpy.float64",
    "numpy.int16",
    "numpy.int32",
    "numpy.int64",
    "numpy.int8",
    "numpy.ndarray",
    "numpy.object_",
    "numpy.random._generator.Generator",  # of one kind and size
    "numpy.random.mtrand.RandomState",  # only its state; its place in the sequence is checked
    "numpy.str_",
    "numpy.uint16",
    "numpy.uint32",
    "numpy.uint64",
    "numpy.uint8",
)

_COMPOSITION = (  # hand data from one allowed estimator to the next
    "sklearn.compose._column_transformer.ColumnTransformer",
    "sklearn.pipeline.FeatureUnion",
    "sklearn.pipeline.Pipeline",
)

_PREPARATION = (  # numpy arithmetic with stored numbers and lists of categories
    "sklearn.decomposition._pca.PCA",
    "sklearn.decomposition._truncated_svd.TruncatedSVD",
    "sklearn.feature_selection._from_model.SelectFromModel",
    "sklearn.feature_selection._variance_threshold.VarianceThreshold",
    "sklearn.impute._base.MissingIndicator",
    "sklearn.impute._base.SimpleImputer",
    "sklearn.preprocessing._data.Binarizer",
    "sklearn.preprocessing._data.MaxAbsScaler",
    "sklearn.preprocessing._data.MinMaxScaler",
    "sklearn.preprocessing._data.Normalizer",
    "sklearn.preprocessing._data.PowerTransformer",
    "sklearn.preprocessing._data.QuantileTransformer",
    "sklearn.preprocessing._data.RobustScaler",
    "sklearn.preprocessing._data.StandardScaler",
    "sklearn.preprocessing._discretization.KBinsDiscretizer",
    "sklearn.preprocessing._encoders.OneHotEncoder",  # its numbers of columns are checked
    "sklearn.preprocessing._encoders.OrdinalEncoder",
    "sklearn.preprocessing._label.LabelBinarizer",
    "sklearn.preprocessing._label.LabelEncoder",
    "sklearn.preprocessing._target_encoder.TargetEncoder",
)

_LINEAR = (  # a product with stored weights
    "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
    "sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis",
    "sklearn.linear_model._logistic.LogisticRegression",
    "sklearn.linear_model._logistic.LogisticRegressionCV",
    "sklearn.linear_model._perceptron.Perceptron",
    "sklearn.linear_model._ridge.RidgeClassifier",
    "sklearn.linear_model._ridge.RidgeClassifierCV",
    "sklearn.linear_model._stochastic_gradient.SGDClassifier",
    "sklearn.svm._classes.LinearSVC",
)

_COUNTING = (  # stored rates and means
    "sklearn.dummy.DummyClassifier",
    "sklearn.naive_bayes.BernoulliNB",
    "sklearn.naive_bayes.CategoricalNB",
    "sklearn.naive_bayes.ComplementNB",
    "sklearn.naive_bayes.GaussianNB",
    "sklearn.naive_bayes.MultinomialNB",
)

_TREES = (  # every node is checked before it is followed
    "sklearn.ensemble._forest.ExtraTreesClassifier",
    "sklearn.ensemble._forest.RandomForestClassifier",
    "sklearn.ensemble._gb.GradientBoostingClassifier",
    "sklearn.ensemble._hist_gradient_boosting.binning._BinMapper",
    "sklearn.ensemble._hist_gradient_boosting.gradient_boosting.HistGradientBoostingClassifier",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.tree._classes.DecisionTreeClassifier",
    "sklearn.tree._classes.DecisionTreeRegressor",
    "sklearn.tree._classes.ExtraTreeClassifier",
    "sklearn.tree._tree.Tree",
)

_LOSSES = (  # fixed formulas that a model was trained with; they keep at most a number
    "sklearn._loss._loss.CyExponentialLoss",
    "sklearn._loss._loss.CyHalfBinomialLoss",
    "sklearn._loss.link.HalfLogitLink",
    "sklearn._loss.link.IdentityLink",
    "sklearn._loss.link.Interval",
    "sklearn._loss.link.LogitLink",
    "sklearn._loss.loss.ExponentialLoss",
    "sklearn._loss.loss.HalfBinomialLoss",
    "sklearn.linear_model._sgd_fast.EpsilonInsensitive",
    "sklearn.linear_model._sgd_fast.Hinge",
    "sklearn.linear_model._sgd_fast.ModifiedHuber",
    "sklearn.linear_model._sgd_fast.SquaredEpsilonInsensitive",
    "sklearn.linear_model._sgd_fast.SquaredHinge",
)

_COMMITTEES = (  # ask allowed estimators and combine their answers
    "sklearn.calibration.CalibratedClassifierCV",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.ensemble._bagging.BaggingClassifier",
    "sklearn.ensemble._stacking.StackingClassifier",
    "sklearn.ensemble._voting.VotingClassifier",
    "sklearn.ensemble._weight_boosting.AdaBoostClassifier",
    "sklearn.frozen._frozen.FrozenEstimator",
    "sklearn.isotonic.IsotonicRegression",
)

_NETWORKS = (  # products with stored weights; the optimizers are left from training
    "sklearn.neural_network._multilayer_perceptron.MLPClassifier",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
)

ALLOWED_TYPES: tuple[str, ...] = (
    *_PLAIN,
    *_NUMPY,
    *_COMPOSITION,
    *_PREPARATION,
    *_LINEAR,
    *_COUNTING,
    *_TREES,
    *_LOSSES,
    *_COMMITTEES,
    *_NETWORKS,
)
"""Fully qualified names, as a skops file writes them."""


def _compiled(name: str) -> bool:
    return "._loss.Cy" in name or "._sgd_fast." in name


ALLOWED_LOADERS: dict[str, tuple[str, ...]] = {
    "DTypeNode": ("numpy.dtype",),
    "DictNode": ("builtins.dict", "collections.OrderedDict", "sklearn.utils._bunch.Bunch"),
    "JsonNode": ("builtins.str",),
    "ListNode": ("builtins.list",),
    "LossNode": tuple(name for name in _LOSSES if _compiled(name)),
    "NdArrayNode": tuple(name for name in _NUMPY if name != "numpy.dtype" and ".random." not in name),
    "ObjectNode": tuple(
        name
        for group in (_COMPOSITION, _PREPARATION, _LINEAR, _COUNTING, _TREES, _LOSSES, _COMMITTEES, _NETWORKS)
        for name in group
        if name != "sklearn.tree._tree.Tree" and not _compiled(name)
    ),
    "RandomGeneratorNode": ("numpy.random._generator.Generator",),
    "RandomStateNode": ("numpy.random.mtrand.RandomState",),
    "SetNode": ("builtins.set",),
    "SliceNode": ("builtins.slice",),
    "TreeNode": ("sklearn.tree._tree.Tree",),
    "TupleNode": ("builtins.tuple",),
    "TypeNode": tuple(
        name for name in (*_PLAIN, *_NUMPY) if name.startswith(("builtins.", "numpy.")) and ".random." not in name
    ),
}
"""The ways a node of the file may be built, and of which types each; methods, functions, partials, operators, bytes and
calls of constructors are not among them."""

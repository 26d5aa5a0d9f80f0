"""Fair learning methods beside the unmitigated control: one way to train, one way to predict."""

from core.models.fair import METHOD_TITLES, METHODS, FairModel, fit_model

__all__ = ["METHODS", "METHOD_TITLES", "FairModel", "fit_model"]

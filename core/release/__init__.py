"""The release meter: how much a set of published fairness numbers tells about people's sensitive attribute.

Somebody knows everybody's features and the predictions of one or many models, and so has a posterior over the
attribute of each of n people. A model card publishes gaps, rates and group sizes. Each number is a linear equation in
the memberships s, exact, within an interval (rounded) or with a variance (privacy noise). From there:

- `meter` says, before any true attribute is seen, how many bits the numbers are worth, `predict` how many of them an
  attacker will gain;
- `project` moves the posterior the least that the numbers ask for;
- `measured` and `pinned` compare with the truth where it is at hand;
- `advise` finds the finest precision that pins nobody down.
"""

from core.release.advice import Advice, Tried, advise
from core.release.attacker import attacker_posterior, attacker_posteriors
from core.release.common import CommonValue, InCommon, in_common
from core.release.disputed import Disputed
from core.release.draws import DRAWS, Draws, worst_of_draws
from core.release.measured import Measured, measured
from core.release.meter import Meter, meter
from core.release.natural import FAMILIES, NaturalModels, natural_models
from core.release.numbers import STATISTIC_TITLES, STATISTICS
from core.release.people import ReleasedPeople, released_people
from core.release.pinned import Pinned, pinned
from core.release.prediction import Prediction, predict
from core.release.projection import DISTANCE_MEDIAN, DISTANCE_WORST, project
from core.release.remarks import dispute, settled_as_most, unpredicted
from core.release.statistics import MOST_MODELS, Published, PublishedNumber, Release
from core.release.study import ReleaseSettings, ReleaseStudy, drawn_again, release_of, study

__all__ = [
    "DISTANCE_MEDIAN",
    "DISTANCE_WORST",
    "DRAWS",
    "FAMILIES",
    "MOST_MODELS",
    "STATISTICS",
    "STATISTIC_TITLES",
    "Advice",
    "CommonValue",
    "Disputed",
    "Draws",
    "InCommon",
    "Measured",
    "Meter",
    "NaturalModels",
    "Pinned",
    "Prediction",
    "Published",
    "PublishedNumber",
    "Release",
    "ReleaseSettings",
    "ReleaseStudy",
    "ReleasedPeople",
    "Tried",
    "advise",
    "attacker_posterior",
    "attacker_posteriors",
    "dispute",
    "drawn_again",
    "in_common",
    "measured",
    "meter",
    "natural_models",
    "pinned",
    "predict",
    "project",
    "release_of",
    "released_people",
    "settled_as_most",
    "study",
    "unpredicted",
    "worst_of_draws",
]

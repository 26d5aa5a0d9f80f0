"""The release meter: how much a set of published fairness numbers tells about people's sensitive attribute.

An attacker knows everybody's features and the predictions of one or many models, and so has a posterior over the
attribute of each of n people. A model card publishes gaps, rates and group sizes. Each number is a linear equation in
the memberships s, exact, within an interval (rounded) or with a variance (privacy noise). From there:

- `meter` says, before any true attribute is seen, how many bits the numbers are worth, `predict` how many of them an
  attacker will gain;
- `project` moves the posterior the least that the numbers ask for;
- `measured` and `pinned` compare with the truth where it is at hand;
- `advise` finds the finest precision that discloses nobody;
- `ceiling` says what no attacker with this prior can exceed;
- `measure_card` does all of it for one card, `findings` words it, and `study.STUDY` does so for an audited model.
"""

from .card_result import (
    ModelCardResult,
    ReleasedPeople,
    measure_card,
    measure_cards,
    release_of,
    released_people,
)
from .equations import DISTANCE_MEDIAN, DISTANCE_WORST, project
from .meter import (
    Measured,
    Meter,
    Prediction,
    accuracy_under,
    ceiling,
    measured,
    meter,
    predict,
)
from .pinned_people import (
    DRAWS,
    Advice,
    Pinned,
    Tried,
    advise,
    pinned,
)
from .published_counts import STATISTIC_TITLES, STATISTICS
from .release import MOST_MODELS, ModelCardSettings, Published, Release

__all__ = [
    "DISTANCE_MEDIAN",
    "DISTANCE_WORST",
    "DRAWS",
    "MOST_MODELS",
    "STATISTICS",
    "STATISTIC_TITLES",
    "Advice",
    "Measured",
    "Meter",
    "ModelCardResult",
    "ModelCardSettings",
    "Pinned",
    "Prediction",
    "Published",
    "Release",
    "ReleasedPeople",
    "Tried",
    "accuracy_under",
    "advise",
    "ceiling",
    "measure_card",
    "measure_cards",
    "measured",
    "meter",
    "pinned",
    "predict",
    "project",
    "release_of",
    "released_people",
]

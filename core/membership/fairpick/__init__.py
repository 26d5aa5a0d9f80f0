"""FairPick: deleting people from the training data so that the groups' records are more alike."""

from core.membership.fairpick.clusters import Clusters, clusters
from core.membership.fairpick.control import random_deletion
from core.membership.fairpick.counts import fairpick_counts
from core.membership.fairpick.likeness import like_outsiders, outsiders_at_random
from core.membership.fairpick.literal import fairpick_literal
from core.membership.fairpick.pick import DELETION_REMINDER, FairPick, fairpick, member_clusters

__all__ = [
    "DELETION_REMINDER",
    "Clusters",
    "FairPick",
    "clusters",
    "fairpick",
    "fairpick_counts",
    "fairpick_literal",
    "like_outsiders",
    "member_clusters",
    "outsiders_at_random",
    "random_deletion",
]

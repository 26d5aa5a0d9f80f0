"""Results drawn: each function takes a result and a palette and returns a `Drawing` (figure, alt text, table)."""

from core.charts.attriguard import DefenceRow, draw_budget, draw_cost, draw_defences
from core.charts.attriguard_noise import (
    Drawn,
    ValueNoise,
    draw_mechanism,
    draw_transfer,
    draw_value_noise,
    draw_where,
    value_noise,
)
from core.charts.audit import draw_accuracy, draw_groups, draw_rates
from core.charts.correction import draw_disclosure, draw_recognition, draw_waterfall, rows_of_one, rows_over_seeds
from core.charts.drawing import DARK, LIGHT, Drawing, Palette
from core.charts.membership_epsilon import draw_accuracy_by_epsilon, draw_attack_by_epsilon, draw_epsilon_curve
from core.charts.membership_fairpick import draw_deleted, draw_fairpick
from core.charts.membership_gaps import draw_gaps_between, draw_group_gaps
from core.charts.membership_roc import draw_ranges, draw_roc
from core.charts.model_card import (
    bits_text,
    draw_fullness,
    draw_in_common,
    draw_pinned,
    draw_precisions,
    draw_recognised,
    draw_release_bits,
    precision_text,
)
from core.charts.queries import GapRow, draw_answer_errors, draw_gaps, draw_leakage, draw_targeted, draw_values
from core.charts.sweep import (
    draw_landscape,
    draw_methods,
    draw_models_accuracy,
    draw_models_unfairness,
    draw_more,
    draw_search,
    draw_trained,
)

__all__ = [
    "DARK",
    "LIGHT",
    "DefenceRow",
    "Drawing",
    "Drawn",
    "GapRow",
    "Palette",
    "ValueNoise",
    "bits_text",
    "draw_accuracy",
    "draw_accuracy_by_epsilon",
    "draw_answer_errors",
    "draw_attack_by_epsilon",
    "draw_budget",
    "draw_cost",
    "draw_defences",
    "draw_deleted",
    "draw_disclosure",
    "draw_epsilon_curve",
    "draw_fairpick",
    "draw_fullness",
    "draw_gaps",
    "draw_gaps_between",
    "draw_group_gaps",
    "draw_groups",
    "draw_in_common",
    "draw_landscape",
    "draw_leakage",
    "draw_mechanism",
    "draw_methods",
    "draw_models_accuracy",
    "draw_models_unfairness",
    "draw_more",
    "draw_pinned",
    "draw_precisions",
    "draw_ranges",
    "draw_rates",
    "draw_recognised",
    "draw_recognition",
    "draw_release_bits",
    "draw_roc",
    "draw_search",
    "draw_targeted",
    "draw_trained",
    "draw_transfer",
    "draw_value_noise",
    "draw_values",
    "draw_waterfall",
    "draw_where",
    "precision_text",
    "rows_of_one",
    "rows_over_seeds",
    "value_noise",
]

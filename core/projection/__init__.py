"""Information projection: the distribution closest to a posterior that meets linear statistics in expectation.

A posterior gives record i the probabilities q_i(g) over groups g = 0..K-1, independently of the others. A statistic k
is a sum over records, F_k(s) = Σ_i f_k(i, s_i), known to be at most b_k (or equal to b_k). Among all distributions
with E[F_k] ≤ b_k the one closest in Kullback-Leibler divergence is a tilt (Csiszár 1975), one multiplier a statistic:

    q'_i(g) = q_i(g) exp(-Σ_k λ_k f_k(i, g)) / Z_i(λ),    λ_k ≥ 0 for inequalities, free for equalities,

for two groups a logit shift. The multipliers maximise the concave dual D(λ) = -Σ_i log Z_i(λ) - Σ_k λ_k b_k.

What holds, and why: let s be a truth that meets the statistics. By the tilt's definition

    Σ_i log q'_i(s_i) - Σ_i log q_i(s_i) = D(λ) + Σ_k λ_k (b_k - F_k(s)) ≥ D(λ)

for *every* λ of the right sign. So the log-loss of the truth falls by at least the dual value, converged or not; the
search starts at D(0) = 0, only climbs, and returns λ = 0 should rounding leave it below. At the maximum D is the
divergence KL(q'‖q), and this is the Pythagorean inequality. Probabilities of 0 and 1 stay as they are.

An equality may be known up to a rounding, |F_k − b_k| ≤ w_k: its multiplier is free and D(λ) loses w_k |λ_k|, and the
same holds. Or up to noise of variance v_k: D(λ) loses v_k λ_k²/2, the mode of a normal noise; then D is no guarantee
for one truth, because the noise may say what it likes.
"""

from core.projection.closest import Projection, ProjectionStatus, project
from core.projection.constraints import Constraints

__all__ = ["Constraints", "Projection", "ProjectionStatus", "project"]

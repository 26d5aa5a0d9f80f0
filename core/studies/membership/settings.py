"""How membership is attacked: by every attack there is evidence for, or by those that are named."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from ...base.errors import InputError
from ...base.param import Param
from ...base.serialize import UNSAID, Result
from ...base.settings import validate
from .attacks import REGISTRY
from .evidence import check_shadows


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipSettings(Result):
    """How membership is attacked."""

    shadows: Annotated[
        int,
        Param(
            "Shadow models",
            "Shadow models, an even number of at least 4; 0 leaves out the attacks that need them.",
            least=0,
            most=1_024,
        ),
    ] = 16
    attacks: Annotated[
        tuple[str, ...],
        Param(
            "Attacks",
            "Attacks that are run: {options}. Empty: those of every audit of what is released.",
            options=tuple(REGISTRY),
            written=False,
        ),
    ] = field(default=(), metadata=UNSAID)

    def __post_init__(self) -> None:
        validate(self)
        if self.shadows:
            check_shadows(self.shadows, least="0 or ")
        for name in self.attacks:
            if "shadows" in REGISTRY[name].needs and not self.shadows:
                raise InputError(f"shadows must be at least 4 for the attack {name}, got 0.")

"""The three prompts, the package's own or a caller's."""

from collections.abc import Mapping
from dataclasses import dataclass

from convolabel.errors import InputError
from evaluators.claims import agreement, consolidation, extraction

_OWN = {"extraction": extraction, "consolidation": consolidation, "agreement": agreement}


@dataclass(frozen=True)
class Prompts:
    """Templates with placeholders such as {context}: see `PLACEHOLDERS` in the module of each."""

    extraction: str
    consolidation: str
    agreement: str


def prompts_with(custom: Mapping[str, str] | None) -> Prompts:
    """The package's prompts, each replaced by the one of the same name in `custom`.

    Raises `InputError` for an unknown name and for a prompt without a placeholder that it needs.
    """
    given = dict(custom or {})
    unknown = sorted(set(given) - set(_OWN))
    if unknown:
        raise InputError(f"custom_prompts has no {', '.join(unknown)}: the prompts are called {', '.join(_OWN)}.")
    for name, text in given.items():
        missing = [f"{{{each}}}" for each in _OWN[name].PLACEHOLDERS if f"{{{each}}}" not in text]
        if missing:
            raise InputError(f"The custom prompt {name!r} has no place for {', '.join(missing)}: add it to the text.")
    return Prompts(**{name: given.get(name, module.TEMPLATE) for name, module in _OWN.items()})

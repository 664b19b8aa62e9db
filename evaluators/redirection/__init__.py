"""Redirection by a mediator: how much more expected a turn made the reply that followed it."""

from evaluators.redirection.contexts import (
    mediator_future_context_selector,
    mediator_previous_context_selector,
    mediator_speaker_prefixes,
)
from evaluators.redirection.redirection import MediatorRedirection

__all__ = [
    "MediatorRedirection",
    "mediator_future_context_selector",
    "mediator_previous_context_selector",
    "mediator_speaker_prefixes",
]

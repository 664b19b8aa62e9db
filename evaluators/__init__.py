"""Scores of coded conversations: agreement between raters, time on task, the co-pilot's effect, descriptives.

Load the votes once, then call: every analysis returns tidy pandas tables and names the choices it was made with.

    from evaluators import agreement, load_votes
    result = agreement(load_votes("votes.csv"))
    result.by_category.plot.barh(x="category", y="alpha")
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from evaluators.agreement import Agreement, agreement
from evaluators.alpha import Alpha, nominal_alpha
from evaluators.copilot import CopilotEffect, copilot_effect
from evaluators.descriptives import Descriptives, descriptives
from evaluators.metrics import Distances, distances, read_distances
from evaluators.tidy_tables import Tables
from evaluators.times import Times, times
from evaluators.votes import Votes, load_votes

if TYPE_CHECKING:
    from convolabel.llm import GPT5Client, JSONClient, get_eval_llm_client, infer_provider, parse_json
    from evaluators.cig import CIG, CIGProxy, is_fragment
    from evaluators.claims import ClaimTracker
    from evaluators.corpus import Conversation, Corpus, Speaker, Utterance
    from evaluators.models.causal_lm import HFLikelihoodModel
    from evaluators.participants import (
        default_is_mediator,
        default_speaker_name,
        default_topic,
        display_names,
        pre_survey_text,
    )
    from evaluators.redirection import (
        MediatorRedirection,
        mediator_future_context_selector,
        mediator_previous_context_selector,
        mediator_speaker_prefixes,
    )
    from evaluators.run_folder import RunFolder
    from evaluators.run_report import RunReport

_LATER = {
    "CIG": "evaluators.cig",
    "CIGProxy": "evaluators.cig",
    "ClaimTracker": "evaluators.claims",
    "Conversation": "evaluators.corpus",
    "Corpus": "evaluators.corpus",
    "GPT5Client": "convolabel.llm",
    "HFLikelihoodModel": "evaluators.models.causal_lm",
    "JSONClient": "convolabel.llm",
    "MediatorRedirection": "evaluators.redirection",
    "RunFolder": "evaluators.run_folder",
    "RunReport": "evaluators.run_report",
    "Speaker": "evaluators.corpus",
    "Utterance": "evaluators.corpus",
    "default_is_mediator": "evaluators.participants",
    "default_speaker_name": "evaluators.participants",
    "default_topic": "evaluators.participants",
    "display_names": "evaluators.participants",
    "get_eval_llm_client": "convolabel.llm",
    "infer_provider": "convolabel.llm",
    "is_fragment": "evaluators.cig",
    "mediator_future_context_selector": "evaluators.redirection",
    "mediator_previous_context_selector": "evaluators.redirection",
    "mediator_speaker_prefixes": "evaluators.redirection",
    "parse_json": "convolabel.llm",
    "pre_survey_text": "evaluators.participants",
}
"""What scores whole conversations is imported when it is first used."""

__all__ = [
    "CIG",
    "Agreement",
    "Alpha",
    "CIGProxy",
    "ClaimTracker",
    "Conversation",
    "CopilotEffect",
    "Corpus",
    "Descriptives",
    "Distances",
    "GPT5Client",
    "HFLikelihoodModel",
    "JSONClient",
    "MediatorRedirection",
    "RunFolder",
    "RunReport",
    "Speaker",
    "Tables",
    "Times",
    "Utterance",
    "Votes",
    "agreement",
    "copilot_effect",
    "default_is_mediator",
    "default_speaker_name",
    "default_topic",
    "descriptives",
    "display_names",
    "distances",
    "get_eval_llm_client",
    "infer_provider",
    "is_fragment",
    "load_votes",
    "mediator_future_context_selector",
    "mediator_previous_context_selector",
    "mediator_speaker_prefixes",
    "nominal_alpha",
    "parse_json",
    "pre_survey_text",
    "read_distances",
    "times",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)

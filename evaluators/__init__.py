"""Scores of coded conversations: agreement between raters."""

from evaluators.agreement import Agreement, agreement, agreement_of, agreement_text
from evaluators.alpha import Alpha, nominal_alpha
from evaluators.reliability_data import ReliabilityData, VoteColumns, read_reliability_data

__all__ = [
    "Agreement",
    "Alpha",
    "ReliabilityData",
    "VoteColumns",
    "agreement",
    "agreement_of",
    "agreement_text",
    "nominal_alpha",
    "read_reliability_data",
]

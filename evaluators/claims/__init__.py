"""Claims: what each speaker of a conversation holds, from utterance to utterance, and how far participants come to
share it.

Source: "CIG: Measuring Conversational Information Gain in Deliberative Dialogues with Semantic Memory Dynamics", ACL
2026.
"""

from evaluators.claims.records import PRE_SURVEY, Claim, Entry, Record
from evaluators.claims.tracker import ClaimTracker

__all__ = ["PRE_SURVEY", "Claim", "ClaimTracker", "Entry", "Record"]

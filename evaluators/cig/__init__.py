"""Conversational Information Gain: how much each utterance adds to what the group already knew, rated 1 to 4 by an
LLM, and two proxies of it that need none.

Source: "CIG: Measuring Conversational Information Gain in Deliberative Dialogues with Semantic Memory Dynamics", ACL
2026.
"""

from evaluators.cig.cig import CIG
from evaluators.cig.fragments import is_fragment
from evaluators.cig.proxy import CIGProxy

__all__ = ["CIG", "CIGProxy", "is_fragment"]

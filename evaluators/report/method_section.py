"""How it was computed, what was not, and the sources, as the report tells it."""

from collections.abc import Mapping
from typing import Any

from evaluators.report.elements import Column, Listing, Section
from evaluators.tidy_tables import Tables

REFERENCES = (
    "Artstein, R., and Poesio, M. (2008). Inter-coder agreement for computational linguistics. Computational "
    "Linguistics 34(4), 555–596.",
    "Cohen, J. (1960). A coefficient of agreement for nominal scales. Educational and Psychological Measurement 20(1), "
    "37–46.",
    "Davison, A. C., and Hinkley, D. V. (1997). Bootstrap Methods and their Application. Cambridge University Press.",
    "Efron, B., and Tibshirani, R. (1993). An Introduction to the Bootstrap. Chapman & Hall.",
    "Good, P. (2005). Permutation, Parametric and Bootstrap Tests of Hypotheses, 3rd ed. Springer.",
    "Krippendorff, K. (2019). Content Analysis: An Introduction to Its Methods, 4th ed., ch. 12. Sage.",
    "Newell, A., and Rosenbloom, P. (1981). Mechanisms of skill acquisition and the law of practice. In Cognitive "
    "Skills and Their Acquisition. Erlbaum.",
    "Scott, W. A. (1955). Reliability of content analysis. Public Opinion Quarterly 19(3), 321–325.",
    "Stiles, W. B. (1992). Describing Talk: A Taxonomy of Verbal Response Modes. Sage.",
    "Vanbelle, S., and Albert, A. (2009). Agreement between an isolated rater and a group of raters. Statistica "
    "Neerlandica 63(1), 82–100.",
    "Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. Journal of the "
    "American Statistical Association 22(158), 209–212.",
)

_MEASURES = (
    (
        "Alpha",
        "1 − D_o / D_e over pairable values; each pair of values of a unit with m values weighs 1/(m − 1) "
        "(Krippendorff 2019). Units with one value are left out. Observed agreement: the share of pairs that agree "
        "exactly, with the same weights.",
    ),
    (
        "Intervals of alpha",
        "Percentiles of a bootstrap over whole conversations, since units of one conversation are not independent "
        "(Efron and Tibshirani 1993). Raters are taken as given: the interval says what other conversations would give "
        "with these raters. With fewer than about ten conversations it is too narrow. There is none over one "
        "conversation, or where more than 5% of the draws leave alpha undefined.",
    ),
    (
        "Pairs",
        "Cohen's kappa (1960), Scott's pi (1955) and raw agreement on the units both gave a value. A rater against the "
        "rest: the rest's answer is the mixture of its raters' answers (Vanbelle and Albert 2009).",
    ),
    (
        "Effect of the co-pilot",
        "Shown against withheld suggestions, randomised by unit. Intervals from the same bootstrap, both arms drawn "
        "together; p-values from redrawing the arms the way they were drawn (Davison and Hinkley 1997; Good 2005).",
    ),
)


def method_section(parts: Mapping[str, Tables], not_computed: Mapping[str, str]) -> Section:
    measures = Listing(
        "Measures",
        (Column("name", "Measure", "text"), Column("how", "How", "text")),
        tuple(
            {"name": name, "how": how}
            for name, how in _MEASURES
            if name != "Effect of the co-pilot" or "copilot" in parts
        ),
        "",
    )
    lacking = Listing(
        "Not computed",
        (Column("name", "What", "text"), Column("why", "Why", "text")),
        tuple({"name": name, "why": why} for name, why in not_computed.items()),
        "",
    )
    choices = tuple(
        Listing(
            f"Choices: {name}",
            (Column("name", "Choice", "text"), Column("value", "Value", "text")),
            tuple(_choices({key: value for key, value in part.used.items() if key not in parts["overview"].used})),
            f"{name}/used.json",
        )
        for name, part in parts.items()
        if name not in ("overview", "results")
    )
    says = ("Every undefined number is left out and the reason is given beside it; nothing is filled in.",)
    return Section("Method", says, (measures, *((lacking,) if not_computed else ()), *choices), name="method")


def not_computed_of(name: str, part: Tables) -> dict[str, str]:
    """What an analysis says it could not compute: `agreement: by role` -> why."""
    return {f"{name}: {what.replace('_', ' ')}": why for what, why in (part.used.get("not_computed") or {}).items()}


def _choices(used: Mapping[str, Any]) -> list[dict[str, str]]:
    return [
        {"name": name.replace("_", " "), "value": _text(value)}
        for name, value in used.items()
        if value is not None and name != "not_computed"
    ]


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_text(each)}" for name, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return str(value)

"""Log-odds of probabilities that are given by their logarithms, near 0 and near 1 alike."""

import math

_LOG_HALF = -math.log(2)


def log_odds(log_probability: float) -> float:
    """ln(p / (1 - p)) of p = e^`log_probability`; infinite for p = 1, NaN where there is no such probability.

    1 - p is computed by whichever of expm1 and log1p loses no digits (Mächler 2012, "Accurately computing
    log(1 - exp(-|a|))").
    """
    if math.isnan(log_probability) or log_probability > 0:
        return math.nan
    if log_probability == 0:
        return math.inf
    if log_probability > _LOG_HALF:
        return log_probability - math.log(-math.expm1(log_probability))
    return log_probability - math.log1p(-math.exp(log_probability))


def log_odds_difference(actual: float, reference: float) -> float:
    """The redirection score of two log-probabilities of one reply; NaN or infinite where it is undefined."""
    return log_odds(actual) - log_odds(reference)

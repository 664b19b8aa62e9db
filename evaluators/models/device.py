"""Where a model runs."""

from convolabel.errors import MissingExtraError


def chosen_device(device: str | None = None) -> str:
    """`device` when one is given, else the best there is: `cuda`, `mps` (Apple), `cpu`.

    Raises `MissingExtraError` without torch.
    """
    if device is not None:
        return device
    try:
        import torch
    except ImportError:
        raise MissingExtraError("Running a model on this machine", "models") from None
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"

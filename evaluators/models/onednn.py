"""Single-precision linear layers through oneDNN on a CPU: on some processors twice as fast as torch's default."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any


def faster_linear_layers(device: str) -> AbstractContextManager[Any]:
    """A context in which `float32` linear layers on the CPU of x86 machines are computed by oneDNN, without gradients.

    The weights stay where they are. Results differ from torch's default by rounding. Elsewhere nothing changes.
    """
    import torch
    from torch.overrides import TorchFunctionMode

    operation = getattr(torch.ops.mkldnn, "_linear_pointwise", None) if torch.backends.mkldnn.is_available() else None
    if device != "cpu" or operation is None or not torch.backends.mkl.is_available():
        return nullcontext()
    linear = torch.nn.functional.linear

    class OneDNN(TorchFunctionMode):  # type: ignore[misc, unused-ignore]
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if function is linear and not kwargs and _suits(*args):
                given, weight, *bias = args
                return operation(given, weight, bias[0] if bias else None, "none", [], "")
            return function(*args, **(kwargs or {}))

    def _suits(given: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> bool:
        if torch.is_grad_enabled() or given.numel() == 0:
            return False
        parts = (given, weight) if bias is None else (given, weight, bias)
        return all(each.dtype == torch.float32 and each.device.type == "cpu" for each in parts)

    return OneDNN()

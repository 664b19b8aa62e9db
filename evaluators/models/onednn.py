"""Single-precision linear layers through oneDNN on a CPU: on some processors twice as fast as torch's default."""

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

_MOST_PACKED = 2**30
"""Bytes of weights up to which a second copy, laid out for oneDNN, is worth its memory."""


class FasterLinearLayers:
    """For `float32` models on the CPU of x86 machines, without gradients; elsewhere nothing changes.

    Results differ from torch's default by rounding. A model's weights must not change afterwards.
    """

    def __init__(self, model: Any, device: str) -> None:
        import torch

        has_onednn: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
        has_mkl: bool = torch.backends.mkl.is_available()  # type: ignore[no-untyped-call]
        self._operation: Any = getattr(torch.ops.mkldnn, "_linear_pointwise", None)
        self._applies = device == "cpu" and has_onednn and has_mkl and self._operation is not None
        self._packed = _packed(model) if self._applies else {}

    def in_use(self) -> AbstractContextManager[Any]:
        """A context in which this thread's linear layers are the faster ones."""
        if not self._applies:
            return nullcontext()
        import torch
        from torch.overrides import TorchFunctionMode

        linear, operation, packed = torch.nn.functional.linear, self._operation, self._packed

        class OneDNN(TorchFunctionMode):
            def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                if function is linear and not kwargs and _suits(*args):
                    given, weight, *bias = args
                    return operation(given, packed.get(id(weight), weight), bias[0] if bias else None, "none", [], "")
                return function(*args, **(kwargs or {}))

        return OneDNN()


def _suits(given: "torch.Tensor", weight: "torch.Tensor", bias: "torch.Tensor | None" = None) -> bool:
    import torch

    if torch.is_grad_enabled() or given.numel() == 0:
        return False
    parts = (given, weight) if bias is None else (given, weight, bias)
    return all(each.dtype == torch.float32 and each.device.type == "cpu" for each in parts)


def _packed(model: Any) -> dict[int, Any]:
    """Weights of linear layers in oneDNN's layout, by the identity of the weight they are a copy of."""
    import torch

    weights = {id(layer.weight): layer.weight for layer in model.modules() if type(layer) is torch.nn.Linear}
    bytes_ = sum(4 * each.numel() for each in weights.values())
    reorder = getattr(torch.ops.mkldnn, "_reorder_linear_weight", None)
    if reorder is None or bytes_ > _MOST_PACKED or any(each.dtype != torch.float32 for each in weights.values()):
        return {}
    with torch.inference_mode():
        return {ident: reorder(weight) for ident, weight in weights.items()}

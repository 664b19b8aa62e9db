"""What tells one set of weights from another, so that stored likelihoods are not taken for another model's."""

import hashlib
import json
from typing import Any

_SAMPLES = 256


def weights_fingerprint(model: Any) -> str:
    """32 hexadecimal digits from the configuration of a transformers model and a sample of all its parameters.

    The same on every device. Training changes it, for training changes every parameter it touches throughout.
    """
    digest = hashlib.sha256()
    config = json.loads(model.config.to_json_string())
    for key in ("_name_or_path", "transformers_version", "dtype", "torch_dtype"):
        config.pop(key, None)
    digest.update(json.dumps(config, sort_keys=True).encode())
    for name, parameter in model.named_parameters():
        values = parameter.detach().flatten()
        sample = values[:: max(len(values) // _SAMPLES, 1)]
        digest.update(f"{name} {tuple(parameter.shape)} {parameter.dtype}".encode())
        digest.update(sample.float().cpu().numpy().tobytes())
    return digest.hexdigest()[:32]

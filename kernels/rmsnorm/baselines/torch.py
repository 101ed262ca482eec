"""torch's own RMSNorm; one thread, as candidates get."""

import torch

torch.set_num_threads(1)
_TENSORS = {}


def _tensor(array):
    key = (array.ctypes.data, array.shape)
    found = _TENSORS.get(key)
    if found is None:
        found = _TENSORS[key] = torch.from_numpy(array)
    return found


@torch.inference_mode()
def run(x, weight, y, rows, hidden):
    _tensor(y).copy_(torch.nn.functional.rms_norm(_tensor(x), (hidden,), _tensor(weight), 1e-6))

"""torch's own product; one thread, as candidates get."""

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
def run(a, b, c, m, n, k):
    torch.mm(_tensor(a), _tensor(b), out=_tensor(c))

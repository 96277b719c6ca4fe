"""Kernels of kernel regression, for `softalign.attention.pool` (Nadaraya & Watson 1964)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from . import _native

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Kernel(NamedTuple):
    """Kernel of the distance of a query and a key, divided by a width."""

    name: str
    width: float


def gaussian(width: float = 1.0) -> Kernel:
    """Returns the kernel exp(-u² / 2)."""
    return Kernel("gaussian", width)


def boxcar(width: float = 1.0) -> Kernel:
    """Returns the kernel that is 1 for u <= 1, else 0."""
    return Kernel("boxcar", width)


def epanechnikov(width: float = 1.0) -> Kernel:
    """Returns the kernel max(0, 1 - u²)."""
    return Kernel("epanechnikov", width)


def constant() -> Kernel:
    """Returns the kernel that is 1 everywhere."""
    return Kernel("constant", 1.0)


def learned(keys: ArrayLike, values: ArrayLike, kernel: str = "gaussian", *, steps: int = 1000) -> Kernel:
    """Returns a kernel whose width is learned by gradient descent on leave-one-out errors.

    Parameters
    ----------
    keys, values : array_like of float, shape (length,)
        Points of the curve.
    kernel : {"gaussian", "epanechnikov"}
        Kernel. The width of others has no derivative, and stays 1.
    steps : int
        Number of steps.
    """
    import numpy as np

    x, y = np.asarray(keys, np.float32).ravel(), np.asarray(values, np.float32).ravel()
    return Kernel(kernel, _native.learn_width(kernel, x.tolist(), y.tolist(), steps))

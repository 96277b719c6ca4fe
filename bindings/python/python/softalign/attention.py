"""Attention pooling of NumPy arrays: values pooled by how well their keys match a query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union

from . import _native
from ._errors import ArgumentError
from .kernels import Kernel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


class Pooled(NamedTuple):
    """Pooled values and the weights by which they were pooled.

    Attributes
    ----------
    values : numpy.ndarray of float32, shape (..., m, v)
        One pooled value for each query.
    weights : numpy.ndarray of float32, shape (..., m, length)
        Weights of each query on the keys; each row sums to 1. With several heads, shape (..., heads, m, length).
    """

    values: NDArray[np.float32]
    weights: NDArray[np.float32]


def pool(
    queries: ArrayLike,
    keys: ArrayLike,
    values: ArrayLike,
    score: Union[str, Kernel] = "additive",
    *,
    parameter: Optional[ArrayLike] = None,
    mask: Optional[ArrayLike] = None,
    temperature: float = 1.0,
    heads: int = 1,
    hard: bool = False,
) -> Pooled:
    """Pools values by attention.

    Parameters
    ----------
    queries : array_like of float, shape (m,), (m, d) or (batch, m, d)
        Queries. One dimension is m queries of one number.
    keys : array_like of float, shape (length,), (length, d) or (batch, length, d)
        Keys.
    values : array_like of float, shape (length,), (length, v) or (batch, length, v)
        Values.
    score : str or Kernel
        ``"additive"`` (v · tanh(q + k), Bahdanau et al. 2014), ``"dot"`` (Luong et al. 2015), ``"scaled-dot"``
        (Vaswani et al. 2017), ``"general"`` (q M k, Luong et al. 2015), ``"cosine"`` (Graves et al. 2014), ``"mean"``,
        or a kernel such as ``softalign.kernels.gaussian(0.5)``.
    parameter : array_like, optional
        The score's own parameter: v of ``"additive"``, shape (d,), by default ones; M of ``"general"``, shape (d, d);
        the factor of ``"cosine"``, by default 1.
    mask : array_like of bool, shape (length,) or (batch, length), optional
        False on keys that get no weight.
    temperature : float
        Divisor of the scores: above 1 the weights become more uniform, below 1 more peaked.
    heads : int
        Number of heads, each with its slice of queries, keys and values.
    hard : bool
        Take only the key with the largest weight.

    Returns
    -------
    Pooled
        Values and weights, in as many dimensions as the queries.

    Raises
    ------
    softalign.ArgumentError
        The shapes do not match, or the score is unknown.

    Examples
    --------
    >>> pooled = softalign.attention.pool([0.0, 1.0], [0.0, 1.0], [10.0, 20.0], softalign.kernels.gaussian(0.1))
    >>> pooled.values.round(1)
    array([10., 20.], dtype=float32)
    """
    import numpy as np

    q, k, v = (np.asarray(array, np.float32) for array in (queries, keys, values))
    dimensions = q.ndim
    q, k, v = _three("queries", q), _three("keys", k), _three("values", v)
    name, own = _score(score, parameter)
    if name == "general":
        if parameter is None:
            raise ArgumentError("score general needs parameter, the matrix M")
        q, name, own = q @ np.asarray(parameter, np.float32), "dot", None
    _check(q, k, v, temperature)
    masked = None
    if mask is not None:
        masked = np.broadcast_to(np.asarray(mask, np.float32).reshape(-1, 1, k.shape[1]), (len(k), 1, k.shape[1]))
        if not masked.any(axis=2).all():
            raise ArgumentError("mask: each row needs a key with weight")
        masked = np.repeat(masked, heads, axis=0)
    q_heads, k_heads, v_heads = _split("queries", q, heads), _split("keys", k, heads), _split("values", v, heads)
    pooled, weights = _native.pool(q_heads, k_heads, v_heads, name, own, masked, temperature)
    if hard:
        weights = np.eye(weights.shape[2], dtype=np.float32)[weights.argmax(axis=2)]
        pooled = weights @ v_heads
    batch, m, size = len(q), q.shape[1], v.shape[2]
    joined = pooled.reshape(batch, heads, m, size // heads).transpose(0, 2, 1, 3).reshape(batch, m, size)
    by_head = weights.reshape(batch, heads, *weights.shape[1:])
    result = joined, by_head if heads > 1 else by_head[:, 0]
    if dimensions < 3:
        result = result[0][0], result[1][0]
    return Pooled(result[0][..., 0] if dimensions == 1 and v.shape[2] == 1 else result[0], result[1])


def _three(name: str, array: NDArray[np.float32]) -> NDArray[np.float32]:
    """Returns an array as `[batch, length, size]`."""
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim == 2:
        array = array[None]
    if array.ndim != 3:
        raise ArgumentError(f"{name}: expected one to three dimensions, not {array.ndim}")
    return array


def _score(score: Union[str, Kernel], parameter: Any) -> tuple[str, Optional[list[float]]]:
    """Returns the name of a score and its parameter."""
    import numpy as np

    if isinstance(score, Kernel):
        if not score.width > 0:
            raise ArgumentError(f"the width of a kernel must be above 0, not {score.width}")
        return score.name, [score.width]
    return score, None if parameter is None else np.asarray(parameter, np.float32).ravel().tolist()


def _check(q: NDArray[np.float32], k: NDArray[np.float32], v: NDArray[np.float32], temperature: float) -> None:
    """Raises ArgumentError for arrays that do not belong together."""
    if q.shape[2] != k.shape[2]:
        raise ArgumentError(f"queries have {q.shape[2]} dimensions, keys {k.shape[2]}; they must be the same")
    if k.shape[1] != v.shape[1]:
        raise ArgumentError(f"{k.shape[1]} keys for {v.shape[1]} values; one for each is required")
    if not len(q) == len(k) == len(v):
        raise ArgumentError(f"batches of {len(q)} queries, {len(k)} keys and {len(v)} values differ")
    if k.shape[1] == 0:
        raise ArgumentError("attention needs at least one key")
    if not temperature > 0:
        raise ArgumentError(f"temperature must be above 0, not {temperature}")


def _split(name: str, array: NDArray[np.float32], heads: int) -> NDArray[np.float32]:
    """Returns `[batch, length, size]` as `[batch × heads, length, size / heads]`."""
    batch, length, size = array.shape
    if heads < 1 or size % heads:
        raise ArgumentError(f"{name} of {size} dimensions cannot be split among {heads} heads")
    return array.reshape(batch, length, heads, size // heads).transpose(0, 2, 1, 3).reshape(batch * heads, length, size // heads)

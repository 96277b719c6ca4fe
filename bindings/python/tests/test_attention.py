import numpy as np
import pytest
import softalign
from softalign import kernels
from softalign.attention import pool

RNG = np.random.default_rng(1)
Q, K, V = RNG.normal(size=(2, 3, 4)), RNG.normal(size=(2, 5, 4)), RNG.normal(size=(2, 5, 6))


def softmax(scores):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def expected_scores(name, q, k, parameter=None):
    if name == "additive":
        v = np.ones(q.shape[-1]) if parameter is None else parameter
        return np.tanh(q[:, :, None] + k[:, None]) @ v
    if name == "general":
        return q @ parameter @ k.transpose(0, 2, 1)
    if name == "cosine":
        q, k = (x / np.linalg.norm(x, axis=-1, keepdims=True) for x in (q, k))
        return (1 if parameter is None else parameter) * (q @ k.transpose(0, 2, 1))
    if name == "mean":
        return np.zeros((*q.shape[:2], k.shape[1]))
    return q @ k.transpose(0, 2, 1) / (np.sqrt(q.shape[-1]) if name == "scaled-dot" else 1)


@pytest.mark.parametrize("name", ["additive", "dot", "scaled-dot", "general", "cosine", "mean"])
def test_weights_are_the_softmax_of_scores(name):
    parameter = {"additive": RNG.normal(size=4), "general": RNG.normal(size=(4, 4)), "cosine": 3.0}.get(name)
    for temperature in (1.0, 0.5):
        values, weights = pool(Q, K, V, name, parameter=parameter, temperature=temperature)
        expected = softmax(expected_scores(name, Q, K, parameter) / temperature)
        np.testing.assert_allclose(weights, expected, atol=1e-5)
        np.testing.assert_allclose(values, expected @ V, atol=1e-4)
        assert values.dtype == weights.dtype == np.float32


def test_masks_hard_attention_and_heads():
    mask = np.array([[True] * 3 + [False] * 2, [True] * 5])
    _, weights = pool(Q, K, V, "dot", mask=mask)
    scores = np.where(mask[:, None], expected_scores("dot", Q, K), -np.inf)
    np.testing.assert_allclose(weights, softmax(scores), atol=1e-5)
    values, weights = pool(Q, K, V, "dot", hard=True)
    best = expected_scores("dot", Q, K).argmax(axis=2)
    np.testing.assert_allclose(values, np.stack([V[b][best[b]] for b in range(2)]), atol=1e-6)
    assert set(np.unique(weights)) == {0.0, 1.0}
    values, weights = pool(Q, K, V, "dot", heads=2)
    for head in range(2):
        part = slice(2 * head, 2 * head + 2)
        by_hand = softmax(expected_scores("dot", Q[..., part], K[..., part]))
        np.testing.assert_allclose(weights[:, head], by_hand, atol=1e-5)
        np.testing.assert_allclose(values[..., 3 * head : 3 * head + 3], by_hand @ V[..., 3 * head : 3 * head + 3], atol=1e-5)


def test_fewer_dimensions_in_fewer_dimensions_out():
    values, weights = pool(Q[0], K[0], V[0], "dot")
    assert values.shape == (3, 6) and weights.shape == (3, 5)
    values, weights = pool([0.0, 1.0], [0.0, 1.0, 2.0], [1.0, 2.0, 3.0], kernels.gaussian(0.1))
    assert values.shape == (2,) and weights.shape == (2, 3)
    np.testing.assert_allclose(values, [1, 2], atol=1e-5)


def test_kernel_regression_and_a_learned_width():
    x = np.sort(RNG.uniform(0, 5, 50))
    truth = 2 * np.sin(x) + x
    y = truth + RNG.normal(0, 0.5, 50)
    for kernel, weight in (
        (kernels.gaussian(0.5), lambda u: np.exp(-(u**2) / 2)),
        (kernels.boxcar(0.5), lambda u: (u <= 1) * 1.0),
        (kernels.epanechnikov(0.5), lambda u: np.maximum(0, 1 - u**2)),
        (kernels.constant(), lambda u: np.ones_like(u)),
    ):
        expected = weight(np.abs(x[:, None] - x) / kernel.width)
        expected /= expected.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(pool(x, x, y, kernel).weights, expected, atol=1e-4)
    error = lambda kernel: np.mean((pool(x, x, y, kernel).values - truth) ** 2)
    learned = kernels.learned(x, y)
    assert error(learned) < error(kernels.constant()) / 5 and error(learned) < error(kernels.gaussian(0.01))


def test_wrong_shapes_and_names_are_told():
    for arguments, keywords in (
        ((Q, K[:, :, :3], V), {}),
        ((Q, K, V[:, :4]), {}),
        ((Q[:1], K, V), {}),
        ((Q, K[:, :0], V[:, :0]), {}),
        ((Q[None], K, V), {}),
        ((Q, K, V, "quadratic"), {}),
        ((Q, K, V, kernels.gaussian(0)), {}),
        ((Q, K, V), {"temperature": 0}),
        ((Q, K, V), {"heads": 3}),
        ((Q, K, V), {"mask": [False] * 5}),
        ((Q, K, V, "general"), {}),
    ):
        with pytest.raises(softalign.ArgumentError):
            pool(*arguments, **keywords)
    with pytest.raises(softalign.ArgumentError):
        kernels.learned([1.0], [1.0], "boxcar")


def test_no_query_gives_no_value():
    values, weights = pool(np.zeros((0, 4)), K[0], V[0], "dot")
    assert values.shape == (0, 6) and weights.shape == (0, 5)

"""Make reference values for the model's tests with an independent PyTorch implementation.

For each variant of the model (plain, tied, deep) this writes two files to tests/reference:

<variant>.safetensors, all float32:
    parameter/<name>   initial parameters
    gradient/<name>    gradients of the loss at these parameters, before clipping
    logits             [target positions without padding, target vocabulary], sentence by sentence
    attention          [batch, target positions, source positions], zero on padding
    annotations        [batch, source positions, hidden], zero on padding
<variant>.json:
    config, sources, targets   the model's sizes and the batch; every sequence ends with </s>
    loss, gradient_norm        at the initial parameters
    log_probabilities          log p(target | source) of each pair, without label smoothing
    optimizer, losses          the loss before each of the first ten steps of Adam

The initial parameters are float32 numbers. Everything else is computed from them in float64 and
only then rounded to float32 (safetensors) or written in full (JSON), so that a test measures the
error of the implementation under test alone. Running the script again gives the same files.

Needs: pip install torch numpy safetensors
Run from the repository root: python scripts/reference_model.py
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import save
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

OUTPUT = Path("tests/reference")

PAD, START, END, UNKNOWN = 0, 1, 2, 3

# Pairs of ragged lengths, the longest neither first nor last; a source of one word, an empty
# target, repeated words and unknown words on both sides.
SOURCES = [
    [4, 7, 3, 12, END],
    [9, END],
    [5, 5, 11, 6, 8, UNKNOWN, 10, 4, END],
    [12, 6, END],
    [8, 10, 7, UNKNOWN, 9, 11, END],
]
TARGETS = [
    [6, 4, 10, END],
    [UNKNOWN, 8, END],
    [5, 9, 9, 7, UNKNOWN, 4, 10, END],
    [END],
    [10, 6, 8, 5, 4, END],
]

# Uniform in +-scale: gates and attention are far from even, and the gradient's norm starts above
# the limit and falls below it within the ten steps.
INITIAL_SCALE = 1.4
ATTENTION_SCALE = 3.0

STEPS = 10
LEARNING_RATE = 0.01
BETAS = (0.9, 0.999)
EPSILON = 1e-8
MAX_GRADIENT_NORM = 1.0


@dataclass(frozen=True)
class Config:
    source_vocabulary: int = 13
    target_vocabulary: int = 11
    embedding: int = 6
    hidden: int = 8
    attention: int = 5
    layers: int = 1
    tied: bool = False
    initial_state: str = "mean"  # or "backward_first"
    label_smoothing: float = 0.1


VARIANTS = {
    "plain": Config(),
    "tied": Config(tied=True, initial_state="backward_first", label_smoothing=0.0),
    "deep": Config(layers=2),
}


class Attention(nn.Module):
    """Additive attention: e_tj = v . tanh(W_q s_{t-1} + W_k h_j)."""

    def __init__(self, config):
        super().__init__()
        self.query = nn.Linear(config.hidden, config.attention, bias=False)
        self.key = nn.Linear(config.hidden, config.attention, bias=False)
        self.energy = nn.Linear(config.attention, 1, bias=False)

    def forward(self, state, annotations, mask):
        """The context [batch, hidden] and the weights [batch, source positions]."""
        hidden = torch.tanh(self.query(state).unsqueeze(1) + self.key(annotations))
        energies = self.energy(hidden).squeeze(2).masked_fill(~mask, -torch.inf)
        weights = energies.softmax(dim=1)
        return torch.einsum("bs,bsn->bn", weights, annotations), weights


class Decoder(nn.Module):
    """The decoder's own parameters: the map to its first state, and its GRU cell."""

    def __init__(self, config):
        super().__init__()
        averaged = config.initial_state == "mean"
        self.initial = nn.Linear(config.hidden if averaged else config.hidden // 2, config.hidden)
        self.cell = nn.GRUCell(config.embedding + config.hidden, config.hidden)


class Translator(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.source_embedding = nn.Embedding(config.source_vocabulary, config.embedding)
        self.target_embedding = nn.Embedding(config.target_vocabulary, config.embedding)
        self.encoder = nn.GRU(
            config.embedding,
            config.hidden // 2,
            num_layers=config.layers,
            batch_first=True,
            bidirectional=True,
        )
        self.decoder = Decoder(config)
        self.attention = Attention(config)
        self.readout = nn.Linear(2 * config.hidden + config.embedding, config.embedding)
        self.output = nn.Linear(config.embedding, config.target_vocabulary)
        if config.tied:
            self.output.weight = self.target_embedding.weight

    def encode(self, sources, lengths):
        """The annotations [batch, source positions, hidden] and the decoder's first state."""
        packed = pack_padded_sequence(
            self.source_embedding(sources), lengths, batch_first=True, enforce_sorted=False
        )
        outputs, finals = self.encoder(packed)
        annotations, _ = pad_packed_sequence(outputs, batch_first=True)
        if self.config.initial_state == "mean":
            summary = annotations.sum(dim=1) / lengths.unsqueeze(1)
        else:
            summary = finals[-1]  # last layer, backward direction: its state at the first word
        return annotations, torch.tanh(self.decoder.initial(summary))

    def step(self, previous, state, annotations, mask):
        """One target position: its logits, the next state and the attention weights."""
        embedded = self.target_embedding(previous)
        context, weights = self.attention(state, annotations, mask)
        state = self.decoder.cell(torch.cat([embedded, context], dim=1), state)
        readout = torch.tanh(self.readout(torch.cat([state, embedded, context], dim=1)))
        return self.output(readout), state, weights

    def forward(self, batch):
        """Logits [batch, target positions, vocabulary], attention and annotations."""
        annotations, state = self.encode(batch.sources, batch.lengths)
        logits, attention = [], []
        for previous in batch.inputs.unbind(dim=1):
            scores, state, weights = self.step(previous, state, annotations, batch.source_mask)
            logits.append(scores)
            attention.append(weights)
        return torch.stack(logits, dim=1), torch.stack(attention, dim=1), annotations


class Batch:
    """Padded sequences; inputs are the targets moved one place to the right behind <s>."""

    def __init__(self, sources, targets):
        self.sources = padded(sources)
        self.targets = padded(targets)
        self.inputs = padded([[START] + target[:-1] for target in targets])
        self.lengths = torch.tensor([len(source) for source in sources])
        self.source_mask = self.sources != PAD
        self.target_mask = self.targets != PAD


def padded(sequences):
    rows = [torch.tensor(sequence) for sequence in sequences]
    return pad_sequence(rows, batch_first=True, padding_value=PAD)


def initialize(model, seed):
    """Fill the parameters with random float32 numbers."""
    random = np.random.default_rng(seed)
    for name, parameter in model.named_parameters():
        scale = ATTENTION_SCALE if name.startswith("attention.") else INITIAL_SCALE
        values = random.uniform(-scale, scale, parameter.shape).astype(np.float32)
        parameter.data.copy_(torch.from_numpy(values))


def loss_of(model, logits, batch):
    """Cross entropy with label smoothing per target position; logits without padding."""
    targets = batch.targets[batch.target_mask]
    smoothing = model.config.label_smoothing
    total = F.cross_entropy(logits, targets, label_smoothing=smoothing, reduction="sum")
    return total / len(targets)


def log_probabilities(logits, batch):
    """log p(target | source) of each pair, from the logits of all positions."""
    scores = logits.log_softmax(dim=2).gather(2, batch.targets.unsqueeze(2)).squeeze(2)
    return (scores * batch.target_mask).sum(dim=1)


def tensors(prefix, named):
    return {f"{prefix}/{name}": tensor.detach().clone() for name, tensor in named}


def train(model, batch):
    """The loss before each step of Adam on the same batch, with the gradient's norm clipped."""
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE, betas=BETAS, eps=EPSILON)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        logits, _, _ = model(batch)
        loss = loss_of(model, logits[batch.target_mask], batch)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), MAX_GRADIENT_NORM)
        optimizer.step()
        losses.append(loss.item())
    return losses


def make_reference(config, seed):
    """The tensors and the JSON values of one variant."""
    model = Translator(config).double()
    initialize(model, seed)
    batch = Batch(SOURCES, TARGETS)

    logits, attention, annotations = model(batch)
    kept = logits[batch.target_mask]
    loss = loss_of(model, kept, batch)
    loss.backward()
    gradients = [(name, parameter.grad) for name, parameter in model.named_parameters()]

    arrays = {
        **tensors("parameter", model.named_parameters()),
        **tensors("gradient", gradients),
        "logits": kept.detach(),
        "attention": (attention * batch.target_mask.unsqueeze(2)).detach(),
        "annotations": annotations.detach(),
    }
    values = {
        "config": asdict(config),
        "sources": SOURCES,
        "targets": TARGETS,
        "loss": loss.item(),
        "gradient_norm": nn.utils.get_total_norm([gradient for _, gradient in gradients]).item(),
        "log_probabilities": log_probabilities(logits, batch).tolist(),
        "optimizer": {
            "learning_rate": LEARNING_RATE,
            "betas": BETAS,
            "epsilon": EPSILON,
            "max_gradient_norm": MAX_GRADIENT_NORM,
        },
        "losses": train(model, batch),
    }
    return arrays, values


def write(name, arrays, values):
    single = {key: array.float().contiguous() for key, array in arrays.items()}
    (OUTPUT / f"{name}.safetensors").write_bytes(save(single))
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in values.items()]
    (OUTPUT / f"{name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def main():
    torch.set_num_threads(1)
    OUTPUT.mkdir(parents=True, exist_ok=True)
    for seed, (name, config) in enumerate(VARIANTS.items()):
        arrays, values = make_reference(config, seed)
        write(name, arrays, values)
        print(f"{name}: loss {values['loss']:.6f}, gradient norm {values['gradient_norm']:.6f}")


if __name__ == "__main__":
    main()

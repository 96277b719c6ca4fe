"""Generates reference values for the model's tests with an independent PyTorch implementation.

For each variant of the model (see VARIANTS) this writes two files to tests/reference:

<variant>.safetensors, all float32:
    parameter/<name>   initial parameters
    gradient/<name>    gradients of the loss at these parameters, before clipping
    logits             [target positions without padding, target vocabulary], sentence by sentence;
                       under exact hard attention log-probabilities
    attention          [batch, target positions, source positions], zero on padding; mean over heads
    posteriors         [batch, target positions, source positions], zero on padding: probabilities of
                       the source positions given the targets, unless attention is fixed
    annotations        [batch, source positions, hidden], zero on padding
<variant>.json:
    architecture               sizes and attention, as in config.json
    lexicon                    triples of source, target and share, if the model has a lexicon
    label_smoothing            of the loss
    sources, targets           the batch; every sequence ends with </s>
    loss, gradient_norm        at the initial parameters
    log_probabilities          log p(target | source) of each pair, without label smoothing
    optimizer, losses          the loss before each of the first ten steps of Adam

The initial parameters are float32 numbers. Everything else is computed from them in float64 and
rounded to float32 (safetensors) or written in full (JSON), so that a test measures the error of
the implementation under test alone. The output is deterministic, except that on another processor
the last digits of a number in the JSON may differ.

Needs: pip install torch numpy safetensors
Run from the repository root: python scripts/reference_model.py
"""

import json
import math
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

# Pairs of various lengths, the longest neither first nor last; a source of one word, an empty
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

# Uniform in +-scale: gates and attention are far from uniform, and the gradient's norm starts above
# the limit and, in most variants, falls below it within the ten steps.
INITIAL_SCALE = 1.4
ADDITIVE_SCALE = 3.0  # of the queries, keys and energies of additive attention
PRODUCT_SCALE = 2.0  # of the queries and keys of the other scores
VALUE_SCALE = 0.7  # of the value and output projections of several heads
SHARPNESS = (1.0, 4.0)  # of either sign

SMALLEST_NORM = 1e-6

# Fixed translation probabilities of some source words.
LEXICON = {4: {5: 0.5, 10: 0.25}, 5: {4: 0.125, 6: 1.0}, 8: {7: 0.0078125}, 12: {9: 0.75}}
LEXICON_EPSILON = 1e-3

STEPS = 10
LEARNING_RATE = 0.01
BETAS = (0.9, 0.999)
EPSILON = 1e-8
MAX_GRADIENT_NORM = 1.0


@dataclass(frozen=True)
class Settings:
    """The configuration of attention."""

    score: str = "additive"  # or "dot", "scaled-dot", "general", "cosine", "mean", "last"
    heads: int = 1
    temperature: float = 1.0
    choice: str = "soft"  # or "exact"


@dataclass(frozen=True)
class Config:
    source_vocabulary: int = 13
    target_vocabulary: int = 11
    embedding_size: int = 6
    hidden_size: int = 8
    attention_size: int = 5
    layers: int = 1
    tied_output: bool = False
    initial_state: str = "mean"  # or "backward_first"
    decoder: str = "bahdanau"  # or "conditional"
    lexicon: bool = False  # adds LEXICON to the logits
    attention: Settings = Settings()
    label_smoothing: float = 0.1
    seed: int = 0

    def is_fixed(self):
        """Returns true if the weights do not depend on the query."""
        return self.attention.score in ("mean", "last")

    def architecture(self):
        """Returns sizes and attention as in config.json, which omits the defaults of the paper."""
        values = asdict(self)
        if self.decoder == Config.decoder:
            values.pop("decoder")
        if not self.lexicon:
            values.pop("lexicon")
        for name in ("attention", "label_smoothing", "seed"):
            values.pop(name)
        settings = asdict(self.attention).items()
        changed = {name: value for name, value in settings if value != getattr(Settings, name)}
        return {**values, "attention": changed} if changed else values


def with_attention(score, seed, heads=1, temperature=1.0, attention_size=5):
    settings = Settings(score, heads, temperature)
    return Config(attention_size=attention_size, attention=settings, seed=seed)


# Seeds are chosen such that attention is neither flat nor on a single word, and that ten steps in
# float32 stay close to these: steep attention can magnify a rounding error a thousandfold.
VARIANTS = {
    "plain": Config(),
    "tied": Config(tied_output=True, initial_state="backward_first", label_smoothing=0.0, seed=1),
    "deep": Config(layers=2, seed=2),
    "dot": with_attention("dot", seed=3),
    "scaled-dot": with_attention("scaled-dot", seed=10),
    "general": with_attention("general", seed=4),
    "cosine": with_attention("cosine", seed=13),
    "additive-4": with_attention("additive", seed=5, heads=4, attention_size=8),
    "dot-4": with_attention("dot", seed=15, heads=4, attention_size=8),
    "scaled-dot-4": with_attention("scaled-dot", seed=8, heads=4, attention_size=8),
    "general-4": with_attention("general", seed=9, heads=4, attention_size=8),
    "cosine-4": with_attention("cosine", seed=11, heads=4, attention_size=8),
    "mean": with_attention("mean", seed=6),
    "last": with_attention("last", seed=7),
    "additive-sharp": with_attention("additive", seed=12, temperature=0.5),
    "conditional": Config(decoder="conditional", seed=16),
    "conditional-4": Config(
        decoder="conditional", attention=Settings("scaled-dot", 4), attention_size=8, seed=17
    ),
    "scaled-dot-2-soft": with_attention(
        "scaled-dot", seed=14, heads=2, temperature=2.0, attention_size=6
    ),
    "lexicon": Config(decoder="conditional", lexicon=True, seed=18),
    "exact": Config(attention=Settings(choice="exact"), seed=20),
    "exact-lexicon": Config(
        decoder="conditional", lexicon=True, attention=Settings(choice="exact"), seed=21
    ),
    "lexicon-4": Config(
        lexicon=True, attention=Settings("scaled-dot", 4), attention_size=8, seed=19
    ),
}


class Sharpness(nn.Module):
    """The learned factor of the cosine, one per head."""

    def __init__(self, heads):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(heads))


class Attention(nn.Module):
    """Attention with one or several heads: weights softmax_j(e_j / temperature), masked.

    The energy e_j compares a query q, from the decoder's state s_{t-1}, with a key k_j, from the
    annotation h_j:
        additive      e_j = v . tanh(q + k_j)          q = W_q s, k_j = W_k h_j
        dot           e_j = q . k_j                    q = s, k_j = h_j
        scaled-dot    e_j = q . k_j / sqrt(size of q)  q = s, k_j = h_j
        general       e_j = q . k_j                    q = s, k_j = W_k h_j
        cosine        e_j = g cos(q, k_j)              q = s, k_j = h_j, g learned
    The context is the weighted sum of the annotations.

    With several heads, dot, scaled-dot and cosine also project, q = W_q s and k_j = W_k h_j. Each
    head compares its slice of q and k_j (with its slice of v, or its g), and pools its slice of
    W_v h_j; p is the concatenation of these sums, and the context is W_o p. The returned weights
    are the mean over the heads.
    """

    def __init__(self, config):
        super().__init__()
        self.settings = config.attention
        score, several = self.settings.score, self.settings.heads > 1
        annotation, compared = config.hidden_size, config.attention_size
        if score == "general":
            compared = annotation
        projects_query = score == "additive" or (several and score != "general")
        projects_key = score in ("additive", "general") or several
        self.query = projection(annotation, compared, projects_query)
        self.key = projection(annotation, compared, projects_key)
        if score == "additive":
            self.energy = nn.Linear(compared, 1, bias=False)
        if score == "cosine":
            self.sharpness = Sharpness(self.settings.heads)
        self.value = projection(annotation, annotation, several)
        self.output = projection(annotation, annotation, several)

    def split_heads(self, tensor):
        """Splits the last dimension into one slice per head."""
        return tensor.chunk(self.settings.heads, dim=-1)

    def energies(self, head, query, keys):
        """Returns the energies of one head, [batch, source positions]."""
        match self.settings.score:
            case "additive":
                hidden = torch.tanh(query.unsqueeze(1) + keys)
                return F.linear(hidden, self.split_heads(self.energy.weight)[head]).squeeze(2)
            case "dot" | "general":
                return dot(query, keys)
            case "scaled-dot":
                return dot(query, keys) / math.sqrt(query.shape[-1])
            case "cosine":
                return self.sharpness.weight[head] * dot(unit(query), unit(keys))

    def weights(self, state, annotations, mask):
        """Yields the weights of each head, [batch, source positions]."""
        queries, keys = self.split_heads(self.query(state)), self.split_heads(self.key(annotations))
        for head, (query, key) in enumerate(zip(queries, keys)):
            energies = self.energies(head, query, key) / self.settings.temperature
            yield energies.masked_fill(~mask, -torch.inf).softmax(dim=1)

    def forward(self, state, annotations, mask):
        """Returns the context, [batch, hidden], and the weights, [batch, source positions]."""
        weights = list(self.weights(state, annotations, mask))
        values = self.split_heads(self.value(annotations))
        pooled = [torch.einsum("bs,bsn->bn", *head) for head in zip(weights, values)]
        return self.output(torch.cat(pooled, dim=1)), torch.stack(weights).mean(dim=0)

    def contexts_of_tokens(self, annotations):
        """Returns the context of each position if it has all the weight."""
        return self.output(self.value(annotations))


def projection(inputs, outputs, learned):
    return nn.Linear(inputs, outputs, bias=False) if learned else nn.Identity()


def dot(query, keys):
    return torch.einsum("bd,bsd->bs", query, keys)


def unit(vectors):
    """Divides vectors by their norms, or by SMALLEST_NORM if that is larger."""
    return vectors / vectors.norm(dim=-1, keepdim=True).clamp(min=SMALLEST_NORM)


class Mean(nn.Module):
    """Mean of the annotations as the context, without parameters."""

    def forward(self, state, annotations, mask):
        weights = mask.to(annotations) / mask.sum(dim=1, keepdim=True)
        return torch.einsum("bs,bsn->bn", weights, annotations), weights


class Last(nn.Module):
    """Final state of each encoder direction as the context, without parameters.

    The forward half is that of the last annotation, the backward half that of the first one.
    Either position has weight 0.5.
    """

    def forward(self, state, annotations, mask):
        last = mask.sum(dim=1) - 1
        forward, _ = annotations[torch.arange(len(last)), last].chunk(2, dim=1)
        _, backward = annotations[:, 0].chunk(2, dim=1)
        ends = F.one_hot(torch.stack([torch.zeros_like(last), last]), mask.shape[1])
        return torch.cat([forward, backward], dim=1), ends.to(annotations).mean(dim=0)


def attention(config):
    """Returns the attention module of the configured score."""
    match config.attention.score:
        case "mean":
            return Mean()
        case "last":
            return Last()
        case _:
            return Attention(config)


def lexicon_rows(sources, config):
    """Returns LEXICON's rows of the source words, [batch, source positions, target vocabulary]."""
    table = torch.zeros(config.source_vocabulary, config.target_vocabulary, dtype=torch.float64)
    for source, row in LEXICON.items():
        for target, share in row.items():
            table[source, target] = share
    return table[sources]


class Decoder(nn.Module):
    """Parameters of the decoder: the projection to its initial state and one or two GRU cells."""

    def __init__(self, config):
        super().__init__()
        averaged = config.initial_state == "mean"
        hidden = config.hidden_size
        self.initial = nn.Linear(hidden if averaged else hidden // 2, hidden)
        if config.decoder == "conditional":
            self.cell = nn.GRUCell(config.embedding_size, hidden)
            self.context_cell = nn.GRUCell(hidden, hidden)
        else:
            self.cell = nn.GRUCell(config.embedding_size + hidden, hidden)


class Translator(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.source_embedding = nn.Embedding(config.source_vocabulary, config.embedding_size)
        self.target_embedding = nn.Embedding(config.target_vocabulary, config.embedding_size)
        self.encoder = nn.GRU(
            config.embedding_size,
            config.hidden_size // 2,
            num_layers=config.layers,
            batch_first=True,
            bidirectional=True,
        )
        self.decoder = Decoder(config)
        self.attention = attention(config)
        embedding = config.embedding_size
        self.readout = nn.Linear(2 * config.hidden_size + embedding, embedding)
        self.output = nn.Linear(embedding, config.target_vocabulary)
        if config.tied_output:
            self.output.weight = self.target_embedding.weight

    def encode(self, sources, lengths):
        """Returns annotations, [batch, source positions, hidden], and the decoder's initial state."""
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
        """Returns next state, logits from it given a context, context and weights of one position."""
        embedded = self.target_embedding(previous)
        if self.config.decoder == "conditional":
            intermediate = self.decoder.cell(embedded, state)
            context, weights = self.attention(intermediate, annotations, mask)
            state = self.decoder.context_cell(context, intermediate)
        else:
            context, weights = self.attention(state, annotations, mask)
            state = self.decoder.cell(torch.cat([embedded, context], dim=1), state)
        given = torch.cat([state, embedded], dim=1)

        def logits(context):
            expanded = given.view(len(given), *[1] * (context.dim() - 2), -1)
            expanded = expanded.expand(*context.shape[:-1], -1)
            return self.output(torch.tanh(self.readout(torch.cat([expanded, context], dim=-1))))

        return state, logits, context, weights

    def forward(self, batch):
        """Returns logits, [batch, target positions, vocabulary], attention, posteriors and annotations."""
        annotations, state = self.encode(batch.sources, batch.lengths)
        logits, attention, posteriors = [], [], []
        for previous, target in zip(batch.inputs.unbind(dim=1), batch.targets.unbind(dim=1)):
            state, given, context, weights = self.step(previous, state, annotations, batch.source_mask)
            scores = given(context)
            if not self.config.is_fixed():
                by_token = given(self.attention.contexts_of_tokens(annotations))
                mixture, posterior = self.marginalize(by_token, weights, batch.sources, target)
                posteriors.append(posterior)
            if self.config.attention.choice == "exact":
                scores = mixture
            elif self.config.lexicon:
                mixed = torch.einsum("bs,bsv->bv", weights, lexicon_rows(batch.sources, self.config))
                scores = scores + torch.log1p(mixed / LEXICON_EPSILON)
            logits.append(scores)
            attention.append(weights)
        return *[torch.stack(steps, dim=1) for steps in (logits, attention, posteriors or attention)], annotations

    def marginalize(self, scores, weights, sources, target):
        """Returns the log-probabilities of a mixture, [batch, vocabulary], and posterior weights."""
        if self.config.lexicon:
            scores = scores + torch.log1p(lexicon_rows(sources, self.config) / LEXICON_EPSILON)
        padding = sources == PAD
        prior = weights.masked_fill(padding, 1).log().masked_fill(padding, -torch.inf)
        joint = scores.log_softmax(dim=2) + prior.unsqueeze(2)
        index = target.view(-1, 1, 1).expand(-1, joint.shape[1], 1)
        return joint.logsumexp(dim=1), joint.gather(2, index).squeeze(2).softmax(dim=1)


class Batch:
    """Padded sequences; inputs are the targets shifted right by one position after <s>."""

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


def initial_scale(name, score):
    """Returns the largest initial value of a parameter."""
    if name.startswith(("attention.value.", "attention.output.")):
        return VALUE_SCALE
    if name.startswith("attention."):
        return ADDITIVE_SCALE if score == "additive" else PRODUCT_SCALE
    return INITIAL_SCALE


def initialize(model):
    """Fills the parameters with random float32 numbers."""
    random = np.random.default_rng(model.config.seed)
    for name, parameter in model.named_parameters():
        if name == "attention.sharpness.weight":
            signs = random.choice([-1.0, 1.0], parameter.shape)
            values = signs * random.uniform(*SHARPNESS, parameter.shape)
        else:
            scale = initial_scale(name, model.config.attention.score)
            values = random.uniform(-scale, scale, parameter.shape)
        parameter.data.copy_(torch.from_numpy(values.astype(np.float32)))


def loss_of(model, logits, batch):
    """Returns label-smoothed cross-entropy per target position; logits exclude padding."""
    targets = batch.targets[batch.target_mask]
    smoothing = model.config.label_smoothing
    total = F.cross_entropy(logits, targets, label_smoothing=smoothing, reduction="sum")
    return total / len(targets)


def log_probabilities(logits, batch):
    """Returns log p(target | source) of each pair, from the logits of all positions."""
    scores = logits.log_softmax(dim=2).gather(2, batch.targets.unsqueeze(2)).squeeze(2)
    return (scores * batch.target_mask).sum(dim=1)


def tensors(prefix, named):
    return {f"{prefix}/{name}": tensor.detach().clone() for name, tensor in named}


def train(model, batch):
    """Returns the loss before each step of Adam on the same batch, with gradients clipped by norm."""
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE, betas=BETAS, eps=EPSILON)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        logits, *_ = model(batch)
        loss = loss_of(model, logits[batch.target_mask], batch)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), MAX_GRADIENT_NORM)
        optimizer.step()
        losses.append(loss.item())
    return losses


def triples():
    return [(x, y, share) for x, row in sorted(LEXICON.items()) for y, share in sorted(row.items())]


def make_reference(config):
    """Returns the tensors and JSON values of one variant."""
    model = Translator(config).double()
    initialize(model)
    batch = Batch(SOURCES, TARGETS)

    logits, attention, posteriors, annotations = model(batch)
    without_padding = logits[batch.target_mask]
    loss = loss_of(model, without_padding, batch)
    loss.backward()
    gradients = [(name, parameter.grad) for name, parameter in model.named_parameters()]

    arrays = {
        **tensors("parameter", model.named_parameters()),
        **tensors("gradient", gradients),
        "logits": without_padding.detach(),
        "attention": (attention * batch.target_mask.unsqueeze(2)).detach(),
        "annotations": annotations.detach(),
    }
    if not config.is_fixed():
        arrays["posteriors"] = (posteriors * batch.target_mask.unsqueeze(2)).detach()
    values = {
        "architecture": config.architecture(),
        **({"lexicon": triples()} if config.lexicon else {}),
        "label_smoothing": config.label_smoothing,
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
    for name, config in VARIANTS.items():
        arrays, values = make_reference(config)
        write(name, arrays, values)
        print(f"{name}: loss {values['loss']:.6f}, gradient norm {values['gradient_norm']:.6f}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Trains the paper's model in PyTorch and prints the BLEU of greedy translations of the validation pairs after each epoch.

The other side of *Time to a good model* in docs/results/speed.md: a GRU encoder, cached attention keys, batches of pairs of similar
length, one output product a batch, a learning rate that halves when BLEU does not rise. Needs tokenized text, one sentence per line,
torch, tokenizers and sacrebleu, and a machine with nothing else to do.

Example:
  scripts/torch_rnnsearch.py --data train.en train.de val.en val.de --limit 8000 --vocabulary-size 4000 --minutes 8 --goal 30
"""

import argparse
import random
import time

import sacrebleu
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

PAD, BEGIN, END = 0, 1, 2
BATCH, EMBEDDING, HIDDEN, DROPOUT, SMOOTHING = 64, 256, 512, 0.3, 0.1


class RnnSearch(nn.Module):
    """GRU encoder and decoder with additive attention (Bahdanau, Cho & Bengio 2015)."""

    def __init__(self, vocabulary_size):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, EMBEDDING, padding_idx=PAD)
        nn.init.normal_(self.embedding.weight, std=0.1)
        self.encoder = nn.GRU(EMBEDDING, HIDDEN // 2, bidirectional=True, batch_first=True)
        self.initial = nn.Linear(HIDDEN, HIDDEN)
        self.key, self.query = nn.Linear(HIDDEN, HIDDEN, bias=False), nn.Linear(HIDDEN, HIDDEN)
        self.score = nn.Linear(HIDDEN, 1, bias=False)
        self.cell = nn.GRUCell(EMBEDDING + HIDDEN, HIDDEN)
        self.readout = nn.Linear(2 * HIDDEN + EMBEDDING, EMBEDDING)
        self.output = nn.Linear(EMBEDDING, vocabulary_size)
        self.output.weight = self.embedding.weight
        self.dropout = nn.Dropout(DROPOUT)

    def encode(self, sources):
        """Returns annotations, keys, mask and the first state of sources [batch, length]."""
        lengths = (sources != PAD).sum(1)
        embedded = self.dropout(self.embedding(sources))
        packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
        annotations, _ = pad_packed_sequence(self.encoder(packed)[0], batch_first=True)
        mask = sources != PAD
        mean = (annotations * mask[..., None]).sum(1) / lengths[:, None]
        return annotations, self.key(annotations), mask, torch.tanh(self.initial(mean))

    def step(self, embedded, state, annotations, keys, mask):
        """Returns the next state and its context, both [batch, hidden]."""
        scores = self.score(torch.tanh(keys + self.query(state)[:, None])).squeeze(-1).masked_fill(~mask, -1e9)
        context = torch.bmm(F.softmax(scores, -1)[:, None], annotations).squeeze(1)
        return self.cell(torch.cat([embedded, context], -1), state), context

    def logits(self, states, contexts, embedded):
        return self.output(self.dropout(torch.tanh(self.readout(torch.cat([states, contexts, embedded], -1)))))

    def loss(self, sources, targets):
        """Returns the sum of the smoothed cross-entropies and the number of tokens."""
        annotations, keys, mask, state = self.encode(sources)
        embedded = self.dropout(self.embedding(targets[:, :-1]))
        states, contexts = [], []
        for step in range(embedded.size(1)):
            state, context = self.step(embedded[:, step], state, annotations, keys, mask)
            states.append(state)
            contexts.append(context)
        gold = targets[:, 1:]
        real = gold != PAD
        logits = self.logits(torch.stack(states, 1)[real], torch.stack(contexts, 1)[real], embedded[real])
        return F.cross_entropy(logits, gold[real], label_smoothing=SMOOTHING, reduction="sum"), int(real.sum())

    @torch.no_grad()
    def translate(self, sources):
        """Returns greedy translations, with what follows their end."""
        annotations, keys, mask, state = self.encode(sources)
        tokens = torch.full((len(sources),), BEGIN)
        ended, written = torch.zeros(len(sources), dtype=torch.bool), []
        while len(written) < 2 * sources.size(1) + 10 and not ended.all():
            embedded = self.embedding(tokens)
            state, context = self.step(embedded, state, annotations, keys, mask)
            tokens = self.logits(state, context, embedded).argmax(-1)
            ended |= tokens == END
            written.append(tokens)
        return torch.stack(written, 1).tolist()


def padded(sequences):
    return pad_sequence([torch.tensor(sequence) for sequence in sequences], batch_first=True, padding_value=PAD)


def by_length(pairs):
    """Returns batches of pairs of similar length."""
    ordered = sorted(random.sample(pairs, len(pairs)), key=lambda pair: (len(pair[1]), len(pair[0])))
    return [ordered[first:first + BATCH] for first in range(0, len(ordered), BATCH)]


def bleu(model, tokenizer, sources, references):
    """Returns the BLEU of greedy translations; the text is tokenized already."""
    model.eval()
    order = sorted(range(len(sources)), key=lambda index: len(sources[index]))
    translations = [""] * len(sources)
    for first in range(0, len(order), BATCH):
        batch = order[first:first + BATCH]
        for index, tokens in zip(batch, model.translate(padded([sources[index] for index in batch]))):
            tokens = tokens[:tokens.index(END)] if END in tokens else tokens
            translations[index] = tokenizer.decode(tokens)
    model.train()
    return sacrebleu.corpus_bleu(translations, [references], tokenize="none", force=True).score


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs=4, required=True, metavar=("SOURCE", "TARGET", "VALID_SOURCE", "VALID_TARGET"))
    parser.add_argument("--limit", type=int, help="use only the first pairs")
    parser.add_argument("--vocabulary-size", type=int, default=7900)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--goal", type=float, default=100, help="end at this BLEU")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(1)
    random.seed(1)

    start = time.time()
    source, target, valid_source, valid_target = ([line.rstrip("\n") for line in open(path)] for path in arguments.data)
    source, target = source[:arguments.limit], target[:arguments.limit]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    special = ["<pad>", "<s>", "</s>", "<unk>"]
    trainer = trainers.BpeTrainer(vocab_size=arguments.vocabulary_size, special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator(source + target, trainer)
    encode = lambda lines: [encoding.ids for encoding in tokenizer.encode_batch(lines)]
    pairs = [([*ids, END], [BEGIN, *others, END]) for ids, others in zip(encode(source), encode(target))]
    valid_sources = [[*ids, END] for ids in encode(valid_source)]

    model = RnnSearch(tokenizer.get_vocab_size())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="max", factor=0.5, patience=1)
    batches, best, epoch = by_length(pairs), 0.0, 0
    while time.time() - start < 60 * arguments.minutes and best < arguments.goal:
        epoch += 1
        began, count = time.time(), 0
        for batch in random.sample(batches, len(batches)):
            loss, tokens = model.loss(*(padded(side) for side in zip(*batch)))
            optimizer.zero_grad()
            (loss / tokens).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            count += tokens
        rate = count / (time.time() - began)
        reached = bleu(model, tokenizer, valid_sources, valid_target)
        schedule.step(reached)
        best = max(best, reached)
        print(f"{time.time() - start:.0f} s, epoch {epoch}: BLEU {reached:.2f}, {rate:,.0f} target tokens/s", flush=True)


if __name__ == "__main__":
    main()

"""Options of the package's functions, named as those of the command.

This file is generated from the program's help: `UPDATE_SNAPSHOTS=1 cargo test --release --test interface python_options` rewrites it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal, TypedDict, Union

from ._arguments import Glossary


class TrainOptions(TypedDict, total=False):
    """Options of `train`; the data determine those not given."""

    normalize: Literal["nfc", "nfkc", "none"]
    """Unicode normalization of both sides [default: nfc]"""

    lowercase: bool
    """Lowercase both sides; `evaluate` then lowercases the references too."""

    tokenization: Literal["bpe", "word", "char", "letter"]
    """Tokens that text is split into: subwords, words, characters or letters [default: chosen from the data, for each
    side]"""

    source_tokenization: Literal["bpe", "word", "char", "letter"]
    """Tokenization of the source side [default: --tokenization]"""

    target_tokenization: Literal["bpe", "word", "char", "letter"]
    """Tokenization of the target side [default: --tokenization]"""

    vocabulary_size: int
    """Maximum number of tokens per vocabulary; bpe keeps all characters beyond it [default: chosen from the data]"""

    protected_tokens: Sequence[str]
    """Strings that are never split, separated by spaces, such as "<2fr> <2de>"."""

    joint_vocabulary: bool
    """Share one vocabulary between both sides."""

    preset: Literal["auto", "fast", "best", "tiny", "small", "medium", "large"]
    """Preset of model size and training length; more specific options override it [default: auto]"""

    embedding_size: int
    """Dimension of the embeddings [default: by preset]"""

    hidden_size: int
    """Dimension of the decoder state, an even number; each encoder direction has half of it [default: by preset]"""

    attention_size: int
    """Dimension of the projected queries and keys, for score functions that project both [default: by preset]"""

    attention: Literal["additive", "dot", "scaled-dot", "general", "cosine", "mean", "last"]
    """Attention score function [default: additive]"""

    decoder: Literal["bahdanau", "conditional"]
    """Decoder cell [default: conditional]"""

    heads: int
    """Number of attention heads [default: 1]"""

    attention_temperature: float
    """Softmax temperature of attention: below 1 sharper, above 1 flatter [default: 1]"""

    hard_attention: Literal["off", "sampled", "exact"]
    """Use hard attention: one source token at a time. `sampled`, also without a value, draws it by weight in training
    with a straight-through gradient, and otherwise takes the one with the largest weight. `exact` mixes the predictions
    from each token, at several times the cost of the output layer. `off` is soft attention [default: exact for single
    words with symbols such as phones, otherwise off]"""

    layers: int
    """Number of encoder layers [default: 1]"""

    no_tied_embeddings: bool
    """Do not tie the output layer's weights to the target embeddings."""

    initial_state: Literal["mean", "backward-first"]
    """Source of the decoder's initial state [default: mean]"""

    max_length: int
    """Maximum number of tokens per side; longer pairs are skipped [default: 128]"""

    dropout: float
    """Dropout rate of embeddings, annotations, states and readout [default: 0.3; 0.5 for single words without features;
    0.2 for few distinct words]"""

    bpe_dropout: float
    """BPE-dropout: probability of skipping a merge, so that segmentations vary between epochs; bpe only [default: 0.1
    below 5,000 pairs, else 0; 0 for few distinct words]"""

    concat_pairs: float
    """Share of pairs to concatenate with another pair, chosen anew in each epoch, for longer training sentences
    [default: 0.2 for few distinct words, else 0]"""

    hallucination: float
    """Share of pairs in which the beginning of the stem becomes that of another word, chosen anew in each epoch, so
    that forms of unknown words are learned; needs characters on both sides [default: 0.5 for words with features, else
    0]"""

    teachers: int
    """Number of teachers: further models with other seeds, whose translations of the training sentences the model
    learns too (sequence-level knowledge distillation). They are trained first, in the --out directory [default: 3, or
    2, for 1,000 to 20,000 pairs of sentences if --max-minutes suffices, else 0]"""

    guided_alignment: float
    """Weight of the guided alignment loss, which trains attention on the links of the statistical aligner. 0 disables
    it and the lexicon made from the links. Without a number, the weight is 0.5 [default: 0.1 from 2,000 pairs, else
    0]"""

    label_smoothing: float
    """Label smoothing: probability mass spread over all tokens [default: 0.1]"""

    ema_decay: float
    """Decay per step of the exponential moving average (EMA) of the parameters; 0 disables averaging [default:
    0.999]"""

    batch_sentences: int
    """Sentence pairs per batch [default: chosen from the data]"""

    batch_tokens: int
    """Target tokens per batch, instead of --batch-sentences."""

    learning_rate: float
    """Learning rate of Adam [default: by preset; half of that with --init-from]"""

    warmup_steps: int
    """Number of warmup steps of the learning rate [default: 100; 30 with --init-from]"""

    schedule: Literal["hold", "cosine", "plateau"]
    """Learning rate schedule after warmup [default: hold; cosine for single words; plateau with --decay]"""

    decay: float
    """Factor on the learning rate after two consecutive validations without improvement; only for --schedule plateau
    [default: 0.5]"""

    max_gradient_norm: float
    """Maximum global norm of the gradients; larger ones are clipped [default: 1]"""

    precision: Literal["auto", "f32", "bf16"]
    """Precision of matrix products on the CPU. All other arithmetic is f32, and so is the last fifth of the training,
    except with --schedule plateau [default: auto]"""

    validate_every: int
    """Number of steps between validations [default: one epoch]"""

    metric: Literal["bleu", "chrf", "exact-match", "wer", "perplexity"]
    """Validation metric that selects the best model [default: bleu; chrf for short texts; exact-match for single words
    in characters]"""

    keep_best: int
    """Keep the models of the K best validations, each in a directory of its own in kept/ of the --out directory."""

    keep_last: int
    """Keep the models of the last K validations in the same way."""

    keep_attention: bool
    """Record attention on a few validation pairs at each validation, and show it in attention.html."""

    tensorboard: bool
    """Write event files for TensorBoard to the --out directory."""

    seed: int
    """Seed of all random numbers [default: 1]"""

    max_epochs: int
    """Maximum number of epochs [default: chosen from the data]"""

    max_minutes: float
    """Time limit in minutes, including preparation and earlier runs [default: none]. The model size is chosen to fit
    it, and --teachers if there is time for them. Training stops earlier if further epochs would not help."""

    save_every: float
    """Minutes between saves of the state for --resume; each validation saves it too [default: 5]"""

    patience: int
    """Stop after N consecutive validations without improvement of score or loss [default: 6 with plateau; 10 with
    --init-from; else unlimited]"""

    guide: Union[str, os.PathLike[str]]
    """File of word links for guided alignment, instead of the statistical aligner's: one line of s-t links per training
    pair, as fast_align writes them. Words are separated by whitespace; in scripts without spaces, each character is
    one."""

    attention_pairs: Union[str, os.PathLike[str]]
    """Record attention on the pairs of this file, at most 20, instead of five validation pairs; implies
    --keep-attention."""

    init_vocabulary: Literal["keep", "extend", "new"]
    """Treatment of the vocabularies of --init-from [default: extend]"""

    languages: str
    """Languages of the pairs, such as en-fr, by which serve chooses the model [default: those that names of files or
    columns tell, as train.en and train.fr, en-fr.tsv, or English and French]"""

    csv: bool
    """Read files of pairs as CSV, as .csv files always are: cells may be quoted; tabs, commas or semicolons separate
    them; a recognized header is left out."""

    header: bool
    """Skip the first line of each file, which holds the column names."""

    columns: tuple[Union[int, str], Union[int, str]]
    """Columns of source and target in files with more columns, as numbers from 1 or as names in the first line. Of
    several files, those with only two columns need not have them."""

    features: Union[int, str]
    """Column of features such as V;PST;3;SG, each of which becomes a token before the source text. Without --columns
    the first two columns are the pair. A model trained with features requires them [default: none; for a model trained
    with features, the column used in training, or the second column of input that has no target]"""


class SearchOptions(TypedDict, total=False):
    """Options of search."""

    beam: int
    """Beam size; 1 is greedy search. Time and memory grow with it."""

    length_penalty: float
    """Strength A of length normalization. With --length-formula power, 0 favors short translations and 1 ranks by mean
    log-probability."""

    length_formula: Literal["power", "wu", "reward"]
    """Length normalization of scores."""

    coverage_penalty: float
    """Coverage penalty B; 0 disables it. Adds B times the sum of ln min(1, 0.02 + a) to the log-probability, where a is
    the attention that a source token received. Unlike in Wu et al. 2016, 0.02 bounds each term, and --length-formula
    applies to the result."""

    brevity_penalty: float
    """Brevity penalty G; 0 disables it. Subtracts G times the share of the expected characters that a translation
    lacks. Expected are four fifths of what sources of this length have on average in the training pairs."""

    length_factor: float
    """Maximum length of a translation in tokens, as a multiple of the source length; 20 more tokens are always
    allowed."""

    no_repeat: int
    """Do not repeat any sequence of N tokens within a translation [default: allow it]"""

    sample: bool
    """Sample translations from the model's distribution instead of searching: one, or --n-best of them in translate."""

    mbr: int
    """Sample N translations and return the one most similar to all of them by chrF (minimum Bayes risk)."""

    temperature: float
    """Sampling temperature; below 1, probable tokens are sampled more often."""

    top_k: int
    """Sample from only the K most probable tokens [default: all]"""

    top_p: float
    """Sample from only the most probable tokens with a total probability of P."""

    seed: int
    """Random seed of sampling."""

    precision: Literal["auto", "f32", "bf16"]
    """Precision of matrix products in search on the CPU."""


class AttentionOptions(TypedDict, total=False):
    """Options that override a model's attention."""

    hard_attention: bool
    """Use hard attention: only the source token with the largest weight counts."""

    attention_temperature: float
    """Softmax temperature of attention: below 1 sharper, above 1 flatter [default: as in training]"""

    head: int
    """Show the weights of this head, counted from 1 [default: the mean of all heads]"""


class SymmetrizationOptions(TypedDict, total=False):
    """Options of all links."""

    symmetrize: Literal["intersection", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and"]
    """Symmetrize the links of both directions, instead of thresholding their joint scores."""

    threshold: float
    """Minimum score of a link [default: 0.3; 0.1 without attention; 0.45 with attention only; 0.4 with --symmetrize or
    --direction]"""

    words: Literal["script", "whitespace", "punctuation", "characters"]
    """Word splitting [default: script; characters on a side with char or letter tokens]"""


class LinkOptions(SymmetrizationOptions, total=False):
    """Options of a model's links."""

    links_from: Literal["auto", "attention", "hmm", "pairs"]
    """Source of word links; translate takes only auto and attention."""

    reverse_model: Union[str, os.PathLike[str]]
    """Model of the opposite direction; both models must support a link."""


class TranslateOptions(SearchOptions, LinkOptions, AttentionOptions, total=False):
    """Options of `Translator.translate`."""

    prefix: str
    """Start each translation with this text; a trailing space makes it end at a word boundary."""

    require: Union[str, Sequence[str]]
    """Require this word or phrase in each translation. Can be repeated, up to 64 times. A phrase may have at most 256
    characters, all of them together 256 tokens. Not available with sampling."""

    avoid: Union[str, Sequence[str]]
    """Forbid this word or phrase, of at most 256 characters, in translations. Can be repeated."""

    terms: Glossary
    """Glossary of required translations: lines of term TAB translation, each at most 256 characters long. At most 64
    terms and 256 tokens apply to a sentence; further ones are ignored. Not available with sampling."""

    markup: Literal["none", "html"]
    """Markup of the sentences. With html, tags are put back around the words that the links give, and blocks such as
    paragraphs are translated one by one. The constraints hold for each block. A file named .html is one document."""

    placeholders: str
    """Regular expression of placeholders, which are put back where the links say; none translates them as text
    [default: {x}, {{x}}, ${x}, %{x}, %s, %1$s, %(x)s, %%, addresses of pages and e-mail, except the model's protected
    tokens; none for a model of characters]"""

    unknown: Literal["translate", "copy"]
    """Treatment of sentences that are more than half unknown to the model, such as text in another script."""

    replace_unknown: bool
    """Replace each `<unk>` in a translation with the source word aligned to it."""

    dictionary: Glossary
    """Dictionary for --replace-unknown: lines of word TAB translation."""

    tag_source: str
    """Put this tag before each sentence, as --tag-source of train does."""

    features: Union[str, Sequence[str]]
    """Column of features such as V;PST;3;SG, each of which becomes a token before the source text. Without --columns
    the first two columns are the pair. A model trained with features requires them [default: none; for a model trained
    with features, the column used in training, or the second column of input that has no target]"""

    tokens: bool
    """Align the model's tokens instead of words."""


class AlignOptions(LinkOptions, AttentionOptions, total=False):
    """Options of `Translator.align`."""

    direction: Literal["forward", "backward", "both"]
    """Direction of the links. softalign symmetrize combines a file of forward links and one of backward links."""

    tokens: bool
    """Align the model's tokens instead of words."""


class AlignerOptions(SymmetrizationOptions, total=False):
    """Options of `Aligner.align` and `align`."""

    direction: Literal["forward", "backward", "both"]
    """Direction of the links. softalign symmetrize combines a file of forward links and one of backward links."""


class EvaluateOptions(SearchOptions, LinkOptions, AttentionOptions, total=False):
    """Options of `Translator.evaluate`."""

    tokenize: Literal["13a", "zh", "char", "intl", "none"]
    """Tokenization of BLEU, by sacrebleu's names [default: by the script of the references: zh for Chinese, char for
    Japanese, Thai and other scripts without spaces, else 13a]"""

    confidence: bool
    """Print 95 % confidence intervals, by bootstrap resampling with 1,000 samples."""

    by_length: bool
    """Print the main scores by source length, in bins of words chosen from the data."""

    gold_base: int
    """Index of a sentence's first word in a gold file with one line per pair."""

    search_threshold: bool
    """Search the link threshold with the lowest alignment error rate (AER). Use it on validation data, not on test
    data."""

//! Vocabulary: text to token ids and back, by Hugging Face's tokenizers.
//!
//! A space is written `▁` and belongs to the next token, so decoding restores the text exactly after its
//! [`Normalization`]. Text that the vocabulary does not cover becomes `<unk>`, one per unknown character (BPE,
//! characters) or word. Only this file, `normalization.rs` and `tokenizer_json.rs` use types of the tokenizers crate.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use anyhow::{Result, anyhow, ensure};
use rayon::prelude::*;
use tokenizers::models::TrainerWrapper;
use tokenizers::models::bpe::BpeTrainer;
use tokenizers::models::wordlevel::WordLevelTrainer;
use tokenizers::{
    AddedToken, NormalizedString, Normalizer, OffsetReferential, OffsetType, PreTokenizedString, PreTokenizer,
    Tokenizer, Trainer,
};

use super::composition::compose;
use super::readable::{KnownCharacters, ReadableText};
use super::tokenization::SPACE;
use super::tokenizer_json::{TokenizerFile, build_tokenizer, rules, to_anyhow};
use super::{
    LONGEST_WORD, MappedText, Merges, Normalization, ProtectedTokens, Resegmenter, SPECIALS, Segmentation,
    SurfaceForms, Tokenization, UNKNOWN, WordSplitting, word_spans,
};

/// Vocabulary of tokens, with the rules that segment text.
pub struct Vocabulary {
    /// Tokens by id, and merges.
    file: TokenizerFile,
    tokenization: Tokenization,
    normalization: Normalization,
    protected_tokens: ProtectedTokens,
    /// Text that it was read from.
    json: Option<String>,
    /// Built on first use, since a target vocabulary often only joins tokens. Errors are not expected.
    tokenizer: OnceLock<Result<Tokenizer, String>>,
    surface_forms: OnceLock<Arc<SurfaceForms>>,
    /// Characters of the tokens, collected on first use.
    known_characters: OnceLock<Arc<KnownCharacters>>,
}

impl Vocabulary {
    /// Trains a vocabulary of at most `size` tokens on normalized texts. Byte-pair encoding splits words of more than
    /// [`LONGEST_WORD`] characters.
    ///
    /// # Errors
    /// `size` is at most the number of special tokens.
    pub fn train<'a>(
        texts: impl Iterator<Item = &'a str> + Send,
        tokenization: Tokenization,
        normalization: Normalization,
        size: usize,
    ) -> Result<Self> {
        ensure!(size > SPECIALS.len(), "a vocabulary needs more than {} tokens, not {size}", SPECIALS.len());
        let specials = SPECIALS.map(|text| AddedToken::from(text, true)).to_vec();
        let mut trainer: TrainerWrapper = match tokenization {
            Tokenization::Bpe => BpeTrainer::builder()
                .vocab_size(size)
                .min_frequency(2)
                .special_tokens(specials)
                .show_progress(false)
                .build()
                .into(),
            Tokenization::Word | Tokenization::Char | Tokenization::Letter => WordLevelTrainer::builder()
                .vocab_size(size)
                .min_frequency(1)
                .special_tokens(specials)
                .show_progress(false)
                .build()?
                .into(),
        };
        let protected_tokens = ProtectedTokens::default();
        let rules = rules(tokenization, normalization, &protected_tokens)?;
        let mut tokenizer = build_tokenizer(tokenization, &rules, &TokenizerFile::default()).map_err(to_anyhow)?;
        train_model(&mut tokenizer, &mut trainer, texts, tokenization).map_err(to_anyhow)?;
        let json = tokenizer.to_string(true).map_err(to_anyhow)?;
        Self::from_json(json, tokenization, normalization, &protected_tokens)
    }

    /// Appends protected tokens to the vocabulary, whose training texts should not contain them.
    pub fn with_protected_tokens(&self, protected_tokens: &ProtectedTokens) -> Self {
        self.with_tokens(protected_tokens.spellings(self.tokenization), protected_tokens.clone())
    }

    /// Appends tokens that are missing.
    pub(super) fn with_tokens(
        &self,
        added: impl IntoIterator<Item = String>,
        protected_tokens: ProtectedTokens,
    ) -> Self {
        let mut file = self.file.clone();
        let mut known: HashSet<String> = file.tokens.iter().cloned().collect();
        file.tokens.extend(added.into_iter().filter(|token| known.insert(token.clone())));
        Self::from_parts(file, self.tokenization, self.normalization, protected_tokens, None)
    }

    /// Reads a vocabulary as [`Self::to_json`] writes it. Tokens and merges are checked; the rules must be those of these
    /// settings.
    ///
    /// # Errors
    /// This is not a tokenizer file of softalign with these settings.
    pub fn from_json(
        json: impl Into<String>,
        tokenization: Tokenization,
        normalization: Normalization,
        protected_tokens: &ProtectedTokens,
    ) -> Result<Self> {
        let json = json.into();
        let (file, stored_rules) = TokenizerFile::parse(&json, tokenization)?;
        ensure!(
            protected_tokens.spellings(tokenization).iter().all(|token| file.tokens.contains(token)),
            "a protected token is missing from its tokens"
        );
        ensure!(
            stored_rules == rules(tokenization, normalization, protected_tokens)?,
            "its rules do not fit this tokenization and this normalization"
        );
        Ok(Self::from_parts(file, tokenization, normalization, protected_tokens.clone(), Some(json)))
    }

    fn from_parts(
        file: TokenizerFile,
        tokenization: Tokenization,
        normalization: Normalization,
        protected_tokens: ProtectedTokens,
        json: Option<String>,
    ) -> Self {
        Self {
            file,
            tokenization,
            normalization,
            protected_tokens,
            json,
            tokenizer: OnceLock::new(),
            surface_forms: OnceLock::new(),
            known_characters: OnceLock::new(),
        }
    }

    fn tokenizer(&self) -> Result<&Tokenizer> {
        // On this thread alone: while it waited for others, it could begin to segment a text that needs this tokenizer.
        let tokenizer = self.tokenizer.get_or_init(|| self.built_tokenizer().map_err(|error| error.to_string()));
        tokenizer.as_ref().map_err(|error| anyhow!("{error}"))
    }

    fn built_tokenizer(&self) -> tokenizers::Result<Tokenizer> {
        let rules = rules(self.tokenization, self.normalization, &self.protected_tokens)?;
        let mut tokenizer = build_tokenizer(self.tokenization, &rules, &self.file)?;
        tokenizer.add_special_tokens(SPECIALS.map(|text| AddedToken::from(text, true)))?;
        // A user may write "</s>" as plain text; it must not end the sentence.
        tokenizer.set_encode_special_tokens(true);
        Ok(tokenizer)
    }

    /// Prepares the segmentation of texts; otherwise the first text does.
    ///
    /// # Errors
    /// Errors of the tokenizers crate, which are not expected.
    pub fn prepare(&self) -> Result<()> {
        self.tokenizer().map(drop)
    }

    /// Text that the vocabulary was read from, if any. It equals [`Self::to_json`], unless another program rewrote it.
    pub fn stored_json(&self) -> Option<&str> {
        self.json.as_deref()
    }

    /// Returns the vocabulary as a tokenizer.json, which Hugging Face's Python library can read.
    ///
    /// # Errors
    /// Errors of the tokenizers crate, which are not expected.
    pub fn to_json(&self) -> Result<String> {
        self.tokenizer()?.to_string(true).map_err(to_anyhow)
    }

    /// Number of tokens, including special ones.
    pub fn size(&self) -> usize {
        self.file.tokens.len()
    }

    /// Tokenization.
    pub fn tokenization(&self) -> Tokenization {
        self.tokenization
    }

    /// Normalization before segmentation.
    pub fn normalization(&self) -> Normalization {
        self.normalization
    }

    /// Tokens that are never split.
    pub fn protected_tokens(&self) -> &ProtectedTokens {
        &self.protected_tokens
    }

    /// Share of the long tokens of the smaller of two vocabularies that the other has too; none if there are too few. It
    /// is at least a third within a language, even for very different texts, and at most a fifth between languages.
    pub fn likeness(&self, other: &Self) -> Option<f64> {
        const MIN_TOKENS: usize = 5;
        let (ours, theirs) = (self.long_tokens(), other.long_tokens());
        let fewer = ours.len().min(theirs.len());
        (fewer >= MIN_TOKENS).then(|| ours.intersection(&theirs).count() as f64 / fewer as f64)
    }

    /// Returns a text as the vocabulary can read it: with known characters in place of those that look the same.
    pub fn readable<'t>(&self, text: &'t str) -> ReadableText<'t> {
        self.known_characters().readable(text)
    }

    /// Characters of the tokens.
    pub fn known_characters(&self) -> &Arc<KnownCharacters> {
        self.known_characters.get_or_init(|| {
            let tokens = self.file.tokens.iter().skip(SPECIALS.len()).map(String::as_str);
            Arc::new(KnownCharacters::new(tokens, SPACE, self.normalization.lowercase))
        })
    }

    /// True if it knows none of the letters of a text, in any case, as in another script.
    pub fn knows_no_letter(&self, text: &str) -> bool {
        let known = self.known_characters();
        let mut letters = text.chars().filter(|one| one.is_alphabetic());
        letters.all(|letter| !known.has(letter) && letter.to_lowercase().all(|lower| !known.has(lower)))
    }

    /// Tokens by id.
    pub fn tokens(&self) -> &[String] {
        &self.file.tokens
    }

    /// Ids of pairs of tokens that byte-pair encoding merges, by priority.
    pub fn merge_pairs(&self) -> &[[u32; 2]] {
        &self.file.merges
    }

    /// Regular expression that cuts normalized text into the pieces that are tokenized one by one.
    pub fn pattern(&self) -> String {
        self.protected_tokens.pattern(self.tokenization)
    }

    /// Tokens of at least three characters.
    fn long_tokens(&self) -> HashSet<&str> {
        const MIN_CHARACTERS: usize = 3;
        let tokens = self.file.tokens.iter().skip(SPECIALS.len()).map(String::as_str);
        tokens.filter(|token| token.trim_start_matches(SPACE).chars().count() >= MIN_CHARACTERS).collect()
    }

    /// Returns the token ids of a text. White space at its ends has none.
    ///
    /// # Errors
    /// Errors of the tokenizers crate, which are not expected.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>> {
        let readable = self.readable(text);
        if readable.as_str().is_empty() {
            return Ok(Vec::new());
        }
        Ok(self.tokenizer()?.encode_fast(readable.as_str(), false).map_err(to_anyhow)?.get_ids().to_vec())
    }

    /// Returns the token ids of many texts, encoded in parallel.
    ///
    /// # Errors
    /// Errors of the tokenizers crate, which are not expected.
    pub fn encode_all<'a>(&self, texts: impl Iterator<Item = &'a str>) -> Result<Vec<Vec<u32>>> {
        // A batch of the tokenizers crate would keep the offsets and words of all texts.
        texts.collect::<Vec<_>>().par_iter().map(|text| self.encode(text)).collect()
    }

    /// Returns a resegmenter of texts for BPE-dropout; none unless the tokenization is [`Tokenization::Bpe`].
    ///
    /// # Errors
    /// Errors of the tokenizers crate, which are not expected.
    pub fn resegmenter<'a>(&self, texts: impl Iterator<Item = &'a str>) -> Result<Option<Resegmenter>> {
        if self.tokenization != Tokenization::Bpe {
            return Ok(None);
        }
        let words =
            texts.collect::<Vec<_>>().par_iter().map(|text| self.tokens_by_word(text)).collect::<Result<Vec<_>>>()?;
        Ok(Some(Resegmenter::new(self.merges(), words.into_iter())))
    }

    /// Returns the tokens of each word as the pre-tokenizer splits the text.
    fn tokens_by_word(&self, text: &str) -> Result<Vec<Vec<u32>>> {
        let encoding = self.tokenizer()?.encode(self.readable(text).as_str(), false).map_err(to_anyhow)?;
        let tokens: Vec<_> = encoding.get_word_ids().iter().zip(encoding.get_ids()).collect();
        Ok(tokens.chunk_by(|a, b| a.0 == b.0).map(|word| word.iter().map(|&(_, &id)| id).collect()).collect())
    }

    fn merges(&self) -> Merges {
        let (tokens, ids) = (&self.file.tokens, self.file.ids());
        Merges::new(self.file.merges.iter().map(|&[first, second]| {
            let merged = tokens[first as usize].clone() + &tokens[second as usize];
            ([first, second], ids[&*merged])
        }))
    }

    /// Segments a text and maps its tokens to its words, which are those before normalization.
    ///
    /// # Errors
    /// Errors of the tokenizers crate, which are not expected.
    pub fn segment(&self, text: &str, words: WordSplitting) -> Result<Segmentation> {
        self.segment_read(text, None, words)
    }

    /// Segments a text that is read as another one, which has its places in it, and maps the tokens to the words of the text.
    ///
    /// # Errors
    /// As [`Self::segment`].
    pub fn segment_read(&self, text: &str, read: Option<&MappedText>, words: WordSplitting) -> Result<Segmentation> {
        let readable = self.readable(read.map_or(text, MappedText::as_str));
        if readable.as_str().is_empty() {
            return Ok(Segmentation::new(text, Vec::new(), Vec::new(), &[], &[]));
        }
        let encoding = self.tokenizer()?.encode(readable.as_str(), false).map_err(to_anyhow)?;
        // A token extends to the next one, which includes marks composed with its last character.
        let ends = encoding.get_offsets().iter().skip(1).map(|&(start, _)| start).chain([readable.as_str().len()]);
        let mut spans: Vec<Range<usize>> = Vec::with_capacity(encoding.len());
        for (&(start, end), next) in encoding.get_offsets().iter().zip(ends) {
            let span = readable.given_range(start..end.max(next));
            spans.push(match read {
                Some(read) => read.other_range(span),
                None => span,
            });
        }
        let mut tokens = Vec::with_capacity(spans.len());
        for (&id, span) in encoding.get_ids().iter().zip(&spans) {
            tokens.push(match id {
                UNKNOWN => text[span.clone()].replace(' ', SPACE),
                _ => self.token(id).to_owned(),
            });
        }
        let mut word_spans = word_spans(text, words);
        if self.tokenization.are_characters() && matches!(words, WordSplitting::Characters | WordSplitting::CodePoints)
        {
            join_composed(&mut word_spans, &spans);
        }
        Ok(Segmentation::new(text, encoding.get_ids().to_vec(), tokens, &spans, &word_spans))
    }

    /// Joins tokens to text and maps them to its words: the inverse of [`Self::segment`], for predicted ids.
    pub fn join(&self, ids: &[u32], words: WordSplitting) -> (String, Segmentation) {
        self.join_with(ids, &HashMap::new(), words)
    }

    /// Joins tokens as [`Self::join`] does, with replacement texts for the tokens at some positions.
    pub fn join_with(
        &self,
        ids: &[u32],
        replacements: &HashMap<usize, String>,
        words: WordSplitting,
    ) -> (String, Segmentation) {
        let mut text = String::new();
        let mut spans = Vec::with_capacity(ids.len());
        let mut tokens = Vec::with_capacity(ids.len());
        for (index, &id) in ids.iter().enumerate() {
            let token = self.token(id);
            let mut surface = replacements.get(&index).cloned().unwrap_or_else(|| token.replace(SPACE, " "));
            if self.tokenization == Tokenization::Word && id == UNKNOWN && !surface.is_empty() {
                // An unknown word lacks the space before it.
                surface.insert(0, ' ');
            }
            if index == 0 && !self.tokenization.are_characters() && surface.starts_with(' ') {
                surface.remove(0);
            }
            let start = text.len();
            text.push_str(&surface);
            spans.push(start..text.len());
            tokens.push(token.to_owned());
        }
        if self.tokenization == Tokenization::Letter {
            text = compose(&text, &mut spans);
        }
        let segmentation = Segmentation::new(&text, ids.to_vec(), tokens, &spans, &word_spans(&text, words));
        (text, segmentation)
    }

    /// Returns the text of tokens.
    pub fn decode(&self, ids: &[u32]) -> String {
        self.join(ids, WordSplitting::Whitespace).0
    }

    /// Returns a text as its tokens write it: decomposed if they are letters.
    pub fn written_text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.tokenization.written(text)
    }

    /// Returns tokens as the vocabulary writes them.
    pub fn written(&self, ids: &[u32]) -> Vec<String> {
        ids.iter().map(|&id| self.token(id).to_owned()).collect()
    }

    /// Surface forms of the tokens.
    pub fn surface_forms(&self) -> &Arc<SurfaceForms> {
        self.surface_forms.get_or_init(|| {
            let specials = SPECIALS.iter().map(|_| String::new());
            let others = self.file.tokens.iter().skip(SPECIALS.len()).map(|token| token.replace(SPACE, " "));
            Arc::new(SurfaceForms::new(specials.chain(others).collect(), self.tokenization.phrase_boundaries()))
        })
    }

    fn token(&self, id: u32) -> &str {
        self.file.tokens.get(id as usize).map_or(SPECIALS[UNKNOWN as usize], String::as_str)
    }
}

/// Trains the model of a tokenizer as [`Tokenizer::train`] does, but on words of bounded length.
fn train_model<'a>(
    tokenizer: &mut Tokenizer,
    trainer: &mut TrainerWrapper,
    texts: impl Iterator<Item = &'a str> + Send,
    tokenization: Tokenization,
) -> tokenizers::Result<()> {
    trainer.feed(texts, |text| training_words(tokenizer, text, tokenization))?;
    let mut model = tokenizer.get_model().clone();
    let specials = trainer.train(&mut model)?;
    tokenizer.with_model(model);
    tokenizer.add_special_tokens(specials)?;
    Ok(())
}

/// Returns the words of a text from which a model learns, those of BPE split at [`LONGEST_WORD`] characters.
fn training_words(tokenizer: &Tokenizer, text: &str, tokenization: Tokenization) -> tokenizers::Result<Vec<String>> {
    let mut normalized = NormalizedString::from(text);
    tokenizer.get_normalizer().map_or(Ok(()), |normalizer| normalizer.normalize(&mut normalized))?;
    let mut splits = PreTokenizedString::from(normalized);
    tokenizer.get_pre_tokenizer().map_or(Ok(()), |splitter| splitter.pre_tokenize(&mut splits))?;
    let mut words = Vec::new();
    for (word, ..) in splits.get_splits(OffsetReferential::Original, OffsetType::Byte) {
        match tokenization {
            Tokenization::Bpe => words.extend(split_word(word)),
            Tokenization::Word | Tokenization::Char | Tokenization::Letter => words.push(word.to_owned()),
        }
    }
    Ok(words)
}

/// Splits a word into pieces of at most [`LONGEST_WORD`] characters.
fn split_word(word: &str) -> Vec<String> {
    if word.len() <= LONGEST_WORD {
        return vec![word.to_owned()];
    }
    let characters: Vec<char> = word.chars().collect();
    characters.chunks(LONGEST_WORD).map(|piece| piece.iter().collect()).collect()
}

/// Joins characters in which no token begins to the previous one, since normalization composed them.
fn join_composed(characters: &mut Vec<Range<usize>>, tokens: &[Range<usize>]) {
    characters.dedup_by(|next, before| {
        let first = tokens.partition_point(|token| token.start < next.start);
        let composed = before.end == next.start && tokens.get(first).is_none_or(|token| token.start >= next.end);
        if composed {
            before.end = next.end;
        }
        composed
    });
}

#[cfg(test)]
mod tests {
    use super::super::NormalForm;
    use super::*;
    use crate::random::SeededRng;

    const ALL: [Tokenization; 4] = [Tokenization::Bpe, Tokenization::Word, Tokenization::Char, Tokenization::Letter];

    const TEXTS: [&str; 10] = [
        "L'été, c'est « chaud » — n'est-ce pas ?",
        "two spaces before, and one after",
        "It's 3:45 p.m. on 12/31/1999; that'll be $5.50!",
        "नमस्ते दुनिया, می‌خواهم بروم",
        "ɑ̃ b ɔ̃ ʒ u ʁ e\u{301} é",
        "👩‍👩‍👧 🎉 ok",
        "a\u{a0}b\u{3000}c\u{1}d\re",
        "</s> <pad> <s> are plain text here",
        "שלום עולם. مرحبا",
        "a b",
    ];

    /// Texts that the tokens restore; letters are composed.
    fn texts(tokenization: Tokenization) -> [String; 10] {
        let form = if tokenization == Tokenization::Letter { NormalForm::Nfc } else { NormalForm::None };
        TEXTS.map(|text| form.apply(text).into_owned())
    }

    fn train<'t>(
        texts: impl Iterator<Item = &'t str> + Send,
        tokenization: Tokenization,
        size: usize,
    ) -> Result<Vocabulary> {
        Vocabulary::train(texts, tokenization, Normalization::NONE, size)
    }

    fn read(json: &str, tokenization: Tokenization) -> Result<Vocabulary> {
        Vocabulary::from_json(json, tokenization, Normalization::NONE, &ProtectedTokens::default())
    }

    fn learn(tokenization: Tokenization) -> Vocabulary {
        train(TEXTS.into_iter(), tokenization, 500).unwrap()
    }

    #[test]
    fn decoding_restores_covered_text() {
        for tokenization in ALL {
            let vocabulary = learn(tokenization);
            for text in texts(tokenization) {
                let ids = vocabulary.encode(&text).unwrap();
                assert!(ids.iter().all(|&id| id > UNKNOWN), "{tokenization:?} {text:?} {ids:?}");
                assert_eq!(vocabulary.decode(&ids), text, "{tokenization:?}");
            }
            assert!(vocabulary.encode("").unwrap().is_empty());
            assert_eq!(vocabulary.decode(&[]), "");
        }
    }

    #[test]
    fn unknown_text_becomes_unknown_tokens() {
        for tokenization in ALL {
            let vocabulary = learn(tokenization);
            for text in ["Ω", "été Ω 中文", "ΩΩΩ\u{301}"] {
                let segmentation = vocabulary.segment(text, WordSplitting::Whitespace).unwrap();
                assert!(segmentation.ids.contains(&UNKNOWN), "{tokenization:?} {text:?}");
                assert!(vocabulary.decode(&segmentation.ids).contains("<unk>"));
                assert_eq!(segmentation.ids, vocabulary.encode(text).unwrap());
            }
        }
    }

    #[test]
    fn text_is_read_without_what_a_reader_does_not_see() {
        let vocabulary = learn(Tokenization::Bpe);
        let ids = vocabulary.encode("two spaces").unwrap();
        for text in
            [" two spaces", "two  spaces ", "two\u{2009}spaces", "\u{feff}two spa\u{200b}ces", "two spaces\u{0}"]
        {
            let segmentation = vocabulary.segment(text, WordSplitting::Whitespace).unwrap();
            assert_eq!(segmentation.ids, ids, "{text:?}");
            assert_eq!(segmentation.words, text.split_whitespace().collect::<Vec<_>>(), "words are the user's");
        }
    }

    #[test]
    fn segment_and_join_agree_on_words() {
        for tokenization in ALL {
            let vocabulary = learn(tokenization);
            for text in texts(tokenization) {
                let segmentation = vocabulary.segment(&text, WordSplitting::Whitespace).unwrap();
                assert_eq!(segmentation.word_of_token.len(), segmentation.ids.len());
                assert!(segmentation.word_of_token.is_sorted());
                let words: Vec<&str> = text.split_whitespace().collect();
                if !words.is_empty() {
                    assert_eq!(segmentation.words, words, "{tokenization:?}");
                }
                let mut seen = segmentation.word_of_token.clone();
                seen.dedup();
                assert_eq!(seen, (0..segmentation.words.len()).collect::<Vec<_>>(), "{tokenization:?} {text:?}");
                assert_eq!(
                    vocabulary.join(&segmentation.ids, WordSplitting::Whitespace).1,
                    segmentation,
                    "{tokenization:?} {text:?}"
                );
            }
        }
    }

    #[test]
    fn protected_tokens_are_single_tokens() {
        let protected_tokens =
            ProtectedTokens::new(["<2fr>", "<2f>", "⟨V⟩", "⟨V.PTCP⟩", "é"].map(str::to_owned)).unwrap();
        let texts = TEXTS.map(|text| protected_tokens.remove_from(text).into_owned());
        for tokenization in ALL {
            let vocabulary = train(texts.iter().map(String::as_str), tokenization, 500)
                .unwrap()
                .with_protected_tokens(&protected_tokens);
            let tokens_of = |text: &str| {
                let segmentation = vocabulary.segment(text, WordSplitting::Whitespace).unwrap();
                assert_eq!(vocabulary.decode(&segmentation.ids), text, "{tokenization:?}");
                assert_eq!(vocabulary.join(&segmentation.ids, WordSplitting::Whitespace).1, segmentation);
                segmentation.tokens.join("|").replace(SPACE, "").replace("||", "|")
            };
            assert!(tokens_of("<2fr> a").starts_with("<2fr>|a"), "{tokenization:?}");
            assert_eq!(tokens_of("<2f> <2fr>"), "<2f>|<2fr>");
            assert_eq!(tokens_of("⟨V⟩⟨V.PTCP⟩e"), "⟨V⟩|⟨V.PTCP⟩|e");
            let json = vocabulary.to_json().unwrap();
            let again = Vocabulary::from_json(&json, tokenization, Normalization::NONE, &protected_tokens).unwrap();
            assert_eq!(again.to_json().unwrap(), json);
            assert_eq!(again.encode("<2fr> été").unwrap(), vocabulary.encode("<2fr> été").unwrap());
            assert!(read(&json, tokenization).is_err(), "the protected tokens are missing");
            assert!(
                Vocabulary::from_json(
                    learn(tokenization).to_json().unwrap(),
                    tokenization,
                    Normalization::NONE,
                    &protected_tokens
                )
                .is_err()
            );
        }
    }

    #[test]
    fn dropout_keeps_protected_tokens_whole() {
        let protected_tokens = ProtectedTokens::new(["<2fr>".to_owned()]).unwrap();
        let vocabulary = train(TEXTS.into_iter().chain(TEXTS), Tokenization::Bpe, 500)
            .unwrap()
            .with_protected_tokens(&protected_tokens);
        let text = "<2fr> two spaces";
        let resegmenter = vocabulary.resegmenter([text].into_iter()).unwrap().unwrap();
        for index in 0..20 {
            let cut = resegmenter.cut(0, 0.5, &mut SeededRng::new(1, "cuts", index));
            assert_eq!((vocabulary.decode(&cut).as_str(), cut[0]), (text, vocabulary.encode(text).unwrap()[0]));
        }
    }

    #[test]
    fn json_restores_the_vocabulary() {
        for tokenization in ALL {
            let vocabulary = learn(tokenization);
            let json = vocabulary.to_json().unwrap();
            assert_eq!(json, learn(tokenization).to_json().unwrap(), "training twice gives the same file");
            assert_eq!(vocabulary.stored_json(), Some(&*json));
            let again = read(&json, tokenization).unwrap();
            for text in TEXTS {
                assert_eq!(again.encode(text).unwrap(), vocabulary.encode(text).unwrap());
            }
            assert_eq!(again.to_json().unwrap(), json);
            let others = ALL.iter().filter(|&&other| other != tokenization);
            assert!(others.into_iter().all(|&other| read(&json, other).is_err()), "{tokenization:?}");
        }
        assert!(read("{}", Tokenization::Bpe).is_err());
        assert!(
            read(&learn(Tokenization::Word).to_json().unwrap().replace("<pad>", "<gap>"), Tokenization::Word).is_err()
        );
    }

    #[test]
    fn dropout_resegments_texts() {
        let vocabulary = learn(Tokenization::Bpe);
        let resegmenter = vocabulary.resegmenter(TEXTS.into_iter()).unwrap().unwrap();
        for (index, text) in TEXTS.into_iter().enumerate() {
            let cut = |rate: f64, seed: u64| resegmenter.cut(index, rate, &mut SeededRng::new(seed, "cuts", 0));
            assert_eq!(cut(0.0, 1), vocabulary.encode(text).unwrap(), "{text:?}");
            let characters = cut(1.0, 1);
            assert_eq!(vocabulary.decode(&characters), text);
            for seed in 0..10 {
                let sampled = cut(0.2, seed);
                assert_eq!(vocabulary.decode(&sampled), text);
                assert!(sampled.len() <= characters.len() && sampled == cut(0.2, seed));
            }
        }
        for tokenization in [Tokenization::Word, Tokenization::Char] {
            assert!(learn(tokenization).resegmenter(TEXTS.into_iter()).unwrap().is_none());
        }
    }

    #[test]
    fn korean_syllables_are_letters_in_tokens_and_characters_in_words() {
        let vocabulary = train(["한국말 각하"].into_iter(), Tokenization::Letter, 500).unwrap();
        let text = "국각 함";
        let segmentation = vocabulary.segment(text, WordSplitting::Characters).unwrap();
        assert_eq!(segmentation.words, ["국", "각", "함"]);
        assert_eq!(segmentation.word_of_token, [0, 0, 0, 1, 1, 1, 2, 2, 2, 2]);
        assert_eq!(vocabulary.token(segmentation.ids[0]), "\u{1100}");
        assert_eq!(segmentation.ids[9], UNKNOWN, "no syllable ends in m");
        let (joined, again) = vocabulary.join(&segmentation.ids[..6], WordSplitting::Characters);
        assert_eq!(
            (joined.as_str(), &again.words[..], &again.word_of_token[..]),
            ("국각", &segmentation.words[..2], &segmentation.word_of_token[..6])
        );
    }

    #[test]
    fn likeness_is_high_within_a_language() {
        let [english, other_texts, german, short] = [
            ["the old fox sleeps here", "where the owl sings"],
            ["the grey cat sleeps", "here the old dog sings"],
            ["der alte Fuchs schläft hier", "wo die Eule singt"],
            ["a b", "c d"],
        ]
        .map(|texts| train(texts.into_iter(), Tokenization::Word, 500).unwrap());
        assert!(english.likeness(&other_texts).unwrap() > 0.5);
        assert_eq!(english.likeness(&german), Some(0.0));
        assert_eq!(english.likeness(&short), None, "too few long tokens");
    }

    #[test]
    fn tokens_do_not_exceed_the_longest_word() {
        let long = "c".repeat(20 * LONGEST_WORD);
        let vocabulary = train([long.as_str(), "é"].into_iter(), Tokenization::Bpe, 500).unwrap();
        let forms = vocabulary.surface_forms();
        let longest = (0..vocabulary.size() as u32).map(|id| forms.text(id).chars().count()).max();
        assert!((100..=LONGEST_WORD).contains(&longest.unwrap()), "{longest:?}");
        assert_eq!(vocabulary.decode(&vocabulary.encode(&long).unwrap()), long);
    }

    #[test]
    fn splits_only_overlong_words() {
        let word: String = "日本".chars().cycle().take(LONGEST_WORD).collect();
        assert_eq!(split_word(&word), std::slice::from_ref(&word));
        assert_eq!(split_word(&format!("{word}語")), [word, "語".to_owned()]);
    }

    #[test]
    fn handles_extreme_texts() {
        for tokenization in ALL {
            let vocabulary = learn(tokenization);
            let long = "été".repeat(100_000);
            assert_eq!(
                vocabulary.encode(&long).unwrap(),
                vocabulary.segment(&long, WordSplitting::Whitespace).unwrap().ids
            );
            assert!(train(std::iter::empty(), tokenization, 500).unwrap().size() >= SPECIALS.len());
            assert!(train(TEXTS.into_iter(), tokenization, 4).is_err());
        }
    }
}

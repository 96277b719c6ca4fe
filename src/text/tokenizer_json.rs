//! Files of Hugging Face's tokenizers: segmentation rules, tokens and merges.

use std::borrow::Cow;
use std::collections::HashMap;

use anyhow::{Context, Result, anyhow, ensure};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokenizers::models::bpe::{BPE, Vocab as Ids};
use tokenizers::models::wordlevel::WordLevel;
use tokenizers::{DecoderWrapper, ModelWrapper, NormalizerWrapper, PreTokenizerWrapper, Tokenizer};

use super::tokenization::SPACE;
use super::{Normalization, ProtectedTokens, SPECIALS, Tokenization, UNKNOWN};

/// Number of words that the library caches per thread, without eviction. Its default, 10,000, can take 80 MiB; a
/// thousand save most of the time.
const CACHE_CAPACITY: usize = 1000;

/// Tokens and merges of a tokenizer file.
#[derive(Clone, Default)]
pub(super) struct TokenizerFile {
    /// Tokens by id.
    pub tokens: Vec<String>,
    /// Ids of pairs of tokens to merge, by priority; only for [`Tokenization::Bpe`].
    pub merges: Vec<[u32; 2]>,
}

/// Whole file. `rules` are the other entries.
#[derive(Deserialize)]
struct StoredFile<'j> {
    #[serde(borrow)]
    model: StoredModel<'j>,
    #[serde(flatten)]
    rules: Map<String, Value>,
}

#[derive(Deserialize)]
struct StoredModel<'j> {
    #[serde(borrow)]
    vocab: HashMap<Token<'j>, u32>,
    #[serde(borrow)]
    merges: Option<Vec<[Token<'j>; 2]>>,
    #[serde(flatten)]
    rules: Map<String, Value>,
}

/// Text of a token, a part of the file unless it has escapes there.
#[derive(Deserialize, PartialEq, Eq, Hash)]
struct Token<'j>(#[serde(borrow)] Cow<'j, str>);

impl TokenizerFile {
    /// Reads a file. Returns its tokens and merges, and its rules. The former are checked, since invalid ids or merges make
    /// the library panic or exhaust memory.
    pub fn parse(json: &str, tokenization: Tokenization) -> Result<(Self, Value)> {
        let StoredFile { model, mut rules } = serde_json::from_str(json)?;
        rules.insert("model".to_owned(), model.rules.into());
        let ids = model.vocab;
        ensure!(
            model.merges.is_some() == (tokenization == Tokenization::Bpe),
            "merges are missing, or this tokenization has none"
        );
        check_ids(&ids)?;
        let merges: Option<_> = model.merges.iter().flatten().map(|pair| merge_ids(&ids, pair)).collect();
        let merges = merges.context("a merge has a token that is not in \"vocab\"")?;
        let mut by_id = vec![String::new(); ids.len()];
        for (token, id) in ids {
            by_id[id as usize] = token.0.into_owned();
        }
        Ok((Self { tokens: by_id, merges }, rules.into()))
    }

    /// Ids of the tokens.
    pub fn ids(&self) -> HashMap<&str, u32> {
        self.tokens.iter().map(String::as_str).zip(0..).collect()
    }
}

/// Returns the ids of two tokens to merge; none if one of them, or the merged token, has no id.
fn merge_ids(ids: &HashMap<Token, u32>, [first, second]: &[Token; 2]) -> Option<[u32; 2]> {
    let merged = Token(format!("{}{}", first.0, second.0).into());
    let known = Some([*ids.get(first)?, *ids.get(second)?]);
    known.filter(|_| ids.contains_key(&merged))
}

/// Checks that each id below the size occurs once, special tokens come first, and no token is empty or has a line break.
fn check_ids(ids: &HashMap<Token, u32>) -> Result<()> {
    for (id, special) in (0u32..).zip(SPECIALS) {
        ensure!(ids.get(&Token(special.into())) == Some(&id), "token {special} does not have id {id}");
    }
    let mut seen = vec![false; ids.len()];
    for (Token(token), &id) in ids {
        ensure!(!token.is_empty() && !token.contains('\n'), "a token is empty or contains a line break");
        let seen = seen.get_mut(id as usize).context("a token's id is not below the number of tokens")?;
        ensure!(!std::mem::replace(seen, true), "two tokens have the same id");
    }
    Ok(())
}

/// Returns a tokenizer of tokens and merges, with the other entries of its file.
pub(super) fn build_tokenizer(
    tokenization: Tokenization,
    rules: &Value,
    file: &TokenizerFile,
) -> tokenizers::Result<Tokenizer> {
    let ids: Ids = file.tokens.iter().cloned().zip(0..).collect();
    let merges = file.merges.iter().map(|pair| pair.map(|id| file.tokens[id as usize].clone()).into()).collect();
    let unknown = SPECIALS[UNKNOWN as usize].to_owned();
    let model: ModelWrapper = match tokenization {
        Tokenization::Bpe => {
            let model = BPE::builder().unk_token(unknown).fuse_unk(false).cache_capacity(CACHE_CAPACITY);
            let ignores_merges = rules["model"]["ignore_merges"] == true;
            model.vocab_and_merges(ids, merges).ignore_merges(ignores_merges).build()?.into()
        }
        Tokenization::Word | Tokenization::Char | Tokenization::Letter => {
            WordLevel::builder().unk_token(unknown).vocab(ids).build()?.into()
        }
    };
    let mut tokenizer = Tokenizer::new(model);
    tokenizer.with_normalizer(Some(NormalizerWrapper::deserialize(&rules["normalizer"])?))?;
    tokenizer.with_pre_tokenizer(Some(PreTokenizerWrapper::deserialize(&rules["pre_tokenizer"])?));
    tokenizer.with_decoder(Some(DecoderWrapper::deserialize(&rules["decoder"])?));
    Ok(tokenizer)
}

/// Returns a tokenizer file without tokens and merges.
pub(super) fn rules(
    tokenization: Tokenization,
    normalization: Normalization,
    protected_tokens: &ProtectedTokens,
) -> Result<Value> {
    let unknown = SPECIALS[UNKNOWN as usize];
    let model = match tokenization {
        // No merges produce protected tokens.
        Tokenization::Bpe => json!({
            "type": "BPE", "unk_token": unknown, "dropout": null, "continuing_subword_prefix": null,
            "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false, "ignore_merges": !protected_tokens.is_empty()
        }),
        Tokenization::Word | Tokenization::Char | Tokenization::Letter => {
            json!({"type": "WordLevel", "unk_token": unknown})
        }
    };
    let mut specials = Vec::with_capacity(SPECIALS.len());
    for (id, content) in SPECIALS.iter().enumerate() {
        specials.push(json!({
            "id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": true
        }));
    }
    let mut normalizers = normalization.rules().iter().map(serde_json::to_value).collect::<Result<Vec<_>, _>>()?;
    if tokenization == Tokenization::Letter {
        normalizers.push(json!({"type": "NFD"}));
    }
    // A ▁ in the text would be decoded as a space; the replacement character is at least visible.
    normalizers.extend([replace(SPACE, "\u{fffd}"), replace(" ", SPACE)]);
    let mut decoders = vec![replace(SPACE, " "), json!({"type": "Fuse"})];
    if !tokenization.are_characters() {
        normalizers.push(json!({"type": "Prepend", "prepend": SPACE}));
        decoders.push(json!({"type": "Strip", "content": " ", "start": 1, "stop": 0}));
    }
    Ok(json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": specials,
        "normalizer": {"type": "Sequence", "normalizers": normalizers},
        "pre_tokenizer": {
            "type": "Split", "pattern": {"Regex": protected_tokens.pattern(tokenization)}, "behavior": "Isolated", "invert": false
        },
        "post_processor": null,
        "decoder": {"type": "Sequence", "decoders": decoders},
        "model": model
    }))
}

/// Returns a rule that replaces a pattern.
fn replace(pattern: &str, content: &str) -> Value {
    json!({"type": "Replace", "pattern": {"String": pattern}, "content": content})
}

/// Converts an error of the tokenizers crate, which anyhow does not accept because it is unsized.
pub(super) fn to_anyhow(error: tokenizers::Error) -> anyhow::Error {
    anyhow!("{error}")
}

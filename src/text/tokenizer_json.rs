//! Files of Hugging Face's tokenizers: segmentation rules, units and merges.

use std::collections::HashMap;

use anyhow::{Context, Result, anyhow, ensure};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokenizers::decoders::fuse::Fuse;
use tokenizers::decoders::sequence::Sequence as DecoderSequence;
use tokenizers::decoders::strip::Strip;
use tokenizers::models::bpe::{BPE, Merges as Pairs, Vocab as Ids};
use tokenizers::models::wordlevel::WordLevel;
use tokenizers::normalizers::{NFD, NormalizerWrapper, Prepend, Replace, Sequence as NormalizerSequence};
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::{DecoderWrapper, ModelWrapper, SplitDelimiterBehavior, Tokenizer};

use super::units::SPACE;
use super::{Normalization, ProtectedTokens, SPECIALS, UNKNOWN, Units};

/// Number of words that the library caches per thread, without eviction. Its default, 10,000, can take 80 MiB; a
/// thousand save most of the time.
const CACHE_CAPACITY: usize = 1000;

/// Units and merges of a tokenizer file.
#[derive(Default)]
pub(super) struct TokenizerFile {
    /// Id of each unit.
    pub ids: Ids,
    /// Pairs of units to merge, by priority; only for [`Units::Bpe`].
    pub merges: Pairs,
}

/// Whole file. `rules` are the other entries.
#[derive(Deserialize)]
struct StoredFile {
    model: StoredModel,
    #[serde(flatten)]
    rules: Map<String, Value>,
}

#[derive(Deserialize)]
struct StoredModel {
    vocab: HashMap<String, u32>,
    merges: Option<Pairs>,
    #[serde(flatten)]
    rules: Map<String, Value>,
}

impl TokenizerFile {
    /// Reads a file. Returns its units and merges, and its rules. The former are checked, since invalid ids or merges make
    /// the library panic or exhaust memory.
    pub fn parse(json: &str, units: Units) -> Result<(Self, Value)> {
        let StoredFile { model, mut rules } = serde_json::from_str(json)?;
        rules.insert("model".to_owned(), model.rules.into());
        let ids = model.vocab;
        ensure!(model.merges.is_some() == (units == Units::Bpe), "merges are missing, or units of this kind have none");
        let merges = model.merges.unwrap_or_default();
        check_ids(&ids)?;
        for (first, second) in &merges {
            let merge = [first, second, &format!("{first}{second}")];
            ensure!(merge.iter().all(|unit| ids.contains_key(*unit)), "a merge has a unit that is not in \"vocab\"");
        }
        Ok((Self { ids: ids.into_iter().collect(), merges }, rules.into()))
    }
}

/// Checks that each id below the size occurs once, special units come first, and no unit is empty or has a line break.
fn check_ids(ids: &HashMap<String, u32>) -> Result<()> {
    for (id, special) in (0u32..).zip(SPECIALS) {
        ensure!(ids.get(special) == Some(&id), "unit {special} does not have id {id}");
    }
    let mut seen = vec![false; ids.len()];
    for (unit, &id) in ids {
        ensure!(!unit.is_empty() && !unit.contains('\n'), "a unit is empty or contains a line break");
        let seen = seen.get_mut(id as usize).context("a unit's id is not below the number of units")?;
        ensure!(!std::mem::replace(seen, true), "two units have the same id");
    }
    Ok(())
}

/// Returns a tokenizer of units and merges.
pub(super) fn build_tokenizer(
    units: Units,
    normalization: Normalization,
    protected_tokens: &ProtectedTokens,
    TokenizerFile { ids, merges }: TokenizerFile,
) -> tokenizers::Result<Tokenizer> {
    let unknown = SPECIALS[UNKNOWN as usize].to_owned();
    let model: ModelWrapper = match units {
        Units::Bpe => {
            let model = BPE::builder().unk_token(unknown).fuse_unk(false).cache_capacity(CACHE_CAPACITY);
            let model = model.vocab_and_merges(ids, merges);
            // No merges produce protected tokens.
            model.ignore_merges(!protected_tokens.is_empty()).build()?.into()
        }
        Units::Word | Units::Char | Units::Letter => WordLevel::builder().unk_token(unknown).vocab(ids).build()?.into(),
    };
    let mut tokenizer = Tokenizer::new(model);
    set_rules(&mut tokenizer, units, normalization, protected_tokens)?;
    Ok(tokenizer)
}

/// Returns a tokenizer file without units and merges.
pub(super) fn rules(tokenizer: &Tokenizer, units: Units, protected_tokens: &ProtectedTokens) -> Result<Value> {
    let unknown = SPECIALS[UNKNOWN as usize];
    let model = match units {
        Units::Bpe => json!({
            "type": "BPE", "unk_token": unknown, "dropout": null, "continuing_subword_prefix": null,
            "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false, "ignore_merges": !protected_tokens.is_empty()
        }),
        Units::Word | Units::Char | Units::Letter => json!({"type": "WordLevel", "unk_token": unknown}),
    };
    let special = |(id, content): (usize, &&str)| {
        json!({
            "id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": true
        })
    };
    Ok(json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": SPECIALS.iter().enumerate().map(special).collect::<Vec<_>>(),
        "normalizer": serde_json::to_value(tokenizer.get_normalizer())?,
        "pre_tokenizer": serde_json::to_value(tokenizer.get_pre_tokenizer())?,
        "post_processor": null,
        "decoder": serde_json::to_value(tokenizer.get_decoder())?,
        "model": model
    }))
}

/// Sets normalizer, pre-tokenizer and decoder.
fn set_rules(
    tokenizer: &mut Tokenizer,
    units: Units,
    normalization: Normalization,
    protected_tokens: &ProtectedTokens,
) -> tokenizers::Result<()> {
    let mut rules: Vec<NormalizerWrapper> = normalization.rules();
    if units == Units::Letter {
        rules.push(NFD.into());
    }
    // A ▁ in the text would be decoded as a space; the replacement character is at least visible.
    rules.extend([Replace::new(SPACE, "\u{fffd}")?.into(), Replace::new(" ", SPACE)?.into()]);
    let mut decoders: Vec<DecoderWrapper> = vec![Replace::new(SPACE, " ")?.into(), Fuse::new().into()];
    if !units.are_characters() {
        rules.push(Prepend::new(SPACE.to_owned()).into());
        decoders.push(Strip::new(' ', 1, 0).into());
    }
    tokenizer.with_normalizer(Some(NormalizerSequence::new(rules)))?;
    let pattern = SplitPattern::Regex(protected_tokens.pattern(units));
    tokenizer.with_pre_tokenizer(Some(Split::new(pattern, SplitDelimiterBehavior::Isolated, false)?));
    tokenizer.with_decoder(Some(DecoderSequence::new(decoders)));
    Ok(())
}

/// Converts an error of the tokenizers crate, which anyhow does not accept because it is unsized.
pub(super) fn to_anyhow(error: tokenizers::Error) -> anyhow::Error {
    anyhow!("{error}")
}

//! Files of Hugging Face's tokenizers: segmentation rules, units and merges.

use std::borrow::Cow;
use std::collections::HashMap;

use anyhow::{Context, Result, anyhow, ensure};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokenizers::models::bpe::{BPE, Vocab as Ids};
use tokenizers::models::wordlevel::WordLevel;
use tokenizers::{DecoderWrapper, ModelWrapper, NormalizerWrapper, PreTokenizerWrapper, Tokenizer};

use super::units::SPACE;
use super::{Normalization, ProtectedTokens, SPECIALS, UNKNOWN, Units};

/// Number of words that the library caches per thread, without eviction. Its default, 10,000, can take 80 MiB; a
/// thousand save most of the time.
const CACHE_CAPACITY: usize = 1000;

/// Units and merges of a tokenizer file.
#[derive(Clone, Default)]
pub(super) struct TokenizerFile {
    /// Units by id.
    pub units: Vec<String>,
    /// Ids of pairs of units to merge, by priority; only for [`Units::Bpe`].
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
    vocab: HashMap<Unit<'j>, u32>,
    #[serde(borrow)]
    merges: Option<Vec<[Unit<'j>; 2]>>,
    #[serde(flatten)]
    rules: Map<String, Value>,
}

/// Text of a unit, a part of the file unless it has escapes there.
#[derive(Deserialize, PartialEq, Eq, Hash)]
struct Unit<'j>(#[serde(borrow)] Cow<'j, str>);

impl TokenizerFile {
    /// Reads a file. Returns its units and merges, and its rules. The former are checked, since invalid ids or merges make
    /// the library panic or exhaust memory.
    pub fn parse(json: &str, units: Units) -> Result<(Self, Value)> {
        let StoredFile { model, mut rules } = serde_json::from_str(json)?;
        rules.insert("model".to_owned(), model.rules.into());
        let ids = model.vocab;
        ensure!(model.merges.is_some() == (units == Units::Bpe), "merges are missing, or units of this kind have none");
        check_ids(&ids)?;
        let merge = |[first, second]: &[Unit; 2]| {
            let merged = Unit(format!("{}{}", first.0, second.0).into());
            let known = Some([*ids.get(first)?, *ids.get(second)?]);
            known.filter(|_| ids.contains_key(&merged))
        };
        let merges: Option<_> = model.merges.iter().flatten().map(merge).collect();
        let merges = merges.context("a merge has a unit that is not in \"vocab\"")?;
        let mut by_id = vec![String::new(); ids.len()];
        for (unit, id) in ids {
            by_id[id as usize] = unit.0.into_owned();
        }
        Ok((Self { units: by_id, merges }, rules.into()))
    }

    /// Ids of the units.
    pub fn ids(&self) -> HashMap<&str, u32> {
        self.units.iter().map(String::as_str).zip(0..).collect()
    }
}

/// Checks that each id below the size occurs once, special units come first, and no unit is empty or has a line break.
fn check_ids(ids: &HashMap<Unit, u32>) -> Result<()> {
    for (id, special) in (0u32..).zip(SPECIALS) {
        ensure!(ids.get(&Unit(special.into())) == Some(&id), "unit {special} does not have id {id}");
    }
    let mut seen = vec![false; ids.len()];
    for (Unit(unit), &id) in ids {
        ensure!(!unit.is_empty() && !unit.contains('\n'), "a unit is empty or contains a line break");
        let seen = seen.get_mut(id as usize).context("a unit's id is not below the number of units")?;
        ensure!(!std::mem::replace(seen, true), "two units have the same id");
    }
    Ok(())
}

/// Returns a tokenizer of units and merges, with the other entries of its file.
pub(super) fn build_tokenizer(units: Units, rules: &Value, file: &TokenizerFile) -> tokenizers::Result<Tokenizer> {
    let ids: Ids = file.units.iter().cloned().zip(0..).collect();
    let merges = file.merges.iter().map(|pair| pair.map(|id| file.units[id as usize].clone()).into()).collect();
    let unknown = SPECIALS[UNKNOWN as usize].to_owned();
    let model: ModelWrapper = match units {
        Units::Bpe => {
            let model = BPE::builder().unk_token(unknown).fuse_unk(false).cache_capacity(CACHE_CAPACITY);
            let ignores_merges = rules["model"]["ignore_merges"] == true;
            model.vocab_and_merges(ids, merges).ignore_merges(ignores_merges).build()?.into()
        }
        Units::Word | Units::Char | Units::Letter => WordLevel::builder().unk_token(unknown).vocab(ids).build()?.into(),
    };
    let mut tokenizer = Tokenizer::new(model);
    tokenizer.with_normalizer(Some(NormalizerWrapper::deserialize(&rules["normalizer"])?))?;
    tokenizer.with_pre_tokenizer(Some(PreTokenizerWrapper::deserialize(&rules["pre_tokenizer"])?));
    tokenizer.with_decoder(Some(DecoderWrapper::deserialize(&rules["decoder"])?));
    Ok(tokenizer)
}

/// Returns a tokenizer file without units and merges.
pub(super) fn rules(units: Units, normalization: Normalization, protected_tokens: &ProtectedTokens) -> Result<Value> {
    let unknown = SPECIALS[UNKNOWN as usize];
    let model = match units {
        // No merges produce protected tokens.
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
    let replace =
        |pattern: &str, content: &str| json!({"type": "Replace", "pattern": {"String": pattern}, "content": content});
    let mut normalizers = normalization.rules().iter().map(serde_json::to_value).collect::<Result<Vec<_>, _>>()?;
    if units == Units::Letter {
        normalizers.push(json!({"type": "NFD"}));
    }
    // A ▁ in the text would be decoded as a space; the replacement character is at least visible.
    normalizers.extend([replace(SPACE, "\u{fffd}"), replace(" ", SPACE)]);
    let mut decoders = vec![replace(SPACE, " "), json!({"type": "Fuse"})];
    if !units.are_characters() {
        normalizers.push(json!({"type": "Prepend", "prepend": SPACE}));
        decoders.push(json!({"type": "Strip", "content": " ", "start": 1, "stop": 0}));
    }
    Ok(json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": SPECIALS.iter().enumerate().map(special).collect::<Vec<_>>(),
        "normalizer": {"type": "Sequence", "normalizers": normalizers},
        "pre_tokenizer": {
            "type": "Split", "pattern": {"Regex": protected_tokens.pattern(units)}, "behavior": "Isolated", "invert": false
        },
        "post_processor": null,
        "decoder": {"type": "Sequence", "decoders": decoders},
        "model": model
    }))
}

/// Converts an error of the tokenizers crate, which anyhow does not accept because it is unsized.
pub(super) fn to_anyhow(error: tokenizers::Error) -> anyhow::Error {
    anyhow!("{error}")
}

//! The rules by which Hugging Face's library cuts text into our units, and what its file holds beside them.

use std::collections::HashMap;

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::{Value, json};
use tokenizers::decoders::fuse::Fuse;
use tokenizers::decoders::sequence::Sequence as DecoderSequence;
use tokenizers::decoders::strip::Strip;
use tokenizers::models::bpe::{BPE, Merges as Pairs, Vocab as Ids};
use tokenizers::models::wordlevel::WordLevel;
use tokenizers::normalizers::{NormalizerWrapper, Prepend, Replace, Sequence as NormalizerSequence};
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::{DecoderWrapper, ModelWrapper, SplitDelimiterBehavior, Tokenizer};

use super::units::SPACE;
use super::{Normalization, ProtectedTokens, SPECIALS, UNKNOWN, Units};

/// Words whose units the library remembers, each thread its own: the first that come, for good. Of its own 10,000 the
/// strangest take 80 MiB, and the first thousand save most of the time that all would.
const REMEMBERED: usize = 1000;

/// What a tokenizer file holds beside its rules.
#[derive(Default)]
pub(super) struct TokenizerFile {
    /// Units by id.
    pub ids: Ids,
    /// Pairs of units that become one, the first first; only of [`Units::Bpe`].
    pub merges: Pairs,
}

impl TokenizerFile {
    /// Takes units and merges out of a file, and leaves its rules there. The library believes what it is told: an id or a
    /// merge that does not fit would end it in a panic or take all memory.
    pub fn taken_from(file: &mut Value, units: Units) -> Result<Self> {
        let model = file.get_mut("model").and_then(Value::as_object_mut).context("there is no model in it")?;
        let ids = model.remove("vocab").context("there are no units in it")?;
        let ids: HashMap<String, u32> = serde_json::from_value(ids).context("its units have no ids")?;
        let merges = match units {
            Units::Bpe => model.remove("merges").context("there are no merges in it")?,
            Units::Word | Units::Char => json!([]),
        };
        let merges: Pairs = serde_json::from_value(merges).context("its merges are no pairs of units")?;
        check_ids(&ids)?;
        for (first, second) in &merges {
            let all = [first, second, &format!("{first}{second}")];
            ensure!(all.iter().all(|unit| ids.contains_key(*unit)), "a merge is of units that are not in it");
        }
        Ok(Self { ids: ids.into_iter().collect(), merges })
    }
}

/// Every id below the size once, the special units first; and no unit that would break a line, or says nothing.
fn check_ids(ids: &HashMap<String, u32>) -> Result<()> {
    for (id, special) in (0u32..).zip(SPECIALS) {
        ensure!(ids.get(special) == Some(&id), "unit {special} is not number {id} of this vocabulary");
    }
    let mut taken = vec![false; ids.len()];
    for (unit, &id) in ids {
        ensure!(!unit.is_empty() && !unit.contains('\n'), "a unit is empty, or more than a line");
        let place = taken.get_mut(id as usize).context("a unit's id is not below their number")?;
        ensure!(!std::mem::replace(place, true), "two units have the same id");
    }
    Ok(())
}

/// A tokenizer of units and merges, with the rules that surround them.
pub(super) fn tokenizer(
    units: Units,
    normalization: Normalization,
    protected_tokens: &ProtectedTokens,
    TokenizerFile { ids, merges }: TokenizerFile,
) -> tokenizers::Result<Tokenizer> {
    let unknown = SPECIALS[UNKNOWN as usize].to_owned();
    let model: ModelWrapper = match units {
        Units::Bpe => {
            let model = BPE::builder().unk_token(unknown).fuse_unk(false).cache_capacity(REMEMBERED);
            let model = model.vocab_and_merges(ids, merges);
            // No merges make an atom.
            model.ignore_merges(!protected_tokens.is_empty()).build()?.into()
        }
        Units::Word | Units::Char => WordLevel::builder().unk_token(unknown).vocab(ids).build()?.into(),
    };
    let mut tokenizer = Tokenizer::new(model);
    shape(&mut tokenizer, units, normalization, protected_tokens)?;
    Ok(tokenizer)
}

/// A tokenizer's file without units and merges.
pub(super) fn rules(tokenizer: &Tokenizer, units: Units, protected_tokens: &ProtectedTokens) -> Result<Value> {
    let unknown = SPECIALS[UNKNOWN as usize];
    let model = match units {
        Units::Bpe => json!({
            "type": "BPE", "unk_token": unknown, "dropout": null, "continuing_subword_prefix": null,
            "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false, "ignore_merges": !protected_tokens.is_empty()
        }),
        Units::Word | Units::Char => json!({"type": "WordLevel", "unk_token": unknown}),
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

/// Gives a tokenizer the rules that surround its model: what normalises, spaces to `▁`, where to split, and the way back.
fn shape(
    tokenizer: &mut Tokenizer,
    units: Units,
    normalization: Normalization,
    protected_tokens: &ProtectedTokens,
) -> tokenizers::Result<()> {
    let mut rules: Vec<NormalizerWrapper> = normalization.rules();
    // A ▁ in the text itself would come back as a space; as the replacement character it is at least visible.
    rules.extend([Replace::new(SPACE, "\u{fffd}")?.into(), Replace::new(" ", SPACE)?.into()]);
    let mut back: Vec<DecoderWrapper> = vec![Replace::new(SPACE, " ")?.into(), Fuse::new().into()];
    if units != Units::Char {
        rules.push(Prepend::new(SPACE.to_owned()).into());
        back.push(Strip::new(' ', 1, 0).into());
    }
    tokenizer.with_normalizer(Some(NormalizerSequence::new(rules)))?;
    let pattern = SplitPattern::Regex(protected_tokens.pattern(units));
    tokenizer.with_pre_tokenizer(Some(Split::new(pattern, SplitDelimiterBehavior::Isolated, false)?));
    tokenizer.with_decoder(Some(DecoderSequence::new(back)));
    Ok(())
}

/// The tokenizers crate's errors carry no backtrace and are not `Sized`; this makes them ours.
pub(super) fn reason(error: tokenizers::Error) -> anyhow::Error {
    anyhow!("{error}")
}

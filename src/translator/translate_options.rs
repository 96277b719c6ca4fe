//! Options of translations: everything but the model and the sentences.

use std::fmt;
use std::sync::OnceLock;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{DecodeOptions, LinkOptions, Markup, PrecisionOption};
use crate::attention::InferenceOverrides;
use crate::text::Pair;

/// Options of translations. [`Translator::prepare`](super::Translator::prepare) checks them against a model. The defaults
/// are those of `softalign translate`.
///
/// ```
/// use softalign::{DecodeOptions, TranslateOptions};
/// use softalign::translator::Markup;
///
/// let decoding = DecodeOptions::beam(10).avoid("robe");
/// let options = TranslateOptions { decoding, markup: Markup::Html, ..TranslateOptions::default() };
/// assert_eq!(options.decoding.beam, 10);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, remote = "Self")]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct TranslateOptions {
    /// Options of search, sampling and constraints.
    #[cfg_attr(feature = "cli", command(flatten))]
    #[serde(flatten)]
    pub decoding: DecodeOptions,

    /// Precision of matrix products in search on the CPU.
    #[cfg_attr(feature = "cli", arg(long, value_enum, default_value_t, help_heading = "Search"))]
    #[serde(skip)]
    pub precision: PrecisionOption,

    /// Options of the links between words of a sentence and of its translation.
    #[cfg_attr(feature = "cli", command(flatten))]
    #[serde(flatten)]
    pub links: LinkOptions,

    /// Attention settings of the model that differ from training.
    #[cfg_attr(feature = "cli", command(flatten))]
    #[serde(flatten)]
    pub attention: InferenceOverrides,

    /// Treatment of sentences that are more than half unknown to the model, such as text in another script.
    #[cfg_attr(feature = "cli", arg(long, value_enum, default_value_t))]
    pub unknown: UnknownSentences,

    /// Markup of the sentences. With html, tags are put back around the words that the links give, and blocks such as
    /// paragraphs are translated one by one. The constraints hold for each block. A file named .html is one document.
    #[cfg_attr(feature = "cli", arg(long, value_enum, default_value_t, help_heading = "Markup"))]
    pub markup: Markup,

    /// Regular expression of placeholders, which are put back where the links say; none translates them as text [default: {x},
    /// {{x}}, ${x}, %{x}, %s, %1$s, %(x)s, %%, addresses of pages and e-mail, except the model's protected tokens; none for a
    /// model of characters].
    #[cfg_attr(feature = "cli", arg(long, value_name = "REGEX", help_heading = "Markup"))]
    pub placeholders: Option<String>,

    /// Translate each line, and each block of HTML, as a whole. By default they are split into sentences, unless the training data
    /// has lines of as many, or --prefix or --require is given.
    #[cfg_attr(feature = "cli", arg(long))]
    pub no_sentence_splitting: bool,

    /// Replace each `<unk>` in a translation with the source word aligned to it.
    #[cfg_attr(feature = "cli", arg(long))]
    pub replace_unknown: bool,

    /// Translations of the words that replace `<unk>`; a word without one is copied.
    #[cfg_attr(feature = "cli", arg(skip))]
    #[serde(skip)]
    pub dictionary: Option<Vec<Pair>>,
}

/// Treatment of sentences that are mostly unknown to the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub enum UnknownSentences {
    /// Translate them like others.
    #[default]
    Translate,
    /// Copy them unchanged.
    Copy,
}

impl TranslateOptions {
    /// Returns the options of decoding sentences without markup, whose placeholders are text.
    pub fn of_plain_text(decoding: DecodeOptions) -> Self {
        Self { decoding, placeholders: Some("none".to_owned()), ..Self::default() }
    }

    /// Names of the fields in JSON, those of nested options among them.
    fn field_names() -> &'static [&'static str] {
        static NAMES: OnceLock<Vec<&'static str>> = OnceLock::new();
        NAMES.get_or_init(|| {
            let fields = serde_json::to_value(Self::default()).unwrap_or_default();
            let names = fields.as_object().into_iter().flat_map(|fields| fields.keys());
            names.map(|name| &*Box::leak(name.clone().into_boxed_str())).collect()
        })
    }
}

impl Serialize for TranslateOptions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

/// Reads a structure of known fields rather than a map, so that a structure which contains the options can refuse other
/// fields.
impl<'de> Deserialize<'de> for TranslateOptions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = TranslateOptions;

            fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
                formatter.write_str("options of translations")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                TranslateOptions::deserialize(MapAccessDeserializer::new(map))
            }
        }

        deserializer.deserialize_struct("TranslateOptions", Self::field_names(), Fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Structure that contains the options.
    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Request {
        text: String,
        #[serde(flatten)]
        options: TranslateOptions,
    }

    #[test]
    fn reads_the_options_beside_other_fields_and_refuses_unknown_ones() {
        let json = r#"{"text": "a", "beam": 2, "require": ["b"], "words": "punctuation", "hard_attention": true}"#;
        let Request { text, options } = serde_json::from_str(json).unwrap();
        assert_eq!((&*text, options.decoding.beam, &*options.decoding.require[0]), ("a", 2, "b"));
        assert!(options.attention.hard_attention && options.links.words.is_some());
        for unknown in [r#"{"text": "a", "beams": 2}"#, r#"{"text": "a", "precision": "bf16"}"#] {
            assert!(serde_json::from_str::<Request>(unknown).unwrap_err().to_string().starts_with("unknown field"));
        }
    }

    #[test]
    fn writes_what_it_reads() {
        let decoding = DecodeOptions::beam(3).prefix("a");
        let options = TranslateOptions { decoding, markup: Markup::Html, ..TranslateOptions::default() };
        let json = serde_json::to_string(&options).unwrap();
        assert_eq!(serde_json::from_str::<TranslateOptions>(&json).unwrap(), options);
    }
}

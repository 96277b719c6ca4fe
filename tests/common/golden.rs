//! Reference models whose values `scripts/reference_model.py` made with PyTorch, in `tests/reference/`.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use candle_core::{Device, Tensor};
use serde::Deserialize;
use softalign::model::{Architecture, RnnSearch, TokenLexicon, TokenRows};
use softalign::parameters::Parameters;
use softalign::text::{Batch, Example};

/// Reference models: every score, one head and several, various temperatures and shapes, both decoders.
pub const VARIANTS: [&str; 22] = [
    "plain",
    "tied",
    "deep",
    "dot",
    "scaled-dot",
    "general",
    "cosine",
    "mean",
    "last",
    "additive-4",
    "dot-4",
    "scaled-dot-4",
    "general-4",
    "cosine-4",
    "additive-sharp",
    "scaled-dot-2-soft",
    "conditional",
    "conditional-4",
    "lexicon",
    "lexicon-4",
    "exact",
    "exact-lexicon",
];

#[derive(Deserialize)]
pub struct OptimizerConfig {
    pub learning_rate: f64,
    pub max_gradient_norm: f64,
}

#[derive(Deserialize)]
pub struct Values {
    pub architecture: Architecture,
    /// Source token, target token and share.
    #[serde(default)]
    pub lexicon: Vec<(u32, u32, f32)>,
    pub label_smoothing: f64,
    pub sources: Vec<Vec<u32>>,
    pub targets: Vec<Vec<u32>>,
    pub loss: f64,
    pub gradient_norm: f64,
    pub log_probabilities: Vec<f64>,
    pub optimizer: OptimizerConfig,
    pub losses: Vec<f64>,
}

pub struct Reference {
    pub values: Values,
    pub tensors: HashMap<String, Tensor>,
    pub architecture: Architecture,
    pub batch: Batch,
}

impl Reference {
    pub fn load(variant: &str) -> Self {
        let path = |end: &str| {
            PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/reference").join(format!("{variant}.{end}"))
        };
        let values: Values = serde_json::from_str(&std::fs::read_to_string(path("json")).unwrap()).unwrap();
        let tensors = candle_core::safetensors::load(path("safetensors"), &Device::Cpu).unwrap();
        // Sequences of the files end with </s>, which `Batch` appends itself.
        let without_end = |ids: &Vec<u32>| ids[..ids.len() - 1].to_vec();
        let examples: Vec<Example> = values
            .sources
            .iter()
            .zip(&values.targets)
            .map(|(source, target)| Example::new(without_end(source), without_end(target)))
            .collect();
        let batch = Batch::new(&examples, &(0..examples.len()).collect::<Vec<_>>());
        Self { architecture: values.architecture.clone(), values, tensors, batch }
    }

    /// Tensors whose names start with `prefix`, which is removed.
    pub fn group(&self, prefix: &str) -> BTreeMap<String, Tensor> {
        let named = self.tensors.iter().filter_map(|(name, tensor)| Some((name.strip_prefix(prefix)?, tensor)));
        named.map(|(name, tensor)| (name.to_owned(), tensor.clone())).collect()
    }

    pub fn model(&self, device: &Device) -> RnnSearch {
        let tensors = self.group("parameter/").into_iter();
        let tensors = tensors.map(|(name, tensor)| (name, tensor.to_device(device).unwrap())).collect();
        let parameters = Parameters::from_tensors(&self.architecture.parameter_spec(), tensors).unwrap();
        let lexicon = self.architecture.lexicon.then(|| Arc::new(self.lexicon()));
        RnnSearch::new(self.architecture.clone(), parameters.with_grad().unwrap()).unwrap().with_lexicon(lexicon)
    }

    fn lexicon(&self) -> TokenLexicon {
        let Architecture { source_vocabulary, target_vocabulary, .. } = self.architecture;
        let before =
            |source: usize| self.values.lexicon.iter().filter(|entry| (entry.0 as usize) < source).count() as u32;
        let starts = (0..=source_vocabulary).map(before).collect();
        let (tokens, shares) = self.values.lexicon.iter().map(|&(_, token, share)| (token, share)).unzip();
        TokenLexicon::from_parts(TokenRows { starts, tokens }, shares, None, [source_vocabulary, target_vocabulary])
            .unwrap()
    }
}

pub fn flat(tensor: &Tensor) -> Vec<f32> {
    tensor.flatten_all().unwrap().to_vec1().unwrap()
}

/// Largest difference, relative to reference values above 1.
pub fn difference(ours: &[f32], theirs: &[f32]) -> f32 {
    assert_eq!(ours.len(), theirs.len());
    ours.iter().zip(theirs).map(|(a, b)| (a - b).abs() / b.abs().max(1.0)).fold(0.0, f32::max)
}

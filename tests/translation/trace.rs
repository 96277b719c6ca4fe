//! Traces of translations: equal to what the translator does without them, and changed only by what the options ask for.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::common::PAIRS;
use softalign::attention::{InferenceOverrides, ScoreName};
use softalign::search::{Cancellation, Intervention, LengthFormula};
use softalign::text::{END, Pair};
use softalign::translator::{Sentence, Trace, TraceOptions};
use softalign::{DecodeOptions, ModelConfig, RunConfig, RunLimits, TrainConfig, Trainer, Translator};

const SENTENCE: &str = "the old owl sleeps";

/// A barely trained model, whose beam therefore holds several hypotheses.
fn train(directory: &Path, score: ScoreName, heads: usize, seed: u64) {
    let pairs: Vec<Pair> = PAIRS.map(|(source, target)| Pair::new(source, target)).into();
    let sized = ModelConfig { hidden_size: Some(16), ..ModelConfig::default() };
    let config = TrainConfig {
        model: ModelConfig { attention: Some(score), heads: Some(heads), ..sized },
        run: RunConfig { seed: Some(seed), ..RunConfig::default() },
        limits: RunLimits { max_epochs: Some(3), ..RunLimits::default() },
    };
    Trainer::new(config).fit(&pairs, directory).unwrap();
}

/// Directories with a model of each score, of one head and, where the score allows it, of two.
static MODELS: LazyLock<Vec<PathBuf>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("trace-models");
    let _ = std::fs::remove_dir_all(&root);
    let of = |&score: &ScoreName| [1, 2].map(|heads| (score, heads));
    let models = ScoreName::ALL.iter().flat_map(of).filter(|(score, heads)| *heads == 1 || !score.is_fixed());
    let train = |(score, heads): (ScoreName, usize)| {
        let directory = root.join(format!("{}-{heads}", score.name()));
        train(&directory, score, heads, 1);
        directory
    };
    models.map(train).collect()
});

fn traced(translator: &Translator, options: &TraceOptions) -> Trace {
    translator.trace(SENTENCE, options).unwrap()
}

/// Options that differ in all that a trace depends on.
fn all_options() -> Vec<DecodeOptions> {
    vec![
        DecodeOptions::default(),
        DecodeOptions::greedy(),
        DecodeOptions { length_penalty: 0.0, coverage_penalty: 0.0, ..DecodeOptions::beam(3) },
        DecodeOptions { length_formula: LengthFormula::Wu, coverage_penalty: 1.0, ..DecodeOptions::beam(8) },
        DecodeOptions { no_repeat: Some(2), ..DecodeOptions::beam(4) },
        DecodeOptions::default().prefix("grisa "),
        DecodeOptions::default().require("kanta").avoid("mi"),
    ]
}

#[track_caller]
fn assert_equals_translation(translator: &Translator, decode: DecodeOptions) {
    let translation = translator.translate_with(&[SENTENCE], &decode).unwrap().remove(0).remove(0);
    let trace = traced(translator, &TraceOptions { decode: decode.clone(), ..TraceOptions::default() });
    assert_eq!(trace.translation.text, translation.text, "{decode:?}");
    assert_eq!(trace.translation.log_probability, translation.log_probability, "{decode:?}");
    assert_eq!(trace.translation.score, translation.score, "{decode:?}");
    assert_eq!(trace.translation.alignment.by_tokens(), translation.alignment.by_tokens(), "{decode:?}");
    let sum: f64 = trace.steps.iter().map(|step| step.log_probability).sum();
    assert!((sum - translation.log_probability).abs() < 1e-4, "{decode:?}");
    for (step, row) in trace.steps.iter().zip(translation.alignment.by_tokens().rows()) {
        assert_eq!(step.attention[..row.len()], *row);
    }
}

#[test]
fn traces_equal_translations() {
    for directory in MODELS.iter() {
        let translator = Translator::load(directory).unwrap();
        all_options().into_iter().for_each(|decode| assert_equals_translation(&translator, decode));
        if !directory.ends_with("mean-1") && !directory.ends_with("last-1") {
            let overrides = InferenceOverrides { temperature: Some(0.5), ..InferenceOverrides::default() };
            assert_equals_translation(&translator.with_overrides(&overrides, None).unwrap(), DecodeOptions::beam(3));
        }
        let hard = InferenceOverrides { hard_attention: true, ..InferenceOverrides::default() };
        if let Ok(translator) = translator.with_overrides(&hard, None) {
            assert_equals_translation(&translator, DecodeOptions::beam(3));
        }
    }
}

#[test]
fn steps_hold_distributions() {
    for directory in MODELS.iter() {
        let trace = traced(&Translator::load(directory).unwrap(), &TraceOptions::default());
        let length = trace.source.tokens.len() + 1;
        assert!(!trace.steps.is_empty() && trace.steps.len() <= trace.target.tokens.len() + 1);
        for step in &trace.steps {
            assert_eq!(step.candidates.len(), 10);
            assert!(step.candidates.windows(2).all(|two| two[0].log_probability >= two[1].log_probability));
            assert!(step.candidates.iter().map(|one| one.log_probability.exp()).sum::<f64>() < 1.0 + 1e-5);
            assert!(step.entropy > 0.0 && step.attention_entropy >= 0.0);
            let mean =
                |column: usize| step.heads.iter().map(|head| head[column]).sum::<f32>() / step.heads.len() as f32;
            for (column, weight) in step.attention.iter().enumerate() {
                assert!((mean(column) - weight).abs() < 1e-6, "{}", directory.display());
            }
            assert_eq!(step.attention.len(), length);
        }
    }
}

#[test]
fn beam_is_a_tree_that_leads_to_the_translation() {
    let translator = Translator::load("checkpoints").unwrap();
    for decode in [DecodeOptions::greedy(), DecodeOptions::beam(2), DecodeOptions::beam(6)] {
        let width = decode.beam;
        let options = TraceOptions { decode, ..TraceOptions::default() };
        let trace = translator.trace("She has a new house.", &options).unwrap();
        let best: Vec<&str> =
            trace.beam.iter().filter(|node| node.best).map(|node| node.token.spelling.as_str()).collect();
        let steps: Vec<&str> = trace.steps.iter().map(|step| step.token.spelling.as_str()).collect();
        assert_eq!(best, steps);
        for (index, node) in trace.beam.iter().enumerate() {
            assert!(node.parent.is_none_or(|parent| parent < index && trace.beam[parent].step + 1 == node.step));
            assert_eq!(node.ended, node.token.id == END);
            let has_children = trace.beam.iter().any(|other| other.parent == Some(index));
            assert!(!(node.ended && (has_children || node.dropped)) && !(node.dropped && node.best));
            assert!(node.parent.is_none_or(|parent| node.log_probability <= trace.beam[parent].log_probability));
        }
        for step in 0..trace.steps.len() {
            assert!((1..=width).contains(&trace.beam.iter().filter(|node| node.step == step).count()));
        }
        let end = trace.beam.iter().find(|node| node.best && node.ended).expect("it ends");
        assert!((end.score - trace.translation.score).abs() < 1e-9, "{} {}", end.score, trace.translation.score);
    }
}

#[test]
fn own_weights_change_nothing() {
    let hard = InferenceOverrides { hard_attention: true, ..InferenceOverrides::default() };
    for directory in MODELS.iter() {
        let translator = Translator::load(directory).unwrap();
        let models = [Ok(translator.clone()), translator.with_overrides(&hard, None)];
        for translator in models.into_iter().flatten() {
            let before =
                traced(&translator, &TraceOptions { decode: DecodeOptions::greedy(), ..TraceOptions::default() });
            for (index, step) in before.steps.iter().enumerate() {
                assert_eq!(step.heads.len(), before.steps[0].heads.len(), "{}", directory.display());
                let intervention = Some(Intervention { step: index, weights: step.heads.clone() });
                let decode = DecodeOptions::greedy();
                let after = traced(&translator, &TraceOptions { decode, intervention, ..TraceOptions::default() });
                assert_eq!(after.translation.text, before.translation.text, "{}", directory.display());
                assert_eq!(after.translation.log_probability, before.translation.log_probability);
            }
        }
    }
}

#[test]
fn intervention_changes_one_step_and_what_follows() {
    let translator = Translator::load(&MODELS[0]).unwrap();
    let plain = traced(&translator, &TraceOptions::default());
    let mut weights = vec![0.0; plain.source.tokens.len() + 1];
    weights[1] = 3.0;
    let prefix: Vec<u32> = plain.steps[..2].iter().map(|step| step.token.id).collect();
    for weights in [vec![weights.clone()], vec![weights]] {
        let intervention = Some(Intervention { step: 1, weights });
        let changed =
            traced(&translator, &TraceOptions { prefix: prefix.clone(), intervention, ..TraceOptions::default() });
        assert_eq!(changed.steps[0].candidates, plain.steps[0].candidates);
        assert_eq!(changed.steps[1].attention[..3], [0.0, 1.0, 0.0]);
        assert_eq!(changed.steps[1].attention_entropy, 0.0);
        assert_ne!(changed.steps[1].candidates, plain.steps[1].candidates);
    }
}

#[test]
fn prefix_of_tokens_begins_the_translation() {
    let translator = Translator::load(&MODELS[0]).unwrap();
    let plain = traced(&translator, &TraceOptions::default());
    for candidate in &plain.steps[1].candidates {
        let prefix = vec![plain.steps[0].token.id, candidate.token.id];
        let steered = traced(&translator, &TraceOptions { prefix: prefix.clone(), ..TraceOptions::default() });
        let tokens: Vec<u32> = steered.steps.iter().map(|step| step.token.id).collect();
        assert!(tokens.starts_with(&prefix));
        assert_eq!(candidate.token.id == END, tokens.len() == 2);
        assert!((steered.steps[1].log_probability - candidate.log_probability).abs() < 1e-4);
    }
}

#[test]
fn ensembles_have_the_heads_of_all_models() {
    let other = Path::new(env!("CARGO_TARGET_TMPDIR")).join("trace-other");
    let _ = std::fs::remove_dir_all(&other);
    train(&other, ScoreName::ALL[0], 2, 7);
    let ensemble = Translator::load_ensemble(&[&MODELS[0], &other]).unwrap();
    all_options().into_iter().for_each(|decode| assert_equals_translation(&ensemble, decode));
    let trace = traced(&ensemble, &TraceOptions::default());
    assert_eq!(trace.steps[0].heads.len(), 3);
    let intervention = Some(Intervention { step: 0, weights: trace.steps[0].heads.clone() });
    let after = traced(&ensemble, &TraceOptions { intervention, ..TraceOptions::default() });
    assert_eq!(after.translation.text, trace.translation.text);
    assert_eq!(after.translation.log_probability, trace.translation.log_probability);
}

#[test]
fn reports_each_step_until_cancelled() {
    let translator = Translator::load(&MODELS[0]).unwrap();
    let mut rows: Vec<Vec<f32>> = Vec::new();
    let mut last = 0;
    let trace = translator.trace_observed(SENTENCE, &TraceOptions::default(), &mut |partial| {
        assert!(partial.step > last);
        last = partial.step;
        rows.truncate(partial.first_changed);
        rows.extend(partial.attention);
        assert_eq!((rows.len(), rows.len()), (partial.target.tokens.len(), partial.target.word_of_token.len()));
        assert!(rows.iter().all(|row| row.len() == 5), "{rows:?}");
    });
    assert!(trace.unwrap().is_some() && last > 1);
    let cancellation = Cancellation::default();
    let sentence = Sentence { cancellation: cancellation.clone(), ..Sentence::from(SENTENCE) };
    let mut reports = 0;
    let trace = translator.trace_observed(sentence, &TraceOptions::default(), &mut |_| {
        reports += 1;
        cancellation.cancel();
    });
    assert!(trace.unwrap().is_none() && reports == 1);
}

#[test]
fn blank_sentences_have_no_steps() {
    let translator = Translator::load(&MODELS[0]).unwrap();
    for sentence in ["", "  "] {
        let trace = translator.trace(sentence, &TraceOptions::default()).unwrap();
        assert!(trace.steps.is_empty() && trace.beam.is_empty() && trace.translation.text.is_empty());
    }
}

#[test]
fn sentences_that_are_copied_have_no_steps() {
    let translator = Translator::load(concat!(env!("CARGO_MANIFEST_DIR"), "/checkpoints")).unwrap();
    let text = "She sleeps. Привет, мир 12345678. I am hungry.";
    let trace = translator.trace(text, &TraceOptions::default()).unwrap();
    assert_eq!(trace.translation.text, "Elle dort. Привет, мир 12345678. J'ai faim.");
    let [_, copied, last] = &trace.sentences[..] else { panic!("{:?}", trace.sentences) };
    assert!(copied.steps[0] == copied.steps[1] && copied.target[0] < copied.target[1], "{copied:?}");
    assert!(trace.steps.iter().all(|step| step.attention.len() == trace.source.tokens.len() + 1));
    let prefix: Vec<u32> = trace.steps[..=last.steps[0]].iter().map(|step| step.token.id).collect();
    let intervention =
        Some(Intervention { step: last.steps[0], weights: vec![trace.steps[last.steps[0]].attention.clone()] });
    let options = TraceOptions { prefix, intervention, ..TraceOptions::default() };
    assert_eq!(translator.trace(text, &options).unwrap().translation.text, trace.translation.text);
}

#[test]
fn refuses_options_that_do_not_fit() {
    let translator = Translator::load(&MODELS[0]).unwrap();
    let refused = |options: TraceOptions, parts: &str| {
        let error = translator.trace(SENTENCE, &options).unwrap_err().to_string();
        assert!(error.contains(parts), "{error}");
    };
    let with_prefix = |prefix: &[u32]| TraceOptions { prefix: prefix.to_vec(), ..TraceOptions::default() };
    refused(with_prefix(&[0]), "no token");
    refused(with_prefix(&[1_000_000]), "no token");
    refused(with_prefix(&[END, 5]), "after the end");
    refused(with_prefix(&[5; 501]), "501");
    refused(TraceOptions { decode: DecodeOptions::sample(1), ..TraceOptions::default() }, "--sample");
    refused(TraceOptions { decode: DecodeOptions::default().prefix("grisa"), ..with_prefix(&[5]) }, "one prefix");
    for weights in [vec![], vec![vec![1.0; 4]], vec![vec![0.0; 5]], vec![vec![1.0; 5]; 3]] {
        let intervention = Some(Intervention { step: 0, weights });
        refused(TraceOptions { intervention, ..TraceOptions::default() }, "attention weights");
    }
}

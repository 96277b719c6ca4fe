//! Options that cannot act are refused, with all options of a group as `--help` lists them.

use crate::common::{PAIRS, QUICK, TestDir, model_path};
use clap::{Arg, CommandFactory};
use softalign::cli::Cli;

/// Options of a command under these headings of its help.
fn options(command: &str, headings: &[&str]) -> Vec<Arg> {
    let mut cli = Cli::command();
    cli.build();
    let command = cli.find_subcommand(command).unwrap();
    let is_listed = |option: &&Arg| option.get_help_heading().is_some_and(|heading| headings.contains(&heading));
    command.get_arguments().filter(is_listed).cloned().collect()
}

/// Argument that gives an option a valid value.
fn argument(option: &Arg) -> String {
    let long = option.get_long().unwrap();
    if !option.get_action().takes_values() {
        return format!("--{long}");
    }
    let value = match long {
        "hard-attention" => "exact".to_owned(),
        // The last one is not the default.
        _ => option.get_possible_values().last().map_or("1".to_owned(), |value| value.get_name().to_owned()),
    };
    format!("--{long}={value}")
}

/// Asserts that each option is refused by name, and returns the number of options.
fn assert_refused(dir: &TestDir, arguments: &[&str], options: &[Arg], except: &[&str]) -> usize {
    let options: Vec<&Arg> = options.iter().filter(|option| !except.contains(&option.get_long().unwrap())).collect();
    for option in &options {
        let given = argument(option);
        let refused = dir.run(&[arguments, &[&given]].concat());
        refused.refused_with(2, &[&format!("--{}", option.get_long().unwrap())]);
    }
    options.len()
}

#[test]
fn evaluation_without_a_model_refuses_its_options() {
    let dir = TestDir::with_pairs();
    dir.write("ours", PAIRS.map(|(_, target)| format!("{target}\n")).concat());
    dir.write("links", "0-0\n".repeat(PAIRS.len()));
    let of_models = options("evaluate", &["Search", "Attention", "Links"]);
    assert!(of_models.iter().any(|option| option.get_long() == Some("precision")));
    let hypotheses = ["evaluate", "--pairs", "pairs.tsv", "--hypotheses", "ours"];
    let count = assert_refused(&dir, &hypotheses, &of_models, &[]);
    let links = ["evaluate", "--pairs", "pairs.tsv", "--links", "links", "--gold", "links"];
    // The gold file counts words.
    assert_eq!(assert_refused(&dir, &links, &of_models, &["words"]), count - 1);
    let files = ["evaluate", "--links", "links", "--gold", "links"];
    assert_eq!(assert_refused(&dir, &files, &of_models, &[]), count);
    assert!(count > 18, "{count}");
    for option in ["--ensemble", "--save=x", "--search-threshold"] {
        dir.run(&[&hypotheses[..], &[option]].concat()).refused_with(2, &[option.trim_end_matches("=x")]);
    }
    for option in ["--confidence", "--compare", "--by-length", "--figure=x.svg"] {
        dir.run(&[&links[..], &[option]].concat()).refused_with(2, &[option.trim_end_matches("=x.svg")]);
    }
    // Resampling uses the seed.
    dir.run(&[&hypotheses[..], &["--confidence", "--seed=3"]].concat()).worked();
    assert!(!dir.contents().contains_key("x"));
}

#[test]
fn beam_search_refuses_options_of_sampling() {
    let dir = TestDir::with_pairs();
    let translate = ["translate", "--model", model_path(), "the fox"];
    for option in ["--seed=1", "--seed=3", "--top-k=2", "--top-p=0.5", "--temperature=2"] {
        let (name, _) = option.split_once('=').unwrap();
        dir.run(&[&translate[..], &[option]].concat()).refused_with(2, &[&format!("{name} needs --sample or --mbr")]);
        dir.run(&[&translate[..], &["--sample", option]].concat()).worked();
        dir.run(&[&translate[..], &["--mbr=2", option]].concat()).worked();
    }
    let evaluate = ["evaluate", "--model", model_path(), "--pairs", "pairs.tsv", "--seed=3"];
    dir.run(&evaluate).refused_with(2, &["--seed needs --sample, --mbr, --confidence or --compare"]);
    dir.run(&[&evaluate[..], &["--sample"]].concat()).worked();
    dir.run(&[&evaluate[..], &["--confidence"]].concat()).worked();
}

#[test]
fn translations_as_text_refuse_options_of_links_and_figures() {
    let dir = TestDir::new();
    let translate = ["translate", "--model", model_path(), "the fox"];
    assert!(assert_refused(&dir, &translate, &options("translate", &["Links"]), &["words"]) > 3);
    let figures = options("translate", &["Figures (--format svg)"]);
    assert!(assert_refused(&dir, &translate, &figures, &[]) > 3);
    dir.run(&[&translate[..], &["--tokens"]].concat()).refused_with(2, &["--tokens needs a --format"]);
}

#[test]
fn alignment_without_attention_refuses_its_options() {
    let dir = TestDir::with_pairs();
    for links_from in ["pairs", "hmm"] {
        let align = ["align", "pairs.tsv", "--model", model_path(), "--links-from", links_from];
        assert!(assert_refused(&dir, &align, &options("align", &["Attention"]), &[]) > 2);
        let figures = options("align", &["Figures (--format svg)"]);
        assert!(assert_refused(&dir, &align, &figures, &[]) > 3);
    }
}

#[test]
fn aligner_of_the_pairs_refuses_a_model() {
    let dir = TestDir::with_pairs();
    let align = ["align", "pairs.tsv", "--links-from", "pairs", "--model", model_path()];
    dir.run(&align).refused_with(2, &["--model cannot be used with --links-from pairs"]);
}

#[test]
fn resumed_training_refuses_options_that_it_began_with() {
    let dir = TestDir::with_pairs();
    dir.train("out", &["--max-epochs", "1"]).worked();
    let fixed = options("train", &["Text", "Model", "Training"]);
    let limits = ["max-epochs", "max-minutes", "patience", "save-every", "guide", "verbose"];
    // The training began with some of these values.
    let recorded = QUICK.iter().filter_map(|argument| argument.strip_prefix("--"));
    let except: Vec<&str> = limits.into_iter().chain(recorded).collect();
    let count = assert_refused(&dir, &["train", "--resume", "--out", "out"], &fixed, &except);
    assert!(count > 30, "{count}");
    let initialized = ["train", "pairs.tsv", "--init-from", model_path(), "--out", "new", "--init-vocabulary", "keep"];
    let of_model = options("train", &["Text", "Model"]);
    assert!(assert_refused(&dir, &initialized, &of_model, &["max-length"]) > 18);
}

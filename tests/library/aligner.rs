//! The statistical aligner on artificial languages with known links.

use softalign::aligner::{self, SerializedAligner, WordAligner};
use softalign::alignment::{Link, LinkScores};
use softalign::random::SeededRng;
use softalign::text::{NormalForm, Pair};

/// Random sentences of words `w3` with translations `x3`; adjectives (odd numbers) follow nouns on the target side. Returns
/// the pairs and their gold links.
fn pairs(count: usize) -> (Vec<Pair>, Vec<Vec<Link>>) {
    let mut rng = SeededRng::new(1, "pairs", 0);
    let mut pairs = Vec::new();
    let mut links = Vec::new();
    for _ in 0..count {
        let words: Vec<usize> = (0..3 + rng.below(6)).map(|_| rng.below(40)).collect();
        let mut order: Vec<usize> = (0..words.len()).collect();
        for index in 1..order.len() {
            if words[order[index - 1]] % 2 == 1 && words[order[index]].is_multiple_of(2) {
                order.swap(index - 1, index);
            }
        }
        let text = |words: Vec<String>| words.join(" ");
        pairs.push(Pair {
            source: text(words.iter().map(|word| format!("w{word}")).collect()),
            target: text(order.iter().map(|&index| format!("x{}", words[index])).collect()),
        });
        links.push(order.iter().enumerate().map(|(target, &source)| Link { source, target }).collect());
    }
    (pairs, links)
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn links_of(aligner: &WordAligner, pair: &Pair) -> Vec<Link> {
    let (source, target) = (words(&pair.source), words(&pair.target));
    let found = aligner.posteriors(&source, &target);
    LinkScores::from_directions(source.len(), &found.forward, &found.backward).links(0.3)
}

#[test]
fn recovers_links_of_an_artificial_language() {
    let (pairs, gold) = pairs(1500);
    let aligner = aligner::train(&pairs, NormalForm::Nfc, &|_| {});
    let (mut hits, mut all) = (0, 0);
    for (pair, gold) in pairs.iter().zip(&gold) {
        let links = links_of(&aligner, pair);
        hits += links.iter().filter(|link| gold.contains(link)).count();
        all += links.len().max(gold.len());
    }
    assert!(hits as f64 / all as f64 > 0.95, "{hits} of {all}");
}

#[test]
fn prior_improves_links_of_few_pairs() {
    let (pairs, gold) = pairs(1500);
    let (prior, few) = (aligner::train(&pairs[40..], NormalForm::Nfc, &|_| {}), &pairs[..40]);
    let hits = |aligner: &WordAligner| -> usize {
        let of_pair =
            |(pair, gold): (&Pair, &Vec<Link>)| links_of(aligner, pair).iter().filter(|l| gold.contains(l)).count();
        few.iter().zip(&gold).map(of_pair).sum()
    };
    let total: usize = gold[..40].iter().map(Vec::len).sum();
    let alone = hits(&aligner::train(few, NormalForm::Nfc, &|_| {}));
    let with_prior = hits(&aligner::train_with_prior(few, &prior, &|_| {}));
    assert!(with_prior > alone && with_prior * 20 > total * 19, "{alone}, with prior {with_prior} of {total}");
}

#[test]
fn aligner_is_independent_of_thread_count() {
    let (pairs, _) = pairs(600);
    let with = |threads: usize| -> SerializedAligner {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| aligner::train(&pairs, NormalForm::Nfc, &|_| {})).to_serialized()
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn serialized_tables_restore_the_aligner() {
    let (pairs, _) = pairs(400);
    let aligner = aligner::train(&pairs, NormalForm::Nfc, &|_| {});
    let again = WordAligner::from_serialized(aligner.to_serialized()).unwrap();
    for pair in &pairs[..50] {
        assert_eq!(links_of(&aligner, pair), links_of(&again, pair));
    }
    let broken: [fn(&mut SerializedAligner); 6] = [
        |tables| tables.entries[0][0] = 1_000_000,
        |tables| tables.entries[0].reverse(),
        |tables| tables.translations[0].truncate(1),
        |tables| tables.translations[1][0] = f32::NAN,
        |tables| tables.null[0].clear(),
        |tables| tables.jumps[1][0] = -1.0,
    ];
    for (number, damage) in broken.into_iter().enumerate() {
        let mut tables = aligner.to_serialized();
        damage(&mut tables);
        assert!(WordAligner::from_serialized(tables).is_err(), "{number}");
    }
}

/// Among few pairs, most words are singletons and count as unknown. Unlinked pairs of words are not stored.
#[test]
fn stored_aligner_of_few_pairs_finds_about_the_same_links() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/data/train.tsv")).unwrap();
    let pair = |line: &str| line.split_once('\t').map(|(source, target)| Pair::new(source, target)).unwrap();
    let pairs: Vec<Pair> = text.lines().take(100).map(pair).collect();
    let trained = aligner::train(&pairs, NormalForm::Nfc, &|_| {});
    let stored = WordAligner::from_serialized(trained.to_serialized()).unwrap();
    let same = pairs.iter().filter(|pair| links_of(&trained, pair) == links_of(&stored, pair)).count();
    assert!(same >= 90, "{same} of 100");
}

#[test]
fn handles_tiny_and_unusual_input() {
    for count in [0, 1] {
        let aligner = aligner::train(&pairs(count).0, NormalForm::Nfc, &|_| {});
        for (source, target) in [("", ""), ("a", ""), ("", "b"), ("unheard of", "nie gehört"), ("same", "same")] {
            let found = aligner.posteriors(&words(source), &words(target));
            assert_eq!(found.forward.len(), words(source).len() * words(target).len());
            assert!(found.forward.iter().chain(&found.backward).all(|share| (0.0..=1.0).contains(share)));
        }
    }
    let empty =
        [Pair { source: String::new(), target: "x".into() }, Pair { source: "a ".repeat(5000), target: "b".into() }];
    aligner::train(&empty, NormalForm::Nfc, &|_| {});
}

#[test]
fn rare_pair_in_training_data_is_not_memorized() {
    let (mut pairs, _) = pairs(1500);
    let rare = Pair { source: "w2 w4 once".into(), target: "einmal x2 x4".into() };
    let align = |aligner: &WordAligner| {
        let found = aligner.posteriors(&words(&rare.source), &words(&rare.target));
        (links_of(aligner, &rare), found.log_probability)
    };
    let (links, log_probability) = align(&aligner::train(&pairs, NormalForm::Nfc, &|_| {}));
    pairs.push(rare.clone());
    let (links_after, log_probability_after) = align(&aligner::train(&pairs, NormalForm::Nfc, &|_| {}));
    assert_eq!(links_after, links);
    // A memorized pair has about -5.
    assert!(
        log_probability < -15.0 && (log_probability_after - log_probability).abs() < 0.1,
        "{log_probability_after}"
    );
}

#[test]
fn rare_words_share_statistics_with_cognates() {
    let (mut pairs, _) = pairs(1500);
    for pair in &mut pairs {
        pair.source = pair.source.replace("w2 ", "street ");
        pair.target = pair.target.replace("x2 ", "straße ");
    }
    let aligner = aligner::train(&pairs, NormalForm::Nfc, &|_| {});
    let pair = Pair { source: "street w4 marathon".into(), target: "marathon x4 straßenfest".into() };
    let link = |source, target| Link { source, target };
    assert_eq!(links_of(&aligner, &pair), [link(0, 2), link(1, 1), link(2, 0)]);
}

//! Which pairs of a corpus are probably no translations of each other.

/// What is known of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Signs {
    /// Mean log-probability of a target unit, in nats.
    pub score: f64,
    /// The share of both sides' words that have no link.
    pub unlinked: f64,
    /// |ln (target words / source words)|, with one word more on each side.
    pub length: f64,
}

impl Signs {
    /// Of a pair of so many words, so many of which have links.
    pub fn new(score: f64, words: [usize; 2], with_links: [usize; 2]) -> Self {
        let all = words[0] + words[1];
        let unlinked = if all == 0 { 1.0 } else { 1.0 - (with_links[0] + with_links[1]) as f64 / all as f64 };
        let length = ((words[1] + 1) as f64 / (words[0] + 1) as f64).ln().abs();
        Self { score, unlinked, length }
    }
}

/// How suspicious each pair is: how many standard deviations it lies above the corpus' mean in improbability, unlinked
/// words and difference of lengths, added up.
pub fn suspicions(signs: &[Signs]) -> Vec<f64> {
    let deviations = [
        deviations(signs, |signs| -signs.score),
        deviations(signs, |signs| signs.unlinked),
        deviations(signs, |signs| signs.length),
    ];
    (0..signs.len()).map(|pair| deviations.iter().map(|values| values[pair]).sum()).collect()
}

/// The places of pairs, the most suspicious first.
pub fn by_suspicion(suspicions: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..suspicions.len()).collect();
    order.sort_by(|&a, &b| suspicions[b].total_cmp(&suspicions[a]));
    order
}

fn deviations(signs: &[Signs], of: fn(&Signs) -> f64) -> Vec<f64> {
    let count = signs.len().max(1) as f64;
    let mean = signs.iter().map(of).sum::<f64>() / count;
    let variance = signs.iter().map(|signs| (of(signs) - mean).powi(2)).sum::<f64>() / count;
    let unit = if variance > 0.0 { variance.sqrt() } else { 1.0 };
    signs.iter().map(|signs| (of(signs) - mean) / unit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_odd_one_stands_out() {
        let usual = Signs::new(-1.0, [5, 5], [5, 4]);
        let odd = Signs::new(-6.0, [5, 12], [1, 1]);
        let found = suspicions(&[usual, odd, usual, Signs::new(-1.2, [4, 5], [4, 4])]);
        assert!(found[1] > 2.0 && found.iter().enumerate().all(|(pair, value)| pair == 1 || *value < 0.5), "{found:?}");
    }

    #[test]
    fn few_pairs_and_empty_sides_are_numbers() {
        assert!(suspicions(&[]).is_empty());
        assert_eq!(suspicions(&[Signs::new(-1.0, [0, 0], [0, 0])]), [0.0]);
        assert!((Signs::new(0.0, [3, 1], [1, 1]).unlinked - 0.5).abs() < 1e-12);
    }
}

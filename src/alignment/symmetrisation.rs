//! One set of links from those of both directions (Och & Ney 2003, section 3.3; Koehn, Och & Marcu 2003).

use std::collections::{BTreeSet, HashSet};

use super::Link;

/// How the links of two directions become one set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symmetrisation {
    /// Those of both: few and sure.
    Intersection,
    /// Those of either: many.
    Union,
    /// The intersection, and what of the union lies beside a link and links a word that had none.
    GrowDiag,
    /// What [`Self::GrowDiag`] finds, and then what of either direction links two words of which one has none.
    GrowDiagFinal,
    /// What [`Self::GrowDiag`] finds, and then what of either direction links two words that both have none.
    GrowDiagFinalAnd,
}

impl Symmetrisation {
    /// One set of links, sorted.
    pub fn links(self, forward: &[Link], backward: &[Link]) -> Vec<Link> {
        let [forward, backward] = [forward, backward].map(|links| links.iter().copied().collect::<BTreeSet<Link>>());
        let both: BTreeSet<Link> = forward.intersection(&backward).copied().collect();
        let links = match self {
            Self::Intersection => both,
            Self::Union => &forward | &backward,
            Self::GrowDiag => Growing::from(both, &(&forward | &backward)).links,
            Self::GrowDiagFinal | Self::GrowDiagFinalAnd => {
                let mut growing = Growing::from(both, &(&forward | &backward));
                for direction in [&forward, &backward] {
                    growing.finish(direction, self == Self::GrowDiagFinalAnd);
                }
                growing.links
            }
        };
        links.into_iter().collect()
    }
}

/// Links that become more, and the words that they link.
#[derive(Default)]
struct Growing {
    links: BTreeSet<Link>,
    sources: HashSet<usize>,
    targets: HashSet<usize>,
}

impl Growing {
    /// Takes in neighbours of links, diagonal ones too, until none is left. A neighbour that was refused once stays so, hence
    /// each pass looks around what the one before has added.
    fn from(links: BTreeSet<Link>, union: &BTreeSet<Link>) -> Self {
        let mut growing = Self::default();
        let mut added: BTreeSet<Link> = links;
        added.iter().for_each(|&link| growing.add(link));
        while !added.is_empty() {
            let mut next = BTreeSet::new();
            for neighbour in added.into_iter().flat_map(neighbours).filter(|neighbour| union.contains(neighbour)) {
                if growing.free(neighbour) != [false, false] && !growing.links.contains(&neighbour) {
                    growing.add(neighbour);
                    next.insert(neighbour);
                }
            }
            added = next;
        }
        growing
    }

    fn finish(&mut self, direction: &BTreeSet<Link>, both: bool) {
        for &link in direction {
            let free = self.free(link);
            if (both && free == [true, true]) || (!both && free != [false, false]) {
                self.add(link);
            }
        }
    }

    /// Whether its words are linked by none.
    fn free(&self, link: Link) -> [bool; 2] {
        [!self.sources.contains(&link.source), !self.targets.contains(&link.target)]
    }

    fn add(&mut self, link: Link) {
        self.links.insert(link);
        self.sources.insert(link.source);
        self.targets.insert(link.target);
    }
}

fn neighbours(link: Link) -> impl Iterator<Item = Link> {
    let steps = [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)];
    steps.into_iter().filter_map(move |(source, target)| link.moved(source, target))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(pairs: &[(usize, usize)]) -> Vec<Link> {
        pairs.iter().map(|&(source, target)| Link { source, target }).collect()
    }

    #[test]
    fn a_worked_example() {
        let forward = links(&[(0, 0), (1, 1), (2, 1), (4, 4), (6, 2)]);
        let backward = links(&[(0, 0), (1, 1), (1, 2), (5, 5), (0, 5)]);
        let by = |way: Symmetrisation| way.links(&forward, &backward);
        assert_eq!(by(Symmetrisation::Intersection), links(&[(0, 0), (1, 1)]));
        assert_eq!(by(Symmetrisation::Union).len(), 8);
        // 2-1 and 1-2 lie beside 1-1 and bring a word each; 4-4 lies beside nothing.
        assert_eq!(by(Symmetrisation::GrowDiag), links(&[(0, 0), (1, 1), (1, 2), (2, 1)]));
        // 6-2 has a free source word only; 5-5 is free on both sides, and after it 0-5 is not.
        let last = links(&[(0, 0), (1, 1), (1, 2), (2, 1), (4, 4), (5, 5)]);
        assert_eq!(by(Symmetrisation::GrowDiagFinalAnd), last);
        let mut last = last;
        last.push(Link { source: 6, target: 2 });
        last.push(Link { source: 0, target: 5 });
        last.sort();
        assert_eq!(by(Symmetrisation::GrowDiagFinal), last);
    }

    /// As long as a line may be: what grows along a chain takes no more than a look around each link.
    #[test]
    fn a_long_chain_is_taken_in() {
        let all = links(&(0..80_000).map(|word| (word, word)).collect::<Vec<_>>());
        assert_eq!(Symmetrisation::GrowDiagFinalAnd.links(&all, &all[..1]), all);
    }

    #[test]
    fn nothing_stays_nothing() {
        for way in [Symmetrisation::Union, Symmetrisation::GrowDiagFinal] {
            assert!(way.links(&[], &[]).is_empty());
            assert_eq!(way.links(&links(&[(3, 1)]), &[]), links(&[(3, 1)]));
        }
    }
}

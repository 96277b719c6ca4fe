//! One set of links from those of both directions (Och & Ney 2003, section 3.3; Koehn, Och & Marcu 2003).

use std::collections::BTreeSet;

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
            Self::GrowDiag => grow(both, &(&forward | &backward)),
            Self::GrowDiagFinal | Self::GrowDiagFinalAnd => {
                let mut links = grow(both, &(&forward | &backward));
                for direction in [&forward, &backward] {
                    finish(&mut links, direction, self == Self::GrowDiagFinalAnd);
                }
                links
            }
        };
        links.into_iter().collect()
    }
}

/// Takes in neighbours of links, diagonal ones too, until none is left.
fn grow(mut links: BTreeSet<Link>, union: &BTreeSet<Link>) -> BTreeSet<Link> {
    loop {
        let before = links.len();
        for link in links.clone() {
            for neighbour in neighbours(link).filter(|neighbour| union.contains(neighbour)) {
                if !has_source(&links, neighbour.source) || !has_target(&links, neighbour.target) {
                    links.insert(neighbour);
                }
            }
        }
        if links.len() == before {
            return links;
        }
    }
}

fn neighbours(link: Link) -> impl Iterator<Item = Link> {
    let steps = [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)];
    steps.into_iter().filter_map(move |(source, target)| link.moved(source, target))
}

fn finish(links: &mut BTreeSet<Link>, direction: &BTreeSet<Link>, both: bool) {
    for &link in direction {
        let free = [!has_source(links, link.source), !has_target(links, link.target)];
        if (both && free == [true, true]) || (!both && free != [false, false]) {
            links.insert(link);
        }
    }
}

fn has_source(links: &BTreeSet<Link>, source: usize) -> bool {
    links.range(Link { source, target: 0 }..=Link { source, target: usize::MAX }).next().is_some()
}

fn has_target(links: &BTreeSet<Link>, target: usize) -> bool {
    links.iter().any(|link| link.target == target)
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

    #[test]
    fn nothing_stays_nothing() {
        for way in [Symmetrisation::Union, Symmetrisation::GrowDiagFinal] {
            assert!(way.links(&[], &[]).is_empty());
            assert_eq!(way.links(&links(&[(3, 1)]), &[]), links(&[(3, 1)]));
        }
    }
}

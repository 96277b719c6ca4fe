//! Symmetrization of the links of two directions (Och & Ney 2003, section 3.3; Koehn, Och & Marcu 2003).
//!
//! The grow-diag heuristics depend on the order in which links are tried. The order here is that of Moses' symal, so
//! the results are the same: neighbors of a link are tried in a fixed order, links are visited target word by target
//! word, and the final step tries the forward links (symal's inverse alignment, which has one source word for each
//! target word) before the backward links. fast_align's atools visits the links not yet taken instead, source word by
//! source word.

use std::collections::{BTreeSet, HashSet};

use serde::{Deserialize, Serialize};

use super::Link;

/// Heuristic that combines the links of two directions. On the command line, names of atools and NLTK are understood too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub enum Symmetrization {
    /// Links in both directions: high precision.
    #[cfg_attr(feature = "cli", value(alias = "intersect"))]
    Intersection,
    /// Links in either direction: high recall.
    Union,
    /// The intersection, extended by neighboring links of the union that cover an unlinked word, in the order of Moses'
    /// symal.
    #[cfg_attr(feature = "cli", value(alias = "gd"))]
    GrowDiag,
    /// grow-diag, extended by links of either direction that cover an unlinked word.
    #[cfg_attr(feature = "cli", value(alias = "gdf"))]
    GrowDiagFinal,
    /// grow-diag, extended by links of either direction between two unlinked words.
    #[cfg_attr(feature = "cli", value(alias = "gdfa"))]
    GrowDiagFinalAnd,
}

impl Symmetrization {
    /// Combines the links of both directions; sorted by source, then target.
    pub fn links(self, forward: &[Link], backward: &[Link]) -> Vec<Link> {
        let [forward, backward] = [points(forward), points(backward)];
        let both: BTreeSet<Point> = &forward & &backward;
        let points = match self {
            Self::Intersection => both,
            Self::Union => &forward | &backward,
            Self::GrowDiag => PartialLinks::from(both, &(&forward | &backward)).points,
            Self::GrowDiagFinal | Self::GrowDiagFinalAnd => {
                let mut partial = PartialLinks::from(both, &(&forward | &backward));
                for direction in [&forward, &backward] {
                    partial.finish(direction, self == Self::GrowDiagFinalAnd);
                }
                partial.points
            }
        };
        let mut links: Vec<Link> = points.into_iter().map(|Point { target, source }| Link { source, target }).collect();
        links.sort_unstable();
        links
    }
}

/// Link in the order in which symal scans and inserts links: by target, then source.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Point {
    target: usize,
    source: usize,
}

fn points(links: &[Link]) -> BTreeSet<Point> {
    links.iter().map(|&Link { source, target }| Point { target, source }).collect()
}

/// Links found so far and the words that they cover.
#[derive(Default)]
struct PartialLinks {
    points: BTreeSet<Point>,
    sources: HashSet<usize>,
    targets: HashSet<usize>,
}

impl PartialLinks {
    /// Adds the union's links that neighbor a link, diagonally too, and cover a word that was not covered, until there
    /// are no more.
    ///
    /// symal scans all links in order again and again until a scan adds nothing; a link added after the scan's place is
    /// still visited in the same scan. A neighbor that was refused once is refused always, as covered words stay
    /// covered, so one visit of each link in that order has the same result.
    fn from(points: BTreeSet<Point>, union: &BTreeSet<Point>) -> Self {
        let mut partial = Self::default();
        points.iter().for_each(|&point| partial.add(point));
        let (mut scan, mut next_scan) = (points, BTreeSet::new());
        while !scan.is_empty() {
            while let Some(point) = scan.pop_first() {
                for neighbor in neighbors(point).filter(|neighbor| union.contains(neighbor)) {
                    if partial.uncovered(neighbor) != [false, false] {
                        partial.add(neighbor);
                        if neighbor > point { &mut scan } else { &mut next_scan }.insert(neighbor);
                    }
                }
            }
            std::mem::swap(&mut scan, &mut next_scan);
        }
        partial
    }

    fn finish(&mut self, direction: &BTreeSet<Point>, both: bool) {
        for &point in direction {
            let uncovered = self.uncovered(point);
            if (both && uncovered == [true, true]) || (!both && uncovered != [false, false]) {
                self.add(point);
            }
        }
    }

    /// Returns true for the target word and for the source word if it is not covered.
    fn uncovered(&self, point: Point) -> [bool; 2] {
        [!self.targets.contains(&point.target), !self.sources.contains(&point.source)]
    }

    fn add(&mut self, point: Point) {
        self.points.insert(point);
        self.targets.insert(point.target);
        self.sources.insert(point.source);
    }
}

/// Neighbors in symal's order.
fn neighbors(point: Point) -> impl Iterator<Item = Point> {
    let steps = [[-1, 0], [0, -1], [1, 0], [0, 1], [-1, -1], [-1, 1], [1, -1], [1, 1]];
    steps.into_iter().filter_map(move |[target, source]: [isize; 2]| {
        Some(Point {
            target: point.target.checked_add_signed(target)?,
            source: point.source.checked_add_signed(source)?,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(pairs: &[(usize, usize)]) -> Vec<Link> {
        pairs.iter().map(|&(source, target)| Link { source, target }).collect()
    }

    #[test]
    fn computes_worked_example() {
        let forward = links(&[(0, 0), (1, 1), (2, 1), (4, 4), (6, 2)]);
        let backward = links(&[(0, 0), (1, 1), (1, 2), (5, 5), (0, 5)]);
        assert_eq!(Symmetrization::Union.links(&forward, &backward).len(), 8);
        for (heuristic, expected) in [
            (Symmetrization::Intersection, &[(0, 0), (1, 1)][..]),
            // 2-1 and 1-2 neighbor 1-1 and cover a word each; 4-4 has no neighbor.
            (Symmetrization::GrowDiag, &[(0, 0), (1, 1), (1, 2), (2, 1)]),
            // In 6-2, only the source word is unlinked; in 5-5, both are, and after it 0-5 has none.
            (Symmetrization::GrowDiagFinalAnd, &[(0, 0), (1, 1), (1, 2), (2, 1), (4, 4), (5, 5)]),
            (Symmetrization::GrowDiagFinal, &[(0, 0), (0, 5), (1, 1), (1, 2), (2, 1), (4, 4), (5, 5), (6, 2)]),
        ] {
            assert_eq!(heuristic.links(&forward, &backward), links(expected), "{heuristic:?}");
        }
    }

    /// Takes quadratic time unless each link is visited once, as every scan adds one link before its position.
    #[test]
    fn grows_along_a_chain_of_80_000_links() {
        let all = links(&(0..80_000).map(|word| (word, word)).collect::<Vec<_>>());
        assert_eq!(Symmetrization::GrowDiagFinalAnd.links(&all, &all[..1]), all);
        assert_eq!(Symmetrization::GrowDiagFinalAnd.links(&all, &all[all.len() - 1..]), all);
    }

    #[test]
    fn handles_empty_directions() {
        for heuristic in [Symmetrization::Union, Symmetrization::GrowDiagFinal] {
            assert!(heuristic.links(&[], &[]).is_empty());
            assert_eq!(heuristic.links(&links(&[(3, 1)]), &[]), links(&[(3, 1)]));
        }
    }
}

//! Markers at gaps between the words of a translation.

use std::ops::Range;

use super::markers::PointMarker;

/// Marker at a gap of the translation; gap `g` is before word `g`.
#[derive(Clone, Debug)]
pub(super) struct Placed<'m> {
    /// Index of the gap.
    pub gap: usize,
    pub kind: PlacedKind<'m>,
}

/// Marker at a gap: a tag or a point.
#[derive(Clone, Debug)]
pub(super) enum PlacedKind<'m> {
    /// Start tag.
    Open {
        /// Byte range in the text with markup.
        tag: &'m Range<usize>,
        /// True if the element covers no word.
        empty: bool,
    },
    /// End tag.
    Close {
        /// Byte range in the text with markup.
        tag: &'m Range<usize>,
    },
    /// Placeholder, comment or element without text.
    Point {
        /// Byte range in the text with markup of what is written here. Another point may have taken the place of this one.
        raw: &'m Range<usize>,
        point: &'m PointMarker,
        /// True on each side, before and after it, if the word there is the one that touches it in the source.
        attached: [bool; 2],
        /// True if constraints placed it, and say what it touches.
        is_fixed: bool,
    },
}

impl<'m> Placed<'m> {
    /// True for a placeholder of this name that constraints place.
    pub fn is_named(&self, name: &str) -> bool {
        matches!(&self.kind, PlacedKind::Point { point, .. } if point.placed.as_deref() == Some(name))
    }

    /// Returns what is written of a point whose order among others must stay, unless constraints placed it.
    pub fn ordered_raw(&self) -> Option<&'m Range<usize>> {
        match self.kind {
            PlacedKind::Point { raw, point, is_fixed: false, .. } if point.ordered => Some(raw),
            _ => None,
        }
    }

    /// True if it stands after what constraints place at a gap.
    pub fn follows_fixed_at(&self, gap: usize) -> bool {
        let precedes = matches!(self.kind, PlacedKind::Close { .. } | PlacedKind::Point { is_fixed: true, .. });
        self.gap > gap || (self.gap == gap && !precedes)
    }
}
